/* SPDX-License-Identifier: Apache-2.0 */
/* lseek, then read or write, as programs without pread do: one I/O in flight. As in fio, no lseek where the
 * file position stands right already, so a sequential job costs one call per I/O.
 *
 * The file position belongs to an open file, and all threads of a target share one: each thread opens the
 * file anew, through /proc, for itself.
 */
#include "worker/io/blocking.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct sync {
	struct blocking blocking;
	int fd; /* of this thread alone */
	bool is_open;
	uint64_t position;
};

static struct error *sync_init(void *state, const struct engine_env *env)
{
	struct sync *sy = state;
	int flags = fcntl(env->fd, F_GETFL);
	char path[sizeof("/proc/self/fd/") + 16];

	sy->blocking.env = env;
	if (flags >= 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", env->fd);
		sy->fd = open(path, flags | O_CLOEXEC);
	}
	if (flags < 0 || sy->fd < 0)
		return error_new(ERR_IO,
				 "engine sync: target '%s' cannot be opened for each thread: %s; "
				 "use engine: psync",
				 env->target, strerrordesc_np(errno));
	sy->is_open = true;
	return blocking_init(&sy->blocking, env);
}

static ssize_t transfer(const struct sync *sy, const struct io_cmd *cmd)
{
	const struct engine_env *env = sy->blocking.env;

	if (sy->position != cmd->offset && lseek(sy->fd, (off_t)cmd->offset, SEEK_SET) < 0)
		return -1;
	if (io_command_direction(cmd->command) == DIR_READ)
		return read(sy->fd, buffers_read(env->buffers, 0), cmd->bytes);
	return write(sy->fd, buffers_write(env->buffers, 0), cmd->bytes);
}

static int sync_submit(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns)
{
	struct sync *sy = state;
	ssize_t ret;

	(void)now_ns;
	assert(nr == 1 && !sy->blocking.is_done);
	if (io_command_direction(cmds->command) == DIR_TRIM) {
		blocking_trim(&sy->blocking, cmds);
		return 0;
	}
	ret = transfer(sy, cmds);
	/* After an error nobody knows where it stands. */
	sy->position = ret < 0 ? UINT64_MAX : cmds->offset + (uint64_t)ret;
	blocking_finish(&sy->blocking, ret);
	return 0;
}

static int sync_sync(void *state, bool data_only, uint64_t now_ns)
{
	struct sync *sy = state;

	(void)now_ns;
	blocking_sync(&sy->blocking, sy->fd, data_only);
	return 0;
}

static void sync_fini(void *state)
{
	struct sync *sy = state;

	if (sy->is_open)
		close(sy->fd);
	sy->is_open = false;
}

const struct engine_ops engine_sync = {
	.name = "sync",
	.caps = ENGINE_CLOCK | ENGINE_TRIM,
	.state_size = sizeof(struct sync),
	.init = sync_init,
	.submit = sync_submit,
	.sync = sync_sync,
	.reap = blocking_reap,
	.fini = sync_fini,
};
