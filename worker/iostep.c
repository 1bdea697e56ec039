/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/iostep_internal.h"

#include "common/base/clock.h"
#include "common/base/units.h"
#include "worker/host/cpus.h"
#include "worker/iocheck.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A START must leave the threads time to wake, and may not keep them at the gate for ever. */
#define START_MIN_AHEAD_NS (2 * NS_PER_MS)
#define START_MAX_AHEAD_NS (3600 * NS_PER_S)

/* --- environment ---------------------------------------------------------------------------------- */

void io_env_setup(struct io_env *env, const struct io_setup *setup)
{
	env->setup = *setup;
	env->rules = (struct access_rules) {
		.read = setup->read,
		.nr_read = setup->nr_read,
		.write = setup->write,
		.nr_write = setup->nr_write,
		.below = setup->below,
	};
}

void io_env_fini(struct io_env *env)
{
	held_targets_fini(&env->held);
	if (env->block)
		munmap(env->block, env->block_bytes);
	closep(&env->stats_fd);
	schema_fini(&io_setup_schema, &env->setup);
	*env = (struct io_env) { .stats_fd = -1 };
}

/* --- preparing ------------------------------------------------------------------------------------ */

static struct error *open_one(struct iostep *s, size_t i)
{
	const struct work_target *spec = &s->a->targets[i];
	struct error *err = NULL;

	s->targets[i] = s->a->probe ? NULL : held_targets_find(&s->env->held, spec);
	if (s->targets[i] && spec->writes)
		err = target_recheck(s->targets[i]);
	if (!s->targets[i]) {
		err = iocheck_not_stuck(s->env->setup.state, spec);
		if (!err)
			err = target_open(spec, i, &s->env->rules, s->a->probe, &s->targets[i]);
		if (!err && !s->a->probe)
			held_targets_add(&s->env->held, spec, s->targets[i]);
	}
	if (err)
		return error_context(err, "target '%s'", spec->name);
	s->info[i] = *target_info(s->targets[i]);
	s->info[i].target = i;
	return NULL;
}

static struct error *open_targets(struct iostep *s)
{
	struct error *errs = NULL;

	held_targets_keep(&s->env->held, s->a);
	for (size_t i = 0; i < s->a->nr_targets; i++)
		error_append(&errs, open_one(s, i));
	return errs;
}

/* The jobs on one target against what it turned out to be. */
static struct error *check_members_of(const struct iostep *s, size_t target,
				      const struct open_target *t)
{
	struct error *errs = NULL;

	for (size_t i = 0; i < s->a->nr_members; i++)
		if (s->a->members[i].target == target)
			error_append(&errs,
				     error_context(target_check_member(t, &s->a->members[i]),
						   "target '%s'", s->a->targets[target].name));
	return errs;
}

/* What opening them would say, for a step that is refused already: nothing is made or held for it. */
static struct error *look_at_targets(struct iostep *s)
{
	struct error *errs = NULL;

	for (size_t i = 0; i < s->a->nr_targets; i++) {
		const struct work_target *spec = &s->a->targets[i];
		_cleanup_(target_close) struct open_target *looked_at = NULL;
		const struct open_target *t = held_targets_find(&s->env->held, spec);
		struct error *err = NULL;

		if (!t) {
			err = target_open(spec, i, &s->env->rules, true, &looked_at);
			t = looked_at;
		}
		error_append(&errs, err ? error_context(err, "target '%s'", spec->name)
					: check_members_of(s, i, t));
	}
	return errs;
}

/* Of several members of one job, on targets of their own, one speaks for it. */
static bool is_first_of_job(const struct iostep *s, size_t member)
{
	for (size_t i = 0; i < member; i++)
		if (s->a->members[i].job_index == s->a->members[member].job_index)
			return false;
	return true;
}

static struct error *check_cpus(struct iostep *s)
{
	struct error *errs = NULL;

	s->cpus = xcalloc(s->a->nr_members + 1, sizeof(*s->cpus));
	for (size_t i = 0; i < s->a->nr_members; i++) {
		const struct job *job = &s->a->members[i].job;
		struct error *err = NULL;

		if (job->cpus_allowed)
			err = cpus_allowed(s->settle.root, job->cpus_allowed, &s->cpus[i]);
		if (is_first_of_job(s, i))
			error_append(&errs, error_context(err, "job '%s'", job->name));
		else
			error_destroy(&err);
	}
	return errs;
}

