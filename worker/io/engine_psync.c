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

	ps->blocking.env = env;
	return NULL;
}

static int psync_submit(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns)
{
	struct psync *ps = state;
	const struct engine_env *env = ps->blocking.env;
	ssize_t ret;

	(void)now_ns;
	assert(nr == 1 && !ps->blocking.is_done);
	if (io_command_direction(cmds->command) == DIR_READ)
		ret = pread(env->fd, buffers_read(env->buffers, 0), cmds->bytes,
			    (off_t)cmds->offset);
	else
		ret = pwrite(env->fd, buffers_write(env->buffers, 0), cmds->bytes,
			     (off_t)cmds->offset);
	blocking_finish(&ps->blocking, ret);
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
	.caps = ENGINE_CLOCK,
	.state_size = sizeof(struct psync),
	.init = psync_init,
	.submit = psync_submit,
	.sync = psync_sync,
	.reap = blocking_reap,
	.fini = psync_fini,
};
