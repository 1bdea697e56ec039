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
 */
#include "common/base/units.h"
#include "worker/io/engine.h"
#include "worker/io/raw_syscall.h"
#include "worker/io/trim.h"

#include <errno.h>
#include <liburing.h>
#include <linux/falloc.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
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

	bool trims_device;  /* the trims are discards of a block device; else holes of a file */
	bool trims_in_iowq; /* the device knows no I/O without waiting */
	bool is_made;
	struct io_uring ring;
};

/* Cold: an enter that the kernel refused. 0: it is worth asking again; else -errno. */
static __attribute__((noinline)) int enter_refused(long error, bool is_wait)
{
	struct timespec pause = clock_timespec(PAUSE_NS);

	if (error == -ETIME || error == -EINTR)
		return 0;
	if (error != -EAGAIN && error != -EBUSY)
		return (int)error;
	if (is_wait)
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
		return enter_refused(ret, wait);
	ur->pending -= (unsigned)ret;
	return 0;
}

/* Release: the kernel reads the tail, then the entries before it. */
static inline int flush(struct uring *ur, unsigned tail)
{
	ur->pending += tail - ur->sq_tail;
	ur->sq_tail = tail;
	__atomic_store_n(ur->sq_tail_shared, tail, __ATOMIC_RELEASE);
	return enter(ur, 0, NULL);
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
							unsigned nr, bool sizes_vary)
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
	return flush(ur, end);
}

static _hot_ int uring_submit(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns)
{
	(void)now_ns;
	return submit(state, cmds, nr, true);
}

static _hot_ int uring_submit_fixed(void *state, const struct io_cmd *cmds, unsigned nr,
				    uint64_t now_ns)
{
	(void)now_ns;
	return submit(state, cmds, nr, false);
}

static int uring_sync(void *state, bool data_only, uint64_t now_ns)
{
	struct uring *ur = state;
	uint32_t command = io_command(0, DIR_SYNC);

	(void)now_ns;
	ur->sqes[command].fsync_flags = data_only ? IORING_FSYNC_DATASYNC : 0;
	ur->sq_array[ur->sq_tail & ur->sq_mask] = command;
	return flush(ur, ur->sq_tail + 1);
}

static inline unsigned completions(const struct uring *ur)
{
	/* Acquire: entries are read after the tail that covers them. */
	return __atomic_load_n(ur->cq_tail_shared, __ATOMIC_ACQUIRE) - ur->cq_head;
}

static inline __attribute__((always_inline)) int reap(struct uring *ur, struct io_done *done,
						      unsigned min,
						      const struct io_uring_getevents_arg *wait,
						      uint64_t *now_ns)
{
	unsigned head, end, mask, nr = completions(ur);
	unsigned flags = __atomic_load_n(ur->sq_flags, __ATOMIC_RELAXED);
	const struct io_uring_cqe *cqes;

	if (nr < min || flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW) || ur->pending) {
		int ret = enter(ur, min, wait);

		if (unlikely(ret < 0))
			return ret;
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

	return reap(ur, done, min, &ur->wait_arg, now_ns);
}

static _hot_ int uring_reap_until(void *state, struct io_done *done, uint64_t until_ns,
				  uint64_t *now_ns)
{
	struct uring *ur = state;
	uint64_t now = clock_mono_ns(), wait_ns = until_ns > now ? until_ns - now : 0;

	ur->until_time.tv_nsec = (long long)(wait_ns < ENGINE_WAIT_NS ? wait_ns : ENGINE_WAIT_NS);
	return reap(ur, done, wait_ns ? 1 : 0, &ur->until_arg, now_ns);
}

/* What a ring locks of memory, for those who are not exempt: its submission entries, and the two rings in one
 * mapping. */
static uint64_t ring_bytes(unsigned entries)
{
	enum { SQE_BYTES = 64, CQE_BYTES = 16, INDEX_BYTES = 4, HEADER_BYTES = 192 };
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), sqes, rings;
	unsigned nr = 1;

	while (nr < entries)
		nr *= 2;
	sqes = (uint64_t)nr * SQE_BYTES;
	rings = HEADER_BYTES + (uint64_t)nr * (2 * CQE_BYTES + INDEX_BYTES);
	return (sqes + page - 1) / page * page + (rings + page - 1) / page * page;
}