/* What needs no look at a target. */
static struct error *check_host(struct iostep *s)
{
	struct error *errs = iocheck_limits(s->a, &s->env->setup);
	struct room_need need = iocheck_need(s->a);

	if (!errs)
		errs = room_check(s->settle.root, &need);
	error_append(&errs, check_cpus(s));
	error_append(&errs, settle_check(&s->settle, s->a));
	return errs;
}

static struct error *check_members(const struct iostep *s)
{
	struct error *errs = NULL;

	for (size_t i = 0; i < s->a->nr_targets; i++)
		error_append(&errs, check_members_of(s, i, s->targets[i]));
	return errs;
}

static bool tell_layout(void *arg, const char *path, uint64_t done, uint64_t total)
{
	const struct io_env *env = arg;
	char done_text[UNITS_TEXT], total_text[UNITS_TEXT];
	_cleanup_free_ char *doing = NULL;

	units_human_bytes(done_text, (double)done);
	units_human_bytes(total_text, (double)total);
	doing = xasprintf("laying out %s: %s of %s", path, done_text, total_text);
	return env->progress(env->progress_arg, doing, done);
}

static struct error *lay_out(struct iostep *s)
{
	for (size_t i = 0; i < s->a->nr_targets; i++) {
		uint64_t bytes = iocheck_layout_bytes(s->a, i, &s->info[i]), written = 0;
		struct error *err = target_reserve(s->targets[i], iocheck_fallocate(s->a, i));

		if (!err && bytes)
			err = target_layout(s->targets[i], bytes, tell_layout, s->env, &written);
		s->layout_bytes += written;
		if (err)
			return error_context(err, "target '%s'", s->a->targets[i].name);
	}
	return NULL;
}

/* Of posix_fadvise; direct I/O has no use for any. */
static int advice_of(const struct job *job)
{
	static const int advices[] = {
		[HINT_NONE] = POSIX_FADV_NORMAL,
		[HINT_RANDOM] = POSIX_FADV_RANDOM,
		[HINT_SEQUENTIAL] = POSIX_FADV_SEQUENTIAL,
		[HINT_NOREUSE] = POSIX_FADV_NOREUSE,
	};

	if (job->direct)
		return POSIX_FADV_NORMAL;
	if (job->fadvise_hint == HINT_WORKLOAD)
		return job_is_random(job) ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL;
	return advices[job->fadvise_hint];
}

/* One spec per thread, in the order of the members. */
static struct error *make_specs(struct iostep *s)
{
	size_t nr = 0;

	s->nr_specs = assignment_threads(s->a);
	s->specs = xcalloc(s->nr_specs, sizeof(*s->specs));
	for (size_t i = 0; i < s->a->nr_members; i++) {
		const struct work_member *m = &s->a->members[i];
		const struct work_target *t = &s->a->targets[m->target];
		const struct target_access how = { .write = job_writes(&m->job),
						   .direct = m->job.direct,
						   .sync = m->job.sync,
						   .advice = advice_of(&m->job) };
		int fd = -1;

		if (t->kind != TARGET_SIMULATED) {
			struct error *err = target_fd(s->targets[m->target], &how, &fd);

			if (err)
				return error_context(err, "target '%s'", t->name);
		}
		for (uint64_t k = 0; k < m->job.numjobs; k++)
			s->specs[nr++] = (struct io_thread_spec) {
				.target = t->name,
				.member = i,
				.fd = fd,
				.advice = how.advice,
				.simulated = t->kind == TARGET_SIMULATED,
				.latency_ns = t->latency_ns,
				.quantiles = t->quantiles,
				.nr_quantiles = t->nr_quantiles,
				.stall = t->stall,
				.job = &m->job,
				.range = iocheck_thread_range(m, t, &s->info[m->target], k),
				.block_bytes = s->info[m->target].logical_block_bytes,
				.thread = m->first_thread + k,
				.seed = m->job.randseed,
				.cpus = m->job.cpus_allowed ? &s->cpus[i] : NULL,
			};
	}
	return NULL;
}

/* The block of the step before is made zero by a hole; the file only grows. */
static struct error *lay_out_block(struct io_env *env, uint64_t nr_threads, uint64_t nr_slots)
{
	size_t need = stats_block_bytes(nr_threads, nr_slots);
	struct stat st;
	void *map;

