/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - one I/O thread: set up, through the gate, its segments, its end.
 *
 * Private to pool.c, thread.c and the loops. Everything here belongs to the I/O thread between its creation
 * and its join; others read thread_stats and io_slots.
 */
#ifndef SALVO_IO_THREAD_H
#define SALVO_IO_THREAD_H

#include "worker/io/contents.h"
#include "worker/io/gate.h"
#include "worker/io/offsets.h"
#include "worker/io/pace.h"
#include "worker/io/pool.h"
#include "worker/io/source.h"

#include <sys/resource.h>

/* Why the hot loop came back. */
enum loop_exit {
	LOOP_EDGE, /* the clock reached edge_ns or the lease's end, or stop is set; a reap is unaccounted */
	LOOP_IDLE, /* nothing in flight and nothing to submit: the budget is used up, or fsync is due */
	LOOP_ERROR, /* an I/O's error or the engine's -errno ends the thread, or too many I/Os fail in a row */
};

/* Where a segment counts. */
struct account {
	uint64_t *ios, *bytes;
	struct direction_cells *cells; /* distributions; scratch in the ramp, which has none */
};

enum segment { SEGMENT_RAMP, SEGMENT_WINDOW, SEGMENT_DRAIN };

/* Writes that a job syncs after, and how many of them are still to come. */
struct sync_plan {
	uint64_t every, left; /* UINT64_MAX: never */
};

/* Where the ramp counts what is not kept. */
struct scratch {
	struct direction_cells dir[DIR_COUNT];
	struct batch_cells batches;
};

struct io_thread {
	/* Read and written per I/O. */
	struct io_slot *slots;  /* in the shared block */
	uint64_t *after_submit; /* per slot: the reading after its submission */
	uint32_t *free_slots;   /* a stack */
	struct io_cmd *cmds;    /* of the batch being submitted */
	struct io_done *done;   /* of the last reap */
	struct buffers buffers;
	uint64_t sequence;   /* of the last stamp written */
	uint64_t mix_random; /* draws the directions of a mixed job */
	uint64_t mix_reads;  /* a draw up to it is a read */
	uint32_t io_bytes;   /* of each read and write */

	/* Read and written per batch. */
	unsigned depth, nr_free, reap_min;
	unsigned depth_max; /* most in flight so far */
	unsigned nr_done;   /* in done[], not yet accounted */
	uint64_t now_ns;    /* the last reap's reading */
	uint64_t edge_ns;   /* the segment's end */
	uint64_t budget;    /* I/Os that may still be submitted */
	const struct engine_ops *ops;
	void *engine;
	int (*submit)(void *, const struct io_cmd *, unsigned,
		      uint64_t); /* those of ops, one load nearer */
	int (*reap)(void *, struct io_done *, unsigned, uint64_t *);
	uint64_t writes_to_sync;     /* writes until fsync or fdatasync is due */
	struct batch_cells *batches; /* where the segment counts them */
	uint64_t counted_budget;     /* at depth 1: the budget up to which they are counted, */
	unsigned counted_in_flight;  /* and what was in flight then */
	const struct loop_ops *loop;
	struct offsets offsets; /* of a plain job */
	struct source source;   /* of all others */
	bool has_source;
	struct pace pace;    /* of a job with a rate, as all up to spin_ns */
	uint64_t *due;       /* per slot: when its I/O was due; NULL without a rate */
	uint64_t *batch_due; /* of the batch being submitted */
	unsigned idle_slots; /* that were free after the last submission */
	uint64_t spin_ns;    /* awake before an I/O is due */
	struct account account[DIR_COUNT];
	struct thread_stats *stats;
	struct stats_block *block; /* only `stop` is written */
	int error;                 /* -errno that ends the thread: of an I/O or of the engine */
	bool must_leave; /* the hot loop: an error ends the thread, or many are to slow it down */
	bool engine_broken;
	unsigned retries; /* EAGAIN and EINTR since the last success */

	/* Cold. */
	struct contents contents; /* of the write buffers */
	enum segment segment;
	bool stopped;           /* before its time: stop, the lease's end, an error */
	bool sync_is_data_only; /* the last one started was an fdatasync */
	uint64_t window_end_ns;
	struct sync_plan syncs[2]; /* fsync, fdatasync */
	unsigned failures;         /* in a row, without a success between them */
	uint64_t successes;        /* when the last I/O failed */
	uint64_t pause_ns;         /* the last one after failures; 0: none since a success */
	struct rusage usage_begin;
	struct scratch *scratch;
	struct io_thread_spec spec;
	struct engine_env env;
	struct gate *gate;
	bool crowded; /* the pool has more threads than the host CPUs: never spin */
	bool locks_buffers;
	struct error *err, *warnings;
};

/* Cold, on the I/O thread: everything up to the gate. The caller has set spec, stats, slots, block, gate,
 * crowded and locks_buffers. thread_fini, on the same thread, accepts a half-built one; err and warnings stay. */
struct error *thread_setup(struct io_thread *th) _must_check_;
void thread_fini(struct io_thread *th);
/* From the gate's opening to the end. */
void thread_run(struct io_thread *th);
/* The I/Os that the thread keeps in flight: the job's depth, 1 for an engine without a queue. */
unsigned thread_depth(const struct io_thread_spec *spec);
struct buffers_spec thread_buffers_spec(const struct io_thread_spec *spec);

/* loop.c: the variants of the hot loop. */
struct loop_ops {
	/* Submits, reaps, accounts until there is a reason to come back. Not to be called when loop_is_due. */
	enum loop_exit (*run)(struct io_thread *th);
	/* Its first half alone; false when the engine broke. */
	bool (*submit)(struct io_thread *th);
};
const struct loop_ops *loop_choose(const struct job *job, const struct engine_ops *engine,
				   unsigned depth);
/* Starts an fsync or fdatasync on slot 0; only when nothing is in flight. 0, or -errno when the engine broke. */
int loop_sync(struct io_thread *th, bool data_only);
/* Reaps at least one completion (or none within the engine's wait) into done[]; false: the engine broke. */
bool loop_reap(struct io_thread *th);
/* Waits, longer each time, while I/Os do nothing but fail; goes on accounting what completes meanwhile. Comes
 * back early when loop_is_due, with the last reap unaccounted. */
void loop_calm_down(struct io_thread *th);
/* Accounts done[0..nr_done) to the current segment; any direction, any segment. */
void loop_account(struct io_thread *th);

static inline void slot_describe(struct io_slot *s, uint32_t bytes, uint32_t direction)
{
	__atomic_store_n(&s->bytes, bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&s->direction, direction, __ATOMIC_RELAXED);
}

static inline unsigned thread_in_flight(const struct io_thread *th)
{
	return th->depth - th->nr_free;
}

#endif