static struct error *no_memory(unsigned depth)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	char need[UNITS_TEXT], have[UNITS_TEXT];

	getrlimit(RLIMIT_MEMLOCK, &limit);
	units_human_bytes(need, (double)ring_bytes(DIR_COUNT * depth));
	units_human_bytes(have, (double)limit.rlim_cur);
	if (limit.rlim_cur == RLIM_INFINITY)
		return error_new(ERR_REFUSED,
				 "io_uring: no memory for a ring of depth %u, %s; lower iodepth or "
				 "numjobs",
				 depth, need);
	return error_new(
		ERR_REFUSED,
		"io_uring: no memory for a ring of depth %u: the %s that each thread's ring "
		"locks do not fit into RLIMIT_MEMLOCK, %s for all of this user's rings and "
		"registered buffers; raise it (LimitMEMLOCK=, ulimit -l) or lower numjobs "
		"or iodepth",
		depth, need, have);
}

static struct error *setup_error(int error, unsigned depth)
{
	switch (error) {
	case ENOSYS:
	case EPERM:
		return error_new(ERR_REFUSED,
				 "io_uring is not allowed here: %s; see sysctl "
				 "kernel.io_uring_disabled, or use engine: psync",
				 strerrordesc_np(error));
	case ENOMEM:
		return no_memory(depth);
	default:
		return error_new(ERR_IO, "io_uring: the ring cannot be made: %s",
				 strerrordesc_np(error));
	}
}

/* The set-up that suits one thread per ring, or the best that this kernel knows. */
static struct error *make_ring(struct uring *ur)
{
	static const unsigned candidates[] = {
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
			IORING_SETUP_SUBMIT_ALL,
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
			IORING_SETUP_SUBMIT_ALL,
		IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL,
		0,
	};
	int ret = -EINVAL;

	for (size_t i = 0; i < array_size(candidates) && ret == -EINVAL; i++) {
		struct io_uring_params params = { .flags = candidates[i] };

		ret = io_uring_queue_init_params(DIR_COUNT * ur->depth, &ur->ring, &params);
		if (ret == 0 && !(params.features & IORING_FEAT_EXT_ARG)) {
			io_uring_queue_exit(&ur->ring);
			return error_new(ERR_REFUSED,
					 "io_uring of this kernel has no timed wait; Linux 5.11 "
					 "or later is needed, or engine: psync");
		}
	}
	if (ret < 0)
		return setup_error(-ret, ur->depth);
	ur->is_made = true;
	return NULL;
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
	ur->enter_fd = ur->ring.ring_fd;
	if (io_uring_register_ring_fd(&ur->ring) == 1) {
		ur->enter_fd = ur->ring.enter_ring_fd;
		ur->enter_flags = IORING_ENTER_REGISTERED_RING;
	}
	ur->wait_time.tv_nsec = (long long)ENGINE_WAIT_NS;
	ur->wait_arg.ts = (uint64_t)(uintptr_t)&ur->wait_time;
	ur->until_arg.ts = (uint64_t)(uintptr_t)&ur->until_time;
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
	struct error *err;
	bool fixed_file;

	ur->depth = env->depth;
	err = make_ring(ur);
	if (err)
		return err;
	err = prepare_trims(ur, env);
	if (err)
		return err;
	take_over_rings(ur);
	if (env->cpus) /* else io-wq's threads run anywhere; older kernels leave them so */
		io_uring_register_iowq_aff(&ur->ring, sizeof(*env->cpus), env->cpus);
	fixed_file = io_uring_register_files(&ur->ring, &env->fd, 1) == 0;
	fill_sqes(ur, env, fixed_file ? 0 : env->fd, fixed_file ? IOSQE_FIXED_FILE : 0,
		  register_buffers(ur, env));
	return NULL;
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