	if (env->block)
		munmap(env->block, env->block_bytes);
	env->block = NULL;
	if (fstat(env->stats_fd, &st) != 0)
		return error_new(ERR_INTERNAL, "statistics: %s", strerror(errno));
	if (st.st_size > 0 && fallocate(env->stats_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					0, st.st_size) != 0)
		return error_new(ERR_INTERNAL, "statistics: cannot be cleared: %s",
				 strerror(errno));
	if ((uint64_t)st.st_size < need && ftruncate(env->stats_fd, (off_t)need) != 0)
		return error_new(ERR_NOMEM, "statistics: no memory for %zu bytes: %s", need,
				 strerror(errno));
	map = mmap(NULL, need, PROT_READ | PROT_WRITE, MAP_SHARED, env->stats_fd, 0);
	if (map == MAP_FAILED)
		return error_new(ERR_NOMEM, "statistics: cannot be mapped: %s", strerror(errno));
	env->block = map;
	env->block_bytes = need;
	stats_block_init(env->block, nr_threads, nr_slots);
	return NULL;
}

static void read_counters(struct iostep *s)
{
	free(s->before);
	s->before = xcalloc(s->a->nr_targets + 1, sizeof(*s->before));
	for (size_t i = 0; i < s->a->nr_targets; i++)
		if (target_stat(s->targets[i], &s->before[i]))
			s->before[i].elapsed_ns = clock_mono_ns();
}

static struct error *prepare(struct iostep *s)
{
	struct error *err = s->a->probe ? NULL : settle_written(&s->settle, &s->env->held);

	if (!err) {
		err = check_host(s);
		error_append(&err, err ? look_at_targets(s) : open_targets(s));
	}
	if (!err)
		err = check_members(s);
	if (err)
		return err;
	iocheck_max_write(s->a, s->info);
	if (s->a->probe)
		return NULL;
	err = lay_out(s);
	if (!err)
		err = settle_caches(&s->settle, s->a, s->targets);
	if (!err)
		err = make_specs(s);
	if (!err)
		err = lay_out_block(s->env, s->nr_specs, iocheck_slots(s->a));
	if (!err)
		err = pool_new(s->specs, s->nr_specs, s->env->block, &s->pool);
	if (!err)
		read_counters(s);
	return err;
}

struct error *iostep_new(struct io_env *env, const struct assignment *a, struct iostep **ret)
{
	struct iostep *s = xcalloc(1, sizeof(*s));
	struct error *err;

	s->env = env;
	s->a = a;
	s->cpu_begin_ns = s->cpu_end_ns = s->sync_look_ns = UINT64_MAX;
	s->settle = (struct settle) { .root = &host_root_live,
				      .progress = env->progress,
				      .arg = env->progress_arg };
	s->info = xcalloc(a->nr_targets + 1, sizeof(*s->info));
	s->targets = xcalloc(a->nr_targets + 1, sizeof(struct open_target *));
	err = prepare(s);
	if (err) {
		iostep_destroy(&s);
		return err;
	}
	*ret = s;
	return NULL;
}

void iostep_destroy(struct iostep **self_p)
{
	struct iostep *s = *self_p;

	if (!s)
		return;
	pool_destroy(&s->pool);
	error_destroy(&s->settle.warnings);
	for (size_t i = 0; s->a->probe && i < s->a->nr_targets; i++)
		target_close(&s->targets[i]);
	free(s->targets);
	free(s->info);
	free(s->specs);
	free(s->cpus);
	free(s->before);
	free(s);
	*self_p = NULL;
}

void iostep_ready(const struct iostep *s, struct msg_ready *ret)
{
	*ret = (struct msg_ready) {
		.devices = xcalloc(s->a->nr_targets + 1, sizeof(*ret->devices)),
		.nr_devices = s->a->nr_targets,
		.layout_bytes = s->layout_bytes,
	};
	memcpy(ret->devices, s->info, s->a->nr_targets * sizeof(*ret->devices));
}

/* --- running -------------------------------------------------------------------------------------- */

