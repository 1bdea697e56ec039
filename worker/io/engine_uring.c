/* SPDX-License-Identifier: Apache-2.0 */
/* io_uring: the ring is made, registered and used by its I/O thread alone.
 *
 * Design notes. liburing sets up and fills; entering is done here, on the mapped rings, which halves the
 * instructions. Every command has an SQE of its own, filled once: a submission writes the offset and the
 * command's number into the ring's index array, nothing else. The kernel copies an SQE when it takes
 * it, and a command is in flight once at most, so none is changed while it is still needed.
 *
 * Waits carry a relative timeout (absolute ones ignore time namespaces). With DEFER_TASKRUN completions
 * are delivered only in a wait: when the kernel flags such work, reap enters even though completions
 * are there already, so that none waits behind those that completed inline.
 *
 * All of that is engine_uring. What a job may wish beyond it has functions of its own (engine_uring_wishes), which
 * cost the ordinary ones nothing:
 * - sqthread_poll: a kernel thread takes what is in the ring; entering only wakes it, and waits.
 * - hipri: nothing completes but in an enter that asks for it. One that waits would know no timeout, so each
 *   looks once, and the thread spins here. Such a ring has no fsync: it is done in the call.
 *
 * Kernels before 5.11 refuse to bound a wait; enter_refused then does it with poll on the ring.
 */
#include "worker/io/engine.h"
#include "worker/io/polling.h"
#include "worker/io/raw_syscall.h"
#include "worker/io/trim.h"
#include "worker/io/uring_setup.h"

#include <errno.h>
#include <linux/falloc.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

enum {
	IOVEC_MAX_BYTES = 1 << 30, /* the kernel's bound of one registered buffer */
	PROBE_BYTES = 4096,        /* aligned and large enough for direct I/O */
};
/* Younger than the headers of Debian 12. */
#ifndef BLOCK_URING_CMD_DISCARD
#define BLOCK_URING_CMD_DISCARD _IO(0x12, 0)
#endif
#define PAUSE_NS (1 * NS_PER_MS) /* before the kernel is asked again after EAGAIN */

struct uring {
	/* Submission. */
	unsigned *sq_tail_shared, *sq_array;
	const unsigned *sq_flags;
	struct io_uring_sqe *sqes; /* by command; slot 0 has the sync */
	unsigned sq_tail, sq_mask;
	unsigned pending; /* queued, not yet taken by the kernel */
	unsigned depth;
	/* Completion. */
	unsigned *cq_head_shared;
	const unsigned *cq_tail_shared;
	const struct io_uring_cqe *cqes;
	unsigned cq_head, cq_mask;
	/* Entering. */
	int enter_fd;
	unsigned enter_flags; /* IORING_ENTER_REGISTERED_RING where that is possible */
	struct io_uring_getevents_arg wait_arg, until_arg;
	struct __kernel_timespec wait_time, until_time; /* ENGINE_WAIT_NS; of reap_until */

	bool trims_device;    /* the trims are discards of a block device; else holes of a file */
	bool trims_in_iowq;   /* the device knows no I/O without waiting */
	bool no_timeout;      /* the kernel knows no timed wait */
	bool sqthread, hipri; /* wishes */
	unsigned
		always_enter; /* of hipri without sqthread: stands in for the ring's flags, reap must enter */
	bool is_synced; /* a sync that was done in the call waits for reap */
	int fd;
	int32_t sync_result;

	bool is_made;
	struct io_uring ring;
};

static inline unsigned completions(const struct uring *ur)
{
	/* Acquire: entries are read after the tail that covers them. */
	return __atomic_load_n(ur->cq_tail_shared, __ATOMIC_ACQUIRE) - ur->cq_head;
}

/* How long a wait may be. */
static uint64_t limit_of(const struct uring *ur, const struct io_uring_getevents_arg *wait)
{
	return (uint64_t)(wait == &ur->until_arg ? &ur->until_time : &ur->wait_time)->tv_nsec;
}

