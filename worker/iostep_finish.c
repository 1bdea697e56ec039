/* SPDX-License-Identifier: Apache-2.0 */
/* iostep_finish.c - the end of a step in the I/O process: its threads' and devices' numbers become DONE. */
#include "common/base/clock.h"
#include "worker/host/counters.h"
#include "worker/iostep_internal.h"
#include "worker/tally.h"

#include <unistd.h>

/* Threads stop so much or less before the lease's end. */
#define LEASE_NEAR_NS (50 * NS_PER_MS)

static bool uses_io_wq(const struct iostep *s, size_t member)
{
	const struct work_member *m = &s->a->members[member];

	return m->job.engine == ENGINE_IO_URING &&
	       s->a->targets[m->target].kind != TARGET_SIMULATED;
}

/* What the process used beyond its I/O threads is io-wq's: shared out by I/Os. */
static void share_io_wq(struct iostep *s, const struct tally *t, struct msg_done *done)
{
	uint64_t usr = minus(s->cpu_end.usr_ns, s->cpu_begin.usr_ns);
	uint64_t sys = minus(s->cpu_end.sys_ns, s->cpu_begin.sys_ns);
	uint64_t *ios = xcalloc(done->nr_members + 1, sizeof(*ios)), all = 0;

	for (size_t i = 0; i < done->nr_members; i++) {
		usr = minus(usr, done->members[i].cpu_usr_ns);
		sys = minus(sys, done->members[i].cpu_sys_ns);
		for (int dir = 0; uses_io_wq(s, i) && dir < DIR_COUNT; dir++)
			ios[i] += t->members[i].dir[dir].counts.ios;
		all += ios[i];
	}
	for (size_t i = 0; all && i < done->nr_members; i++) {
		double part = (double)ios[i] / (double)all;

		uint64_t own_usr = (uint64_t)(part * (double)usr);
		uint64_t own_sys = (uint64_t)(part * (double)sys);

		done->members[i].cpu_usr_ns += own_usr;
		done->members[i].cpu_sys_ns += own_sys;
		done->members[i].iowq_ns = own_usr + own_sys;
	}
	free(ios);
}

static void device_differences(const struct iostep *s, struct msg_done *done)
{
	done->devices = xcalloc(s->a->nr_targets + 1, sizeof(*done->devices));
	for (size_t i = 0; i < s->a->nr_targets; i++) {
		struct device_stat *d = &done->devices[done->nr_devices], now;
		uint64_t from_ns = s->before[i].elapsed_ns;

		if (!from_ns || !s->targets[i] || !target_stat(s->targets[i], &now))
			continue;
		*d = counters_between(&s->before[i], &now);
		d->target = i;
		from_ns = s->start_ns > from_ns ? s->start_ns : from_ns;
		d->elapsed_ns = minus(clock_mono_ns(), from_ns);
		target_describe_disk(s->targets[i], d);
		done->nr_devices++;
	}
}

/* Threads that outnumber the CPUs cannot spin up to the instant; without real-time priority they start late. */
static struct error *wake_warning(const struct iostep *s)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t worst = 0, ordinary = 0;

	for (size_t i = 0; i < s->nr_specs; i++) {
		const struct thread_stats *t = stats_thread(s->env->block, i);
		uint64_t late = cell_get(&t->late_wake_ns);

		ordinary += !cell_get(&t->realtime);
		worst = late > worst ? late : worst;
	}
	if (!ordinary || s->nr_specs <= (size_t)cpus || worst < NS_PER_MS)
		return NULL;
	return error_new(ERR_REFUSED,
			 "%llu of %zu threads could not wake at real-time priority for the start, "
			 "the last of them %.1f ms late; give the worker CAP_SYS_NICE",
			 (unsigned long long)ordinary, s->nr_specs, (double)worst / NS_PER_MS);
}

static void add_warning(struct msg_done *done, const char *text)
{
	done->warnings = xrealloc(done->warnings, done->nr_warnings + 1, sizeof(char *));
	done->warnings[done->nr_warnings++] = xstrdup(text);
}

static void add_warnings(struct msg_done *done, const struct error *list)
{
	for (const struct error *w = list; w; w = error_next(w))
		add_warning(done, error_message(w));
}

/* The targets are closed with it: whoever needs them next makes them anew. */
static void unlink_files(struct iostep *s, struct msg_done *done)
{
	for (size_t i = 0; i < s->a->nr_targets; i++) {
		const struct open_target *t = s->targets[i];
		_cleanup_(error_destroy) struct error *err = NULL;
		bool is_gone;

		if (!t || !s->a->targets[i].unlink)
			continue;
		err = target_unlink(t, &is_gone);
		if (!err && !is_gone)
			err = error_new(ERR_REFUSED,
					"%s: was not removed: it is not Salvo's own, or not there "
					"any more",
					target_info(t)->path);
		add_warnings(done, err);
		held_targets_close(&s->env->held, t);
		for (size_t k = i; k < s->a->nr_targets; k++)
			if (s->targets[k] == t)
				s->targets[k] = NULL;
	}
}

static void step_warnings(const struct iostep *s, struct msg_done *done)
{
	_cleanup_(error_destroy) struct error *late = wake_warning(s), *slow = NULL;

	add_warnings(done, late);
	add_warnings(done, pool_warnings(s->pool));
	add_warnings(done, s->settle.warnings);
	if (s->start_ns) {
		_cleanup_(error_destroy) struct error *syncs = iostep_sync_warnings(s);
		struct throttle now = throttle_read(s->settle.root);

		slow = throttle_warnings(&s->throttle, &now);
		add_warnings(done, slow);
		add_warnings(done, syncs);
	}
}

void iostep_finish(struct iostep *s, struct msg_done *ret)
{
	uint64_t now = clock_mono_ns();
	struct tally t;

	if (s->cpu_begin_ns != UINT64_MAX)
		s->cpu_begin =
			iostep_read_cpu(); /* stopped before its window: an empty difference */
	if (!s->cpu_end_is_read)           /* stopped, or a job that ends with its bytes */
		s->cpu_end = iostep_read_cpu();
	*ret = (struct msg_done) { .stopped = s->stopped };
	if (!s->pool)
		return;
	/* A lease that is renewed ends seconds ahead. */
	if (cell_get(&s->env->block->deadline_ns) < now + LEASE_NEAR_NS)
		ret->stopped = true;
	/* Or by a thread, on the first error of a job with on_error: stop_all. */
	if (cell_get(&s->env->block->stop))
		ret->stopped = true;
	step_warnings(s, ret);
	pool_destroy(&s->pool);
	device_differences(s, ret);
	unlink_files(s, ret);
	if (!s->start_ns)
		return;
	tally_read(s->env->block, s->a->nr_members, now, 0, &t);
	tally_members(s->env->block, s->a, s->start_ns, now, &ret->members, &ret->nr_members);
	tally_rows(&t, NULL, &ret->rows, &ret->nr_rows);
	share_io_wq(s, &t, ret);
	tally_fini(&t);
}
