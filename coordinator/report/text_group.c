/* SPDX-License-Identifier: Apache-2.0 */
/* text_group.c - one group of a step: what fio calls a group report. */
#include "coordinator/report/text.h"

#include <inttypes.h>
#include <math.h>

enum {
	NAME_WIDTH = 11,       /* of what stands in front of the numbers of a direction */
	PERCENTILES_FROM = 10, /* of fewer I/Os they only say minimum and maximum again */
};
/* Rates over the whole time and over the common window may differ by so much before both are shown. */
static const double COMMON_DIFFERS = 0.01;

/* --- one direction ---------------------------------------------------------------------------------- */

static void add_latency_row(struct table *t, const char *name, const struct hist *h)
{
	char text[4][UNITS_TEXT];

	if (!h->count)
		return;
	units_human_ns(text[0], (double)h->min);
	units_human_ns(text[1], hist_mean(h));
	units_human_ns(text[2], (double)h->max);
	units_human_ns(text[3], hist_stddev(h));
	table_cell(t, "%s", name);
	for (size_t i = 0; i < 4; i++)
		table_cell(t, "%s", text[i]);
	table_cell(t, "%" PRIu64, h->count);
}

static void add_rate_row(struct table *t, const char *name, const struct sample_stats *s,
			 void (*format)(char text[UNITS_TEXT], double value))
{
	const double values[] = { s->min, s->mean, s->max, s->stddev };
	char text[UNITS_TEXT];

	if (!s->n)
		return;
	table_cell(t, "%s", name);
	for (size_t i = 0; i < array_size(values); i++) {
		format(text, values[i]);
		table_cell(t, "%s", text);
	}
	units_format_duration(text, s->interval_ns);
	table_cell(t, "%" PRIu64 " x %s", s->n, text);
}

static void print_statistics(const struct result_direction *d, FILE *out)
{
	static const char *const heads[] = { "", "min", "mean", "max", "stdev", "samples" };
	_cleanup_(table_fini) struct table t = { 0 };

	table_init(&t, "rrrrrr");
	for (size_t i = 0; i < array_size(heads); i++)
		table_cell(&t, "%*s", i ? 0 : NAME_WIDTH, heads[i]);
	add_latency_row(&t, "slat", &d->sum.slat);
	add_latency_row(&t, "clat", &d->sum.clat);
	add_latency_row(&t, "service", &d->sum.service);
	add_latency_row(&t, "lat", &d->sum.lat);
	add_latency_row(&t, "late", &d->sum.late);
	add_rate_row(&t, "iops", &d->iops_samples, text_iops);
	if (d->bw_bytes > 0)
		add_rate_row(&t, "bw (MiB/s)", &d->bw_samples, text_mib);
	if (t.nr_cells > array_size(heads))
		table_print(&t, out, 4);
	if (!d->sum.lat.count)
		fputs("    lat: -\n", out);
}

static void print_percentiles(const struct hist *h, FILE *out)
{
	static const double points[] = { 1,  5,  10, 20, 30,   40,   50,    60,   70,
					 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99 };
	enum { A_ROW = 9 };
	_cleanup_(table_fini) struct table t = { 0 };

	table_init(&t, "rrrrrrrrrr");
	for (size_t first = 0; first < array_size(points); first += A_ROW) {
		table_cell(&t, "%*s", NAME_WIDTH, first ? "" : "percentiles");
		for (size_t i = first; i < first + A_ROW; i++)
			if (i < array_size(points))
				table_cell(&t, "%.2fth", points[i]);
			else
				table_cell(&t, "%s", "");
		table_cell(&t, "%s", "lat");
		for (size_t i = first; i < first + A_ROW; i++) {
			char text[UNITS_TEXT] = "";

			if (i < array_size(points))
				units_human_ns(text, (double)hist_percentile(h, points[i]));
			table_cell(&t, "%s", text);
		}
	}
	table_print(&t, out, 4);
}

/* "100=1.23%, 250=<0.01%" of the buckets of one unit; NULL where all of them are empty. */
static char *buckets_text(const char *unit, const uint64_t *counts, const uint64_t *shares)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	bool is_first = true;

	assert(out);
	for (size_t i = 0; i < NR_LATENCY_BUCKETS; i++) {
		const struct latency_bucket *b = &latency_buckets[i];

		if (!counts[i] || !streq(b->unit, unit))
			continue;
		fputs(is_first ? "" : ", ", out);
		is_first = false;
		if (b->bound)
			fprintf(out, "%u=", b->bound);
		else
			fprintf(out, ">=%u=", latency_buckets[i - 1].bound);
		if (shares[i])
			fprintf(out, "%.2f%%", (double)shares[i] / 100);
		else
			fputs("<0.01%", out);
	}
	fclose(out);
	if (is_first)
		freep(&text);
	return text;
}

