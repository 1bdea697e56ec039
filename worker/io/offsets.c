/* SPDX-License-Identifier: Apache-2.0 */
/* Design notes. With k bits, 2^(k-1) < n <= 2^k: x = i + key, then four rounds of an odd multiplication
 * and an xor with the upper half; each step is a bijection on k bits, so i = 0..2^k-1 gives every number
 * once, and those >= n are left out (fewer than half). Key and multipliers come from seed and pass.
 * Fewer rounds fail tests of randomness; a bitmap would cost memory and its cache misses.
 */
#include "worker/io/offsets.h"

uint64_t seed_mix(uint64_t seed, uint64_t number)
{
	/* splitmix64's finaliser over both. */
	uint64_t x = seed + (number + 1) * 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static void begin_pass(struct offsets *o)
{
	uint64_t seed = seed_mix(o->seed, o->pass);

	o->next = 0;
	o->left = o->nr_blocks;
	o->key = seed_mix(seed, 0);
	for (unsigned i = 0; i < OFFSETS_ROUNDS; i++)
		o->mul[i] = seed_mix(seed, i + 1) | 1;
}

void offsets_next_pass(struct offsets *o)
{
	o->pass++;
	begin_pass(o);
}

static inline uint64_t permute(const struct offsets *o, uint64_t i)
{
	uint64_t x = i + o->key;

#pragma GCC unroll 4
	for (unsigned round = 0; round < OFFSETS_ROUNDS; round++) {
		x = x * o->mul[round] & o->mask;
		x ^= x >> o->shift;
	}
	return x;
}

uint64_t offsets_shuffle(const struct offsets *o, uint64_t i)
{
	/* Going on from what lies behind the end comes back into the range, and never to another's place. */
	do
		i = permute(o, i);
	while (i >= o->nr_blocks);
	return i;
}

static inline uint64_t offset_of(const struct offsets *o, uint64_t block)
{
	return o->start + block * o->block_bytes;
}

/* A batch that reaches over the end of the pass, in parts that do not. */
static __attribute__((noinline)) void fill_over(struct offsets *o, struct io_cmd *cmds, unsigned nr)
{
	for (unsigned part; nr; nr -= part, cmds += part) {
		if (!o->left)
			offsets_next_pass(o);
		part = nr < o->left ? nr : (unsigned)o->left;
		o->fill(o, cmds, part);
	}
}

static void fill_sequential(struct offsets *o, struct io_cmd *cmds, unsigned nr)
{
	if (unlikely(nr > o->left)) {
		fill_over(o, cmds, nr);
		return;
	}
	o->left -= nr;
	for (unsigned i = 0; i < nr; i++)
		cmds[i].offset = offset_of(o, o->next++);
}

static __attribute__((noinline)) void fill_many(struct offsets *o, struct io_cmd *cmds, unsigned nr)
{
#pragma GCC unroll 2
	for (unsigned i = 0; i < nr; i++)
		cmds[i].offset = offset_of(o, permute(o, o->next++));
}

/* The usual case of a benchmark, worth a way of its own for a single block. */
static void fill_permuted_power_of_two(struct offsets *o, struct io_cmd *cmds, unsigned nr)
{
	if (unlikely(nr > o->left)) {
		fill_over(o, cmds, nr);
		return;
	}
	o->left -= nr;
	if (nr == 1)
		cmds->offset = offset_of(o, permute(o, o->next++));
	else
		fill_many(o, cmds, nr);
}

static void fill_permuted(struct offsets *o, struct io_cmd *cmds, unsigned nr)
{
	if (unlikely(nr > o->left)) {
		fill_over(o, cmds, nr);
		return;
	}
	o->left -= nr;
	for (unsigned i = 0; i < nr; i++) {
		uint64_t block;

		do
			block = permute(o, o->next++);
		while (block >= o->nr_blocks);
		cmds[i].offset = offset_of(o, block);
	}
}

static void fill_drawn(struct offsets *o, struct io_cmd *cmds, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		unsigned __int128 wide = (unsigned __int128)random_next(&o->random) * o->nr_blocks;

		cmds[i].offset = offset_of(o, (uint64_t)(wide >> 64));
	}
}

void offsets_init(struct offsets *o, enum offsets_order order, struct range range,
		  uint64_t block_bytes, uint64_t seed)
{
	unsigned bits;

	assert(block_bytes && range.bytes >= block_bytes);
	*o = (struct offsets) {
		.start = range.start,
		.block_bytes = block_bytes,
		.nr_blocks = range.bytes / block_bytes,
		.order = order,
		.seed = seed,
		.random = seed_mix(seed, UINT64_MAX - 1) | 1,
	};
	bits = o->nr_blocks > 1 ? 64 - (unsigned)__builtin_clzll(o->nr_blocks - 1) : 0;
	o->mask = bits ? UINT64_MAX >> (64 - bits) : 0;
	o->shift = (bits + 1) / 2;
	switch (order) {
	case OFFSETS_SEQUENTIAL:
		o->fill = fill_sequential;
		break;
	case OFFSETS_PERMUTED:
		o->fill = o->mask + 1 == o->nr_blocks ? fill_permuted_power_of_two : fill_permuted;
		break;
	case OFFSETS_DRAWN:
		o->fill = fill_drawn;
		break;
	}
	begin_pass(o);
}
