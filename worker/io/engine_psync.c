/* SPDX-License-Identifier: Apache-2.0 */
/* pread and pwrite: one I/O in flight, done in the call that submits it. */
#include "worker/io/blocking.h"

#include <unistd.h>

struct psync {
	struct blocking blocking;
};

static struct error *psync_init(void *state, const struct engine_env *env)
{
	struct psync *ps = state;

	return blocking_init(&ps->blocking, env);
}

static int psync_submit(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns)
{
	struct psync *ps = state;
	const struct engine_env *env = ps->blocking.env;
	enum direction dir = io_command_direction(cmds->command);

	(void)now_ns;
	assert(nr == 1 && !ps->blocking.is_done);
	if (dir == DIR_READ)
		blocking_finish(&ps->blocking, pread(env->fd, buffers_read(env->buffers, 0),
						     cmds->bytes, (off_t)cmds->offset));
	else if (dir == DIR_WRITE)
		blocking_finish(&ps->blocking, pwrite(env->fd, buffers_write(env->buffers, 0),
						      cmds->bytes, (off_t)cmds->offset));
	else
		blocking_trim(&ps->blocking, cmds);
	return 0;
}

static int psync_sync(void *state, bool data_only, uint64_t now_ns)
{
	struct psync *ps = state;

	(void)now_ns;
	blocking_sync(&ps->blocking, ps->blocking.env->fd, data_only);
	return 0;
}

static void psync_fini(void *state)
{
	(void)state;
}

const struct engine_ops engine_psync = {
	.name = "psync",
	.caps = ENGINE_CLOCK | ENGINE_TRIM,
	.state_size = sizeof(struct psync),
	.init = psync_init,
	.submit = psync_submit,
	.sync = psync_sync,
	.reap = blocking_reap,
	.fini = psync_fini,
};