/* "    lat (us): 250=12.34%, 500=80.00%", a line for each unit, as fio has them. */
static void print_buckets(const struct hist *h, FILE *out)
{
	enum { WHOLE = 10000 }; /* shares are shown in hundredths of a percent */
	static const char *const units[] = { "ns", "us", "ms" };
	uint64_t counts[NR_LATENCY_BUCKETS], shares[NR_LATENCY_BUCKETS];

	latency_counts(h, counts);
	share_units(counts, NR_LATENCY_BUCKETS, WHOLE, shares);
	for (size_t u = 0; u < array_size(units); u++) {
		_cleanup_free_ char *text = buckets_text(units[u], counts, shares);

		if (!text)
			continue;
		fprintf(out, "    lat (%s): ", units[u]);
		text_wrap(out, text, 14, 14, REPORT_WIDTH);
	}
}

/* Where the rate over the whole runtime hides that not all threads ran all the time. */
static void print_common(const struct result_direction *d, FILE *out)
{
	_cleanup_free_ char *bandwidth = NULL;
	char iops[UNITS_TEXT];

	if (!d->has_common || !isfinite(d->iops) ||
	    fabs(d->common_iops - d->iops) <= COMMON_DIFFERS * d->iops)
		return;
	text_iops(iops, d->common_iops);
	bandwidth = text_bandwidth(d->common_bw_bytes);
	text_print(out, 4, "common window (every thread ran, %.3f-%.3f s): IOPS=%s, BW=%s",
		   (double)d->common_start_ns / 1e9, (double)d->common_end_ns / 1e9, iops,
		   bandwidth);
}

/* " (longest 1.2 ms)" of what was counted at all */
static char *remark(uint64_t nr, const char *what, const char *value)
{
	return nr ? xasprintf(" (%s%s)", what, value) : xstrdup("");
}

/* Everything that was submitted, and what became of it. */
static void print_issued(const struct counts *c, FILE *out)
{
	uint64_t issued = c->ramp_ios + c->ios + c->drain_ios + c->errors + c->unfinished_ios;
	_cleanup_free_ char *ramp = NULL, *drain = NULL, *unfinished = NULL;
	char text[UNITS_TEXT];

	units_human_bytes(text, (double)c->ramp_bytes);
	ramp = remark(c->ramp_bytes, "", text);
	units_human_ns(text, (double)c->drain_lat_max_ns);
	drain = remark(c->drain_ios, "longest ", text);
	units_human_ns(text, (double)c->unfinished_age_ns);
	unfinished = remark(c->unfinished_ios, "oldest ", text);
	text_print(out, 4,
		   "issued=%" PRIu64 ": ramp=%" PRIu64 "%s, window=%" PRIu64 ", drained=%" PRIu64
		   "%s, errors=%" PRIu64 ", unfinished=%" PRIu64 "%s; short=%" PRIu64,
		   issued, c->ramp_ios, ramp, c->ios, c->drain_ios, drain, c->errors,
		   c->unfinished_ios, unfinished, c->short_ios);
	if (!c->unissued_ios)
		return;
	units_human_ns(text, (double)c->unissued_age_ns);
	text_print(out, 4,
		   "unissued=%" PRIu64 ": due, but not submitted by the window's end (oldest %s)",
		   c->unissued_ios, text);
}

/* Neither went well nor wrong: the step ended before. */
static bool is_untouched(const struct result_direction *d)
{
	const struct counts *c = &d->sum.counts;

	return !d->sum.lat.count && !c->ios && !c->errors && !c->unfinished_ios && !c->ramp_ios;
}

static void print_distribution(const struct result_direction *d, FILE *out)
{
	print_statistics(d, out);
	if (!d->sum.lat.count)
		return;
	if (d->sum.lat.count >= PERCENTILES_FROM)
		print_percentiles(&d->sum.lat, out);
	print_buckets(&d->sum.lat, out);
}

static void print_direction(const char *name, const struct result_direction *d, FILE *out)
{
	_cleanup_free_ char *bandwidth = text_bandwidth(d->bw_bytes);
	char iops[UNITS_TEXT], total[UNITS_TEXT], run[UNITS_TEXT];

	if (is_untouched(d)) {
		fprintf(out, "  %s: no I/O\n", name);
		return;
	}
	text_iops(iops, d->iops);
	text_runtime(run, d->runtime_ns);
	units_human_bytes(total, (double)d->sum.counts.bytes);
	text_print(out, 2, "%s: IOPS=%s, BW=%s, total=%s, ios=%" PRIu64 ", run=%s", name, iops,
		   bandwidth, total, d->sum.counts.ios, run);
	print_common(d, out);
	print_distribution(d, out);
	print_issued(&d->sum.counts, out);
}

/* Flushes are counted apart: they move no bytes, and their latency is the answer that many look for. */
static void print_sync(const struct result_direction *d, FILE *out)
{
	char rate[UNITS_TEXT], run[UNITS_TEXT];

	if (is_untouched(d)) {
		fputs("  sync (fsync, fdatasync): none\n", out);
		return;
	}
	text_iops(rate, d->iops);
	text_runtime(run, d->runtime_ns);
	text_print(out, 2, "sync (fsync, fdatasync): %s per s, total=%" PRIu64 ", run=%s", rate,
		   d->sum.counts.ios, run);
	print_distribution(d, out);
	print_issued(&d->sum.counts, out);
}

/* --- the group -------------------------------------------------------------------------------------- */

