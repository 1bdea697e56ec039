/* SPDX-License-Identifier: Apache-2.0 */
/* Linux's older asynchronous I/O, which fio and databases call libaio: io_submit and io_getevents.
 *
 * Design notes. Every command has a control block of its own, filled once: a submission writes the offset,
 * the bytes and a pointer to the block. The kernel's calls are made directly (<linux/aio_abi.h>); the library would
 * only wrap them.
 *
 * Completions lie in a ring that the kernel maps into the process. Those that are there already are taken
 * from it without a call, as fio and QEMU do, when the ring has the layout that is known; a wait goes
 * through io_getevents, with a relative timeout.
 *
 * Only direct I/O is asynchronous here: what goes through the page cache is done within io_submit.
 */
#include "worker/io/engine.h"
#include "worker/io/raw_syscall.h"

#include <linux/aio_abi.h>
#include <stdlib.h>

enum { RING_MAGIC = 0xa10a10a1 };
#define AGAIN_NS (1 * NS_PER_MS) /* before the kernel is asked again after EAGAIN */

/* The head of the mapped ring, by the kernel's fs/aio.c. */
struct ring {
	unsigned id, nr;
	unsigned head; /* ours */
	unsigned tail; /* the kernel's */
	unsigned magic, compat_features, incompat_features, header_bytes;
	struct io_event events[];
};

struct libaio {
	aio_context_t context;
	struct ring *ring;   /* NULL where its layout is unknown */
	struct iocb *iocbs;  /* by command; slot 0 has the sync */
	struct iocb **queue; /* given, not yet taken by the kernel */
	unsigned nr_queued;
	unsigned depth;
	struct io_event *events;
	int fd;
	bool is_synced; /* an fsync that was done in the call waits for reap */
	int32_t sync_result;
};

/* Cold: a submission that the kernel refused. 0: it is worth asking again; else -errno. */
static __attribute__((noinline)) int submit_refused(long error)
{
	return error == -EAGAIN || error == -EINTR ? 0 : (int)error;
}

/* Cold: the kernel took some only; the rest moves to the front. */
static __attribute__((noinline)) void keep_rest(struct libaio *aio, unsigned nr_taken)
{
	aio->nr_queued -= nr_taken;
	memmove(aio->queue, aio->queue + nr_taken, aio->nr_queued * sizeof(struct iocb *));
}

static inline int hand_over(struct libaio *aio)
{
	long ret = raw_syscall(__NR_io_submit, (long)aio->context, aio->nr_queued, (long)aio->queue,
			       0, 0, 0);

	if (likely(ret == (long)aio->nr_queued)) {
		aio->nr_queued = 0;
		return 0;
	}
	if (ret < 0)
		return submit_refused(ret);
	keep_rest(aio, (unsigned)ret);
	return 0;
}

static inline __attribute__((always_inline)) int submit(struct libaio *aio,
							const struct io_cmd *cmds, unsigned nr,
							bool sizes_vary)
{
	struct iocb **queue = aio->queue + aio->nr_queued, *iocbs = aio->iocbs;

	for (unsigned i = 0; i < nr; i++) {
		struct iocb *iocb = &iocbs[cmds[i].command];

		iocb->aio_offset = (int64_t)cmds[i].offset;
		if (sizes_vary)
			iocb->aio_nbytes = cmds[i].bytes;
		queue[i] = iocb;
	}
	aio->nr_queued += nr;
	return hand_over(aio);
}

static _hot_ int libaio_submit(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns)
{
	(void)now_ns;
	return submit(state, cmds, nr, true);
}

static _hot_ int libaio_submit_fixed(void *state, const struct io_cmd *cmds, unsigned nr,
				     uint64_t now_ns)
{
	(void)now_ns;
	return submit(state, cmds, nr, false);
}

/* In the kernel where it can (Linux 4.18), else in this call. */
static int libaio_sync(void *state, bool data_only, uint64_t now_ns)
{
	struct libaio *aio = state;
	struct iocb *iocb = &aio->iocbs[io_command(0, DIR_SYNC)];
	int ret;

	(void)now_ns;
	iocb->aio_lio_opcode = data_only ? IOCB_CMD_FDSYNC : IOCB_CMD_FSYNC;
	aio->queue[aio->nr_queued++] = iocb;
	ret = hand_over(aio);
	if (ret != -EINVAL)
		return ret;
	aio->nr_queued = 0;
	ret = data_only ? fdatasync(aio->fd) : fsync(aio->fd);
	aio->sync_result = ret < 0 ? -errno : 0;
	aio->is_synced = true;
	return 0;
}

static inline void take_event(struct io_done *done, const struct io_event *event)
{
	done->slot = (uint32_t)event->data;
	done->result = (int32_t)event->res;
}

/* What the ring holds, without a call. */
static inline unsigned take_from_ring(struct ring *ring, struct io_done *done)
{
	/* Acquire: events are read after the tail that covers them. */
	unsigned tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	unsigned head = ring->head, nr_events = ring->nr, nr = 0;

	while (head != tail) {
		take_event(&done[nr++], &ring->events[head]);
		if (++head == nr_events)
			head = 0;
	}
	/* Release: the kernel may overwrite the events once it sees the head. */
	__atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
	return nr;
}

