/* SPDX-License-Identifier: Apache-2.0 */
/* text_members.c - tables of a group's hosts, targets and jobs, and what stands out among its hosts. */
#include "coordinator/report/text.h"

#include "common/base/clock.h"

#include <inttypes.h>
#include <math.h>

enum { ROWS_MAX = 20 }; /* longer tables show their worst rows only */

const struct result_host *find_host(const struct result *r, const char *name)
{
	for (size_t i = 0; i < r->nr_hosts; i++)
		if (streq(r->hosts[i].name, name))
			return &r->hosts[i];
	return NULL;
}

static double rate_per_thread(const struct result_group *g)
{
	return g->total.used && g->threads ? g->total.iops / (double)g->threads : NAN;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Hosts with different jobs have different rates for good reason. */
static bool hosts_are_alike(const struct result_step *s)
{
	for (size_t i = 1; i < s->nr_jobs; i++)
		if (!s->jobs[0].hosts || !s->jobs[i].hosts ||
		    !streq(s->jobs[0].hosts, s->jobs[i].hosts))
			return false;
	return true;
}

static bool is_gone(const struct result *r, const struct result_group *g)
{
	const struct result_host *h = find_host(r, g->name);

	return h && h->state != HOST_COMPLETE;
}

/* Of those that have a rate and are still there; NaN where there are no two of them. */
static double median_rate(const struct result *r, const struct result_group *groups, size_t nr)
{
	_cleanup_free_ double *rates = xcalloc(nr, sizeof(*rates));
	size_t n = 0;

	for (size_t i = 0; i < nr; i++) {
		double rate = rate_per_thread(&groups[i]);

		if (isfinite(rate) && !is_gone(r, &groups[i]))
			rates[n++] = rate;
	}
	if (n < 2)
		return NAN;
	qsort(rates, n, sizeof(*rates), compare_doubles);
	return n % 2 ? rates[n / 2] : (rates[n / 2 - 1] + rates[n / 2]) / 2;
}

const struct result_group *slowest_host(const struct result *r, const struct result_step *s,
					const struct result_group *g, double *ret_below)
{
	double median = median_rate(r, g->hosts, g->nr_hosts), slowest = INFINITY;
	const struct result_group *ret = NULL;

	if (!(median > 0) || !hosts_are_alike(s))
		return NULL;
	for (size_t i = 0; i < g->nr_hosts; i++) {
		double rate = rate_per_thread(&g->hosts[i]);

		if (!(rate < slowest) || is_gone(r, &g->hosts[i]))
			continue;
		slowest = rate;
		ret = &g->hosts[i];
	}
	*ret_below = 1 - slowest / median;
	return ret;
}

/* --- rows ------------------------------------------------------------------------------------------- */

struct members {
	const struct result *r;
	const struct result_group *rows;
	size_t nr;
	bool are_hosts;      /* the others are not compared with one another */
	double fair, median; /* IOPS per thread */
	const char *slowest; /* NULL: none lags */
};

static void add_note(struct table *t, const struct members *m, const struct result_group *g)
{
	const struct result_host *h = m->are_hosts ? find_host(m->r, g->name) : NULL;
	double below = 1 - rate_per_thread(g) / m->median;

	if (h && h->state != HOST_COMPLETE)
		table_cell(t, "< %s at %.1f s", host_state_names[h->state],
			   (double)h->lost_at_ns / 1e9);
	else if (m->slowest && below > LAGS_BELOW)
		table_cell(t, "< %s-%.0f%%", streq(m->slowest, g->name) ? "slowest: " : "",
			   100 * below);
	else
		table_cell(t, "%s", "");
}

static void add_member(struct table *t, const struct members *m, const struct result_group *g)
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
	table_cell(t, "%" PRIu64, group_errors(g));
	if (isfinite(share))
		table_cell(t, "%.0f%%", share);
	else
		table_cell(t, "-");
	add_note(t, m, g);
}

/* --- which rows ------------------------------------------------------------------------------------- */

