/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/report/text.h"

#include "common/base/clock.h"

#include <inttypes.h>
#include <math.h>

/* A host whose rate per thread is so far below the median is pointed at. */
static const double LAGS_BELOW = 0.9;
/* Rates over the whole time and over the common window may differ by so much before both are shown. */
static const double COMMON_DIFFERS = 0.01;
enum {
	ROWS_MAX = 64,     /* longer tables show their ends only */
	ROWS_SLOWEST = 16, /* that many of the slow end */
	PERCENTILES_A_ROW = 5,
};

void text_iops(char text[UNITS_TEXT], double iops)
{
	if (isfinite(iops))
		snprintf(text, UNITS_TEXT, iops < 99.95 ? "%.1f" : "%.0f", iops);
	else
		snprintf(text, UNITS_TEXT, "-");
}

static void text_scaled(char text[UNITS_TEXT], double value, double unit)
{
	double v = value / unit;

	if (isfinite(v))
		snprintf(text, UNITS_TEXT, "%.*f", v < 9.995 ? 3 : v < 99.95 ? 2 : 1, v);
	else
		snprintf(text, UNITS_TEXT, "-");
}

void text_mib(char text[UNITS_TEXT], double bytes)
{
	text_scaled(text, bytes, 1024.0 * 1024.0);
}

void text_mb(char text[UNITS_TEXT], double bytes)
{
	text_scaled(text, bytes, 1e6);
}

/* Milliseconds of what took seconds, and enough digits of what did not. */
static void text_runtime(char text[UNITS_TEXT], uint64_t ns)
{
	if (ns >= NS_PER_S)
		snprintf(text, UNITS_TEXT, "%.3f s", (double)ns / 1e9);
	else
		units_human_ns(text, (double)ns);
}

/* "482.3 MiB/s (505.7 MB/s)" */
static void print_bandwidth(FILE *out, double bw_bytes)
{
	char mib[UNITS_TEXT], mb[UNITS_TEXT];

	text_mib(mib, bw_bytes);
	text_mb(mb, bw_bytes);
	fprintf(out, "%s MiB/s (%s MB/s)", mib, mb);
}

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

static void print_latencies(const struct direction_sum *d, FILE *out)
{
	static const char *const heads[] = { "", "min", "mean", "max", "stdev", "samples" };
	_cleanup_(table_fini) struct table t = { 0 };

	table_init(&t, "rrrrrr");
	for (size_t i = 0; i < array_size(heads); i++)
		table_cell(&t, "%s", heads[i]);
	add_latency_row(&t, "slat", &d->slat);
	add_latency_row(&t, "clat", &d->clat);
	add_latency_row(&t, "lat", &d->lat);
	table_print(&t, out, 4);
}

static const struct {
	const char *name;
	double ns;
	int decimals;
} scales[] = { { "s", 1e9, 3 }, { "ms", 1e6, 2 }, { "us", 1e3, 1 }, { "ns", 1, 0 } };

/* The unit in which the middle of the distribution has two digits at least, so that a column has one. */
static size_t scale_of(const struct hist *h)
{
	double middle = (double)hist_percentile(h, 50);
	size_t i = 0;

	while (i + 1 < array_size(scales) && middle < 10 * scales[i].ns)
		i++;
	return i;
}

static void print_percentiles(const struct hist *h, FILE *out)
{
	static const double points[] = { 1,  5,  10, 20, 30,   40,   50,    60,   70,
					 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99 };
	_cleanup_(table_fini) struct table t = { 0 };
	size_t scale;

	if (!h->count)
		return;
	scale = scale_of(h);
	fprintf(out, "    lat percentiles (%s):\n", scales[scale].name);
	table_init(&t, "rrrrrrrrrr");
	for (size_t i = 0; i < array_size(points); i++) {
		table_cell(&t, "%.2fth", points[i]);
		table_cell(&t, "%.*f", scales[scale].decimals,
			   (double)hist_percentile(h, points[i]) / scales[scale].ns);
	}
	while (t.nr_cells % t.nr_columns)
		table_cell(&t, "%s", "");
	table_print(&t, out, 5);
}

static void print_samples(const char *name, const struct sample_stats *s, double unit, FILE *out)
{
	char interval[UNITS_TEXT], v[4][UNITS_TEXT];
	const double values[] = { s->min, s->mean, s->max, s->stddev };

	if (!s->n)
		return;
	units_format_duration(interval, s->interval_ns);
	for (size_t i = 0; i < 4; i++)
		if (unit > 1)
			text_scaled(v[i], values[i], unit);
		else
			text_iops(v[i], values[i]);
	fprintf(out, "    %s: min=%s, mean=%s, max=%s, stdev=%s, samples=%" PRIu64 " of %s\n", name,
		v[0], v[1], v[2], v[3], s->n, interval);
}

