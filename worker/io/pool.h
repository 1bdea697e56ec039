/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - the I/O threads of one step: made, armed, started, stopped, joined.
 *
 * Called by the supervisor thread of the I/O process only. Descriptors belong to the caller and stay open
 * until pool_destroy.
 */
#ifndef SALVO_IO_POOL_H
#define SALVO_IO_POOL_H

#include "common/base/error.h"
#include "common/model/job.h"
#include "common/model/simulated.h"
#include "common/model/split.h"
#include "worker/io/stats.h"

#include <sched.h>

/* Everything that one I/O thread needs, resolved; borrowed for the life of the pool. */
struct io_thread_spec {
	const char *target; /* name, for messages */
	uint64_t member;    /* index in the assignment */
	int fd;             /* opened with the right flags; -1 for a simulated target */
	int advice; /* POSIX_FADV_*, which fd has been told; for what has hints of its own */
	bool simulated;
	uint64_t latency_ns; /* of a simulated target without quantiles */
	const struct quantile *quantiles;
	size_t nr_quantiles;
	struct stall stall;
	const struct job *job;
	struct range
		range; /* this thread's own: part of the target, or all of the job's range when shared */
	uint64_t block_bytes; /* the target's logical block size: alignment of buffers */
	uint64_t thread; /* number in the fleet: seeds the generator and marks written blocks */
	uint64_t seed;   /* of the job */
	const cpu_set_t *cpus; /* where the thread may run (cpus_allowed); NULL: anywhere */
	unsigned
		reap_min; /* completions to wait for at once; 0: 1, which keeps the depth fullest */
};

struct pool;

/* Makes the threads; each sets itself up (ring, registered buffers and files, faulted in) and stops at the
 * gate. Returns when all of them stand there, or with every error and no thread left. */
struct error *pool_new(const struct io_thread_spec *specs, size_t nr, struct stats_block *stats,
		       struct pool **ret) _must_check_;
/* What was not had as wanted and is done without (buffers that could not be registered, say): a list
 * without repetitions, NULL when there is nothing to say. Borrowed. */
const struct error *pool_warnings(const struct pool *pool);
/* Opens the gate: the first I/O of every thread is submitted at start_ns (this clock), never before. */
void pool_start(struct pool *pool, uint64_t start_ns);
/* Submit nothing more, wait for what is in flight, end. Threads at the gate just end. */
void pool_stop(struct pool *pool);
/* Descriptor that becomes readable (eventfd) when the last thread has ended. */
int pool_done_fd(const struct pool *pool);
bool pool_is_done(const struct pool *pool);
/* Stops what still runs, joins the threads (waits for their I/O) and frees everything; NULL is fine. */
void pool_destroy(struct pool **self_p);

#endif
