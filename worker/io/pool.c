/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/pool.h"

#include "common/base/units.h"
#include "common/model/pattern.h"
#include "worker/io/thread.h"

#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { MEMORY_RESERVE_PERCENT = 10 }; /* of what is available, left to everyone else */

struct member {
	struct io_thread thread;
	struct pool *pool;
	size_t index;
	pthread_t pthread;
};

struct pool {
	struct stats_block *stats;
	struct gate gate;
	struct member *members;
	size_t nr_members;           /* that were created */
	size_t nr_running;           /* atomic */
	bool crowded, locks_buffers; /* for the threads */
	int done_fd;
	struct error *warnings;
};

static void *thread_main(void *arg)
{
	struct member *m = arg;
	struct io_thread *th = &m->thread;
	uint64_t one = 1;
	bool is_ready;
	char name[16];

	snprintf(name, sizeof(name), "io/%zu", m->index);
	pthread_setname_np(pthread_self(), name);
	cell_set(&th->stats->tid, (uint64_t)gettid());
	th->err = thread_setup(th);
	is_ready = !th->err;
	cell_set(&th->stats->state, is_ready ? THREAD_READY : THREAD_FAILED);
	gate_arrive(th->gate); /* err and warnings are the supervisor's now */
	if (is_ready)
		thread_run(th);
	thread_fini(th);
	/* Release: whoever sees 0 sees all that the threads wrote. The write tells one who waits. */
	if (__atomic_sub_fetch(&m->pool->nr_running, 1, __ATOMIC_ACQ_REL) == 0)
		while (write(m->pool->done_fd, &one, sizeof(one)) < 0 && errno == EINTR)
			continue;
	return NULL;
}

/* The coordinator has checked them; another peer may have not. */
static struct error *check_texts(const struct job *job)
{
	struct pattern pattern;
	struct distribution dist;
	struct error *err = job_distribution(job, &dist);

	for (int dir = DIR_READ; !err && dir < DIR_SYNC; dir++) {
		struct size_mix mix;
		struct rate rate;

		err = job_sizes(job, (enum direction)dir, &mix);
		if (!err)
			err = job_rate(job, (enum direction)dir, &rate);
	}
	if (!err && job_has_rate(job) && job->rw == RW_TRIMWRITE)
		err = error_new(ERR_CONFIG, "rw: trimwrite knows no rate");
	if (!err && job->buffer_pattern)
		err = error_context(pattern_parse(job->buffer_pattern, &pattern), "buffer_pattern");
	if (!err && !job->buffer_compress_chunk)
		err = error_new(ERR_CONFIG, "buffer_compress_chunk is at least 1");
	if (!err && (!job->bs || !job->sequence || !job->loops))
		err = error_new(ERR_CONFIG, "bs, sequence and loops are at least 1");
	return err;
}

/* What a specification asks for that no thread could do. */
static struct error *check_spec(const struct io_thread_spec *spec)
{
	const struct job *job = spec->job;
	uint64_t largest = job_max_bytes(job), granule = job_granule(job);
	struct error *err = check_texts(job);
	char bs[UNITS_TEXT], other[UNITS_TEXT];

	if (err)
		return error_context(err, "job '%s'", job->name);
	if (job->blockalign > largest)
		largest = job->blockalign;
	units_human_bytes(bs, (double)largest);
	if (spec->range.bytes < largest || spec->range.bytes < granule) {
		units_human_bytes(other, (double)spec->range.bytes);
		return error_new(
			ERR_CONFIG,
			"job '%s': target '%s': a thread's part of %s holds no block of %s; "
			"lower bs or numjobs, or raise size",
			job->name, spec->target, other, bs);
	}
	if (!job->time_based && job->io_size % granule) {
		units_human_bytes(bs, (double)granule);
		units_human_bytes(other, (double)job->io_size);
		return error_new(
			ERR_CONFIG,
			"job '%s': io_size of %s is no multiple of its blocks' %s; make it one",
			job->name, other, bs);
	}
	if (job->time_based && !job->runtime_ns)
		return error_new(ERR_CONFIG, "job '%s': time_based needs runtime; set it",
				 job->name);
	return NULL;
}

/* What all threads' buffers come to; UINT64_MAX bytes: more than 64 bits hold. */
struct memory {
	uint64_t nr, bytes;
};

