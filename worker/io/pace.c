/* SPDX-License-Identifier: Apache-2.0 */
/* Design notes. Instants are kept as doubles, relative to the start: a gap need not be a whole number of
 * nanoseconds. Linear ones are always counted from the first, so that no error adds up and rates are exact.
 *
 * Threads of a linear rate do not fire in step: thread i begins a part of the gap later that the golden ratio gives,
 * which spreads any number of threads evenly. Those of a poisson rate are spread by themselves. */
#include "worker/io/pace.h"

#include "common/base/clock.h"
#include "worker/io/offsets.h"

#include <math.h>

#define GOLDEN 0.6180339887498949

/* From (0, 1]. */
static double draw_unit(uint64_t *random)
{
	return ((double)(random_next(random) >> 11) + 1) * 0x1p-53;
}

static double random_gap(struct pace *p, double mean_ns)
{
	return mean_ns * -log(draw_unit(&p->random));
}

void pace_init(struct pace *p, const struct job *job, uint64_t seed, uint64_t thread)
{
	double whole, spread = modf((double)(thread % (1u << 24)) * GOLDEN, &whole);

	*p = (struct pace) { .random = seed_mix(seed, UINT64_MAX - 3) | 1,
			     .is_poisson = job->rate_process == RATE_POISSON };
	for (int dir = 0; dir < DIR_SYNC; dir++) {
		struct pace_direction *d = &p->dir[dir];
		struct rate rate;
		struct error *err = job_rate(job, (enum direction)dir, &rate);

		error_destroy(&err);
		d->next_ns = INFINITY;
		if (!(job_directions(job) & 1u << dir) || rate.per_s <= 0)
			continue;
		d->is_bytes = rate.is_bytes;
		d->gap_ns = (double)NS_PER_S / rate.per_s;
		d->first_ns = d->is_bytes ? d->gap_ns * (double)job->bs : d->gap_ns;
		d->first_ns = p->is_poisson ? random_gap(p, d->first_ns) : spread * d->first_ns;
		d->next_ns = d->first_ns;
	}
}

void pace_begin(struct pace *p, uint64_t start_ns)
{
	p->start_ns = start_ns;
}

enum direction pace_next(const struct pace *p)
{
	enum direction next = DIR_READ;

	for (unsigned dir = DIR_WRITE; dir < DIR_SYNC; dir++)
		if (p->dir[dir].next_ns < p->dir[next].next_ns)
			next = (enum direction)dir;
	return next;
}

void pace_advance(struct pace *p, enum direction dir, uint32_t bytes)
{
	struct pace_direction *d = &p->dir[dir];
	uint64_t step = d->is_bytes ? bytes : 1;

	d->done += step;
	d->next_ns = p->is_poisson ? d->next_ns + random_gap(p, d->gap_ns * (double)step)
				   : d->first_ns + d->gap_ns * (double)d->done;
}
