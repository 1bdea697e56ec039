/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/split.h"

#include <criterion/criterion.h>

Test(split, parts_are_disjoint_and_together_the_whole)
{
	const struct range whole = { .start = 8192, .bytes = 1000 * 4096 + 777 };

	for (uint64_t nr = 1; nr <= 37; nr++) {
		uint64_t next = whole.start, smallest = UINT64_MAX, largest = 0;

		for (uint64_t i = 0; i < nr; i++) {
			struct range part = split_part(whole, 4096, i, nr);

			cr_assert_eq(part.start, next);
			cr_assert_eq(part.bytes % 4096, 0);
			next += part.bytes;
			smallest = part.bytes < smallest ? part.bytes : smallest;
			largest = part.bytes > largest ? part.bytes : largest;
		}
		cr_assert_eq(next, whole.start + 1000 * 4096);
		cr_assert_leq(largest - smallest, 4096);
	}
}

Test(split, more_parts_than_blocks_leaves_some_empty)
{
	const struct range whole = { .start = 0, .bytes = 3 * 512 };

	cr_assert_eq(split_part(whole, 512, 2, 5).bytes, 512);
	cr_assert_eq(split_part(whole, 512, 3, 5).bytes, 0);
	cr_assert_eq(split_part(whole, 512, 4, 5).start, 3 * 512);
}

Test(split, common_multiple_of_blocks)
{
	cr_assert_eq(block_multiple(1, 4096), 4096);
	cr_assert_eq(block_multiple(4096, 8192), 8192);
	cr_assert_eq(block_multiple(12288, 8192), 24576);
	cr_assert_eq(block_multiple(2300, 512), 294400);
	cr_assert_eq(block_multiple(1ull << 40, 512), 1ull << 40);
	cr_assert_eq(block_multiple((1ull << 40) + 512, 512), 0);
	cr_assert_eq(block_multiple((1ull << 33) - 1, 1ull << 33), 0);
	cr_assert_eq(block_multiple(0, 512), 0);
}
