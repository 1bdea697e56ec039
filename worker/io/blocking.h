/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.h - what the engines share whose calls block: one I/O in flight, done in the call that submits
 * it, handed out by the next reap.
 *
 * Their state begins with a struct blocking.
 */
#ifndef SALVO_IO_BLOCKING_H
#define SALVO_IO_BLOCKING_H

#include "worker/io/engine.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

struct blocking {
	const struct engine_env *env;
	bool is_done; /* a completion waits for reap */
	int32_t result;
};

/* Keeps what a call returned: bytes, or -1 and errno. */
static inline void blocking_finish(struct blocking *b, ssize_t ret)
{
	b->result = ret < 0 ? -errno : (int32_t)ret;
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