/* Waits for `min`, but no longer than wait_ns, and takes up to `max`; returns how many, or -errno. */
static inline int wait_for_events(struct libaio *aio, struct io_done *done, unsigned min,
				  unsigned max, uint64_t wait_ns)
{
	/* With something still queued, it is time to ask again before long. */
	struct timespec timeout =
		clock_timespec(aio->nr_queued && wait_ns > AGAIN_NS ? AGAIN_NS : wait_ns);
	long ret = raw_syscall(__NR_io_getevents, (long)aio->context, min, max, (long)aio->events,
			       (long)&timeout, 0);

	if (ret < 0)
		return ret == -EINTR ? 0 : (int)ret;
	for (long i = 0; i < ret; i++)
		take_event(&done[i], &aio->events[i]);
	return (int)ret;
}

static inline __attribute__((always_inline)) int reap(struct libaio *aio, struct io_done *done,
						      unsigned min, uint64_t wait_ns,
						      uint64_t *now_ns)
{
	unsigned nr = 0;
	int ret = 0;

	if (unlikely(aio->nr_queued))
		ret = hand_over(aio);
	if (unlikely(aio->is_synced)) {
		done[nr++] = (struct io_done) { .slot = 0, .result = aio->sync_result };
		aio->is_synced = false;
	}
	if (aio->ring)
		nr += take_from_ring(aio->ring, done + nr);
	if (ret == 0 && nr < min)
		ret = wait_for_events(aio, done + nr, min - nr, aio->depth - nr, wait_ns);
	if (unlikely(ret < 0))
		return ret;
	*now_ns = clock_mono_ns();
	return (int)nr + ret;
}

static _hot_ int libaio_reap(void *state, struct io_done *done, unsigned min, uint64_t *now_ns)
{
	return reap(state, done, min, ENGINE_WAIT_NS, now_ns);
}

static _hot_ int libaio_reap_until(void *state, struct io_done *done, uint64_t until_ns,
				   uint64_t *now_ns)
{
	uint64_t now = clock_mono_ns(), wait_ns = until_ns > now ? until_ns - now : 0;

	return reap(state, done, 1, wait_ns < ENGINE_WAIT_NS ? wait_ns : ENGINE_WAIT_NS, now_ns);
}

static struct error *setup_error(int error, const struct engine_env *env)
{
	if (error == EAGAIN)
		return error_new(ERR_REFUSED,
				 "engine libaio: no room for %u more I/Os in flight on this host; "
				 "raise sysctl fs.aio-max-nr, or lower iodepth or numjobs",
				 env->depth);
	if (error == ENOSYS)
		return error_new(ERR_REFUSED, "engine libaio: this kernel is built without it; use "
					      "another engine");
	return error_new(ERR_IO, "engine libaio: io_setup: %s", strerrordesc_np(error));
}

/* The control block of every command, complete but for the offset. */
static void fill_iocbs(struct libaio *aio, const struct engine_env *env)
{
	const struct buffers *b = env->buffers;

	for (unsigned i = 0; i < b->nr_read + b->nr_write; i++) {
		bool is_write = i >= b->nr_read;
		unsigned slot = is_write ? i - b->nr_read : i;

		aio->iocbs[io_command(slot, is_write ? DIR_WRITE : DIR_READ)] = (struct iocb) {
			.aio_data = slot,
			.aio_lio_opcode = is_write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
			.aio_fildes = (uint32_t)env->fd,
			.aio_buf = (uintptr_t)buffers_read(b, i), /* they follow each other */
			.aio_nbytes = env->io_bytes,
		};
	}
	aio->iocbs[io_command(0, DIR_SYNC)] = (struct iocb) {
		.aio_fildes = (uint32_t)env->fd,
	};
}

static struct error *libaio_init(void *state, const struct engine_env *env)
{
	struct libaio *aio = state;
	struct ring *ring;
	long ret;

	aio->depth = env->depth;
	aio->fd = env->fd;
	aio->iocbs = calloc((size_t)DIR_COUNT * env->depth, sizeof(*aio->iocbs));
	aio->queue = calloc(env->depth, sizeof(struct iocb *));
	aio->events = calloc(env->depth, sizeof(*aio->events));
	if (!aio->iocbs || !aio->queue || !aio->events)
		return error_new(ERR_NOMEM, "out of memory for %u I/Os in flight", env->depth);
	ret = raw_syscall(__NR_io_setup, env->depth, (long)&aio->context, 0, 0, 0, 0);
	if (ret < 0)
		return setup_error((int)-ret, env);
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): by which the kernel tells it */
	ring = (struct ring *)aio->context;
	if (ring->magic == RING_MAGIC && ring->incompat_features == 0)
		aio->ring = ring;
	fill_iocbs(aio, env);
	return NULL;
}

static void libaio_fini(void *state)
{
	struct libaio *aio = state;

	if (aio->context)
		raw_syscall(__NR_io_destroy, (long)aio->context, 0, 0, 0, 0, 0);
	aio->context = 0;
	free(aio->iocbs);
	free(aio->queue);
	free(aio->events);
}

const struct engine_ops engine_libaio = {
	.name = "libaio",
	.caps = ENGINE_ASYNC | ENGINE_SPLIT | ENGINE_CLOCK,
	.state_size = sizeof(struct libaio),
	.init = libaio_init,
	.submit = libaio_submit,
	.submit_fixed = libaio_submit_fixed,
	.sync = libaio_sync,
	.reap = libaio_reap,
	.reap_until = libaio_reap_until,
	.fini = libaio_fini,
};
