/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - a way to do I/O: one file per engine, one row in engines.c.
 *
 * An engine sees its environment (descriptor, buffers, depth), never the job, the statistics or the
 * thread. All of its functions run on the I/O thread that owns it.
 *
 * Commands are numbered by slot and direction (io_command): a read goes into the slot's read buffer, a write
 * comes from its write buffer. What is fixed about a command is known at init, so a submission names only
 * the command, its offset and its bytes. At most one command of a slot is in flight.
 */
#ifndef SALVO_IO_ENGINE_H
#define SALVO_IO_ENGINE_H

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/model/job.h"
#include "common/model/metrics.h"
#include "common/model/simulated.h"
#include "worker/io/buffers.h"

#include <sched.h>

enum engine_caps {
	ENGINE_ASYNC = 1, /* keeps several I/Os in flight; without it the depth is 1 */
	ENGINE_SPLIT = 2, /* submission and completion are apart: clat and slat mean something */
	ENGINE_CLOCK = 4, /* its instants are readings of the clock, not a device's own time */
	ENGINE_TRIM = 8,  /* has the commands of DIR_TRIM */
};

/* The longest that a reap waits, so that a thread sees stop and the lease's end beside a hung device. */
#define ENGINE_WAIT_NS (100 * NS_PER_MS)

struct io_cmd {
	uint64_t offset;  /* bytes, in the target */
	uint32_t command; /* io_command of a read, write or trim */
	uint32_t bytes;   /* at most env->io_bytes */
};

static inline uint32_t io_command(uint32_t slot, uint32_t direction)
{
	return DIR_COUNT * slot + direction;
}

static inline uint32_t io_command_slot(uint32_t command)
{
	return command / DIR_COUNT;
}

static inline enum direction io_command_direction(uint32_t command)
{
	return (enum direction)(command % DIR_COUNT);
}

struct io_done {
	uint32_t slot;
	int32_t result; /* bytes moved, or -errno; 0 of a sync, 0 or the bytes of a trim */
};

/* What an engine is to believe of the kernel, so that tests run what other kernels need. */
enum engine_pretend {
	PRETEND_NO_DEFER_TASKRUN = 1 << 0,   /* before Linux 6.1 */
	PRETEND_NO_SINGLE_ISSUER = 1 << 1,   /* before 6.0 */
	PRETEND_NO_COOP_TASKRUN = 1 << 2,    /* before 5.19 */
	PRETEND_NO_REGISTERED_RING = 1 << 3, /* before 5.18 */
	PRETEND_NO_EXT_ARG = 1 << 4,         /* before 5.11 */
	PRETEND_NO_FIXED_FILE = 1 << 5,
	PRETEND_POLL_QUEUES = 1 << 6, /* the device has some */
};

struct engine_env {
	const char *target; /* name, for messages */
	int fd;             /* -1 where there is no file */
	unsigned depth;
	uint32_t io_bytes; /* of the largest I/O: what a buffer holds */
	int advice; /* POSIX_FADV_*: what the kernel is told about the order of the offsets */
	unsigned
		directions; /* bits 1 << DIR_READ, DIR_WRITE, DIR_TRIM of the commands that will come */
	const struct buffers *buffers;
	const cpu_set_t *cpus; /* where the thread may run; NULL: anywhere */
	bool locks_buffers; /* registers them where the engine can; the pool says it once for all threads */
	/* Of a simulated target: as in the scenario, and where its distribution begins. */
	uint64_t latency_ns, seed;
	const struct quantile *quantiles;
	size_t nr_quantiles;
	struct stall stall;
	bool hipri, sqthread_poll; /* wishes that the engine can fulfil, or refuses */
	int sqthread_cpu;          /* where the kernel's thread runs; -1: anywhere */
	unsigned pretend;          /* enum engine_pretend; 0 but in tests */
	/* What was not had as wanted and is done without; the engine appends, the caller reports. */
	struct error **warnings;
};

struct engine_ops {
	const char *name;  /* as in the scenario */
	unsigned caps;     /* enum engine_caps */
	size_t state_size; /* allocated by the caller: zeroed, cache-line aligned */
	/* Cold. Before the gate; may allocate and block. `env` and what it points to outlive the state. */
	struct error *(*init)(void *state, const struct engine_env *env);
	/* Hot. Starts all `nr` commands; `now_ns` is the instant that counts as their submission. The engine
	 * keeps what the kernel does not take at once and hands it over in later calls. A synchronous engine
	 * does the I/O here. 0, or -errno when the engine is of no further use. */
	int (*submit)(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns);
	/* The same where every command is of env->io_bytes and need not be told so; NULL: submit does as well. */
	int (*submit_fixed)(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns);
	/* Hot. Starts one fsync, or fdatasync; only when nothing is in flight. It completes as slot 0 with
	 * result 0. */
	int (*sync)(void *state, bool data_only, uint64_t now_ns);
	/* Hot. Waits until `min` (>= 1, at most what is in flight) are done or about ENGINE_WAIT_NS are over.
	 * Returns how many are in `done` (which has room for the depth), or -errno when the engine is of no
	 * further use. *now_ns: the instant at which all of them completed, read after they were seen;
	 * it never goes back. */
	int (*reap)(void *state, struct io_done *done, unsigned min, uint64_t *now_ns);
	/* The same with min = 1, and waits no longer than until `until_ns`, within what timers do; it may come
	 * back earlier. NULL: an engine whose I/O is done when submit returns, so that reap never waits. */
	int (*reap_until)(void *state, struct io_done *done, uint64_t until_ns, uint64_t *now_ns);
	/* Cold. After the last reap; accepts a half-built state. */
	void (*fini)(void *state);
};

extern const struct engine_ops engine_uring, engine_libaio, engine_psync, engine_sync,
	engine_pvsync2, engine_mmap, engine_simulated, engine_uring_wishes;

/* A refusal: what the kernel or device lacks for the flag, with the kernel's release. */
struct error *engine_lacks(const char *engine, const char *flag, const char *why, ...)
	_printf_(3, 4);

/* The engine of a job, with functions that suit its wishes; targets that are simulated bring their own. Never NULL. */
const struct engine_ops *engine_of(const struct job *job, bool simulated);

#endif