/* Until `min` are there or time is over, without a timed wait of the kernel's. */
static int wait_by_poll(struct uring *ur, unsigned min, const struct io_uring_getevents_arg *wait)
{
	struct pollfd ring = { .fd = ur->ring.ring_fd, .events = POLLIN };
	uint64_t now = clock_mono_ns(), end = now + limit_of(ur, wait);

	while (completions(ur) < min && now < end) {
		struct timespec left = clock_timespec(end - now);

		if (ppoll(&ring, 1, &left, NULL) < 0 && errno != EINTR)
			return -errno;
		now = clock_mono_ns();
	}
	return 0;
}

/* Cold: an enter that the kernel refused. 0: it is worth asking again; else -errno. */
static __attribute__((noinline)) int enter_refused(struct uring *ur, long error, unsigned min,
						   const struct io_uring_getevents_arg *wait)
{
	struct timespec pause = clock_timespec(PAUSE_NS);

	if (error == -ETIME || error == -EINTR)
		return 0;
	if (ur->no_timeout && wait) {
		/* Nothing was taken: the refusal came first. */
		long ret = raw_syscall(__NR_io_uring_enter, ur->enter_fd, ur->pending, 0,
				       ur->enter_flags, 0, 0);

		if (ret >= 0)
			ur->pending -= (unsigned)ret;
		if (ret >= 0 || ret == -EAGAIN || ret == -EBUSY)
			return wait_by_poll(ur, min, wait);
		error = ret;
	}
	if (error != -EAGAIN && error != -EBUSY)
		return (int)error;
	if (wait)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	return 0;
}

/* Hands over what is pending and waits for `min` completions as long as `wait` says; NULL: does not wait.
 * 0, or -errno when the ring is of no further use. */
static inline __attribute__((always_inline)) int enter(struct uring *ur, unsigned min,
						       const struct io_uring_getevents_arg *wait)
{
	unsigned flags =
		ur->enter_flags | (wait ? IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG : 0);
	long ret = raw_syscall(__NR_io_uring_enter, ur->enter_fd, ur->pending, min, flags,
			       (long)wait, wait ? sizeof(*wait) : 0);

	if (unlikely(ret < 0))
		return enter_refused(ur, ret, min, wait);
	ur->pending -= (unsigned)ret;
	return 0;
}

