/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/hist.h"

#include <math.h>

uint64_t hist_lower(unsigned index)
{
	unsigned row = index >> HIST_SUB_BITS;

	if (row == 0)
		return index;
	/* Row r >= 1 holds HIST_SUB..2*HIST_SUB-1 shifted left by r - 1. */
	return (uint64_t)((index & (HIST_SUB - 1)) + HIST_SUB) << (row - 1);
}

/* The value that stands for a bucket: its middle; of a bucket one wide, the value itself. */
static uint64_t hist_middle(unsigned index)
{
	uint64_t lower = hist_lower(index);

	return lower + (hist_lower(index + 1) - lower) / 2;
}

void hist_cells_init(struct hist_cells *c)
{
	*c = (struct hist_cells) { .min = UINT64_MAX };
}

void hist_cells_record_over(struct hist_cells *c, uint64_t value, uint64_t n)
{
	cell_add(&c->bucket[HIST_OVERFLOW], n);
	cell_add(&c->sum, value * n);
	if (value < c->min)
		cell_set(&c->min, value);
	if (value > c->max)
		cell_set(&c->max, value);
}

void hist_fini(struct hist *h)
{
	for (unsigned row = 0; row < HIST_ROWS; row++)
		free(h->rows[row]);
	*h = (struct hist) { 0 };
}

static void add_bucket(struct hist *h, unsigned index, uint64_t n)
{
	unsigned row = index >> HIST_SUB_BITS;

	if (!n)
		return;
	h->count += n;
	if (index >= HIST_OVERFLOW) {
		h->overflow += n;
		return;
	}
	if (!h->rows[row])
		h->rows[row] = xcalloc(HIST_SUB, sizeof(uint64_t));
	h->rows[row][index & (HIST_SUB - 1)] += n;
}

/* Takes over exact bounds; call after the counts, with the count from before them. */
static void add_bounds(struct hist *h, uint64_t count_before, uint64_t min, uint64_t max)
{
	if (!count_before || min < h->min)
		h->min = min;
	if (!count_before || max > h->max)
		h->max = max;
}

void hist_add(struct hist *h, uint64_t value, uint64_t n)
{
	uint64_t before = h->count;

	if (!n)
		return;
	add_bucket(h, hist_index(value), n);
	add_bounds(h, before, value, value);
	h->sum += value * n;
}

void hist_merge(struct hist *to, const struct hist *from)
{
	uint64_t before = to->count;

	if (!from->count)
		return;
	for (unsigned row = 0; row < HIST_ROWS; row++)
		for (unsigned i = 0; from->rows[row] && i < HIST_SUB; i++)
			add_bucket(to, row * HIST_SUB + i, from->rows[row][i]);
	add_bucket(to, HIST_OVERFLOW, from->overflow);
	add_bounds(to, before, from->min, from->max);
	to->sum += from->sum;
}

void hist_add_cells(struct hist *to, const struct hist_cells *from)
{
	uint64_t before = to->count;

	for (unsigned i = 0; i <= HIST_OVERFLOW; i++)
		add_bucket(to, i, cell_get(&from->bucket[i]));
	to->sum += cell_get(&from->sum);
	if (to->count > before)
		add_bounds(to, before, cell_get(&from->min), cell_get(&from->max));
}

uint64_t hist_bucket(const struct hist *h, unsigned index)
{
	const uint64_t *row;

	if (index >= HIST_OVERFLOW)
		return h->overflow;
	row = h->rows[index >> HIST_SUB_BITS];
	return row ? row[index & (HIST_SUB - 1)] : 0;
}

/* The next bucket at or after `index` that may hold something: rows that were never made are passed over. */
static unsigned next_bucket(const struct hist *h, unsigned index)
{
	while (index < HIST_OVERFLOW && !h->rows[index >> HIST_SUB_BITS])
		index = (index & ~(unsigned)(HIST_SUB - 1)) + HIST_SUB;
	return index;
}

bool hist_equal(const struct hist *a, const struct hist *b)
{
	if (a->count != b->count || a->sum != b->sum || a->overflow != b->overflow)
		return false;
	if (a->count && (a->min != b->min || a->max != b->max))
		return false;
	for (unsigned i = 0; i < HIST_OVERFLOW; i++)
		if (hist_bucket(a, i) != hist_bucket(b, i))
			return false;
	return true;
}

/* A bucket's middle within what was really seen. */
static uint64_t clamped_middle(const struct hist *h, unsigned index)
{
	uint64_t value = index >= HIST_OVERFLOW ? h->max : hist_middle(index);

	return value < h->min ? h->min : value > h->max ? h->max : value;
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)h->sum / (double)h->count : NAN;
}

double hist_stddev(const struct hist *h)
{
	double mean = hist_mean(h), squares = 0;

	if (!h->count)
		return NAN;
	for (unsigned i = next_bucket(h, 0); i <= HIST_OVERFLOW; i = next_bucket(h, i + 1)) {
		uint64_t n = hist_bucket(h, i);
		double d = n ? (double)clamped_middle(h, i) - mean : 0;

		squares += d * d * (double)n;
	}
	return sqrt(squares / (double)h->count);
}

uint64_t hist_percentile(const struct hist *h, double p)
{
	/* Rounded to 1e-9 first: 99.9 / 100 * 1000 is a little over 999 in binary. */
	double rank = p / 100.0 * (double)h->count;
	uint64_t want = (uint64_t)ceil(rank - rank * 1e-12), seen = 0;

	if (!h->count)
		return 0;
	if (p >= 100)
		return h->max;
	if (want < 1)
		want = 1;
	for (unsigned i = next_bucket(h, 0); i <= HIST_OVERFLOW; i = next_bucket(h, i + 1)) {
		seen += hist_bucket(h, i);
		if (seen >= want)
			return clamped_middle(h, i);
	}
	return h->max;
}

void hist_encode(const struct hist *now, const struct hist *before, struct buf *out)
{
	static const struct hist empty;
	unsigned next = 0;

	if (!before)
		before = &empty;
	buf_add_varint(out, now->sum - before->sum);
	buf_add_varint(out, now->count ? now->min : 0);
	buf_add_varint(out, now->count ? now->max : 0);
	for (unsigned i = next_bucket(now, 0); i <= HIST_OVERFLOW; i = next_bucket(now, i + 1)) {
		uint64_t n = hist_bucket(now, i) - hist_bucket(before, i);

		if (!n)
			continue;
		buf_add_varint(out, i - next);
		buf_add_varint(out, n);
		next = i + 1;
	}
}

bool hist_decode_add(struct hist *to, const uint8_t *data, size_t len)
{
	uint64_t sum, min, max, gap, n, before = to->count, index = 0;
	size_t pos = 0;

	if (!varint_read(data, len, &pos, &sum) || !varint_read(data, len, &pos, &min) ||
	    !varint_read(data, len, &pos, &max) || min > max)
		return false;
	while (pos < len) {
		if (!varint_read(data, len, &pos, &gap) || !varint_read(data, len, &pos, &n))
			return false;
		if (gap > HIST_OVERFLOW || index + gap > HIST_OVERFLOW || !n)
			return false;
		add_bucket(to, (unsigned)(index + gap), n);
		index += gap + 1;
	}
	to->sum += sum;
	if (to->count > before)
		add_bounds(to, before, min, max);
	return true;
}
