/* SPDX-License-Identifier: Apache-2.0 */
/* text_result.c - what most readers look for: totals of everything, the slowest host, and the spread over
 * repeats. */
#include "coordinator/report/text.h"

#include "common/model/hostlist.h"

#include <inttypes.h>
#include <math.h>

/* --- names of points and steps ---------------------------------------------------------------------- */

char *text_point(const struct text_pair *point, size_t nr)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert(out);
	for (size_t i = 0; i < nr; i++) {
		_cleanup_free_ char *key = str_printable(point[i].key);
		_cleanup_free_ char *value = str_printable(point[i].value);

		fprintf(out, "%s%s=%s", i ? " " : "", key, value);
	}
	fclose(out);
	return text;
}

static bool has_phases(const struct result *r)
{
	for (size_t i = 1; i < r->nr_steps; i++)
		if (!streq(r->steps[i].phase, r->steps[0].phase))
			return true;
	return false;
}

char *text_label(const struct result *r, const struct text_pair *point, size_t nr_point,
		 const char *phase, uint64_t repeat)
{
	_cleanup_free_ char *values = text_point(point, nr_point), *in = NULL, *at = NULL;
	_cleanup_free_ char *name = str_printable(phase ? phase : "");

	if (phase && has_phases(r))
		in = xasprintf("%sphase '%s'", *values ? ", " : "", name);
	if (repeat && has_repeats(r))
		at = xasprintf("%srepeat %" PRIu64, *values || in ? ", " : "", repeat);
	return xasprintf("%s%s%s", values, in ? in : "", at ? at : "");
}

bool has_repeats(const struct result *r)
{
	for (size_t i = 0; i < r->nr_steps; i++)
		if (r->steps[i].repeat > 1)
			return true;
	return false;
}

static bool is_all(const struct result_summary *s)
{
	return streq(s->group, "all");
}

/* --- totals ----------------------------------------------------------------------------------------- */

static void add_step_row(struct table *t, const char *label, const char *name,
			 const struct result_direction *d)
{
	const struct hist *lat = &d->sum.lat;
	char text[5][UNITS_TEXT] = { "-", "-", "-", "-", "-" };

	text_iops(text[0], d->iops);
	if (d->bw_bytes > 0)
		text_mib(text[1], d->bw_bytes);
	if (lat->count) {
		units_human_ns(text[2], hist_mean(lat));
		units_human_ns(text[3], (double)hist_percentile(lat, 99));
		units_human_ns(text[4], (double)lat->max);
	}
	table_text(t, label);
	table_cell(t, "%s", name);
	for (size_t i = 0; i < array_size(text); i++)
		table_cell(t, "%s", text[i]);
	table_cell(t, "%" PRIu64, d->sum.counts.errors);
}

static void add_step(struct table *t, const struct result *r, const struct result_step *s)
{
	const struct result_group *g = s->groups;
	_cleanup_free_ char *text = text_label(r, s->point, s->nr_point, s->phase, s->repeat);
	_cleanup_free_ char *label = NULL;
	bool is_first = true;
	unsigned nr = 0;

	label = xasprintf("%s%s%s%s%s", text, s->partial ? (*text ? " (partial" : "(partial") : "",
			  s->partial && s->hosts_text ? ", " : "",
			  s->partial && s->hosts_text ? s->hosts_text : "", s->partial ? ")" : "");
	for (unsigned dir = 0; dir < DIR_COUNT; dir++) {
		if (!g->dir[dir].used)
			continue;
		add_step_row(t, is_first ? label : "", direction_names[dir], &g->dir[dir]);
		is_first = false;
		nr += dir != DIR_SYNC;
	}
	if (nr > 1)
		add_step_row(t, "", "total", &g->total);
}

