/* SPDX-License-Identifier: Apache-2.0 */
/* A mapping of the target, read and written by memcpy: the page faults are the I/O.
 *
 * Design notes. The page cache is between the copy and the device: a write is done when its bytes lie in
 * the cache, and a page that is there already costs no I/O at all. Each thread maps the whole target for
 * itself.
 *
 * The kernel reports an error of the device, and a file that became shorter, by SIGBUS at the instruction
 * that touched the page. The handler leaves the copy, which then counts as failed with EIO; a SIGBUS from
 * anywhere else ends the process, as without the handler.
 */
#include "worker/io/blocking.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct mapping {
	struct blocking blocking;
	char *map; /* NULL: there is none */
	uint64_t bytes;
};

/* Where this thread's copy is left to; NULL outside of one. */
static _Thread_local sigjmp_buf *way_out;

static void bus_error(int number)
{
	const struct sigaction ordinary = { .sa_handler = SIG_DFL };

	if (way_out)
		siglongjmp(*way_out, 1);
	sigaction(number, &ordinary,
		  NULL); /* the instruction is tried again, and the process ends */
}

static void catch_bus_errors(void)
{
	/* Not deferred: the handler does not return from a copy, so nobody would unblock the signal. */
	const struct sigaction action = { .sa_handler = bus_error, .sa_flags = SA_NODEFER };

	sigaction(SIGBUS, &action, NULL);
}

static bool size_of(int fd, uint64_t *ret)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	*ret = (uint64_t)st.st_size;
	return !S_ISBLK(st.st_mode) || ioctl(fd, BLKGETSIZE64, ret) == 0;
}

static struct error *mmap_init(void *state, const struct engine_env *env)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct mapping *m = state;
	int flags = fcntl(env->fd, F_GETFL);
	bool is_writable = flags >= 0 && (flags & O_ACCMODE) == O_RDWR;
	void *map = MAP_FAILED;

	m->blocking.env = env;
	if (size_of(env->fd, &m->bytes))
		map = mmap(NULL, m->bytes, PROT_READ | (is_writable ? PROT_WRITE : 0), MAP_SHARED,
			   env->fd, 0);
	if (map == MAP_FAILED)
		return error_new(ERR_IO,
				 "engine mmap: target '%s' cannot be mapped: %s; use engine: psync "
				 "with direct: false",
				 env->target, strerrordesc_np(errno));
	m->map = map;
	/* Without it a fault reads much more than its page, of which random I/O has no use. A hint, no more. */
	if (env->advice == POSIX_FADV_RANDOM || env->advice == POSIX_FADV_SEQUENTIAL)
		madvise(map, m->bytes,
			env->advice == POSIX_FADV_RANDOM ? MADV_RANDOM : MADV_SEQUENTIAL);
	pthread_once(&once, catch_bus_errors);
	return NULL;
}

static __attribute__((noinline)) int copy(void *to, const void *from, size_t bytes)
{
	sigjmp_buf here;

	if (sigsetjmp(here, 0)) {
		way_out = NULL;
		errno = EIO;
		return -1;
	}
	way_out = &here;
	/* The copy stands between the two assignments, for the handler's sake. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memcpy(to, from, bytes);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	way_out = NULL;
	return 0;
}

static int mmap_submit(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns)
{
	struct mapping *m = state;
	const struct engine_env *env = m->blocking.env;
	uint64_t bytes = cmds->bytes, offset = cmds->offset;
	char *at = m->map + offset;
	int ret = 0;

	(void)now_ns;
	assert(nr == 1 && !m->blocking.is_done);
	/* Behind the end nothing moves; over it, less than was asked for. */
	if (offset >= m->bytes)
		bytes = 0;
	else if (bytes > m->bytes - offset)
		bytes = m->bytes - offset;
	if (bytes && io_command_direction(cmds->command) == DIR_READ)
		ret = copy(buffers_read(env->buffers, 0), at, bytes);
	else if (bytes)
		ret = copy(at, buffers_write(env->buffers, 0), bytes);
	blocking_finish(&m->blocking, ret < 0 ? ret : (ssize_t)bytes);
	return 0;
}

/* fsync finds the pages that were written through the mapping, and brings the file's metadata as well. */
static int mmap_sync(void *state, bool data_only, uint64_t now_ns)
{
	struct mapping *m = state;

	(void)now_ns;
	blocking_sync(&m->blocking, m->blocking.env->fd, data_only);
	return 0;
}

static void mmap_fini(void *state)
{
	struct mapping *m = state;

	if (m->map)
		munmap(m->map, m->bytes);
	m->map = NULL;
}

const struct engine_ops engine_mmap = {
	.name = "mmap",
	.caps = ENGINE_CLOCK,
	.state_size = sizeof(struct mapping),
	.init = mmap_init,
	.submit = mmap_submit,
	.sync = mmap_sync,
	.reap = blocking_reap,
	.fini = mmap_fini,
};
