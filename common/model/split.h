/* SPDX-License-Identifier: Apache-2.0 */
/* split.h - who owns which part of a range. Pure; both sides and every thread get the same answer. */
#ifndef SALVO_MODEL_SPLIT_H
#define SALVO_MODEL_SPLIT_H

#include <stdint.h>

struct range {
	uint64_t start, bytes;
};

/* Part `index` of `nr` of the range: whole units of `align` bytes, disjoint, in order, together all whole
 * units of the range; the first (units mod nr) parts have one unit more. bytes 0: more parts than units.
 * nr >= 1, index < nr, align >= 1. */
struct range split_part(struct range whole, uint64_t align, uint64_t index, uint64_t nr);

/* The least common multiple of two block sizes; 0 when it is above 1 TiB, or when one of them is 0. */
uint64_t block_multiple(uint64_t a, uint64_t b);

#endif
