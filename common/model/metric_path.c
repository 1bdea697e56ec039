/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/metric_path.h"

#include <math.h>

/* --- the numbers ---------------------------------------------------------------------------------- */

static double get_iops(const struct result_direction *d)
{
	return d->iops;
}

static double get_bw_bytes(const struct result_direction *d)
{
	return d->bw_bytes;
}

static double get_ios(const struct result_direction *d)
{
	return (double)d->sum.counts.ios;
}

static double get_bytes(const struct result_direction *d)
{
	return (double)d->sum.counts.bytes;
}

static double get_errors(const struct result_direction *d)
{
	return (double)d->sum.counts.errors;
}

static double get_short_ios(const struct result_direction *d)
{
	return (double)d->sum.counts.short_ios;
}

static const struct hist *get_lat(const struct result_direction *d)
{
	return &d->sum.lat;
}

static const struct hist *get_clat(const struct result_direction *d)
{
	return &d->sum.clat;
}

static const struct hist *get_service(const struct result_direction *d)
{
	return &d->sum.service;
}

static const struct hist *get_late(const struct result_direction *d)
{
	return &d->sum.late;
}

static const struct hist *get_slat(const struct result_direction *d)
{
	return &d->sum.slat;
}

static double get_cpu_usr(const struct result_group *g)
{
	return g->has_cpu ? g->cpu_usr : NAN;
}

static double get_cpu_sys(const struct result_group *g)
{
	return g->has_cpu ? g->cpu_sys : NAN;
}

static double get_ctx(const struct result_group *g)
{
	return g->has_cpu ? (double)g->ctx : NAN;
}

static double get_majf(const struct result_group *g)
{
	return g->has_cpu ? (double)g->majf : NAN;
}

static double get_minf(const struct result_group *g)
{
	return g->has_cpu ? (double)g->minf : NAN;
}

static double get_overlap(const struct result_step *s)
{
	return s->overlap * 100;
}

static double get_start_spread(const struct result_step *s)
{
	return s->has_start ? (double)s->start_spread_ns : NAN;
}

/* clang-format off */
const struct path_metric path_metrics[] = {
	{ "iops",      PATH_NUMBER,      "I/Os per second",                              .of_direction = get_iops },
	{ "bw_bytes",  PATH_BYTES_PER_S, "bytes per second",                             .of_direction = get_bw_bytes },
	{ "ios",       PATH_NUMBER,      "I/Os completed in the measured window",        .of_direction = get_ios },
	{ "bytes",     PATH_BYTES,       "bytes moved by them",                          .of_direction = get_bytes },
	{ "errors",    PATH_NUMBER,      "I/Os that ended with an error; without a direction those of syncs are in it",
	  .of_direction = get_errors },
	{ "short_ios", PATH_NUMBER,      "I/Os that moved fewer bytes than asked",       .of_direction = get_short_ios },
	{ "lat",       PATH_NS,          "time from submission (with a rate: from when it was due) to completion", .distribution = get_lat },
	{ "clat",      PATH_NS,          "the part of it after the submitting call",     .distribution = get_clat },
	{ "slat",      PATH_NS,          "the part of it inside the submitting call",    .distribution = get_slat },
	{ "service",   PATH_NS,          "of jobs with a rate: time from submission on, where lat is from when it was due", .distribution = get_service },
	{ "late",      PATH_NS,          "of jobs with a rate: what a thread was late with a free slot", .distribution = get_late },
	{ "cpu.usr",   PATH_PERCENT,     "processor time in user mode, percent of one CPU",   .of_group = get_cpu_usr },
	{ "cpu.sys",   PATH_PERCENT,     "processor time in the kernel, percent of one CPU",  .of_group = get_cpu_sys },
	{ "cpu.ctx",   PATH_NUMBER,      "context switches",                             .of_group = get_ctx },
	{ "cpu.majf",  PATH_NUMBER,      "page faults that needed I/O",                  .of_group = get_majf },
	{ "cpu.minf",  PATH_NUMBER,      "page faults that did not",                     .of_group = get_minf },
	{ "overlap",   PATH_PERCENT,     "share of the time in which all threads of the phase ran", .of_step = get_overlap },
	{ "start.spread", PATH_NS,       "between the first I/O of the first host and that of the last",
	  .of_step = get_start_spread },
	{ NULL }
};

static const struct {
	const char *name;
	enum path_stat stat;
} stats[] = {
	{ "mean", STAT_MEAN }, { "stddev", STAT_STDDEV }, { "min", STAT_MIN }, { "max", STAT_MAX },
};
/* clang-format on */

/* --- paths ---------------------------------------------------------------------------------------- */

/* "p99.9": digits and one point, in 0 < p <= 100. */
static bool parse_percentile(const char *text, double *ret)
{
	size_t len = text[0] == 'p' ? strspn(text + 1, "0123456789.") : 0;
	char *end = NULL;

	if (!len || text[len + 1] || text[1] == '.' || text[len] == '.')
		return false;
	*ret = strtod(text + 1, &end);
	return !*end && *ret > 0 && *ret <= 100;
}