struct rank {
	size_t row;
	bool is_gone;
	uint64_t errors;
	double rate;
};

/* Lost and hung hosts, then those with errors, then the slow ones. */
static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->is_gone != y->is_gone)
		return x->is_gone ? -1 : 1;
	if (!x->errors != !y->errors)
		return x->errors ? -1 : 1;
	if (!isfinite(x->rate) || !isfinite(y->rate) || x->rate == y->rate)
		return isfinite(x->rate) != isfinite(y->rate) ? (isfinite(y->rate) ? -1 : 1)
		       : x->row < y->row                      ? -1
							      : 1;
	return x->rate < y->rate ? -1 : 1;
}

/* All rows, in their order; of a long table the worst ones first. */
static struct rank *ranks_of(const struct members *m)
{
	struct rank *ranks = xcalloc(m->nr, sizeof(*ranks));

	for (size_t i = 0; i < m->nr; i++)
		ranks[i] = (struct rank) {
			.row = i,
			.is_gone = m->are_hosts && is_gone(m->r, &m->rows[i]),
			.errors = group_errors(&m->rows[i]),
			.rate = rate_per_thread(&m->rows[i]),
		};
	if (m->nr > ROWS_MAX)
		qsort(ranks, m->nr, sizeof(*ranks), compare_ranks);
	return ranks;
}

static void print_left_out(const struct rank *ranks, size_t nr, FILE *out)
{
	double slowest = INFINITY, fastest = -INFINITY;
	char low[UNITS_TEXT], high[UNITS_TEXT];

	for (size_t i = 0; i < nr; i++) {
		if (!isfinite(ranks[i].rate))
			continue;
		slowest = fmin(slowest, ranks[i].rate);
		fastest = fmax(fastest, ranks[i].rate);
	}
	text_iops(low, slowest);
	text_iops(high, fastest);
	fprintf(out, "    and %zu more with %s to %s IOPS per thread: result.json\n", nr, low,
		high);
}

static void print_title(const char *name, const struct members *m, const struct result_group *g,
			FILE *out)
{
	unsigned directions = 0;
	_cleanup_free_ char *group = str_printable(g->name), *text = NULL;

	for (unsigned dir = 0; dir < DIR_SYNC; dir++)
		directions += g->dir[dir].used;
	text = xasprintf("%ss of group '%s'%s%s (share: of an equal share per thread%s)", name,
			 group, directions > 1 ? ", all I/O" : "",
			 m->nr > ROWS_MAX ? ", worst first" : "",
			 m->slowest ? "; <: against the median" : "");
	fputs("\n  ", out);
	text_wrap(out, text, 2, 4, REPORT_WIDTH);
}

