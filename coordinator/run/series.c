/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/series.h"

#include <math.h>

void moments_add(struct moments *m, double value)
{
	double before = value - m->mean;

	if (!m->n || value < m->min)
		m->min = value;
	if (!m->n || value > m->max)
		m->max = value;
	m->n++;
	m->mean += before / (double)m->n;
	m->squares += before * (value - m->mean);
}

double moments_stddev(const struct moments *m)
{
	return m->n > 1 ? sqrt(m->squares / (double)(m->n - 1)) : NAN;
}

void series_fini(struct series *s)
{
	free(s->pending);
	*s = (struct series) { 0 };
}

/* The waiting interval of that index, made when it is not there; NULL when too many wait. Intervals arrive
 * nearly in order, so the search begins at the end. */
static struct interval_rates *pending_interval(struct series *s, uint64_t index)
{
	size_t at = s->nr_pending;

	while (at > 0 && s->pending[at - 1].index > index)
		at--;
	if (at > 0 && s->pending[at - 1].index == index)
		return &s->pending[at - 1];
	if (s->nr_pending >= SERIES_PENDING_MAX)
		return NULL;
	s->pending = xrealloc(s->pending, s->nr_pending + 1, sizeof(*s->pending));
	memmove(&s->pending[at + 1], &s->pending[at], (s->nr_pending - at) * sizeof(*s->pending));
	s->nr_pending++;
	s->pending[at] = (struct interval_rates) { .index = index };
	return &s->pending[at];
}

void series_add(struct series *s, uint64_t index, enum direction dir, double iops, double bw_bytes)
{
	struct interval_rates *i = pending_interval(s, index);

	if (!i)
		return;
	i->iops[dir] += iops;
	i->bw_bytes[dir] += bw_bytes;
	if (dir == DIR_SYNC)
		return;
	i->iops[SERIES_TOTAL] += iops;
	i->bw_bytes[SERIES_TOTAL] += bw_bytes;
}

static void count_interval(struct series *s, const struct interval_rates *i)
{
	if (!s->iops[SERIES_TOTAL].n || i->index < s->first)
		s->first = i->index;
	if (!s->iops[SERIES_TOTAL].n || i->index > s->last)
		s->last = i->index;
	for (unsigned column = 0; column < SERIES_COLUMNS; column++) {
		moments_add(&s->iops[column], i->iops[column]);
		moments_add(&s->bw_bytes[column], i->bw_bytes[column]);
	}
}

void series_arrive(struct series *s, uint64_t index, bool whole)
{
	struct interval_rates *i = pending_interval(s, index);

	if (!i)
		return;
	i->hosts++;
	i->whole += whole;
	if (i->whole < s->nr_hosts)
		return;
	count_interval(s, i);
	s->nr_pending--;
	memmove(i, i + 1, (size_t)(s->pending + s->nr_pending - i) * sizeof(*i));
}

void series_finish(struct series *s, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t slack = s->interval_ns / 100;

	for (size_t k = 0; k < s->nr_pending; k++) {
		const struct interval_rates *i = &s->pending[k];
		uint64_t from = s->start_ns + i->index * s->interval_ns;

		if (i->hosts >= s->nr_hosts && from + slack >= begin_ns &&
		    from + s->interval_ns <= end_ns + slack)
			count_interval(s, i);
	}
	free(s->pending);
	s->pending = NULL;
	s->nr_pending = 0;
}

static struct sample_stats moments_stats(const struct moments *m, uint64_t interval_ns)
{
	return (struct sample_stats) {
		.n = m->n,
		.min = m->min,
		.max = m->max,
		.mean = m->mean,
		.stddev = moments_stddev(m),
		.interval_ns = interval_ns,
	};
}

void series_fill(const struct series *s, unsigned column, struct result_direction *ret)
{
	ret->iops_samples = moments_stats(&s->iops[column], s->interval_ns);
	ret->bw_samples = moments_stats(&s->bw_bytes[column], s->interval_ns);
	ret->has_common = s->iops[column].n >= COMMON_MIN_INTERVALS;
	if (!ret->has_common)
		return;
	ret->common_start_ns = s->start_ns + s->first * s->interval_ns;
	ret->common_end_ns = s->start_ns + (s->last + 1) * s->interval_ns;
	ret->common_iops = s->iops[column].mean;
	ret->common_bw_bytes = s->bw_bytes[column].mean;
}
