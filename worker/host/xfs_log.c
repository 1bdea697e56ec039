/* SPDX-License-Identifier: Apache-2.0 */
/* Was an XFS unmounted cleanly? Then the last record of its log is an unmount record. XFS keeps no flag for
 * it, so the end of the log has to be found: the log is a ring of 512-byte blocks that carry the number of
 * the round in which they were written, and a binary search finds where that number changes. */
#include "common/base/str.h"
#include "worker/host/signature.h"

#include <unistd.h>

enum {
	BLOCK = 512,
	HEADER_BYTES = 32 * 1024, /* so much of a record one header block describes */
	UNMOUNT_FLAG = 0x20,
	RECORD_BLOCKS_MAX = 1024, /* an unmount record with the padding of the widest stripe */
};

static const uint32_t record_magic = 0xFEEDBABE;

struct log {
	int fd;
	uint64_t start; /* byte on the device */
	uint64_t nr_blocks;
};

static uint32_t be32_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t be64_at(const uint8_t *p)
{
	return (uint64_t)be32_at(p) << 32 | be32_at(p + 4);
}

static bool is_record(const uint8_t block[BLOCK])
{
	return be32_at(block) == record_magic;
}

static bool read_block(const struct log *log, uint64_t nr, uint8_t block[BLOCK])
{
	return pread(log->fd, block, BLOCK, (off_t)(log->start + nr * BLOCK)) == BLOCK;
}

/* The round in which a block was written; false: it cannot be read. */
static bool round_of(const struct log *log, uint64_t nr, uint32_t *ret)
{
	uint8_t block[BLOCK];

	if (!read_block(log, nr, block))
		return false;
	*ret = be32_at(is_record(block) ? block + 4 : block);
	return true;
}

/* The block after the last one written. */
static bool find_head(const struct log *log, uint64_t *ret)
{
	uint64_t low = 0,
		 high = log->nr_blocks - 1; /* round(low) is the new one, round(high) not */
	uint32_t first, last, middle;

	if (!round_of(log, low, &first) || !round_of(log, high, &last))
		return false;
	if (first == last) {
		*ret = log->nr_blocks;
		return true;
	}
	while (high - low > 1) {
		uint64_t half = low + (high - low) / 2;

		if (!round_of(log, half, &middle))
			return false;
		if (middle == first)
			low = half;
		else
			high = half;
	}
	*ret = high;
	return true;
}

/* Is the record before `head` the one that an unmount writes last? */
static bool ends_with_unmount(const struct log *log, uint64_t head)
{
	enum { AT_VERSION = 8, AT_NR_OPS = 40, AT_SIZE = 320, OP_FLAGS = 9 };
	uint8_t block[BLOCK];
	uint64_t back = 1, header_blocks = 1;

	do {
		if (back > head || back > RECORD_BLOCKS_MAX || !read_block(log, head - back, block))
			return false;
		back++;
	} while (!is_record(block));
	if (be32_at(block + AT_NR_OPS) != 1)
		return false;
	if (be32_at(block + AT_VERSION) & 2 && be32_at(block + AT_SIZE) > HEADER_BYTES)
		header_blocks = (be32_at(block + AT_SIZE) + HEADER_BYTES - 1) / HEADER_BYTES;
	if (!read_block(log, head - (back - 1) + header_blocks, block))
		return false;
	return block[OP_FLAGS] & UNMOUNT_FLAG;
}

char *xfs_alive(int fd, uint64_t offset)
{
	enum { BLOCK_SIZE = 4, LOG_START = 48, AG_BLOCKS = 84, LOG_BLOCKS = 96, AG_LOG = 124 };
	uint8_t super[BLOCK];
	struct log log = { .fd = fd };
	uint64_t log_start, ag_log, head;

	if (pread(fd, super, BLOCK, (off_t)offset) != BLOCK)
		return NULL;
	log_start = be64_at(super + LOG_START);
	ag_log = super[AG_LOG];
	if (log_start == 0 || ag_log == 0 || ag_log > 31) /* 0: the log is on another device */
		return NULL;
	log.start = offset + ((log_start >> ag_log) * be32_at(super + AG_BLOCKS) +
			      (log_start & ((1ull << ag_log) - 1))) *
				     be32_at(super + BLOCK_SIZE);
	log.nr_blocks = (uint64_t)be32_at(super + LOG_BLOCKS) * be32_at(super + BLOCK_SIZE) / BLOCK;
	if (log.nr_blocks < 2 || !find_head(&log, &head))
		return NULL;
	return ends_with_unmount(&log, head) ? NULL : xstrdup("its log needs recovery");
}
