/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.h - what the engines share whose calls block: one I/O in flight, done in the call that submits
 * it, handed out by the next reap.
 *
 * Their state begins with a struct blocking.
 */
#ifndef SALVO_IO_BLOCKING_H
#define SALVO_IO_BLOCKING_H

#include "worker/io/engine.h"
#include "worker/io/trim.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

struct blocking {
	const struct engine_env *env;
	bool is_done;   /* a completion waits for reap */
	bool is_device; /* of one that trims: a block device */
	int32_t result;
};

/* Finds out whether the target can be trimmed, where the job does that. */
static inline struct error *blocking_init(struct blocking *b, const struct engine_env *env)
{
	b->env = env;
	return env->directions & 1u << DIR_TRIM ? trim_check(env->fd, &b->is_device) : NULL;
}

/* Keeps what a call returned: bytes, or -1 and errno. */
static inline void blocking_finish(struct blocking *b, ssize_t ret)
{
	b->result = ret < 0 ? -errno : (int32_t)ret;
	b->is_done = true;
}

static inline void blocking_trim(struct blocking *b, const struct io_cmd *cmd)
{
	b->result = trim_now(b->env->fd, b->is_device, cmd->offset, cmd->bytes);
	b->is_done = true;
}

static inline void blocking_sync(struct blocking *b, int fd, bool data_only)
{
	blocking_finish(b, data_only ? fdatasync(fd) : fsync(fd));
}

/* engine_ops.reap: the completion of the last submission. */
static inline int blocking_reap(void *state, struct io_done *done, unsigned min, uint64_t *now_ns)
{
	struct blocking *b = state;

	(void)min;
	*now_ns = clock_mono_ns();
	if (!b->is_done)
		return 0;
	*done = (struct io_done) { .slot = 0, .result = b->result };
	b->is_done = false;
	return 1;
}

#endif