static void print_errors(const struct result_group *g, FILE *out)
{
	static const char *const heads[] = { "errors", "",          "count",      "first on host",
					     "target", "at offset", "after start" };
	_cleanup_(table_fini) struct table t = { 0 };

	table_init(&t, "llrllrr");
	for (size_t i = 0; i < array_size(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < g->nr_errors; i++) {
		const struct result_error *e = &g->errors[i];
		bool is_known = e->direction >= 0 && e->direction < DIR_COUNT;
		char when[UNITS_TEXT] = "-";

		if (e->first_ns)
			text_runtime(when, e->first_ns);
		table_cell(&t, "  %s", is_known ? direction_names[e->direction] : "-");
		if (e->name)
			table_text(&t, e->name);
		else
			table_cell(&t, "errno %" PRIu64, e->number);
		table_cell(&t, "%" PRIu64, e->count);
		table_text(&t, e->first_host ? e->first_host : "-");
		table_text(&t, e->first_target ? e->first_target : "-");
		if (e->first_offset == UINT64_MAX)
			table_cell(&t, "-");
		else
			table_cell(&t, "%" PRIu64 " B", e->first_offset);
		table_cell(&t, "%s", when);
	}
	table_print(&t, out, 2);
}

static void print_cpu(const struct result_group *g, FILE *out)
{
	char usr[UNITS_TEXT], sys[UNITS_TEXT], iowq[UNITS_TEXT];

	if (!g->has_cpu) {
		fputs("  cpu: -\n", out);
		return;
	}
	text_percent(usr, g->cpu_usr);
	text_percent(sys, g->cpu_sys);
	text_percent(iowq, g->cpu_iowq);
	text_print(out, 2,
		   "cpu: usr=%s, sys=%s (of one CPU; by io-wq: %s), ctx=%" PRIu64 ", majf=%" PRIu64
		   ", minf=%" PRIu64,
		   usr, sys, iowq, g->ctx, g->majf, g->minf);
}

/* "  IO depths : 1=0.1%, 2=0.0%, ... >=64=0.0%": fio's columns; each is named by its lower bound. */
static void print_depths(const char *name, const struct pow2_counts *p, FILE *out)
{
	enum { COLUMNS = 7, WHOLE = 1000 }; /* shares are shown in tenths of a percent */
	uint64_t counts[COLUMNS] = { 0 }, shares[COLUMNS];

	for (size_t i = 0; i < POW2_BUCKETS; i++)
		counts[i < COLUMNS ? i : COLUMNS - 1] += p->bucket[i];
	share_units(counts, COLUMNS, WHOLE, shares);
	fprintf(out, "  %9s: ", name);
	for (size_t i = 0; i < COLUMNS; i++) {
		fprintf(out, "%s%s%u=", i ? ", " : "", i + 1 == COLUMNS ? ">=" : "", 1u << i);
		if (counts[i] && !shares[i])
			fputs("<0.1%", out);
		else
			fprintf(out, "%.1f%%", (double)shares[i] / 10);
	}
	fputc('\n', out);
}

/* Memory answers much of buffered I/O: whoever reads the numbers must know. */
static void print_buffered(const struct result_group *g, FILE *out)
{
	if (!g->buffered_threads)
		return;
	if (g->buffered_threads == g->threads)
		fputs("  buffered", out);
	else
		fprintf(out, "  %" PRIu64 " of %" PRIu64 " threads buffered", g->buffered_threads,
			g->threads);
	fputs(": I/O goes through the page cache (direct: false)\n", out);
}

static void print_head(const struct result_group *g, FILE *out)
{
	_cleanup_free_ char *name = str_printable(g->name), *text = NULL, *effective = NULL;

	if (g->effective_depth)
		effective =
			xasprintf(", at most %" PRIu64 " in flight per thread", g->effective_depth);
	text = xasprintf(
		"%s: (hosts=%zu, threads=%" PRIu64 "): err=%" PRIu64 ", depth=%" PRIu64 "%s", name,
		g->nr_hosts, g->threads, group_errors(g), g->depth, effective ? effective : "");
	text_wrap(out, text, 0, 4, REPORT_WIDTH);
	print_buffered(g, out);
	if (g->nr_errors)
		print_errors(g, out);
}

uint64_t group_errors(const struct result_group *g)
{
	return g->total.sum.counts.errors + g->dir[DIR_SYNC].sum.counts.errors;
}

void text_group(const struct result *r, const struct result_step *s, const struct result_group *g,
		FILE *out)
{
	fputc('\n', out);
	print_head(g, out);
	for (unsigned dir = 0; dir < DIR_SYNC; dir++)
		if (g->dir[dir].used)
			print_direction(direction_names[dir], &g->dir[dir], out);
	if (g->dir[DIR_SYNC].used)
		print_sync(&g->dir[DIR_SYNC], out);
	print_cpu(g, out);
	if (g->has_depths) {
		print_depths("IO depths", &g->depths, out);
		print_depths("submit", &g->submits, out);
		print_depths("complete", &g->completes, out);
	}
	text_members(r, s, g, out);
	text_run_status(g, out);
}