static uint64_t add_sat(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* CPU time is read where the first window begins and where the last one ends. */
static void plan_cpu(struct iostep *s)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (size_t i = 0; i < s->a->nr_members; i++) {
		const struct job *job = &s->a->members[i].job;
		uint64_t ramp_end = add_sat(s->start_ns, job->ramp_time_ns);
		uint64_t job_end =
			job->runtime_ns ? add_sat(ramp_end, job->runtime_ns) : UINT64_MAX;

		begin = ramp_end < begin ? ramp_end : begin;
		end = job_end > end ? job_end : end;
	}
	s->cpu_end_is_read = false;
	s->cpu_begin_ns = begin;
	s->cpu_end_ns = end;
}

struct error *iostep_start(struct iostep *s, uint64_t start_ns)
{
	struct error *errs = NULL;

	for (size_t i = 0; i < s->a->nr_targets; i++)
		if (s->a->targets[i].writes)
			error_append(&errs, error_context(target_recheck(s->targets[i]),
							  "target '%s'", s->a->targets[i].name));
	if (errs)
		return errs;
	read_counters(s); /* the second look at the devices reads from them */
	s->throttle = throttle_read(s->settle.root);
	uint64_t now = clock_mono_ns();

	if (start_ns < now + START_MIN_AHEAD_NS)
		return error_new(
			ERR_REFUSED,
			"START came too late: its instant was %.3f ms %s; nothing was started",
			(double)(start_ns < now ? now - start_ns : start_ns - now) / NS_PER_MS,
			start_ns < now ? "ago" : "ahead");
	if (start_ns > now + START_MAX_AHEAD_NS)
		return error_new(ERR_PROTOCOL, "START is for an instant more than an hour ahead");
	s->start_ns = start_ns;
	for (size_t i = 0; i < s->a->nr_targets; i++)
		if (s->a->targets[i].writes)
			held_targets_mark_written(&s->env->held, s->targets[i]);
	plan_cpu(s);
	iostep_watch_syncs(s);
	pool_start(s->pool, start_ns);
	return NULL;
}

void iostep_stop(struct iostep *s)
{
	s->stopped = true;
	if (s->pool)
		pool_stop(s->pool);
}

int iostep_done_fd(const struct iostep *s)
{
	return s->pool ? pool_done_fd(s->pool) : -1;
}

bool iostep_is_done(const struct iostep *s)
{
	return !s->pool || pool_is_done(s->pool);
}

uint64_t iostep_next_ns(const struct iostep *s)
{
	uint64_t next = s->cpu_begin_ns < s->cpu_end_ns ? s->cpu_begin_ns : s->cpu_end_ns;

	return s->sync_look_ns < next ? s->sync_look_ns : next;
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_usec * NS_PER_US;
}

struct cpu_reading iostep_read_cpu(void)
{
	struct rusage all, own;

	getrusage(RUSAGE_SELF, &all);
	getrusage(RUSAGE_THREAD, &own);
	return (struct cpu_reading) {
		.usr_ns = minus(timeval_ns(all.ru_utime), timeval_ns(own.ru_utime)),
		.sys_ns = minus(timeval_ns(all.ru_stime), timeval_ns(own.ru_stime)),
	};
}

void iostep_tick(struct iostep *s, uint64_t now_ns)
{
	if (now_ns >= s->cpu_begin_ns) {
		s->cpu_begin = iostep_read_cpu();
		s->cpu_begin_ns = UINT64_MAX;
	}
	if (now_ns >= s->cpu_end_ns) {
		s->cpu_end = iostep_read_cpu();
		s->cpu_end_ns = UINT64_MAX;
		s->cpu_end_is_read = true;
	}
}

/* Is any thread still at work on it? Two targets of the assignment may be the same open one. */
static bool is_at_work(const struct iostep *s, const struct open_target *t)
{
	for (size_t k = 0; k < s->nr_specs; k++)
		if (s->targets[s->a->members[s->specs[k].member].target] == t &&
		    cell_get(&stats_thread(s->env->block, k)->state) < THREAD_DONE)
			return true;
	return false;
}

void iostep_release_idle(struct iostep *s)
{
	for (size_t i = 0; !s->a->probe && i < s->a->nr_targets; i++) {
		const struct open_target *t = s->targets[i];

		if (!t || is_at_work(s, t))
			continue;
		held_targets_close(&s->env->held, t);
		for (size_t k = i; k < s->a->nr_targets; k++)
			if (s->targets[k] == t)
				s->targets[k] = NULL;
	}
}