/* `enter` with sqthread_poll. */
static int wake_and_wait(struct uring *ur, unsigned min, const struct io_uring_getevents_arg *wait)
{
	unsigned flags = wait ? IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG : 0;
	long ret;

	ur->pending = 0;
	/* The kernel's thread sleeps after it has flagged that and looked at the tail once more; so the
	 * tail must be out before the flag is read. Once more in the order of all such accesses: a fence
	 * would do, but the thread sanitizer knows none. */
	__atomic_store_n(ur->sq_tail_shared, ur->sq_tail, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(ur->sq_flags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
		flags |= IORING_ENTER_SQ_WAKEUP;
	if (!flags)
		return 0;
	ret = raw_syscall(__NR_io_uring_enter, ur->enter_fd, 0, min, flags | ur->enter_flags,
			  (long)wait, wait ? sizeof(*wait) : 0);
	return ret < 0 ? enter_refused(ur, ret, min, wait) : 0;
}

/* `enter` with hipri alone: hands over what is pending and looks for completions, once or until time is over. */
static int hand_over_and_look(struct uring *ur, unsigned min,
			      const struct io_uring_getevents_arg *wait)
{
	unsigned flags = ur->enter_flags | (wait ? IORING_ENTER_GETEVENTS : 0);
	uint64_t end = wait ? clock_mono_ns() + limit_of(ur, wait) : 0;

	for (;;) {
		long ret =
			raw_syscall(__NR_io_uring_enter, ur->enter_fd, ur->pending, 0, flags, 0, 0);

		if (ret < 0)
			return enter_refused(ur, ret, min, wait);
		ur->pending -= (unsigned)ret;
		if (!wait || completions(ur) >= min || clock_mono_ns() >= end)
			return 0;
	}
}

/* `enter` of a job with wishes. 1: a sync that was done in the call waits for reap. */
static int enter_wishes(struct uring *ur, unsigned min, const struct io_uring_getevents_arg *wait)
{
	if (wait && ur->is_synced)
		return 1;
	return ur->sqthread ? wake_and_wait(ur, min, wait) : hand_over_and_look(ur, min, wait);
}

/* Release: the kernel reads the tail, then the entries before it. */
static inline __attribute__((always_inline)) int flush(struct uring *ur, unsigned tail, bool wishes)
{
	ur->pending += tail - ur->sq_tail;
	ur->sq_tail = tail;
	__atomic_store_n(ur->sq_tail_shared, tail, __ATOMIC_RELEASE);
	return wishes ? enter_wishes(ur, 0, NULL) : enter(ur, 0, NULL);
}

static inline void prepare_trim(const struct uring *ur, struct io_uring_sqe *sqe,
				const struct io_cmd *cmd)
{
	if (ur->trims_device) {
		sqe->addr = cmd->offset;
		sqe->addr3 = cmd->bytes;
	} else {
		sqe->off = cmd->offset;
		sqe->addr = cmd->bytes;
	}
}

static inline __attribute__((always_inline)) int submit(struct uring *ur, const struct io_cmd *cmds,
							unsigned nr, bool sizes_vary, bool wishes)
{
	struct io_uring_sqe *sqes = ur->sqes;
	unsigned tail = ur->sq_tail, end = tail + nr, mask = ur->sq_mask, *array = ur->sq_array;

#pragma GCC unroll 2
	for (; tail != end; tail++, cmds++) {
		struct io_uring_sqe *sqe = &sqes[cmds->command];

		if (sizes_vary && io_command_direction(cmds->command) == DIR_TRIM) {
			prepare_trim(ur, sqe, cmds);
		} else {
			sqe->off = cmds->offset;
			if (sizes_vary)
				sqe->len = cmds->bytes;
		}
		array[tail & mask] = cmds->command;
	}
	return flush(ur, end, wishes);
}

static _hot_ int uring_submit(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns)
{
	(void)now_ns;
	return submit(state, cmds, nr, true, false);
}

static _hot_ int uring_submit_fixed(void *state, const struct io_cmd *cmds, unsigned nr,
				    uint64_t now_ns)
{
	(void)now_ns;
	return submit(state, cmds, nr, false, false);
}

static int submit_wishes(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns)
{
	(void)now_ns;
	return submit(state, cmds, nr, true, true);
}

static int uring_sync(void *state, bool data_only, uint64_t now_ns)
{
	struct uring *ur = state;
	uint32_t command = io_command(0, DIR_SYNC);

	(void)now_ns;
	ur->sqes[command].fsync_flags = data_only ? IORING_FSYNC_DATASYNC : 0;
	ur->sq_array[ur->sq_tail & ur->sq_mask] = command;
	return flush(ur, ur->sq_tail + 1, ur->sqthread);
}

static int sync_wishes(void *state, bool data_only, uint64_t now_ns)
{
	struct uring *ur = state;
	int ret;

	if (!ur->hipri)
		return uring_sync(state, data_only, now_ns);
	ret = data_only ? fdatasync(ur->fd) : fsync(ur->fd);
	ur->sync_result = ret < 0 ? -errno : 0;
	ur->is_synced = true;
	return 0;
}

static int take_sync(struct uring *ur, struct io_done *done, uint64_t *now_ns)
{
	*done = (struct io_done) { .slot = 0, .result = ur->sync_result };
	*now_ns = clock_mono_ns();
	ur->is_synced = false;
	return 1;
}

static inline __attribute__((always_inline)) int reap(struct uring *ur, struct io_done *done,
						      unsigned min,
						      const struct io_uring_getevents_arg *wait,
						      uint64_t *now_ns, bool wishes)
{
	unsigned head, end, mask, nr = completions(ur);
	unsigned flags = __atomic_load_n(ur->sq_flags, __ATOMIC_RELAXED);
	const struct io_uring_cqe *cqes;

	if (nr < min || flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW) || ur->pending) {
		int ret = wishes ? enter_wishes(ur, min, wait) : enter(ur, min, wait);

		if (unlikely(ret < 0))
			return ret;
		if (wishes && ret)
			return take_sync(ur, done, now_ns);
		nr = completions(ur);
	}
	*now_ns = clock_mono_ns();
	head = ur->cq_head;
	end = head + nr;
	mask = ur->cq_mask;
	cqes = ur->cqes;
#pragma GCC unroll 2
	for (; head != end; head++, done++) {
		const struct io_uring_cqe *cqe = &cqes[head & mask];

		done->slot = (uint32_t)cqe->user_data;
		done->result = cqe->res;
	}
	ur->cq_head = end;
	/* Release: the kernel may overwrite the entries once it sees the head. */
	__atomic_store_n(ur->cq_head_shared, end, __ATOMIC_RELEASE);
	return (int)nr;
}

static _hot_ int uring_reap(void *state, struct io_done *done, unsigned min, uint64_t *now_ns)
{
	struct uring *ur = state;

	return reap(ur, done, min, &ur->wait_arg, now_ns, false);
}

static int reap_wishes(void *state, struct io_done *done, unsigned min, uint64_t *now_ns)
{
	struct uring *ur = state;

	return reap(ur, done, min, &ur->wait_arg, now_ns, true);
}

/* Sets until_arg; 1: it is to wait for one, 0: the time is over. */
static inline unsigned set_until(struct uring *ur, uint64_t until_ns)
{
	uint64_t now = clock_mono_ns(), wait_ns = until_ns > now ? until_ns - now : 0;

	ur->until_time.tv_nsec = (long long)(wait_ns < ENGINE_WAIT_NS ? wait_ns : ENGINE_WAIT_NS);
	return wait_ns ? 1 : 0;
}

static _hot_ int uring_reap_until(void *state, struct io_done *done, uint64_t until_ns,
				  uint64_t *now_ns)
{
	struct uring *ur = state;

	return reap(ur, done, set_until(ur, until_ns), &ur->until_arg, now_ns, false);
}

static int reap_until_wishes(void *state, struct io_done *done, uint64_t until_ns, uint64_t *now_ns)
{
	struct uring *ur = state;

	return reap(ur, done, set_until(ur, until_ns), &ur->until_arg, now_ns, true);
}

static void take_over_rings(struct uring *ur)
{
	struct io_uring_sq *sq = &ur->ring.sq;
	struct io_uring_cq *cq = &ur->ring.cq;

	ur->sq_tail_shared = sq->ktail;
	ur->sq_array = sq->array;
	ur->sq_flags = sq->kflags;
	ur->sq_mask = *sq->kring_mask;
	ur->sq_tail = *sq->ktail;
	ur->sqes = sq->sqes;
	ur->cq_head_shared = cq->khead;
	ur->cq_tail_shared = cq->ktail;
	ur->cq_mask = *cq->kring_mask;
	ur->cq_head = *cq->khead;
	ur->cqes = cq->cqes;
	if (ur->hipri && !ur->sqthread) {
		ur->always_enter = IORING_SQ_TASKRUN;
		ur->sq_flags = &ur->always_enter;
	}
	ur->wait_time.tv_nsec = (long long)ENGINE_WAIT_NS;
	/* Where it is only pretended that the kernel refuses these, it must refuse them. */
	if (ur->no_timeout) {
		ur->wait_arg.ts = ur->until_arg.ts = 1;
		return;
	}
	ur->wait_arg.ts = (uint64_t)(uintptr_t)&ur->wait_time;
	ur->until_arg.ts = (uint64_t)(uintptr_t)&ur->until_time;
}

/* Saves the kernel the look-up of the descriptor in each enter; since Linux 5.18. */
static void register_ring(struct uring *ur, const struct engine_env *env)
{
	ur->enter_fd = ur->ring.ring_fd;
	if (env->pretend & PRETEND_NO_REGISTERED_RING || io_uring_register_ring_fd(&ur->ring) != 1)
		return;
	ur->enter_fd = ur->ring.enter_ring_fd;
	ur->enter_flags = IORING_ENTER_REGISTERED_RING;
}

/* Buffers that one registered iovec takes: it is bounded, buffers are not cut. */
static unsigned buffers_per_iovec(const struct buffers *b)
{
	return b->stride < IOVEC_MAX_BYTES ? (unsigned)(IOVEC_MAX_BYTES / b->stride) : 1;
}

static bool register_buffers(struct uring *ur, const struct engine_env *env)
{
	const struct buffers *b = env->buffers;
	unsigned nr = b->nr_read + b->nr_write, per = buffers_per_iovec(b);
	unsigned nr_iovecs = (nr + per - 1) / per;
	_cleanup_free_ struct iovec *iovecs = xcalloc(nr_iovecs, sizeof(*iovecs));
	int ret;

	if (!env->locks_buffers || !nr)
		return false;
	for (unsigned i = 0; i < nr_iovecs; i++) {
		unsigned here = nr - i * per < per ? nr - i * per : per;

		iovecs[i].iov_base = buffers_read(b, i * per);
		iovecs[i].iov_len = here * b->stride;
	}
	ret = io_uring_register_buffers(&ur->ring, iovecs, nr_iovecs);
	if (ret < 0)
		error_append(env->warnings,
			     error_new(ERR_IO,
				       "buffers are not registered with io_uring: %s; going on "
				       "without, at some cost of CPU",
				       strerrordesc_np(-ret)));
	return ret == 0;
}

static void describe_trim(const struct uring *ur, struct io_uring_sqe *sqe, int fd)
{
	if (ur->trims_device) {
		io_uring_prep_rw(IORING_OP_URING_CMD, sqe, fd, NULL, 0, 0);
		sqe->cmd_op = BLOCK_URING_CMD_DISCARD;
	} else {
		io_uring_prep_fallocate(sqe, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 0);
	}
}

/* The SQE of every command, complete but for the offset. */
static void fill_sqes(struct uring *ur, const struct engine_env *env, int fd, unsigned flags,
		      bool fixed_buffers)
{
	const struct buffers *b = env->buffers;
	unsigned per = buffers_per_iovec(b);
	struct io_uring_sqe *sync = &ur->sqes[io_command(0, DIR_SYNC)];

	for (unsigned i = 0; i < b->nr_read + b->nr_write; i++) {
		bool is_write = i >= b->nr_read;
		unsigned slot = is_write ? i - b->nr_read : i;
		struct io_uring_sqe *io =
			&ur->sqes[io_command(slot, is_write ? DIR_WRITE : DIR_READ)];
		void *data = buffers_read(b, i); /* they follow each other */

		if (is_write && fixed_buffers)
			io_uring_prep_write_fixed(io, fd, data, env->io_bytes, 0, (int)(i / per));
		else if (is_write)
			io_uring_prep_write(io, fd, data, env->io_bytes, 0);
		else if (fixed_buffers)
			io_uring_prep_read_fixed(io, fd, data, env->io_bytes, 0, (int)(i / per));
		else
			io_uring_prep_read(io, fd, data, env->io_bytes, 0);
		io->flags |= (uint8_t)flags;
		io->user_data = slot;
	}
	for (unsigned slot = 0; env->directions & 1u << DIR_TRIM && slot < ur->depth; slot++) {
		struct io_uring_sqe *trim = &ur->sqes[io_command(slot, DIR_TRIM)];

		describe_trim(ur, trim, fd);
		trim->flags |= (uint8_t)flags;
		if (ur->trims_in_iowq)
			trim->flags |= IOSQE_ASYNC;
		trim->user_data = slot;
	}
	io_uring_prep_fsync(sync, fd, 0);
	sync->flags |= (uint8_t)flags;
	sync->user_data = 0;
}

/* Does the kernel discard through a ring? One of no bytes is refused as wrong then. */
static struct error *probe_discard(struct uring *ur, int fd)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ur->ring);
	struct io_uring_cqe *cqe;
	int ret;

	describe_trim(ur, sqe, fd);
	ret = io_uring_submit_and_wait(&ur->ring, 1);
	if (ret == 1)
		ret = io_uring_peek_cqe(&ur->ring, &cqe);
	if (ret == 0) {
		ret = cqe->res;
		io_uring_cqe_seen(&ur->ring, cqe);
	}
	if (ret == -EINVAL)
		return NULL;
	return error_new(ERR_REFUSED,
			 "io_uring of this kernel does not discard on block devices (%s); Linux "
			 "6.12 or later is needed, or engine: psync",
			 strerrordesc_np(-ret));
}

