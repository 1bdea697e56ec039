/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/tally.h"

#include <math.h>

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

bool job_has_direction(const struct job *job, enum direction dir)
{
	bool mixed = job_reads(job) && job_writes(job);

	switch (dir) {
	case DIR_READ:
		return job_reads(job) && !(mixed && job->rwmixread <= 0);
	case DIR_WRITE:
		return job_directions(job) & 1u << DIR_WRITE && !(mixed && job->rwmixread >= 100);
	case DIR_SYNC:
		return job_writes(job) &&
		       (job->fsync || job->fdatasync || job->end_fsync || job->fsync_on_close);
	case DIR_TRIM:
		return job_trims(job);
	case DIR_COUNT:
		break;
	}
	return false;
}

void member_set_ends(struct member_totals *m, const uint64_t ends[DIR_COUNT])
{
	const struct job *job = m->job;
	bool is_mixed = job_reads(job) && job_writes(job);
	uint64_t window_end = min_u64(m->end_ns, m->begin_ns + job->runtime_ns);

	for (unsigned dir = 0; dir < DIR_COUNT; dir++) {
		m->dir_end_ns[dir] = job->time_based ? window_end
				     : is_mixed      ? ends[dir]
						     : m->end_ns;
		if (!m->dir_end_ns[dir])
			m->dir_end_ns[dir] = m->end_ns;
	}
	/* What is not on the medium when the last write returns is only written after end_fsync. */
	if (job->end_fsync && job_writes(job))
		m->dir_end_ns[DIR_WRITE] = m->dir_end_ns[DIR_SYNC] = m->end_ns;
}

static void tallies_fini(struct tally *tallies, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		tally_fini(&tallies[i]);
	free(tallies);
}

void tally_fini(struct tally *t)
{
	series_fini(&t->series);
	result_group_fini(&t->group);
	tallies_fini(t->hosts, t->nr_hosts);
	tallies_fini(t->targets, t->nr_targets);
	tallies_fini(t->jobs, t->nr_jobs);
	*t = (struct tally) { 0 };
}

/* A window that is empty widens none: a thread that failed within its ramp did nothing in the measured time. Before
 * the first, the end is 0. */
static void widen(uint64_t *begin_ns, uint64_t *end_ns, uint64_t begin, uint64_t end)
{
	if (end <= begin)
		return;
	*begin_ns = *end_ns ? min_u64(*begin_ns, begin) : begin;
	*end_ns = max_u64(*end_ns, end);
}

static void add_direction(struct tally *t, const struct member_totals *m, enum direction dir)
{
	struct result_direction *d = &t->group.dir[dir];

	if (!job_has_direction(m->job, dir) && counts_is_zero(&m->dir[dir].counts))
		return;
	widen(&t->dir_begin_ns[dir], &t->dir_end_ns[dir], m->begin_ns, m->dir_end_ns[dir]);
	d->used = true;
	direction_sum_merge(&d->sum, &m->dir[dir]);
	if (dir == DIR_SYNC)
		return;
	t->group.total.used = true;
	direction_sum_merge(&t->group.total.sum, &m->dir[dir]);
}

/* Numbers of errno differ between architectures, names do not. */
static bool same_error(const struct result_error *e, const struct error_row *row)
{
	if (e->direction != row->direction)
		return false;
	return e->name && row->name ? streq(e->name, row->name) : e->number == row->number;
}

static struct result_error *error_of(struct result_group *g, const struct error_row *row)
{
	struct result_error *e;

	for (size_t i = 0; i < g->nr_errors; i++)
		if (same_error(&g->errors[i], row))
			return &g->errors[i];
	g->errors = xrealloc(g->errors, g->nr_errors + 1, sizeof(*g->errors));
	e = &g->errors[g->nr_errors++];
	*e = (struct result_error) {
		.direction = row->direction,
		.number = row->number,
		.name = row->name ? xstrdup(row->name) : NULL,
		.first_offset = UINT64_MAX,
	};
	return e;
}

/* Errors of one direction and errno are one entry; the first of them is told by its instant, which all
 * hosts count from the same START. */
static void add_error(struct result_group *g, const struct member_totals *m,
		      const struct error_row *row)
{
	struct result_error *e = error_of(g, row);
	bool is_first =
		!e->count || (row->first_ns && (!e->first_ns || row->first_ns < e->first_ns));

	e->count += row->count;
	if (!is_first)
		return;
	free(e->first_host);
	free(e->first_target);
	e->first_host = xstrdup(m->host);
	e->first_target = m->target ? xstrdup(m->target) : NULL;
	e->first_offset = row->first_offset;
	e->first_ns = row->first_ns;
}

static int compare_errors(const void *a, const void *b)
{
	const struct result_error *x = a, *y = b;

	if (x->direction != y->direction)
		return x->direction - y->direction;
	return (x->number > y->number) - (x->number < y->number);
}

static void add_depths(struct tally *t, const struct member_totals *m)
{
	struct result_group *g = &t->group;

	t->nr_without_depths += !m->has_depths;
	pow2_counts_merge(&g->depths, &m->depths);
	pow2_counts_merge(&g->submits, &m->submits);
	pow2_counts_merge(&g->completes, &m->completes);
}