/* Where the rate over the whole runtime hides that not all threads ran all the time. */
static void print_common(const struct result_direction *d, FILE *out)
{
	char iops[UNITS_TEXT];

	if (!d->has_common || !isfinite(d->iops) ||
	    fabs(d->common_iops - d->iops) <= COMMON_DIFFERS * d->iops)
		return;
	text_iops(iops, d->common_iops);
	fprintf(out, "    common window (every thread ran, %.3f-%.3f s): IOPS=%s, BW=",
		(double)d->common_start_ns / 1e9, (double)d->common_end_ns / 1e9, iops);
	print_bandwidth(out, d->common_bw_bytes);
	fputc('\n', out);
}

static void print_counts(const struct counts *c, FILE *out)
{
	char text[UNITS_TEXT];

	fprintf(out, "    errors=%" PRIu64 ", short=%" PRIu64, c->errors, c->short_ios);
	if (c->ramp_ios) {
		units_human_bytes(text, (double)c->ramp_bytes);
		fprintf(out, ", ramp=%" PRIu64 " (%s)", c->ramp_ios, text);
	}
	fprintf(out, ", drained=%" PRIu64, c->drain_ios);
	if (c->drain_ios) {
		units_human_ns(text, (double)c->drain_lat_max_ns);
		fprintf(out, " (longest %s)", text);
	}
	fprintf(out, ", unfinished=%" PRIu64, c->unfinished_ios);
	if (c->unfinished_ios) {
		units_human_ns(text, (double)c->unfinished_age_ns);
		fprintf(out, " (oldest %s)", text);
	}
	fputc('\n', out);
}

static void print_direction(const char *name, const struct result_direction *d, FILE *out)
{
	char iops[UNITS_TEXT], total[UNITS_TEXT], run[UNITS_TEXT];

	text_iops(iops, d->iops);
	text_runtime(run, d->runtime_ns);
	units_human_bytes(total, (double)d->sum.counts.bytes);
	fprintf(out, "  %s: IOPS=%s, BW=", name, iops);
	print_bandwidth(out, d->bw_bytes);
	fprintf(out, ", total=%s, ios=%" PRIu64 ", run=%s\n", total, d->sum.counts.ios, run);
	print_common(d, out);
	if (d->sum.lat.count)
		print_latencies(&d->sum, out);
	else
		fputs("    lat: -\n", out);
	print_percentiles(&d->sum.lat, out);
	print_samples("iops", &d->iops_samples, 1, out);
	print_samples("bw (MiB/s)", &d->bw_samples, 1024.0 * 1024.0, out);
	print_counts(&d->sum.counts, out);
}

/* Flushes are counted apart: they move no bytes, and their latency is the answer that many look for. */
static void print_sync(const struct result_direction *d, FILE *out)
{
	char rate[UNITS_TEXT], run[UNITS_TEXT];

	text_iops(rate, d->iops);
	text_runtime(run, d->runtime_ns);
	fprintf(out, "  sync: fsyncs=%" PRIu64 ", %s/s, run=%s\n", d->sum.counts.ios, rate, run);
	if (d->sum.lat.count)
		print_latencies(&d->sum, out);
	print_percentiles(&d->sum.lat, out);
	print_counts(&d->sum.counts, out);
}

/* --- tables of hosts, targets and jobs -------------------------------------------------------------- */