static void print_members(const char *name, struct members *m, const struct result_group *g,
			  FILE *out)
{
	const char *const heads[] = { name,  "threads", "IOPS",   "MiB/s", "mean",
				      "p99", "max",     "errors", "share", "" };
	_cleanup_free_ struct rank *ranks = ranks_of(m);
	_cleanup_(table_fini) struct table t = { 0 };
	size_t shown = m->nr > ROWS_MAX ? ROWS_MAX : m->nr;
	double sum = 0, threads = 0;

	for (size_t i = 0; i < m->nr; i++) {
		if (!isfinite(rate_per_thread(&m->rows[i])))
			continue;
		sum += m->rows[i].total.iops;
		threads += (double)m->rows[i].threads;
	}
	m->fair = sum / threads;
	m->median = median_rate(m->r, m->rows, m->nr);
	table_init(&t, "lrrrrrrrrl");
	for (size_t i = 0; i < array_size(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < shown; i++)
		add_member(&t, m, &m->rows[ranks[i].row]);
	print_title(name, m, g, out);
	table_print(&t, out, 4);
	if (shown < m->nr)
		print_left_out(ranks + shown, m->nr - shown, out);
}

void text_members(const struct result *r, const struct result_step *s, const struct result_group *g,
		  FILE *out)
{
	struct members hosts = { r, g->hosts, g->nr_hosts, .are_hosts = true };
	struct members targets = { r, g->targets, g->nr_targets };
	struct members jobs = { r, g->jobs, g->nr_jobs };
	const struct result_group *slowest;
	double below;

	slowest = slowest_host(r, s, g, &below);
	if (slowest && below > LAGS_BELOW)
		hosts.slowest = slowest->name;
	if (hosts.nr > 1)
		print_members("host", &hosts, g, out);
	if (targets.nr > 1)
		print_members("target", &targets, g, out);
	if (jobs.nr > 1)
		print_members("job", &jobs, g, out);
}

/* --- run status ------------------------------------------------------------------------------------- */

/* "30.000-31.000 s", "431 us to 1.02 s", or one time where all are the same */
static char *runtimes_text(uint64_t shortest, uint64_t longest)
{
	char low[UNITS_TEXT], high[UNITS_TEXT];

	text_runtime(low, shortest);
	text_runtime(high, longest);
	if (streq(low, high))
		return xstrdup(low);
	if (shortest >= NS_PER_S)
		return xasprintf("%.3f-%s", (double)shortest / 1e9, high);
	return xasprintf("%s to %s", low, high);
}

static void print_status_line(const struct result_group *g, enum direction dir, FILE *out)
{
	static const char *const names[] = { "READ", "WRITE", "TRIM" };
	bool of_hosts = g->nr_hosts > 1;
	const struct result_group *rows = of_hosts ? g->hosts : g->jobs;
	const struct result_direction *d = &g->dir[dir];
	_cleanup_free_ char *bandwidth = text_bandwidth(d->bw_bytes), *text = NULL, *run = NULL;
	_cleanup_free_ char *each = NULL;
	double min = INFINITY, max = -INFINITY;
	uint64_t shortest = UINT64_MAX, longest = 0;
	char low[UNITS_TEXT], high[UNITS_TEXT], total[UNITS_TEXT], total_si[UNITS_TEXT];

	for (size_t i = 0; i < (of_hosts ? g->nr_hosts : g->nr_jobs); i++) {
		const struct result_direction *h = &rows[i].dir[dir];

		if (!h->used || !isfinite(h->bw_bytes))
			continue;
		min = fmin(min, h->bw_bytes);
		max = fmax(max, h->bw_bytes);
		shortest = h->runtime_ns < shortest ? h->runtime_ns : shortest;
		longest = h->runtime_ns > longest ? h->runtime_ns : longest;
	}
	if (shortest <= longest) {
		text_mib(low, min);
		text_mib(high, max);
		each = xasprintf(", per %s %s-%s MiB/s", of_hosts ? "host" : "job", low, high);
		run = runtimes_text(shortest, longest);
	}
	units_human_bytes(total, (double)d->sum.counts.bytes);
	units_human_bytes_si(total_si, (double)d->sum.counts.bytes);
	text = xasprintf("%s: bw=%s%s, io=%s (%s), run=%s", names[dir], bandwidth, each ? each : "",
			 total, total_si, run ? run : "-");
	fprintf(out, "%*s", (int)(7 - strlen(names[dir])), "");
	text_wrap(out, text, 7 - strlen(names[dir]), 9, REPORT_WIDTH);
}

void text_run_status(const struct result_group *g, FILE *out)
{
	_cleanup_free_ char *name = str_printable(g->name), *text = NULL;

	if (g->nr_hosts < 2 && g->nr_jobs < 2)
		return;
	text = xasprintf("Run status group '%s' (%zu host%s, %" PRIu64 " thread%s):", name,
			 g->nr_hosts, g->nr_hosts == 1 ? "" : "s", g->threads,
			 g->threads == 1 ? "" : "s");
	fputc('\n', out);
	text_wrap(out, text, 0, 4, REPORT_WIDTH);
	for (unsigned dir = 0; dir < DIR_SYNC; dir++)
		if (g->dir[dir].used)
			print_status_line(g, (enum direction)dir, out);
}
