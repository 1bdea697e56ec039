/* SPDX-License-Identifier: Apache-2.0 */
/* series.h - rates per interval of one group: the sum of its hosts' rates in the same interval, and the
 * statistics over those intervals in which every thread of the group ran.
 *
 * Whether an interval is whole can be known at once when all threads of each host were running both before
 * and after it; such an interval is counted when its last host has arrived and then forgotten. The others
 * (the first and the last ones) wait for the end of the step, when the instants are known. So memory does
 * not grow with time. Pure; belongs to one thread.
 */
#ifndef SALVO_RUN_SERIES_H
#define SALVO_RUN_SERIES_H

#include "common/model/result.h"

enum {
	SERIES_TOTAL = DIR_COUNT, /* read, write and trim together */
	SERIES_COLUMNS,
	SERIES_PENDING_MAX = 4096, /* later intervals are not counted while so many wait */
	COMMON_MIN_INTERVALS = 3,  /* fewer say nothing about a common window */
};

struct moments {
	uint64_t n;
	double mean, squares, min, max; /* squares: sum of squared distances from the mean */
};
void moments_add(struct moments *m, double value);
/* Divides by n - 1; NaN for fewer than two values. */
double moments_stddev(const struct moments *m);

struct interval_rates {
	uint64_t index;
	size_t hosts; /* how many have arrived */
	size_t whole; /* of them those of which it is certain that all threads ran */
	double iops[SERIES_COLUMNS], bw_bytes[SERIES_COLUMNS];
};

struct series {
	size_t nr_hosts;      /* that have to arrive; set before the first interval */
	uint64_t interval_ns; /* interval i is [start_ns + i * interval_ns, + interval_ns) */
	uint64_t start_ns;    /* since START */
	uint64_t first, last; /* of the intervals that count; valid when any does */
	struct moments iops[SERIES_COLUMNS], bw_bytes[SERIES_COLUMNS];
	struct interval_rates *pending; /* in order of index */
	size_t nr_pending;
};

void series_fini(struct series *s);
/* What one member did in an interval. Before series_arrive of its host for this interval. */
void series_add(struct series *s, uint64_t index, enum direction dir, double iops, double bw_bytes);
/* All of a host's members have been added; whole: all its threads ran, before and after. */
void series_arrive(struct series *s, uint64_t index, bool whole);
/* The step is over: all threads of the group ran from begin_ns to end_ns (since START). Counts of the
 * waiting intervals those that every host has reported and that lie within; an edge may stick out by a
 * hundredth of an interval, since threads do not start in the same nanosecond. */
void series_finish(struct series *s, uint64_t begin_ns, uint64_t end_ns);
/* Fills the samples and the common window of a direction, or of the total. */
void series_fill(const struct series *s, unsigned column, struct result_direction *ret);

#endif