static double rate_per_thread(const struct result_group *g)
{
	return g->total.used && g->threads ? g->total.iops / (double)g->threads : NAN;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of those that have a rate; NaN for none. The ascending rates are left in `rates`. */
static double median_rate(const struct result_group *groups, size_t nr, double *rates,
			  size_t *ret_nr)
{
	*ret_nr = 0;
	for (size_t i = 0; i < nr; i++) {
		double rate = rate_per_thread(&groups[i]);

		if (isfinite(rate))
			rates[(*ret_nr)++] = rate;
	}
	if (!*ret_nr)
		return NAN;
	qsort(rates, *ret_nr, sizeof(*rates), compare_doubles);
	return *ret_nr % 2 ? rates[*ret_nr / 2] : (rates[*ret_nr / 2 - 1] + rates[*ret_nr / 2]) / 2;
}

static uint64_t errors_of(const struct result_group *g)
{
	return g->total.sum.counts.errors + g->dir[DIR_SYNC].sum.counts.errors;
}

static const struct result_host *find_host(const struct result *r, const char *name)
{
	for (size_t i = 0; i < r->nr_hosts; i++)
		if (streq(r->hosts[i].name, name))
			return &r->hosts[i];
	return NULL;
}

struct member_table {
	const struct result *r; /* NULL: the rows are no hosts */
	double fair, median, slowest;
};

static void add_note(struct table *t, const struct member_table *m, const struct result_group *g)
{
	const struct result_host *h = m->r ? find_host(m->r, g->name) : NULL;
	double rate = rate_per_thread(g);

	if (h && h->state != HOST_COMPLETE)
		table_cell(t, "< %s at %.1f s", host_state_names[h->state],
			   (double)h->lost_at_ns / 1e9);
	else if (m->r && rate < LAGS_BELOW * m->median)
		table_cell(t, "< %s-%.0f %%", rate <= m->slowest ? "slowest: " : "",
			   100 * (1 - rate / m->median));
	else
		table_cell(t, "%s", "");
}

static void add_member(struct table *t, const struct member_table *m, const struct result_group *g)
{
	const struct hist *lat = &g->total.sum.lat;
	char text[5][UNITS_TEXT] = { "-", "-", "-", "-", "-" };
	double share = 100 * rate_per_thread(g) / m->fair;

	if (g->total.used) {
		text_iops(text[0], g->total.iops);
		text_mib(text[1], g->total.bw_bytes);
	}
	if (lat->count) {
		units_human_ns(text[2], hist_mean(lat));
		units_human_ns(text[3], (double)hist_percentile(lat, 99));
		units_human_ns(text[4], (double)lat->max);
	}
	table_text(t, g->name);
	table_cell(t, "%" PRIu64, g->threads);
	for (size_t i = 0; i < array_size(text); i++)
		table_cell(t, "%s", text[i]);
	table_cell(t, "%" PRIu64, errors_of(g));
	if (isfinite(share))
		table_cell(t, "%.0f %%", share);
	else
		table_cell(t, "-");
	add_note(t, m, g);
}

/* Which rows of a long table are shown: the slowest, and some of those that have errors. */
struct selection {
	bool all;
	double threshold; /* slower rows are shown */
	size_t ties;      /* and so many that are as slow */
	size_t errors;    /* and so many with errors */
};

static struct selection select_rows(size_t nr, const double *rates, size_t nr_rates)
{
	struct selection s = { .all = nr <= ROWS_MAX || nr_rates <= ROWS_SLOWEST };
	size_t slower = 0;

	if (s.all)
		return s;
	s.threshold = rates[ROWS_SLOWEST - 1];
	while (rates[slower] < s.threshold)
		slower++;
	s.ties = ROWS_SLOWEST - slower;
	s.errors = ROWS_MAX;
	return s;
}

static bool is_shown(struct selection *s, const struct result_group *g)
{
	double rate = rate_per_thread(g);

	if (s->all || !isfinite(rate) || rate < s->threshold)
		return true;
	if (rate <= s->threshold && s->ties) {
		s->ties--;
		return true;
	}
	if (!errors_of(g) || !s->errors)
		return false;
	s->errors--;
	return true;
}

static void print_members(const char *title, const struct result *hosts_of,
			  const struct result_group *g, const struct result_group *rows, size_t nr,
			  FILE *out)
{
	const char *const heads[] = { title, "threads", "IOPS",   "MiB/s", "mean",
				      "p99", "max",     "errors", "share", "" };
	_cleanup_free_ double *rates = xcalloc(nr, sizeof(*rates));
	struct member_table m = { .r = hosts_of };
	_cleanup_(table_fini) struct table t = { 0 };
	size_t nr_rates, shown = 0;
	double sum = 0, threads = 0;
	struct selection selection;

	m.median = median_rate(rows, nr, rates, &nr_rates);
	selection = select_rows(nr, rates, nr_rates);
	m.slowest = nr_rates ? rates[0] : NAN;
	for (size_t i = 0; i < nr; i++) {
		if (!isfinite(rate_per_thread(&rows[i])))
			continue;
		sum += rows[i].total.iops;
		threads += (double)rows[i].threads;
	}
	m.fair = sum / threads;
	table_init(&t, "lrrrrrrrrl");
	for (size_t i = 0; i < array_size(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < nr; i++) {
		if (!is_shown(&selection, &rows[i]))
			continue;
		add_member(&t, &m, &rows[i]);
		shown++;
	}
	fprintf(out, "\n  %ss of group '%s' (share: of an equal share per thread%s)\n", title,
		g->name, hosts_of && nr > 1 ? "; < percent: against the median" : "");
	table_print(&t, out, 4);
	if (shown < nr)
		fprintf(out, "    and %zu more that are not slower: see result.json\n", nr - shown);
}

/* --- the group -------------------------------------------------------------------------------------- */

/* "30.000-31.000 s", or "431 us to 1.02 s" */
static void print_runtimes(uint64_t shortest, uint64_t longest, FILE *out)
{
	char low[UNITS_TEXT], high[UNITS_TEXT];

	text_runtime(low, shortest);
	text_runtime(high, longest);
	if (shortest >= NS_PER_S)
		fprintf(out, "%.3f-%s", (double)shortest / 1e9, high);
	else
		fprintf(out, "%s to %s", low, high);
}

static void print_status_line(const struct result_group *g, enum direction dir, FILE *out)
{
	static const char *const names[] = { "READ", "WRITE", "TRIM" };
	const struct result_direction *d = &g->dir[dir];
	double min = INFINITY, max = -INFINITY;
	uint64_t shortest = UINT64_MAX, longest = 0;
	char low[UNITS_TEXT], high[UNITS_TEXT], total[UNITS_TEXT], total_si[UNITS_TEXT];

	for (size_t i = 0; i < g->nr_hosts; i++) {
		const struct result_direction *h = &g->hosts[i].dir[dir];

		if (!h->used || !isfinite(h->bw_bytes))
			continue;
		min = fmin(min, h->bw_bytes);
		max = fmax(max, h->bw_bytes);
		shortest = h->runtime_ns < shortest ? h->runtime_ns : shortest;
		longest = h->runtime_ns > longest ? h->runtime_ns : longest;
	}
	text_mib(low, min);
	text_mib(high, max);
	units_human_bytes(total, (double)d->sum.counts.bytes);
	units_human_bytes_si(total_si, (double)d->sum.counts.bytes);
	fprintf(out, "  %5s: bw=", names[dir]);
	print_bandwidth(out, d->bw_bytes);
	if (shortest <= longest)
		fprintf(out, ", per host %s-%s MiB/s", low, high);
	fprintf(out, ",\n         io=%s (%s), run=", total, total_si);
	if (shortest <= longest)
		print_runtimes(shortest, longest, out);
	else
		fputs("-", out);
	fputc('\n', out);
}

static void print_cpu(const struct result_group *g, FILE *out)
{
	if (g->has_cpu)
		fprintf(out,
			"  cpu: usr=%.2f %%, sys=%.2f %% of one CPU, ctx=%" PRIu64 ", majf=%" PRIu64
			", minf=%" PRIu64 "\n",
			g->cpu_usr, g->cpu_sys, g->ctx, g->majf, g->minf);
	else
		fputs("  cpu: -\n", out);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
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
	fprintf(out, "%s: (hosts=%zu, threads=%" PRIu64 "): err=%" PRIu64 ", depth=%" PRIu64,
		g->name, g->nr_hosts, g->threads, errors_of(g), g->depth);
	if (g->effective_depth)
		fprintf(out, ", at most %" PRIu64 " in flight per thread", g->effective_depth);
	fputc('\n', out);
	print_buffered(g, out);
	if (g->first_error) {
		_cleanup_free_ char *text = str_printable(g->first_error);

		fputs("  first error: ", out);
		text_wrap(out, text, 15, 4, REPORT_WIDTH);
	}
}

void text_group(const struct result *r, const struct result_group *g, FILE *out)
{
	fputc('\n', out);
	print_head(g, out);
	for (unsigned dir = 0; dir < DIR_SYNC; dir++)
		if (g->dir[dir].used)
			print_direction(direction_names[dir], &g->dir[dir], out);
	if (g->dir[DIR_SYNC].used)
		print_sync(&g->dir[DIR_SYNC], out);
	print_cpu(g, out);
	print_members("host", r, g, g->hosts, g->nr_hosts, out);
	if (g->nr_targets > 1)
		print_members("target", NULL, g, g->targets, g->nr_targets, out);
	if (g->nr_jobs > 1)
		print_members("job", NULL, g, g->jobs, g->nr_jobs, out);
	fprintf(out, "\nRun status group '%s' (%zu host%s, %" PRIu64 " thread%s):\n", g->name,
		g->nr_hosts, plural(g->nr_hosts), g->threads, plural(g->threads));
	for (unsigned dir = 0; dir < DIR_SYNC; dir++)
		if (g->dir[dir].used)
			print_status_line(g, (enum direction)dir, out);
}
