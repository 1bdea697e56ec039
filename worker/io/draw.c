/* SPDX-License-Identifier: Apache-2.0 */
/* Design notes. Vose's way: with n rows of the mean weight, each row that has less than it is filled up from
 * one that has more. Every step finishes one row, so the table is made in linear time. */
#include "worker/io/draw.h"

#include <errno.h>
#include <stdlib.h>

/* Rows that have too little stand from the front on, those with more from the end. */
struct worklist {
	uint64_t *rows;
	size_t nr_small, nr_large, size;
};

static void sort_in(struct worklist *w, uint64_t row, double scaled)
{
	if (scaled < 1)
		w->rows[w->nr_small++] = row;
	else
		w->rows[w->size - ++w->nr_large] = row;
}

static uint64_t as_fraction(double scaled)
{
	return scaled >= 1 ? UINT64_MAX : (uint64_t)(scaled * 0x1p64);
}

static void fill_up(struct draw *d, struct worklist *w, double *scaled)
{
	while (w->nr_small && w->nr_large) {
		uint64_t small = w->rows[--w->nr_small];
		uint64_t large = w->rows[w->size - w->nr_large];

		w->nr_large--;
		d->rows[small].threshold = as_fraction(scaled[small]);
		d->rows[small].alias = large;
		scaled[large] -= 1 - scaled[small];
		sort_in(w, large, scaled[large]);
	}
	/* What is left is full but for rounding. */
}

int draw_init(struct draw *d, const struct interval *intervals, size_t nr)
{
	double sum = 0, *scaled = calloc(nr, sizeof(*scaled));
	struct worklist w = { .rows = calloc(nr, sizeof(*w.rows)), .size = nr };

	*d = (struct draw) { .rows = calloc(nr, sizeof(*d->rows)), .nr = nr };
	for (size_t i = 0; i < nr; i++)
		sum += intervals[i].weight;
	for (size_t i = 0; d->rows && scaled && w.rows && i < nr; i++) {
		d->rows[i] = (struct draw_row) {
			.threshold = UINT64_MAX,
			.alias = i,
			.low = intervals[i].low,
			.span = intervals[i].span,
		};
		scaled[i] = intervals[i].weight * (double)nr / sum;
		sort_in(&w, i, scaled[i]);
	}
	if (d->rows && scaled && w.rows)
		fill_up(d, &w, scaled);
	else
		draw_fini(d);
	free(scaled);
	free(w.rows);
	return d->rows ? 0 : -ENOMEM;
}

void draw_fini(struct draw *d)
{
	free(d->rows);
	*d = (struct draw) { 0 };
}
