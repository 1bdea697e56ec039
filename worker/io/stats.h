/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - the shared statistics block: what I/O threads count and the control process reads.
 *
 * One memfd per I/O process, mapped by it and by the control process:
 *
 *     struct stats_block | struct thread_stats [nr_threads] | struct io_slot [all threads' depths]
 *
 * Each cell that is added to has one writer. An I/O thread writes its own thread_stats and io_slots with relaxed
 * stores; the supervisor of the I/O process writes start_ns; the control process writes the lease's deadline
 * and reads everything with relaxed loads at any time. `stop` only ever becomes 1, whoever sets it. After the
 * threads are joined everything may be read plainly. Nothing here is ever locked.
 */
#ifndef SALVO_IO_STATS_H
#define SALVO_IO_STATS_H

#include "common/base/compiler.h"
#include "common/model/metrics.h"

#include <stdalign.h>

enum thread_state {
	THREAD_SETUP,    /* opening, registering, faulting in */
	THREAD_READY,    /* stands at the gate */
	THREAD_RUNNING,  /* between the start instant and its last completion */
	THREAD_DRAINING, /* submits nothing more */
	THREAD_DONE,
	THREAD_FAILED, /* could not be set up; the pool has the error */
};

/* Errnos that are told apart per direction; the rest share one more cell, with the number ERRNO_OTHERS. */
enum { STATS_ERRNOS = 8, ERRNO_OTHERS = 4096 };

struct errno_cell {      /* I/Os of one direction that ended with one errno */
	uint64_t number; /* errno; 0: unused */
	uint64_t count;
	uint64_t first_offset; /* UINT64_MAX: it has none (a sync) */
	uint64_t first_ns;     /* instant of the first one, thread's clock */
};

/* How I/Os went to the engine and came back, window and drain. Syncs are not in it. */
struct batch_cells {
	struct pow2_counts
		depths; /* in flight when the I/O's batch had been submitted, once per I/O */
	struct pow2_counts submits;   /* I/Os per submission */
	struct pow2_counts completes; /* I/Os per reap that found any */
};

struct direction_cells {
	struct counts counts;
	uint64_t end_ns; /* instant of the direction's last counted completion, thread's clock */
	struct hist_cells lat;           /* window + drain; before the window nothing */
	struct hist_cells clat, slat;    /* empty for engines in which lat is all there is */
	struct hist_cells service, late; /* empty for jobs without a rate */
};

/* An I/O in flight: enough to name it when it hangs. */
struct io_slot {
	uint64_t submitted_ns; /* 0: free */
	uint64_t offset;
	uint32_t bytes;
	uint32_t direction; /* enum direction */
};

struct thread_stats {
	alignas(CACHELINE) uint64_t state; /* enum thread_state */
	uint64_t tid;
	uint64_t member;               /* index in the assignment */
	uint64_t first_slot, nr_slots; /* its io_slots in the block */
	uint64_t first_io_ns;          /* instant of the first submission; 0: none yet */
	uint64_t begin_ns;             /* the window's begin for this thread */
	uint64_t end_ns; /* its end: the window's, or the last completion, or a later end_fsync's */
	uint64_t depth_max; /* most I/Os in flight at once */
	uint64_t cpu_usr_ns, cpu_sys_ns, ctx, majf,
		minf;          /* getrusage(RUSAGE_THREAD) over the window */
	uint64_t late_wake_ns; /* how long after the instant the thread was awake */
	uint64_t realtime;     /* 1: woke at real-time priority */
	struct errno_cell errnos[DIR_COUNT][STATS_ERRNOS + 1];
	struct batch_cells batches;
	struct direction_cells dir[DIR_COUNT];
};
static_assert(sizeof(struct thread_stats) % CACHELINE == 0, "threads share no cache line");

struct stats_block {
	uint64_t bytes; /* of the whole mapping */
	uint64_t nr_threads, nr_slots;
	uint64_t threads_offset, slots_offset;
	/* Commands. start_ns: supervisor; UINT64_MAX until START came. stop: 1 = submit nothing more, set by the
	 * supervisor, or by a thread whose I/O failed in a job that then stops all. deadline_ns: control process, the lease's end on this clock; no I/O is submitted at or after it. */
	alignas(CACHELINE) uint64_t start_ns;
	uint64_t stop;
	uint64_t deadline_ns;
};

/* Bytes that a block for so many threads and slots takes. */
size_t stats_block_bytes(uint64_t nr_threads, uint64_t nr_slots);
/* Lays a zeroed mapping of that size out; start_ns and deadline_ns are UINT64_MAX. */
void stats_block_init(struct stats_block *b, uint64_t nr_threads, uint64_t nr_slots);
/* Is this mapping of `bytes` bytes a block that can be read without leaving it? */
bool stats_block_valid(const struct stats_block *b, size_t bytes);

static inline struct thread_stats *stats_thread(const struct stats_block *b, uint64_t i)
{
	return (struct thread_stats *)((char *)b + b->threads_offset) + i;
}

static inline struct io_slot *stats_slot(const struct stats_block *b, uint64_t i)
{
	return (struct io_slot *)((char *)b + b->slots_offset) + i;
}

/* Owning thread only. An I/O that failed at this instant. */
void stats_note_error(struct thread_stats *t, enum direction dir, int number, uint64_t offset,
		      uint64_t now_ns);

/* Adds one thread's reading of one direction. */
void stats_sum_direction(const struct thread_stats *t, enum direction dir,
			 struct direction_sum *to);

#endif
