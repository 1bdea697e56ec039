/* SPDX-License-Identifier: Apache-2.0 */
/* preadv2 and pwritev2: one I/O in flight, with flags for each. */
#include "worker/io/blocking.h"
#include "worker/io/polling.h"

#include <sys/uio.h>
#include <unistd.h>

struct pvsync2 {
	struct blocking blocking;
	struct iovec iovs[2]; /* of reads and writes */
	int flags;            /* RWF_* */
};

static struct error *pvsync2_init(void *state, const struct engine_env *env)
{
	struct pvsync2 *pv = state;
	const struct buffers *b = env->buffers;

	if (env->hipri) {
		struct error *err = polling_check("pvsync2", "hipri (RWF_HIPRI)", env);

		if (err)
			return err;
		pv->flags |= RWF_HIPRI;
	}
	if (b->nr_read)
		pv->iovs[DIR_READ].iov_base = buffers_read(b, 0);
	if (b->nr_write)
		pv->iovs[DIR_WRITE].iov_base = buffers_write(b, 0);
	return blocking_init(&pv->blocking, env);
}

static int pvsync2_submit(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns)
{
	struct pvsync2 *pv = state;
	enum direction dir = io_command_direction(cmds->command);
	struct iovec *iov = &pv->iovs[dir == DIR_READ ? DIR_READ : DIR_WRITE];
	int fd = pv->blocking.env->fd;
	off_t offset = (off_t)cmds->offset;
	ssize_t ret;

	(void)now_ns;
	assert(nr == 1 && !pv->blocking.is_done);
	if (dir == DIR_TRIM) {
		blocking_trim(&pv->blocking, cmds);
		return 0;
	}
	iov->iov_len = cmds->bytes;
	if (dir == DIR_READ)
		ret = preadv2(fd, iov, 1, offset, pv->flags);
	else
		ret = pwritev2(fd, iov, 1, offset, pv->flags);
	blocking_finish(&pv->blocking, ret);
	return 0;
}

static int pvsync2_sync(void *state, bool data_only, uint64_t now_ns)
{
	struct pvsync2 *pv = state;

	(void)now_ns;
	blocking_sync(&pv->blocking, pv->blocking.env->fd, data_only);
	return 0;
}

static void pvsync2_fini(void *state)
{
	(void)state;
}

const struct engine_ops engine_pvsync2 = {
	.name = "pvsync2",
	.caps = ENGINE_CLOCK | ENGINE_TRIM,
	.state_size = sizeof(struct pvsync2),
	.init = pvsync2_init,
	.submit = pvsync2_submit,
	.sync = pvsync2_sync,
	.reap = blocking_reap,
	.fini = pvsync2_fini,
};
