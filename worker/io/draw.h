/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h - random draws with weights: an interval is chosen by its weight, then a number in it, all alike.
 *
 * An alias table: one draw costs the same whatever the weights and however many there are. Owned by one thread.
 */
#ifndef SALVO_IO_DRAW_H
#define SALVO_IO_DRAW_H

#include "worker/io/offsets.h"

struct interval {
	uint64_t low, span; /* low .. low + span - 1; span >= 1 */
	double weight;      /* >= 0 */
};

/* Of each row one of two intervals is taken: its own for fractions below the threshold, else the alias. */
struct draw_row {
	uint64_t threshold;
	uint64_t alias; /* index */
	uint64_t low, span;
};

struct draw {
	struct draw_row *rows;
	uint64_t nr;
};

/* Some weight must be above 0. -ENOMEM, or 0. Cold. */
int draw_init(struct draw *d, const struct interval *intervals, size_t nr);
void draw_fini(struct draw *d);

/* Hot. *random: a state of random_next. */
static inline uint64_t draw_next(const struct draw *d, uint64_t *random)
{
	unsigned __int128 wide = (unsigned __int128)random_next(random) * d->nr;
	const struct draw_row *row = &d->rows[(uint64_t)(wide >> 64)];

	if ((uint64_t)wide >= row->threshold)
		row = &d->rows[row->alias];
	wide = (unsigned __int128)random_next(random) * row->span;
	return row->low + (uint64_t)(wide >> 64);
}

#endif
