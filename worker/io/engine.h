/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - a way to do I/O: one file per engine, one row in engines.c.
 *
 * An engine sees its environment (descriptor, buffers, depth), never the job, the statistics or the
 * thread. All of its functions run on the I/O thread that owns it.
 *
 * Commands are numbered: 2 * slot reads into the slot's read buffer, 2 * slot + 1 writes from its write
 * buffer. All that is fixed about a command is known at init, so a submission names only the command and
 * the offset. At most one command of a slot is in flight.
 */
#ifndef SALVO_IO_ENGINE_H
#define SALVO_IO_ENGINE_H

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/model/job.h"
#include "worker/io/buffers.h"

enum engine_caps {
	ENGINE_ASYNC = 1, /* keeps several I/Os in flight; without it the depth is 1 */
	ENGINE_SPLIT = 2, /* submission and completion are apart: clat and slat mean something */
	ENGINE_CLOCK = 4, /* its instants are readings of the clock, not a device's own time */
};

/* The longest that a reap waits, so that a thread sees stop and the lease's end beside a hung device. */
#define ENGINE_WAIT_NS (100 * NS_PER_MS)

struct io_cmd {
	uint64_t offset; /* bytes, in the target */
	uint32_t command;
};

struct io_done {
	uint32_t slot;
	int32_t result; /* bytes moved, or -errno */
};

struct engine_env {
	const char *target; /* name, for messages */
	int fd;             /* -1 where there is no file */
	unsigned depth;
	uint32_t io_bytes; /* of every read and write */
	const struct buffers *buffers;
	bool locks_buffers; /* registers them where the engine can; the pool says it once for all threads */
	uint64_t latency_ns; /* of a simulated target */
	/* What was not had as wanted and is done without; the engine appends, the caller reports. */
	struct error **warnings;
};

struct engine_ops {
	const char *name, *help;
	unsigned caps;     /* enum engine_caps */
	size_t state_size; /* allocated by the caller: zeroed, cache-line aligned */
	/* Cold. Before the gate; may allocate and block. `env` and what it points to outlive the state. */
	struct error *(*init)(void *state, const struct engine_env *env);
	/* Hot. Starts all `nr` commands; `now_ns` is the instant that counts as their submission. The engine
	 * keeps what the kernel does not take at once and hands it over in later calls. A synchronous engine
	 * does the I/O here. 0, or -errno when the engine is of no further use. */
	int (*submit)(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns);
	/* Hot. Starts one fsync; only when nothing is in flight. It completes as slot 0 with result 0. */
	int (*sync)(void *state, uint64_t now_ns);
	/* Hot. Waits until `min` (>= 1, at most what is in flight) are done or about ENGINE_WAIT_NS are over.
	 * Returns how many are in `done` (which has room for the depth), or -errno when the engine is of no
	 * further use. *now_ns: the instant at which all of them completed, read after they were seen;
	 * it never goes back. */
	int (*reap)(void *state, struct io_done *done, unsigned min, uint64_t *now_ns);
	/* Cold. After the last reap; accepts a half-built state. */
	void (*fini)(void *state);
};

extern const struct engine_ops engine_uring, engine_psync, engine_simulated;

/* The engine of a job; targets that are simulated bring their own. Never NULL. */
const struct engine_ops *engine_of(enum job_engine engine, bool simulated);

#endif
