/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/offsets.h"

#include "common/base/str.h"

#include <criterion/criterion.h>
#include <math.h>

enum { BLOCK = 4096, BATCH = 7 };

static struct offsets make(enum offsets_order order, uint64_t nr_blocks, uint64_t seed)
{
	struct offsets o;

	offsets_init(&o, order, (struct range) { 8 * BLOCK, nr_blocks * BLOCK }, BLOCK, seed);
	return o;
}

static uint64_t next_block(struct offsets *o)
{
	struct io_cmd cmd;

	o->fill(o, &cmd, 1);
	cr_assert_eq(cmd.offset % BLOCK, 0);
	return cmd.offset / BLOCK - 8;
}

/* Does the next pass give every block exactly once? Drawn in uneven batches, which cross its end. */
static bool pass_is_complete(struct offsets *o, uint64_t nr_blocks)
{
	_cleanup_free_ uint8_t *seen = xcalloc(nr_blocks, 1);

	for (uint64_t i = 0; i < nr_blocks;) {
		unsigned nr = nr_blocks - i < BATCH ? (unsigned)(nr_blocks - i) : BATCH;
		struct io_cmd cmds[BATCH];

		o->fill(o, cmds, nr);
		for (unsigned j = 0; j < nr; j++, i++) {
			uint64_t block = cmds[j].offset / BLOCK - 8;

			if (block >= nr_blocks || seen[block]++)
				return false;
		}
	}
	return true;
}

Test(offsets, permutation_covers_every_small_range_once_per_pass)
{
	for (uint64_t n = 1; n <= 300; n++) {
		struct offsets o = make(OFFSETS_PERMUTED, n, n);

		for (int pass = 0; pass < 3; pass++)
			cr_assert(pass_is_complete(&o, n), "%d of %llu", pass,
				  (unsigned long long)n);
	}
}

Test(offsets, permutation_covers_ranges_around_powers_of_two)
{
	for (unsigned bits = 9; bits <= 17; bits++)
		for (int d = -1; d <= 1; d++) {
			uint64_t n = (1ull << bits) + (uint64_t)d;
			struct offsets o = make(OFFSETS_PERMUTED, n, bits);

			cr_assert(pass_is_complete(&o, n), "%llu", (unsigned long long)n);
		}
}

Test(offsets, permutation_of_a_huge_range_stays_in_it)
{
	uint64_t n = (1ull << 40) + 12345;
	struct offsets o = make(OFFSETS_PERMUTED, n, 3);
	uint64_t upper = 0;

	for (int i = 0; i < 10000; i++) {
		uint64_t block = next_block(&o);

		cr_assert_lt(block, n);
		upper += block >= n / 2;
	}
	cr_assert(upper > 4700 && upper < 5300, "%llu", (unsigned long long)upper);
}

/* How many of the next `nr` blocks are the same in both. */
static uint64_t count_equal(struct offsets *a, struct offsets *b, uint64_t nr)
{
	uint64_t equal = 0;

	for (uint64_t i = 0; i < nr; i++)
		equal += next_block(a) == next_block(b);
	return equal;
}

Test(offsets, same_seed_repeats_and_others_differ)
{
	struct offsets a = make(OFFSETS_PERMUTED, 4096, 1), b = make(OFFSETS_PERMUTED, 4096, 1);
	struct offsets c = make(OFFSETS_PERMUTED, 4096, 2);

	cr_assert_eq(count_equal(&a, &b, 4096), 4096);
	/* By chance one in 4096 is equal. */
	cr_assert_lt(count_equal(&a, &c, 4096), 12);
}

Test(offsets, passes_differ)
{
	struct offsets a = make(OFFSETS_PERMUTED, 4096, 1), b = a;

	offsets_next_pass(&b);
	cr_assert_lt(count_equal(&a, &b, 4096), 12);
}

Test(offsets, next_pass_leaves_the_rest_out)
{
	struct offsets o = make(OFFSETS_PERMUTED, 1000, 5);

	for (int i = 0; i < 300; i++)
		next_block(&o);
	offsets_next_pass(&o);
	cr_assert(pass_is_complete(&o, 1000));
}

Test(offsets, permutation_does_not_walk)
{
	struct offsets o = make(OFFSETS_PERMUTED, 1 << 16, 11);
	double n = 1 << 16, sum_product = 0, mean = (n - 1) / 2, last = (double)next_block(&o);

	for (int i = 1; i < 1 << 16; i++) {
		double block = (double)next_block(&o);

		sum_product += (block - mean) * (last - mean);
		last = block;
	}
	/* Serial correlation of so many: standard deviation 1/256. */
	cr_assert_lt(fabs(sum_product / (n * n * n / 12)), 0.02);
}

Test(offsets, sequential_goes_in_order_and_wraps)
{
	struct offsets o = make(OFFSETS_SEQUENTIAL, 10, 1);

	for (uint64_t i = 0; i < 25; i++)
		cr_assert_eq(next_block(&o), i % 10);
}

Test(offsets, draws_are_uniform_with_repetition)
{
	struct offsets o = make(OFFSETS_DRAWN, 1024, 9);
	uint8_t seen[1024] = { 0 };
	int distinct = 0;

	for (int i = 0; i < 1024; i++) {
		uint64_t block = next_block(&o);

		cr_assert_lt(block, 1024);
		distinct += !seen[block]++;
	}
	/* 1024 x (1 - 1/e) within three standard deviations. */
	cr_assert(distinct > 617 && distinct < 677, "%d", distinct);
}

Test(offsets, a_rest_smaller_than_a_block_is_not_used)
{
	struct offsets o;

	offsets_init(&o, OFFSETS_SEQUENTIAL, (struct range) { 0, 3 * BLOCK + 100 }, BLOCK, 1);
	cr_assert_eq(o.nr_blocks, 3);
}
