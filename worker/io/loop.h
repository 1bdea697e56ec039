/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - what the loops have in common. Private to loop.c, loop_any.c, trouble.c and thread.c. */
#ifndef SALVO_IO_LOOP_H
#define SALVO_IO_LOOP_H

#include "worker/io/thread.h"

#define hot_inline static inline __attribute__((always_inline))

/* A thread that is preempted between its reading of the clock and its submission must not submit after
 * the lease's end: it stops so long before. */
#define LEASE_GUARD_NS (20 * NS_PER_MS)

/* Nothing more may be submitted, whatever the time of the job: error, the lease's end, stop. */
static inline bool loop_is_halted(const struct io_thread *th)
{
	return th->error || th->now_ns + LEASE_GUARD_NS >= cell_get(&th->block->deadline_ns) ||
	       cell_get(&th->block->stop);
}

/* At the last reading: is the segment's end or the lease's end reached, or stop set? */
static inline bool loop_is_due(const struct io_thread *th)
{
	return th->now_ns >= th->edge_ns ||
	       th->now_ns + LEASE_GUARD_NS >= cell_get(&th->block->deadline_ns) ||
	       cell_get(&th->block->stop);
}

/* One submission of `nr`, after which in_flight are in the engine. */
hot_inline void count_submit(struct io_thread *th, unsigned nr, unsigned in_flight, bool one)
{
	struct batch_cells *b = th->batches;

	if (one) /* the thread knows without being told at each */
		return;
	cell_add(&b->depths.bucket[pow2_bucket(in_flight)], nr);
	cell_add(&b->submits.bucket[pow2_bucket(nr)], 1);
}

hot_inline void slot_release(struct io_thread *th, uint32_t slot)
{
	cell_set(&th->slots[slot].submitted_ns, 0);
	th->free_slots[th->nr_free++] = slot;
}

/* Cold, trouble.c. The engine takes no more; what is in flight stays in the slots. */
void loop_engine_failed(struct io_thread *th, int error) __attribute__((noinline));
/* One completion of any kind, in any segment. */
void loop_account_one(struct io_thread *th, struct io_done done) __attribute__((noinline));
/* More in flight than ever. */
void loop_note_depth(struct io_thread *th, unsigned in_flight) __attribute__((noinline));

/* The variants for jobs that are not plain (loop_any.c). */
const struct loop_ops *loop_any_choose(const struct engine_ops *engine, unsigned depth, bool paced);

#endif