static struct memory sum_buffers(const struct io_thread_spec *specs, size_t nr)
{
	struct memory sum = { 0 };

	for (size_t i = 0; i < nr; i++) {
		struct buffers_spec b = thread_buffers_spec(&specs[i]);

		if (__builtin_add_overflow(sum.bytes, buffers_need(&b), &sum.bytes))
			sum.bytes = UINT64_MAX;
		sum.nr += (uint64_t)b.depth * ((unsigned)b.reads + (unsigned)b.writes);
	}
	return sum;
}

/* Would all buffers fit into memory? Asked before the first is mapped: the kernel would not say no, but
 * kill. */
static struct error *check_memory(const struct io_thread_spec *specs, size_t nr)
{
	struct memory sum = sum_buffers(specs, nr);
	uint64_t available = buffers_available();
	char each[UNITS_TEXT], all[UNITS_TEXT], have[UNITS_TEXT];

	if (sum.bytes <= available - available / 100 * MEMORY_RESERVE_PERCENT)
		return NULL;
	units_human_bytes(each, (double)sum.bytes / (double)sum.nr);
	units_human_bytes(all, (double)sum.bytes);
	units_human_bytes(have, (double)available);
	return error_new(ERR_REFUSED,
			 "%llu buffers of %s need %s, and %s are available; lower iodepth, numjobs "
			 "or bs",
			 (unsigned long long)sum.nr, each, all, have);
}

/* All threads with registered buffers or none: they are compared with each other. */
static bool may_lock_buffers(struct pool *pool, const struct io_thread_spec *specs, size_t nr)
{
	struct memory sum = sum_buffers(specs, nr);
	char all[UNITS_TEXT], have[UNITS_TEXT];
	bool uses_uring = false;
	uint64_t limit;

	for (size_t i = 0; i < nr; i++)
		uses_uring |= !specs[i].simulated && specs[i].job->engine == ENGINE_IO_URING;
	if (!uses_uring || buffers_may_lock(sum.bytes, &limit))
		return true;
	units_human_bytes(all, (double)sum.bytes);
	units_human_bytes(have, (double)limit);
	error_append(
		&pool->warnings,
		error_new(
			ERR_NOMEM,
			"buffers of %s are not registered with io_uring: at most three quarters of "
			"RLIMIT_MEMLOCK, %s, are used for them; going on without, at some cost of "
			"CPU; raise it (LimitMEMLOCK=, ulimit -l)",
			all, have));
	return false;
}

static struct error *check_all(const struct io_thread_spec *specs, size_t nr,
			       const struct stats_block *stats)
{
	struct error *list = NULL;
	uint64_t nr_slots = 0;

	for (size_t i = 0; i < nr; i++) {
		error_append(&list, check_spec(&specs[i]));
		nr_slots += specs[i].job->iodepth;
	}
	if (!list)
		list = check_memory(specs, nr);
	if (!list && (stats->nr_threads < nr || stats->nr_slots < nr_slots))
		list = error_new(ERR_INTERNAL, "the statistics block is too small for the threads");
	return list;
}

static void prepare_member(struct pool *pool, size_t i, const struct io_thread_spec *spec,
			   uint64_t first_slot)
{
	struct thread_stats *t = stats_thread(pool->stats, i);
	struct member *m = &pool->members[i];

	m->pool = pool;
	m->index = i;
	m->thread = (struct io_thread) {
		.spec = *spec,
		.reap_min = spec->reap_min,
		.stats = t,
		.slots = stats_slot(pool->stats, first_slot),
		.block = pool->stats,
		.gate = &pool->gate,
		.crowded = pool->crowded,
		.locks_buffers = pool->locks_buffers,
	};
	cell_set(&t->member, spec->member);
	cell_set(&t->first_slot, first_slot);
	cell_set(&t->nr_slots, spec->job->iodepth);
}

/* More threads than CPUs that they may use? */
static bool is_crowded(const struct io_thread_spec *specs, size_t nr)
{
	cpu_set_t own, all;

	if (sched_getaffinity(0, sizeof(own), &own))
		return true;
	CPU_ZERO(&all);
	for (size_t i = 0; i < nr; i++)
		CPU_OR(&all, &all, specs[i].cpus ? specs[i].cpus : &own);
	return nr > (size_t)CPU_COUNT(&all);
}

