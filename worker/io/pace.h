/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h - when the I/Os of a job with a rate are due: evenly, or at random (poisson). Owned by one thread.
 *
 * The schedule knows nothing of what the target makes of it: an I/O that could not be submitted in time is as due as
 * before, and those behind it become due meanwhile.
 */
#ifndef SALVO_IO_PACE_H
#define SALVO_IO_PACE_H

#include "common/model/workload.h"

struct pace_direction {
	double next_ns; /* due, after the start; INFINITY: the job has none of these */
	double first_ns;
	double gap_ns; /* between two of them on average, per I/O or per byte */
	bool is_bytes;
	uint64_t done; /* I/Os, or bytes, of those before the next */
};

struct pace {
	struct pace_direction dir[DIR_SYNC];
	uint64_t start_ns;
	uint64_t random;
	bool is_poisson;
};

/* Cold. The job's texts are right. `thread`: its number in the fleet, by which linear threads are spread. */
void pace_init(struct pace *p, const struct job *job, uint64_t seed, uint64_t thread);
/* Cold. The schedule begins at this instant. */
void pace_begin(struct pace *p, uint64_t start_ns);
/* The direction whose I/O is due next. */
enum direction pace_next(const struct pace *p);
/* Hot. Goes on to the next of the direction, behind one of so many bytes. */
void pace_advance(struct pace *p, enum direction dir, uint32_t bytes);

static inline uint64_t pace_due_ns(const struct pace *p, enum direction dir)
{
	return p->start_ns + (uint64_t)(p->dir[dir].next_ns + 0.5);
}

#endif
