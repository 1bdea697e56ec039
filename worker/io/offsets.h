/* SPDX-License-Identifier: Apache-2.0 */
/* offsets.h - which block comes next: sequential, a random permutation, or a random draw.
 *
 * Owned by one I/O thread. The permutation visits every block of the range exactly once per pass without
 * a bitmap; each pass has another order. The same seed and thread give the same sequence.
 */
#ifndef SALVO_IO_OFFSETS_H
#define SALVO_IO_OFFSETS_H

#include "common/model/split.h"
#include "worker/io/engine.h"

enum offsets_order {
	OFFSETS_SEQUENTIAL,
	OFFSETS_PERMUTED, /* random, each block once per pass */
	OFFSETS_DRAWN,    /* random, each draw on its own (norandommap) */
};

enum { OFFSETS_ROUNDS = 4 };

struct offsets {
	/* Hot. Writes the next `nr` offsets into cmds[].offset; passes follow each other by themselves. */
	void (*fill)(struct offsets *o, struct io_cmd *cmds, unsigned nr);
	uint64_t start, block_bytes, nr_blocks;
	uint64_t next, left; /* in this pass: next index, blocks not yet given out */
	uint64_t mask, key, mul[OFFSETS_ROUNDS];
	unsigned shift;
	enum offsets_order order;
	uint64_t random; /* state of the draws, never 0 */
	uint64_t seed, pass;
};

/* The range must hold at least one whole block; a rest that is smaller is not used. */
void offsets_init(struct offsets *o, enum offsets_order order, struct range range,
		  uint64_t block_bytes, uint64_t seed);
/* Another order for the same blocks: `i` of [0, nr_blocks) to one of them, and no two to the same. */
uint64_t offsets_shuffle(const struct offsets *o, uint64_t i);
/* Leaves the rest of this pass out and begins the next one. */
void offsets_next_pass(struct offsets *o);

/* A seed of its own for each use: mixes the job's seed with a number. */
uint64_t seed_mix(uint64_t seed, uint64_t number);

/* xorshift64: the next of a cheap random sequence; *state is never 0. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

#endif
