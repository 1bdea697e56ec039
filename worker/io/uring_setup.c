/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/uring_setup.h"

#include "common/base/units.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

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

static struct error *refusal(int error, const struct engine_env *env)
{
	switch (error) {
	case ENOSYS:
	case EPERM:
		return engine_lacks(
			"io_uring", "io_uring_setup",
			"it is not allowed here: %s; see sysctl kernel.io_uring_disabled, "
			"or use engine: libaio",
			strerrordesc_np(error));
	case ENOMEM:
		return no_memory(env->depth);
	default:
		return engine_lacks("io_uring", "io_uring_setup", "the ring cannot be made: %s",
				    strerrordesc_np(error));
	}
}

/* The flags that the job asked for were what the kernel would not have. */
static struct error *refusal_of_wish(int error, const struct engine_env *env)
{
	if (env->sqthread_cpu >= 0 && error == EINVAL)
		return engine_lacks("io_uring", "sqthread_poll_cpu (IORING_SETUP_SQ_AFF)",
				    "CPU %d cannot be used here; name one that the worker may use",
				    env->sqthread_cpu);
	if (env->sqthread_poll)
		return engine_lacks("io_uring", "sqthread_poll (IORING_SETUP_SQPOLL)",
				    "the kernel refuses: %s; it wants CAP_SYS_NICE before Linux "
				    "5.11; leave sqthread_poll out",
				    strerrordesc_np(error));
	return engine_lacks("io_uring", "hipri (IORING_SETUP_IOPOLL)",
			    "the kernel refuses: %s; leave hipri out", strerrordesc_np(error));
}

/* Does this set-up use what env pretends that the kernel lacks? */
static bool is_pretended_away(unsigned flags, unsigned pretend)
{
	return (pretend & PRETEND_NO_DEFER_TASKRUN && flags & IORING_SETUP_DEFER_TASKRUN) ||
	       (pretend & PRETEND_NO_SINGLE_ISSUER && flags & IORING_SETUP_SINGLE_ISSUER) ||
	       (pretend & PRETEND_NO_COOP_TASKRUN && flags & IORING_SETUP_COOP_TASKRUN);
}

/* The first set-up of the list that the kernel knows: 0 or -errno. */
static int try_all(struct io_uring *ring, const unsigned *flags, size_t nr,
		   const struct engine_env *env, unsigned *ret_features)
{
	unsigned wished = (env->hipri ? IORING_SETUP_IOPOLL : 0) |
			  (env->sqthread_poll ? IORING_SETUP_SQPOLL : 0) |
			  (env->sqthread_cpu >= 0 ? IORING_SETUP_SQ_AFF : 0);
	int ret = -EINVAL;

	for (size_t i = 0; i < nr && ret == -EINVAL; i++) {
		struct io_uring_params params = {
			.flags = flags[i] | wished,
			.sq_thread_cpu = env->sqthread_cpu >= 0 ? (unsigned)env->sqthread_cpu : 0,
		};

		if (is_pretended_away(flags[i], env->pretend))
			continue;
		ret = io_uring_queue_init_params(DIR_COUNT * env->depth, ring, &params);
		*ret_features = params.features;
	}
	return ret;
}

struct error *uring_setup(struct io_uring *ring, const struct engine_env *env,
			  unsigned *ret_features)
{
	static const unsigned submitting[] = {
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
			IORING_SETUP_SUBMIT_ALL,
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
			IORING_SETUP_SUBMIT_ALL,
		IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL,
		0,
	};
	/* A kernel thread submits: who runs task work is no question then. */
	static const unsigned polled[] = { IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_SUBMIT_ALL,
					   0 };
	int ret = env->sqthread_poll
			  ? try_all(ring, polled, array_size(polled), env, ret_features)
			  : try_all(ring, submitting, array_size(submitting), env, ret_features);

	if (env->pretend & PRETEND_NO_EXT_ARG)
		*ret_features &= ~IORING_FEAT_EXT_ARG;
	if (ret == 0 && !(*ret_features & IORING_FEAT_RW_CUR_POS)) {
		io_uring_queue_exit(ring);
		return engine_lacks(
			"io_uring", "IORING_OP_READ",
			"it is too old; Linux 5.6 or later is needed, or engine: libaio");
	}
	if (ret == 0)
		return NULL;
	if (ret != -ENOMEM && ret != -ENOSYS && (env->hipri || env->sqthread_poll))
		return refusal_of_wish(-ret, env);
	return refusal(-ret, env);
}

struct error *uring_check_sqthread(unsigned features, bool fixed_file)
{
	const char *missing = NULL;

	if (!(features & IORING_FEAT_EXT_ARG))
		missing = "it cannot bound a wait";
	else if (!fixed_file && !(features & IORING_FEAT_SQPOLL_NONFIXED))
		missing = "it wants the file registered, which did not work";
	if (!missing)
		return NULL;
	return engine_lacks("io_uring", "sqthread_poll (IORING_SETUP_SQPOLL)",
			    "%s; Linux 5.11 or later is needed; leave sqthread_poll out", missing);
}