static void print_step_totals(const struct result *r, FILE *out)
{
	static const char *const heads[] = { "RESULT", "",    "IOPS", "MiB/s",
					     "mean",   "p99", "max",  "errors" };
	_cleanup_(table_fini) struct table t = { 0 };

	table_init(&t, "llrrrrrr");
	for (size_t i = 0; i < array_size(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < r->nr_steps; i++)
		if (r->steps[i].nr_groups)
			add_step(&t, r, &r->steps[i]);
	fputc('\n', out);
	table_print(&t, out, 0);
}

/* --- means over the repeats ------------------------------------------------------------------------- */

static const struct result_metric *find_metric(const struct result_summary *s,
					       const char *direction, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s%s%s", direction, *direction ? "." : "", name);

	for (size_t i = 0; i < s->nr_metrics; i++)
		if (streq(s->metrics[i].name, path))
			return &s->metrics[i];
	return NULL;
}

/* A metric's value with its unit, which its name tells. */
static void metric_text(char text[UNITS_TEXT], const char *name, double value)
{
	if (!isfinite(value))
		snprintf(text, UNITS_TEXT, "-");
	else if (strstr(name, "lat."))
		units_human_ns(text, value);
	else if (strstr(name, "bw_bytes"))
		text_mib(text, value);
	else if (str_starts(name, "cpu."))
		text_percent(text, value);
	else
		text_iops(text, value);
}

static void add_mean(struct table *t, const struct result_metric *m)
{
	char text[UNITS_TEXT] = "-";

	if (m)
		metric_text(text, m->name, m->mean);
	table_cell(t, "%s", text);
}

/* "+-1.0%" of the mean */
static void add_deviation(struct table *t, const struct result_metric *m)
{
	if (m && isfinite(m->stddev) && m->mean > 0)
		table_cell(t, "+-%.1f%%", 100 * m->stddev / m->mean);
	else
		table_cell(t, "-");
}

static void add_point(struct table *t, const struct result *r, const struct result_summary *s)
{
	_cleanup_free_ char *label = text_label(r, s->point, s->nr_point, s->phase, 0);
	const struct result_metric *usr = find_metric(s, "", "cpu.usr");
	const struct result_metric *sys = find_metric(s, "", "cpu.sys");
	bool is_first = true;

	for (unsigned dir = 0; dir < DIR_COUNT; dir++) {
		const char *name = direction_names[dir];
		const struct result_metric *iops = find_metric(s, name, "iops");
		const struct result_metric *mean = find_metric(s, name, "lat.mean");

		if (!iops && !mean)
			continue;
		table_text(t, is_first ? label : "");
		table_cell(t, "%s", name);
		table_cell(t, "%" PRIu64, iops ? iops->n : mean->n);
		add_mean(t, iops);
		add_deviation(t, iops);
		add_mean(t, find_metric(s, name, "bw_bytes"));
		add_mean(t, mean);
		add_mean(t, find_metric(s, name, "lat.p99"));
		add_deviation(t, find_metric(s, name, "lat.p99"));
		if (is_first && usr && sys && isfinite(usr->mean) && isfinite(sys->mean))
			table_cell(t, "%.1f+%.1f%%", usr->mean, sys->mean);
		else
			table_cell(t, "%s", is_first ? "-" : "");
		is_first = false;
	}
	if (!is_first)
		return;
	table_text(t, label);
	table_cell(t, "%s", "");
	table_cell(t, "0");
	for (size_t i = 0; i < 7; i++)
		table_cell(t, "-");
}

static void print_means(const struct result *r, FILE *out)
{
	static const char *const heads[] = { "RESULT (means)", "",     "n",   "IOPS",   "stddev",
					     "MiB/s",          "mean", "p99", "stddev", "usr+sys" };
	_cleanup_(table_fini) struct table t = { 0 };

	table_init(&t, "llrrrrrrrr");
	for (size_t i = 0; i < array_size(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < r->nr_summary; i++)
		if (is_all(&r->summary[i]))
			add_point(&t, r, &r->summary[i]);
	fputc('\n', out);
	table_print(&t, out, 0);
}

/* --- what stands out -------------------------------------------------------------------------------- */

/* One host is always the slowest; below this share of the median it is no news. */
static const double WORTH_A_LINE = 0.01;

static void print_slowest(const struct result *r, FILE *out)
{
	const struct result_step *worst = NULL;
	const struct result_group *slowest = NULL;
	_cleanup_free_ char *text = NULL, *host = NULL, *label = NULL;
	double most = -INFINITY;
	size_t nr = 0, lag = 0;

	for (size_t i = 0; i < r->nr_steps; i++) {
		const struct result_step *s = &r->steps[i];
		const struct result_group *host_of_step = NULL;
		double below;

		if (s->nr_groups)
			host_of_step = slowest_host(r, s, s->groups, &below);
		if (!host_of_step)
			continue;
		nr++;
		lag += below > LAGS_BELOW;
		if (below <= most)
			continue;
		most = below;
		slowest = host_of_step;
		worst = s;
	}
	if (!worst || most < WORTH_A_LINE)
		return;
	host = str_printable(slowest->name);
	label = text_label(r, worst->point, worst->nr_point, worst->phase, worst->repeat);
	text = xasprintf("%s, %.1f%% below the median host's IOPS per thread%s%s%s", host,
			 100 * most, *label ? " (" : "", label, *label ? ")" : "");
	fputs("slowest host: ", out);
	text_wrap(out, text, 14, 14, REPORT_WIDTH);
	if (nr > 1 && lag)
		fprintf(out, "              some host is over %.0f%% below it in %zu of %zu runs\n",
			100 * LAGS_BELOW, lag, nr);
}

static uint64_t counted_on(const struct result_step *s, const char *host, size_t id)
{
	const struct result_group *all = s->groups;
	uint64_t n = 0;

	for (size_t h = 0; s->nr_groups && h < all->nr_hosts; h++)
		for (unsigned dir = 0; dir < DIR_COUNT && streq(all->hosts[h].name, host); dir++)
			n += metric_value(&all->hosts[h].dir[dir].sum.counts, &metrics[id]);
	return n;
}

/* "errors:       3 on initiator03" of one counter of group 'all' over all steps. */
static void print_trouble(const struct result *r, const char *what, size_t id, FILE *out)
{
	_cleanup_free_ const char **names = NULL;
	_cleanup_free_ char *folded = NULL, *text = NULL, *printable = NULL;
	uint64_t total = 0;
	size_t nr = 0;

	for (size_t h = 0; h < r->nr_hosts; h++) {
		uint64_t of_host = 0;

		for (size_t i = 0; i < r->nr_steps; i++)
			of_host += counted_on(&r->steps[i], r->hosts[h].name, id);
		total += of_host;
		if (!of_host)
			continue;
		names = xrealloc(names, nr + 1, sizeof(*names));
		names[nr++] = r->hosts[h].name;
	}
	if (!total)
		return;
	folded = hostlist_fold(names, nr);
	text = xasprintf("%-12s  %" PRIu64 " on %s", what, total, folded);
	printable = str_printable(text);
	text_wrap(out, printable, 0, 14, REPORT_WIDTH);
}

void text_result(const struct result *r, FILE *out)
{
	if (!r->nr_steps)
		return;
	if (has_repeats(r))
		print_means(r, out);
	else
		print_step_totals(r, out);
	print_slowest(r, out);
	print_trouble(r, "errors:", METRIC_ID_errors, out);
	print_trouble(r, "unfinished:", METRIC_ID_unfinished_ios, out);
	print_trouble(r, "short I/Os:", METRIC_ID_short_ios, out);
}

/* --- the spread ------------------------------------------------------------------------------------- */

static void add_spread(struct table *t, const char *title, const char *label,
		       const struct result_metric *m)
{
	const double values[] = { m->mean, m->stddev, m->min, m->max };
	char text[4][UNITS_TEXT];

	for (size_t i = 0; i < array_size(values); i++)
		metric_text(text[i], m->name, values[i]);
	table_cell(t, "%s", title);
	table_text(t, label);
	table_cell(t, "%" PRIu64, m->n);
	table_cell(t, "%s", text[0]);
	table_cell(t, "%s", text[1]);
	if (isfinite(m->stddev) && m->mean > 0)
		table_cell(t, "%.1f%%", 100 * m->stddev / m->mean);
	else
		table_cell(t, "-");
	table_cell(t, "%s", text[2]);
	table_cell(t, "%s", text[3]);
}

/* One metric of all points, a row each. */
static void add_metric(struct table *t, const struct result *r, const char *direction,
		       const char *name, const char *title)
{
	_cleanup_free_ char *full = xasprintf("%s%s%s", direction, *direction ? " " : "", title);
	bool is_first = true, is_zero = true;

	for (size_t i = 0; i < r->nr_summary; i++) {
		const struct result_metric *m = find_metric(&r->summary[i], direction, name);

		is_zero &= !m || !is_all(&r->summary[i]) || !(m->max > 0);
	}
	for (size_t i = 0; i < r->nr_summary && !is_zero; i++) {
		const struct result_summary *s = &r->summary[i];
		const struct result_metric *m = find_metric(s, direction, name);
		_cleanup_free_ char *label = text_label(r, s->point, s->nr_point, s->phase, 0);

		if (!m || !is_all(s))
			continue;
		add_spread(t, is_first ? full : "", label, m);
		is_first = false;
	}
}

void text_summary(const struct result *r, FILE *out)
{
	static const struct {
		const char *name, *title;
	} of_direction[] = { { "iops", "IOPS" },
			     { "bw_bytes", "MiB/s" },
			     { "lat.mean", "lat mean" },
			     { "lat.p99", "lat p99" } };
	static const char *const heads[] = { "SPREAD", "",        "n",   "mean",
					     "stddev", "of mean", "min", "max" };
	_cleanup_(table_fini) struct table t = { 0 };

	if (!has_repeats(r) || !r->nr_summary)
		return;
	table_init(&t, "llrrrrrr");
	for (size_t i = 0; i < array_size(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (unsigned dir = 0; dir < DIR_COUNT; dir++)
		for (size_t i = 0; i < array_size(of_direction); i++)
			add_metric(&t, r, direction_names[dir], of_direction[i].name,
				   of_direction[i].title);
	add_metric(&t, r, "", "cpu.usr", "cpu usr");
	add_metric(&t, r, "", "cpu.sys", "cpu sys");
	add_metric(&t, r, "", "errors", "errors");
	fputc('\n', out);
	table_print(&t, out, 0);
	fputs("n: repeats that are in it, partial ones are not; stddev divides by n - 1\n", out);
}
