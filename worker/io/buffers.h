/* SPDX-License-Identifier: Apache-2.0 */
/* buffers.h - the memory that one thread's I/O moves: one buffer per slot and direction.
 *
 * Each is aligned to the page and to the target's block, faulted in, and its own for the life of the
 * thread. Reads and writes of a mixed job have buffers of their own, so that what is read never becomes
 * what is written.
 *
 * Write buffers hold what contents.h makes of the job, by default random bytes, and then every STAMP_CHUNK of a write
 * carries a stamp, {writer, sequence}: no two blocks that a fleet writes are equal.
 */
#ifndef SALVO_IO_BUFFERS_H
#define SALVO_IO_BUFFERS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct contents;

enum { STAMP_CHUNK = 4096 };

struct stamp {
	uint64_t writer;   /* number of the thread in the fleet */
	uint64_t sequence; /* of the chunk, from 1 */
};

struct buffers {   /* stays where it was made: stamps may point into it */
	void *map; /* one mapping: slack for alignment, the read buffers, then the write buffers */
	char *base;
	size_t map_bytes, stride;
	unsigned nr_read, nr_write;
	/* Per slot: the first stamp of its write buffer; of buffers that carry none, a word that nobody reads. */
	struct stamp **stamps;
	unsigned nr_stamps; /* in one write; they are STAMP_CHUNK apart; at least 1 */
	struct stamp nowhere;
};

/* What a job's thread asks for. */
struct buffers_spec {
	unsigned depth;
	bool reads, writes;
	uint64_t io_bytes, block_bytes;
	uint64_t writer;
	struct contents *contents; /* of the write buffers; not needed to count bytes */
};

/* Bytes that buffers_init will map; UINT64_MAX when that does not fit in 64 bits. */
uint64_t buffers_need(const struct buffers_spec *spec);
/* Bytes of memory that this host can give now, swap apart; UINT64_MAX where the kernel does not say. */
uint64_t buffers_available(void);
/* May this process keep so many bytes locked, as registered buffers are? Leaves a quarter of the limit to
 * the rings, which count as well. *ret_limit: the limit, for messages. */
bool buffers_may_lock(uint64_t bytes, uint64_t *ret_limit);
/* Maps, faults in and fills them. */
struct error *buffers_init(struct buffers *b, const struct buffers_spec *spec) _must_check_;
void buffers_fini(struct buffers *b);

static inline char *buffers_read(const struct buffers *b, unsigned slot)
{
	return b->base + slot * b->stride;
}

static inline char *buffers_write(const struct buffers *b, unsigned slot)
{
	return b->base + (b->nr_read + slot) * b->stride;
}

/* Hot: stamps of a write of so many bytes out of a larger buffer; at least 1, as of all of it. */
static inline unsigned buffers_stamps(const struct buffers *b, uint32_t bytes)
{
	unsigned nr = (bytes + STAMP_CHUNK - (unsigned)sizeof(struct stamp)) / STAMP_CHUNK;

	return nr == 0 ? 1 : nr < b->nr_stamps ? nr : b->nr_stamps;
}

/* Hot: gives every chunk of a slot's next write a sequence number of its own. The writer stands already. */
static inline uint64_t stamp_write(struct stamp *stamp, unsigned nr_stamps, uint64_t sequence)
{
	stamp->sequence = ++sequence;
	while (--nr_stamps) {
		stamp += STAMP_CHUNK / sizeof(*stamp);
		stamp->sequence = ++sequence;
	}
	return sequence;
}

#endif