void tally_add(struct tally *t, const struct member_totals *m)
{
	struct result_group *g = &t->group;
	bool first = t->nr_members++ == 0;

	g->threads += m->threads;
	g->buffered_threads += m->is_buffered ? m->threads : 0;
	g->depth += m->threads * m->job->iodepth;
	g->effective_depth = max_u64(g->effective_depth, m->effective_depth);
	widen(&t->begin_ns, &t->end_ns, m->begin_ns, m->end_ns);
	t->all_begin_ns = max_u64(t->all_begin_ns, m->all_begin_ns);
	t->last_begin_ns = max_u64(t->last_begin_ns, m->begin_ns);
	t->all_end_ns = first ? m->all_end_ns : min_u64(t->all_end_ns, m->all_end_ns);
	if (m->first_io_ns)
		t->first_io_ns =
			t->first_io_ns ? min_u64(t->first_io_ns, m->first_io_ns) : m->first_io_ns;
	t->nr_without_cpu += !m->has_cpu;
	t->cpu_usr_ns += m->cpu_usr_ns;
	t->cpu_sys_ns += m->cpu_sys_ns;
	t->iowq_ns += m->iowq_ns;
	g->ctx += m->ctx;
	g->majf += m->majf;
	g->minf += m->minf;
	add_depths(t, m);
	for (size_t i = 0; i < m->nr_errors; i++)
		add_error(g, m, &m->errors[i]);
	for (unsigned dir = 0; dir < DIR_COUNT; dir++)
		add_direction(t, m, dir);
}

static uint64_t span(uint64_t begin, uint64_t end)
{
	return end > begin ? end - begin : 0;
}

static void finish_direction(struct result_direction *d, uint64_t runtime_ns)
{
	double seconds = (double)runtime_ns / 1e9;

	d->runtime_ns = runtime_ns;
	d->iops = runtime_ns ? (double)d->sum.counts.ios / seconds : NAN;
	d->bw_bytes = runtime_ns ? (double)d->sum.counts.bytes / seconds : NAN;
}

/* Rates and samples of a direction, or of the total. Where the common window is all of the direction's time, its rates
 * are counts over that time: the mean of the samples is off by as much as a sample was taken late. */
static void finish_rates(const struct tally *t, unsigned column, uint64_t begin_ns, uint64_t end_ns,
			 struct result_direction *d)
{
	uint64_t slack = t->series.interval_ns / 100;

	finish_direction(d, span(begin_ns, end_ns));
	series_fill(&t->series, column, d);
	if (!d->has_common || d->common_start_ns > begin_ns + slack ||
	    d->common_end_ns + slack < end_ns)
		return;
	d->common_iops = d->iops;
	d->common_bw_bytes = d->bw_bytes;
}

/* The total runs while any of its directions does. */
static void finish_total(struct tally *t)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (unsigned dir = 0; dir < DIR_SYNC; dir++) {
		if (!t->dir_end_ns[dir])
			continue;
		begin = min_u64(begin, t->dir_begin_ns[dir]);
		end = max_u64(end, t->dir_end_ns[dir]);
	}
	finish_rates(t, SERIES_TOTAL, begin, end, &t->group.total);
}

static struct result_group *finish_below(struct tally *tallies, size_t nr, size_t *ret_nr)
{
	struct result_group *groups = xcalloc(nr, sizeof(*groups));

	*ret_nr = 0;
	for (size_t i = 0; i < nr; i++)
		if (tallies[i].nr_members)
			tally_finish(&tallies[i], &groups[(*ret_nr)++]);
	return groups;
}

void tally_finish(struct tally *t, struct result_group *ret)
{
	struct result_group *g = &t->group;

	series_finish(&t->series, max_u64(t->all_begin_ns, t->last_begin_ns), t->all_end_ns);
	g->name = xstrdup(t->name);
	g->runtime_ns = span(t->begin_ns, t->end_ns);
	g->has_cpu = t->nr_members && !t->nr_without_cpu && g->runtime_ns;
	g->has_depths = t->nr_members && !t->nr_without_depths;
	if (g->nr_errors)
		qsort(g->errors, g->nr_errors, sizeof(*g->errors), compare_errors);
	g->cpu_iowq = NAN;
	if (g->has_cpu) {
		g->cpu_iowq = 100.0 * (double)t->iowq_ns / (double)g->runtime_ns;
		g->cpu_usr = 100.0 * (double)t->cpu_usr_ns / (double)g->runtime_ns;
		g->cpu_sys = 100.0 * (double)t->cpu_sys_ns / (double)g->runtime_ns;
	}
	for (unsigned dir = 0; dir < DIR_COUNT; dir++) {
		if (!g->dir[dir].used)
			continue;
		finish_rates(t, dir, t->dir_begin_ns[dir], t->dir_end_ns[dir], &g->dir[dir]);
	}
	if (g->total.used)
		finish_total(t);
	g->hosts = finish_below(t->hosts, t->nr_hosts, &g->nr_hosts);
	g->targets = finish_below(t->targets, t->nr_targets, &g->nr_targets);
	g->jobs = finish_below(t->jobs, t->nr_jobs, &g->nr_jobs);
	*ret = *g;
	*g = (struct result_group) { 0 };
}
