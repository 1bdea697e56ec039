/* SPDX-License-Identifier: Apache-2.0 */
/* hist.h - latency histograms: log-linear, 128 buckets per power of two.
 *
 * Values are nanoseconds from 0 to HIST_LIMIT - 1 (about 73 minutes); larger ones are counted in the
 * overflow bucket, whose middle is the exact maximum. Below 256 ns a bucket is one nanosecond wide;
 * above, a bucket's middle is at most 1/256 (0.39 %) away from any value in it.
 *
 * Two forms with the same buckets:
 * - `struct hist_cells`, flat, in memory that an I/O thread writes (one writer, relaxed stores) and
 *   the control process reads while it is written;
 * - `struct hist`, sparse, for adding up on either side. Merging is addition, so it is associative
 *   and loses nothing: any tree of merges gives the same histogram.
 * A minimum, maximum and sum that are exact stand beside the buckets of both.
 */
#ifndef SALVO_BASE_HIST_H
#define SALVO_BASE_HIST_H

#include "common/base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	HIST_SUB_BITS = 7,
	HIST_SUB = 1 << HIST_SUB_BITS,
	HIST_MAX_BITS = 42,
	HIST_SHIFT_MAX = HIST_MAX_BITS - 1 - HIST_SUB_BITS,
	HIST_ROWS = HIST_MAX_BITS - HIST_SUB_BITS + 1, /* rows of HIST_SUB buckets each */
	HIST_BUCKETS = HIST_ROWS * HIST_SUB,
	HIST_OVERFLOW = HIST_BUCKETS, /* index of the overflow bucket */
};
#define HIST_LIMIT (1ull << HIST_MAX_BITS)

/* How far a value's highest bit is above the row of the smallest values. */
static inline unsigned hist_shift(uint64_t value)
{
	return (63u ^ (unsigned)__builtin_clzll(value | HIST_SUB)) - HIST_SUB_BITS;
}

/* The bucket of a value: for v < 256 the value itself, above that the row of its highest bit and the
 * seven bits behind it. */
static inline unsigned hist_index(uint64_t value)
{
	unsigned shift = hist_shift(value);

	if (unlikely(shift > HIST_SHIFT_MAX))
		return HIST_OVERFLOW;
	return (shift << HIST_SUB_BITS) + (unsigned)(value >> shift);
}

/* Smallest value of a bucket; its values are [hist_lower(i), hist_lower(i + 1)). i <= HIST_OVERFLOW. */
uint64_t hist_lower(unsigned index);

struct hist_cells {
	uint64_t bucket[HIST_BUCKETS + 1];
	uint64_t min; /* UINT64_MAX while empty */
	uint64_t max, sum;
};

void hist_cells_init(struct hist_cells *c);

/* NOLINTBEGIN(readability-non-const-parameter): written to by what clang-tidy does not see as a write */

/* One writer's increment that another process may read: not atomic, but never torn. */
#if defined(__x86_64__)
/* NOLINTNEXTLINE(readability-non-const-parameter): the linter does not see the store */
static inline void cell_add(uint64_t *cell, uint64_t n)
{
	/* One instruction, where the compiler makes three of the portable form. */
	__asm__("addq %1, %0" : "+m"(*cell) : "er"(n) : "cc");
}
#else
/* NOLINTNEXTLINE(readability-non-const-parameter): the linter does not see the store */
static inline void cell_add(uint64_t *cell, uint64_t n)
{
	__atomic_store_n(cell, __atomic_load_n(cell, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}
#endif

/* NOLINTNEXTLINE(readability-non-const-parameter): the same */
static inline void cell_set(uint64_t *cell, uint64_t value)
{
	__atomic_store_n(cell, value, __ATOMIC_RELAXED);
}

/* NOLINTEND(readability-non-const-parameter) */

static inline uint64_t cell_get(const uint64_t *cell)
{
	return __atomic_load_n(cell, __ATOMIC_RELAXED);
}

/* Cold: a value of HIST_LIMIT or more. */
void hist_cells_record_over(struct hist_cells *c, uint64_t value, uint64_t n);

/* Hot: counts `n` I/Os of `value` ns. Only the owning thread may call it. */
static inline void hist_cells_record(struct hist_cells *c, uint64_t value, uint64_t n)
{
	unsigned shift = hist_shift(value);

	if (unlikely(shift > HIST_SHIFT_MAX)) {
		hist_cells_record_over(c, value, n);
		return;
	}
	cell_add(&c->bucket[(uint64_t)(shift << HIST_SUB_BITS) + (value >> shift)], n);
	cell_add(&c->sum, value * n);
	if (unlikely(value < c->min))
		cell_set(&c->min, value);
	if (unlikely(value > c->max))
		cell_set(&c->max, value);
}

/* Sparse histogram; zero-initialise it, hist_fini frees it. */
struct hist {
	uint64_t count;    /* all values, overflow included */
	uint64_t min, max; /* valid when count > 0 */
	uint64_t sum;
	uint64_t overflow;
	uint64_t *rows[HIST_ROWS]; /* HIST_SUB counts each, NULL while all are 0 */
};

void hist_fini(struct hist *h);
void hist_add(struct hist *h, uint64_t value, uint64_t n);
/* Adds all of `from`; min, max and sum follow. */
void hist_merge(struct hist *to, const struct hist *from);
/* Adds a reading of a thread's cells (which may be moving: each cell is read once). */
void hist_add_cells(struct hist *to, const struct hist_cells *from);
/* Count of bucket i, 0 <= i <= HIST_OVERFLOW. */
uint64_t hist_bucket(const struct hist *h, unsigned index);
bool hist_equal(const struct hist *a, const struct hist *b);

/* NaN when empty. Mean is exact (sum / count); standard deviation is that of the population of the
 * buckets' middles, corrected for nothing: from the merged histogram, as the truth rules ask. */
double hist_mean(const struct hist *h);
double hist_stddev(const struct hist *h);
/* The value at percentile p (0 < p <= 100) in ns: nearest rank ceil(p/100 * count), the bucket's
 * middle, within [min, max]. 0 when empty: ask for h->count first. */
uint64_t hist_percentile(const struct hist *h, double p);

/* The difference `now - before` as bytes: varints sum, min, max, then (gap, count) pairs in index order.
 * `before` may be NULL (everything). min and max are those of `now` (cumulative), so the last of a
 * series of differences leaves the exact ones. An empty difference still carries the header. */
void hist_encode(const struct hist *now, const struct hist *before, struct buf *out);
/* Adds an encoded difference to `to`. False, with `to` unchanged in no defined way but still valid,
 * when the bytes are not of that form; never reads beyond len, never allocates more than a histogram. */
bool hist_decode_add(struct hist *to, const uint8_t *data, size_t len) _must_check_;

#endif