/* Drivers without it (zram) fail every bio that asks for it. The kernel looks for that before it reads or writes on behalf
 * of a ring, but not before it discards (6.18), so there the kernel's own threads, which may wait, must do it. */
static bool refuses_nowait(int fd)
{
	_Alignas(PROBE_BYTES) uint8_t block[PROBE_BYTES];
	struct iovec iov = { .iov_base = block, .iov_len = sizeof(block) };

	return preadv2(fd, &iov, 1, 0, RWF_NOWAIT) < 0 && errno == EOPNOTSUPP;
}

static struct error *prepare_trims(struct uring *ur, const struct engine_env *env)
{
	struct error *err;

	if (!(env->directions & 1u << DIR_TRIM))
		return NULL;
	err = trim_check(env->fd, &ur->trims_device);
	if (err || !ur->trims_device)
		return err;
	ur->trims_in_iowq = refuses_nowait(env->fd);
	return probe_discard(ur, env->fd);
}

static struct error *uring_init(void *state, const struct engine_env *env)
{
	struct uring *ur = state;
	unsigned features = 0;
	struct error *err;
	bool fixed_file;

	if (env->hipri) {
		err = polling_check("io_uring", "hipri (IORING_SETUP_IOPOLL)", env);
		if (err)
			return err;
	}
	err = uring_setup(&ur->ring, env, &features);
	if (err)
		return err;
	ur->is_made = true;
	ur->depth = env->depth;
	ur->fd = env->fd;
	ur->hipri = env->hipri;
	ur->sqthread = env->sqthread_poll;
	ur->no_timeout = !(features & IORING_FEAT_EXT_ARG);
	err = prepare_trims(ur, env);
	if (err)
		return err;
	take_over_rings(ur);
	register_ring(ur, env);
	if (env->cpus) /* else io-wq's threads run anywhere; older kernels leave them so */
		io_uring_register_iowq_aff(&ur->ring, sizeof(*env->cpus), env->cpus);
	fixed_file = !(env->pretend & PRETEND_NO_FIXED_FILE) &&
		     io_uring_register_files(&ur->ring, &env->fd, 1) == 0;
	fill_sqes(ur, env, fixed_file ? 0 : env->fd, fixed_file ? IOSQE_FIXED_FILE : 0,
		  register_buffers(ur, env));
	return env->sqthread_poll ? uring_check_sqthread(features, fixed_file) : NULL;
}

static void uring_fini(void *state)
{
	struct uring *ur = state;

	if (ur->is_made)
		io_uring_queue_exit(&ur->ring);
	ur->is_made = false;
}

const struct engine_ops engine_uring = {
	.name = "io_uring",
	.caps = ENGINE_ASYNC | ENGINE_SPLIT | ENGINE_CLOCK | ENGINE_TRIM,
	.state_size = sizeof(struct uring),
	.init = uring_init,
	.submit = uring_submit,
	.submit_fixed = uring_submit_fixed,
	.sync = uring_sync,
	.reap = uring_reap,
	.reap_until = uring_reap_until,
	.fini = uring_fini,
};

const struct engine_ops engine_uring_wishes = {
	.name = "io_uring",
	.caps = ENGINE_ASYNC | ENGINE_SPLIT | ENGINE_CLOCK,
	.state_size = sizeof(struct uring),
	.init = uring_init,
	.submit = submit_wishes,
	.sync = sync_wishes,
	.reap = reap_wishes,
	.reap_until = reap_until_wishes,
	.fini = uring_fini,
};
