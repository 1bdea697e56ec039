/* SPDX-License-Identifier: Apache-2.0 */
/* pread and pwrite: one I/O in flight, done in the call that submits it. */
#include "worker/io/engine.h"

#include <errno.h>
#include <unistd.h>

struct psync {
	const struct engine_env *env;
	bool is_done; /* a completion waits for reap */
	struct io_done done;
};

static struct error *psync_init(void *state, const struct engine_env *env)
{
	struct psync *ps = state;

	ps->env = env;
	return NULL;
}

static void finish(struct psync *ps, ssize_t ret)
{
	ps->done = (struct io_done) { .slot = 0, .result = ret < 0 ? -errno : (int32_t)ret };
	ps->is_done = true;
}

static int psync_submit(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns)
{
	struct psync *ps = state;
	const struct engine_env *env = ps->env;
	ssize_t ret;

	(void)now_ns;
	assert(nr == 1 && !ps->is_done);
	if (io_command_direction(cmds->command) == DIR_READ)
		ret = pread(env->fd, buffers_read(env->buffers, 0), cmds->bytes,
			    (off_t)cmds->offset);
	else
		ret = pwrite(env->fd, buffers_write(env->buffers, 0), cmds->bytes,
			     (off_t)cmds->offset);
	finish(ps, ret);
	return 0;
}

static int psync_sync(void *state, bool data_only, uint64_t now_ns)
{
	struct psync *ps = state;

	(void)now_ns;
	finish(ps, data_only ? fdatasync(ps->env->fd) : fsync(ps->env->fd));
	return 0;
}

static int psync_reap(void *state, struct io_done *done, unsigned min, uint64_t *now_ns)
{
	struct psync *ps = state;

	(void)min;
	*now_ns = clock_mono_ns();
	if (!ps->is_done)
		return 0;
	*done = ps->done;
	ps->is_done = false;
	return 1;
}

static void psync_fini(void *state)
{
	(void)state;
}

const struct engine_ops engine_psync = {
	.name = "psync",
	.help = "pread and pwrite, one I/O in flight per thread",
	.caps = ENGINE_CLOCK,
	.state_size = sizeof(struct psync),
	.init = psync_init,
	.submit = psync_submit,
	.sync = psync_sync,
	.reap = psync_reap,
	.fini = psync_fini,
};