static struct error *create_threads(struct pool *pool, const struct io_thread_spec *specs,
				    size_t nr)
{
	uint64_t first_slot = 0;

	pool->crowded = is_crowded(specs, nr);
	pool->locks_buffers = may_lock_buffers(pool, specs, nr);
	for (size_t i = 0; i < nr; i++) {
		struct member *m = &pool->members[i];
		int ret;

		prepare_member(pool, i, &specs[i], first_slot);
		first_slot += specs[i].job->iodepth;
		__atomic_add_fetch(&pool->nr_running, 1, __ATOMIC_RELAXED);
		ret = pthread_create(&m->pthread, NULL, thread_main, m);
		if (ret) {
			__atomic_sub_fetch(&pool->nr_running, 1, __ATOMIC_RELAXED);
			return error_new(
				ERR_REFUSED,
				"I/O thread %zu of %zu cannot be started: %s; raise the limit "
				"of threads (TasksMax=, LimitNPROC=, ulimit -u) or lower "
				"numjobs",
				i + 1, nr, strerrordesc_np(ret));
		}
		pool->nr_members++;
	}
	return NULL;
}

static void append_once(struct error **list, struct error *err)
{
	const struct error *e = *list;

	while (err && e && !streq(error_message(e), error_message(err)))
		e = error_next(e);
	if (err && e)
		error_destroy(&err);
	else
		error_append(list, err);
}

/* Errors of the threads that could not be set up; their warnings go to the pool. Each thing once. */
static struct error *collect(struct pool *pool)
{
	struct error *list = NULL;

	for (size_t i = 0; i < pool->nr_members; i++) {
		struct io_thread *th = &pool->members[i].thread;
		const struct job *job = th->spec.job;

		append_once(&list, error_context(take_ptr(th->err), "job '%s': target '%s'",
						 job->name, th->spec.target));
		append_once(&pool->warnings,
			    error_context(take_ptr(th->warnings), "job '%s': target '%s'",
					  job->name, th->spec.target));
	}
	return list;
}

struct error *pool_new(const struct io_thread_spec *specs, size_t nr, struct stats_block *stats,
		       struct pool **ret)
{
	_cleanup_(pool_destroy) struct pool *pool = NULL;
	struct error *err = check_all(specs, nr, stats);

	if (err)
		return err;
	pool = xcalloc(1, sizeof(*pool));
	gate_init(&pool->gate);
	pool->stats = stats;
	pool->members = xcalloc(nr ? nr : 1, sizeof(*pool->members));
	pool->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pool->done_fd < 0)
		return error_new(ERR_IO, "eventfd: %s", strerrordesc_np(errno));
	err = create_threads(pool, specs, nr);
	gate_wait_arrived(&pool->gate, (unsigned)pool->nr_members);
	error_append(&err, collect(pool));
	if (err)
		return err;
	*ret = take_ptr(pool);
	return NULL;
}

const struct error *pool_warnings(const struct pool *pool)
{
	return pool->warnings;
}

void pool_start(struct pool *pool, uint64_t start_ns)
{
	cell_set(&pool->stats->start_ns, start_ns);
	gate_open(&pool->gate, start_ns);
}

void pool_stop(struct pool *pool)
{
	cell_set(&pool->stats->stop, 1);
	gate_shut(&pool->gate);
}

int pool_done_fd(const struct pool *pool)
{
	return pool->done_fd;
}

bool pool_is_done(const struct pool *pool)
{
	return __atomic_load_n(&pool->nr_running, __ATOMIC_ACQUIRE) == 0;
}

void pool_destroy(struct pool **self_p)
{
	struct pool *pool = *self_p;

	if (!pool)
		return;
	pool_stop(pool);
	for (size_t i = 0; i < pool->nr_members; i++)
		pthread_join(pool->members[i].pthread, NULL);
	for (size_t i = 0; i < pool->nr_members; i++) {
		error_destroy(&pool->members[i].thread.err);
		error_destroy(&pool->members[i].thread.warnings);
	}
	closep(&pool->done_fd);
	gate_fini(&pool->gate);
	error_destroy(&pool->warnings);
	free(pool->members);
	free(pool);
	*self_p = NULL;
}
