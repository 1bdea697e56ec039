/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/split.h"

struct range split_part(struct range whole, uint64_t align, uint64_t index, uint64_t nr)
{
	uint64_t units = whole.bytes / align;
	uint64_t each = units / nr, more = units % nr;
	uint64_t before = index * each + (index < more ? index : more);

	return (struct range) {
		.start = whole.start + before * align,
		.bytes = (each + (index < more)) * align,
	};
}

uint64_t block_multiple(uint64_t a, uint64_t b)
{
	uint64_t gcd = a, rest = b, multiple;

	while (rest) {
		uint64_t next = gcd % rest;

		gcd = rest;
		rest = next;
	}
	if (!gcd || __builtin_mul_overflow(a / gcd, b, &multiple) || multiple > 1ull << 40)
		return 0;
	return multiple;
}
