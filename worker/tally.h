/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - what the threads of a step have counted, added up per member.
 *
 * Reads the statistics block with relaxed loads, so at any time and from both processes: the I/O process makes
 * its DONE with it, the control process its SAMPLEs, and a DONE when the I/O process no longer can. What the
 * block says of places in itself is checked before it is followed.
 */
#ifndef SALVO_WORKER_TALLY_H
#define SALVO_WORKER_TALLY_H

#include "common/net/message.h"
#include "worker/io/stats.h"

struct member_sums {
	struct direction_sum dir[DIR_COUNT];
};

struct tally {
	struct member_sums *members;
	size_t nr_members;
	uint64_t running;   /* threads between their first and last I/O */
	uint64_t oldest_ns; /* age of the oldest I/O in flight; 0: none */
};

enum tally_flags {
	TALLY_LAT_ONLY =
		1 << 0, /* of the latencies lat alone: a third of the memory that threads write */
	TALLY_UNFINISHED = 1 << 1, /* I/Os in flight count as never completed */
};
/* A reading at now_ns. */
void tally_read(const struct stats_block *b, size_t nr_members, uint64_t now_ns, unsigned flags,
		struct tally *ret);
void tally_fini(struct tally *t);

/* Rows of what came between two readings (lat only); with before NULL of everything (clat and slat too). Only
 * rows with something in them. */
void tally_rows(const struct tally *now, const struct tally *before, struct member_row **ret,
		size_t *ret_nr);
/* The members' totals without direction; io-wq's share of the CPU time is not in them. The window of a thread that
 * hangs or died ends where its job's would have, or now. */
void tally_members(const struct stats_block *b, const struct assignment *a, uint64_t start_ns,
		   uint64_t now_ns, struct member_done **ret, size_t *ret_nr);
/* The I/Os that are in flight, at most TALLY_MAX_STUCK of them. */
enum { TALLY_MAX_STUCK = 256 };
void tally_stuck(const struct stats_block *b, const struct assignment *a, uint64_t now_ns,
		 struct stuck_io **ret, size_t *ret_nr);

#endif