static bool parse_stat(const char *text, struct metric_path *ret)
{
	for (size_t i = 0; i < array_size(stats); i++)
		if (streq(stats[i].name, text)) {
			ret->stat = stats[i].stat;
			return true;
		}
	ret->stat = STAT_PERCENTILE;
	return parse_percentile(text, &ret->percentile);
}

static bool has_direction(const struct path_metric *m)
{
	return m->of_direction || m->distribution;
}

bool metric_path_parse(const char *text, struct metric_path *ret)
{
	*ret = (struct metric_path) { .direction = -1 };
	for (int dir = 0; dir < DIR_COUNT; dir++) {
		size_t len = strlen(direction_names[dir]);

		if (str_starts(text, direction_names[dir]) && text[len] == '.') {
			ret->direction = dir;
			text += len + 1;
			break;
		}
	}
	for (const struct path_metric *m = path_metrics; m->name; m++) {
		size_t len = strlen(m->name);

		if (!str_starts(text, m->name) || (ret->direction >= 0 && !has_direction(m)))
			continue;
		ret->metric = m;
		if (m->distribution && text[len] == '.' && parse_stat(text + len + 1, ret))
			return true;
		if (!m->distribution && !text[len])
			return true;
	}
	return false;
}

/* Keeps the text of the nearest one in *best. */
static void try_path(struct guess *g, char **best, char *path)
{
	guess_try(g, path);
	if (g->found != path) {
		free(path);
		return;
	}
	free(*best);
	*best = path;
}

static void try_metric(struct guess *g, char **best, const char *direction,
		       const struct path_metric *m)
{
	static const char *const wanted[] = { "mean", "stddev", "min", "max",
					      "p50",  "p90",    "p99", "p99.9" };

	if (!m->distribution) {
		try_path(g, best, xasprintf("%s%s", direction, m->name));
		return;
	}
	for (size_t i = 0; i < array_size(wanted); i++)
		try_path(g, best, xasprintf("%s%s.%s", direction, m->name, wanted[i]));
}

char *metric_path_nearest(const char *text)
{
	struct guess g = { .wanted = text };
	char *best = NULL;

	for (const struct path_metric *m = path_metrics; m->name; m++) {
		try_metric(&g, &best, "", m);
		for (int dir = 0; has_direction(m) && dir < DIR_COUNT; dir++) {
			_cleanup_free_ char *direction = xasprintf("%s.", direction_names[dir]);

			try_metric(&g, &best, direction, m);
		}
	}
	return best;
}

/* --- values --------------------------------------------------------------------------------------- */

static double statistic(const struct metric_path *m, const struct hist *h)
{
	if (!h->count)
		return NAN;
	switch (m->stat) {
	case STAT_MEAN:
		return hist_mean(h);
	case STAT_STDDEV:
		return hist_stddev(h);
	case STAT_MIN:
		return (double)h->min;
	case STAT_MAX:
		return (double)h->max;
	case STAT_PERCENTILE:
		return (double)hist_percentile(h, m->percentile);
	case STAT_NONE:
		break;
	}
	return NAN;
}

double metric_path_value(const struct metric_path *m, const struct result_step *step,
			 const struct result_group *g)
{
	const struct result_direction *d = m->direction < 0 ? &g->total : &g->dir[m->direction];

	if (m->metric->of_step)
		return step ? m->metric->of_step(step) : NAN;
	if (m->metric->of_group)
		return m->metric->of_group(g);
	/* A sync that fails is an error of the job, too. */
	if (m->direction < 0 && m->metric->of_direction == get_errors)
		return get_errors(&g->total) + get_errors(&g->dir[DIR_SYNC]);
	if (!d->used)
		return NAN;
	if (m->metric->of_direction)
		return m->metric->of_direction(d);
	return statistic(m, m->metric->distribution(d));
}

/* --- documentation -------------------------------------------------------------------------------- */

static const char *const unit_names[] = {
	[PATH_NUMBER] = "number",
	[PATH_BYTES] = "bytes",
	[PATH_BYTES_PER_S] = "bytes per second",
	[PATH_NS] = "ns",
	[PATH_PERCENT] = "percent",
};

void metric_path_print_text(FILE *out)
{
	fputs("\nMetrics, of group 'all' unless 'GROUP:' stands in front:\n", out);
	for (const struct path_metric *m = path_metrics; m->name; m++) {
		_cleanup_free_ char *name =
			xasprintf("%s%s%s", has_direction(m) ? "[DIRECTION.]" : "", m->name,
				  m->distribution ? ".STATISTIC" : "");

		fprintf(out, "  %-28s %s\n", name, m->help);
	}
	fputs("DIRECTION is read, write, trim or sync; without one read, write and trim are taken\n"
	      "together. STATISTIC is mean, stddev, min, max or a percentile: p50, p99.9.\n",
	      out);
}

void metric_path_print_markdown(FILE *out)
{
	fputs("| path | of | unit | meaning |\n|---|---|---|---|\n", out);
	for (const struct path_metric *m = path_metrics; m->name; m++)
		fprintf(out, "| `%s%s` | %s | %s | %s |\n", m->name,
			m->distribution ? ".STATISTIC" : "",
			m->of_step    ? "the phase"
			: m->of_group ? "a group"
				      : "a direction, or read, write and trim together",
			unit_names[m->unit], m->help);
}
