/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/scenario_impl.h"

#include "common/base/cpulist.h"
#include "common/base/units.h"
#include "common/model/workload.h"

enum { SECTOR = 512, DEFAULT_RWMIXREAD = 50 };

/* Where the job's own part of the target ends; UINT64_MAX: at the end of a device of unknown size. */
static uint64_t range_end(const struct job *job, uint64_t target_bytes)
{
	if (job->size)
		return job->offset + job->size;
	return target_bytes ? target_bytes : UINT64_MAX;
}

static bool sure(const struct checker *c, const struct phase_at *ph, size_t i, const char *key)
{
	return job_key_sure(c, ph->index, i, key);
}

static void check_times(struct checker *c, const struct phase_at *ph, size_t i, const char *path)
{
	const struct job *job = &ph->jobs[i];

	if (job->time_based && !job->runtime_ns && sure(c, ph, i, "runtime"))
		find_mistake(c, path,
			     "time_based needs a runtime, or it would never end; set runtime: 30s "
			     "or so");
}

static void check_cpus(struct checker *c, const struct phase_at *ph, size_t i)
{
	const struct job *job = &ph->jobs[i];
	_cleanup_free_ char *path = job_path(c, ph->index, i, "cpus_allowed");
	struct error *err;
	cpu_set_t set;

	if (!job->cpus_allowed)
		return;
	/* Which of them a host has is known there: it refuses the others at PREPARE. */
	err = cpulist_parse(job->cpus_allowed, &set);
	if (err)
		find_mistake(c, path, "%s", error_message(err));
	error_destroy(&err);
}

/* Was the key given to this job itself, as far as one can tell? What `defaults` give may be meant for others. */
static bool given(const struct checker *c, const struct job *job, const char *key)
{
	return schema_is_set(&job_schema, job, key) &&
	       !schema_is_set(&job_schema, &c->sc->defaults, key);
}

/* Keys that are allowed, ask for something, and do nothing. Only warnings, which nobody sees before the
 * mistakes are gone. */
static void check_useless(struct checker *c, const char *path, const struct job *job)
{
	bool mixed = job->rw == RW_RW || job->rw == RW_RANDRW;

	if (!mixed && given(c, job, "rwmixread") && job->rwmixread != DEFAULT_RWMIXREAD)
		find_warning(c, path, "rwmixread does nothing: rw is not rw or randrw");
	if (!job_writes(job) && job->fsync && given(c, job, "fsync"))
		find_warning(c, path, "fsync does nothing: the job only reads");
	if (!job_writes(job) && job->fdatasync && given(c, job, "fdatasync"))
		find_warning(c, path, "fdatasync does nothing: the job only reads");
	if (!job_writes(job) && job->end_fsync && given(c, job, "end_fsync"))
		find_warning(c, path, "end_fsync does nothing: the job only reads");
	if (job->norandommap && !job_is_random(job) && given(c, job, "norandommap"))
		find_warning(c, path, "norandommap does nothing: the job is sequential");
	if (job->time_based && job->io_size && given(c, job, "io_size"))
		find_warning(c, path, "io_size does nothing: time_based goes on until runtime");
	if (!(job_engine_can((enum job_engine)job->engine) & ENGINE_CAN_QUEUE) && job->iodepth > 1)
		find_warning(c, path,
			     "iodepth %llu with engine %s: each thread has one I/O in flight, "
			     "the effective depth is 1",
			     (unsigned long long)job->iodepth,
			     job_engine_name((enum job_engine)job->engine));
}

static bool all_simulated(const struct checker *c, const struct job *job)
{
	for (size_t k = 0; k < job->nr_target; k++)
		if (target_kind(scenario_target(c->sc, job->target[k])) != TARGET_SIMULATED)
			return false;
	return job->nr_target > 0;
}

/* What the engine cannot do with the job. */
static void check_engine(struct checker *c, const struct phase_at *ph, size_t i)
{
	const struct job *job = &ph->jobs[i];
	_cleanup_free_ char *rw = job_path(c, ph->index, i, "rw");
	_cleanup_free_ char *direct = job_path(c, ph->index, i, "direct");
	_cleanup_free_ char *path = job_path(c, ph->index, i, NULL);
	enum job_engine engine = (enum job_engine)job->engine;

	if (job_trims(job) && !(job_engine_can(engine) & ENGINE_CAN_TRIM) &&
	    sure(c, ph, i, "engine") && sure(c, ph, i, "rw"))
		find_mistake(c, rw, "engine %s cannot discard; use engine: io_uring or psync",
			     job_engine_name(engine));
	if (schema_is_set(&job_schema, job, "direct") && job->direct &&
	    !(job_engine_can(engine) & ENGINE_CAN_DIRECT) && sure(c, ph, i, "engine"))
		find_mistake(c, direct,
			     "engine %s works through the page cache; set direct: false, or use "
			     "engine: psync",
			     job_engine_name(engine));
	if (!sure(c, ph, i, "engine") || all_simulated(c, job))
		return;
	if (job->hipri && !(job_engine_can(engine) & ENGINE_CAN_POLL))
		find_mistake(c, path, "hipri needs engine io_uring or pvsync2, which can poll");
	if (job->sqthread_poll && !(job_engine_can(engine) & ENGINE_CAN_SQTHREAD))
		find_mistake(c, path, "sqthread_poll needs engine io_uring");
	if (!job->sqthread_poll && given(c, job, "sqthread_poll_cpu"))
		find_warning(c, path, "sqthread_poll_cpu does nothing without sqthread_poll");
}

static bool all_direct_devices(const struct checker *c, const struct job *job)
{
	for (size_t k = 0; k < job->nr_target; k++) {
		const struct target *t = scenario_target(c->sc, job->target[k]);

		if (target_kind(t) != TARGET_DEVICE || !target_direct(t, job))
			return false;
	}
	return job->nr_target > 0;
}

/* The keys about what is kept in memory. Only a dropped cache that was asked for is worth a word: to invalidate is
 * the default, and does no harm. */
static void check_caches(struct checker *c, const char *path, const struct job *job)
{
	if (job_writes(job) && job->fsync && job->fdatasync)
		find_warning(
			c, path,
			"fsync and fdatasync are both given: each comes after its own number of "
			"writes, and the latencies of sync are those of both, mixed");
	if (all_simulated(c, job)) {
		if (job->drop_caches && given(c, job, "drop_caches"))
			find_warning(c, path,
				     "drop_caches does nothing for the job: its targets are "
				     "simulated");
		if (job->invalidate && given(c, job, "invalidate"))
			find_warning(c, path,
				     "invalidate does nothing: the job's targets are simulated");
	} else if (job->drop_caches && all_direct_devices(c, job)) {
		find_warning(
			c, path,
			"drop_caches drops the host's caches for a job that does not use them: "
			"its I/O is direct");
	}
}

/* Direct I/O to anything but whole sectors is refused by the kernel, in mid-run. */
static void check_alignment(struct checker *c, const struct phase_at *ph, size_t i,
			    const struct target *t)
{
	const struct job *job = &ph->jobs[i];
	const struct {
		const char *key;
		uint64_t bytes;
	} values[] = {
		{ job_size_key(job), job_odd_size(job, SECTOR) },
		{ "offset", job->offset },
		{ "skip", job->skip },
	};

	if (target_kind(t) == TARGET_SIMULATED || !target_direct(t, job) ||
	    !sure(c, ph, i, "direct"))
		return;
	for (size_t k = 0; k < array_size(values); k++) {
		_cleanup_free_ char *path = job_path(c, ph->index, i, values[k].key);

		if (values[k].bytes % SECTOR)
			find_mistake(c, path, "%llu is no multiple of %d, which direct I/O needs",
				     (unsigned long long)values[k].bytes, SECTOR);
	}
}

/* The job's range against a target of known size. */
static void check_bounds(struct checker *c, const struct phase_at *ph, size_t i,
			 const struct target *t, uint64_t target_bytes)
{
	const struct job *job = &ph->jobs[i];
	_cleanup_free_ char *size = job_path(c, ph->index, i, "size");
	_cleanup_free_ char *offset = job_path(c, ph->index, i, "offset");
	_cleanup_free_ char *bs = job_path(c, ph->index, i, job_size_key(job));
	char whole[UNITS_TEXT], text[UNITS_TEXT], from[UNITS_TEXT];

	units_format_size(whole, target_bytes);
	units_format_size(from, job->offset);
	if (job->offset >= target_bytes) {
		find_mistake(c, offset, "%s is beyond the end of target '%s' (%s)", from, t->name,
			     whole);
	} else if (range_end(job, target_bytes) > target_bytes) {
		units_format_size(text, job->size);
		find_mistake(c, size, "%s from offset %s on is more than target '%s' has (%s)",
			     text, from, t->name, whole);
	} else if (!job->size && target_bytes - job->offset < job_max_bytes(job)) {
		units_format_size(text, job_max_bytes(job));
		find_mistake(c, bs, "%s is more than target '%s' has (%s)", text, t->name, whole);
	}
}

static void check_on_target(struct checker *c, const struct phase_at *ph, size_t i,
			    const struct target *t)
{
	const struct job *job = &ph->jobs[i];
	_cleanup_free_ char *path = xasprintf("targets.%s", t->name);
	_cleanup_free_ char *job_at = job_path(c, ph->index, i, NULL);
	bool sizes_sure = sure(c, ph, i, "bs") && sure(c, ph, i, "size") &&
			  sure(c, ph, i, "offset") && target_key_sure(c, t, "size");

	check_alignment(c, ph, i, t);
	if (job->hipri && !target_direct(t, job) && target_kind(t) != TARGET_SIMULATED &&
	    sure(c, ph, i, "direct"))
		find_mistake(
			c, job_at,
			"hipri needs direct I/O, and that to target '%s' goes through the page "
			"cache; set direct: true",
			t->name);
	if (job->engine == ENGINE_LIBAIO && job->iodepth > 1 && !target_direct(t, job) &&
	    target_kind(t) != TARGET_SIMULATED)
		find_warning(c, job_at,
			     "iodepth %llu with engine libaio and direct: false: the kernel does "
			     "each I/O within its submission, the effective depth is 1",
			     (unsigned long long)job->iodepth);
	for (size_t k = 0; sizes_sure && k < c->hosts.nr_hosts; k++) {
		const char *host = c->hosts.hosts[k].name;
		uint64_t target_bytes = target_size(t, host);

		if (target_bytes && job_on_host(job, host))
			check_bounds(c, ph, i, t, target_bytes);
		if (!t->nr_per_host && job_on_host(job, host))
			break; /* it is the same on all others */
	}
	if (job_writes(job) && t->device && t->destroy.level == DESTROY_NO &&
	    target_key_sure(c, t, "destroy"))
		find_mistake(c, path,
			     "job '%s' writes to the device %s: add destroy: true to allow its "
			     "data to be overwritten; nothing was touched",
			     job->name ? job->name : "?", t->device);
}

void check_job(struct checker *c, const struct phase_at *ph, size_t i)
{
	const struct job *job = &ph->jobs[i];
	_cleanup_free_ char *path = job_path(c, ph->index, i, NULL);

	check_times(c, ph, i, path);
	check_workload(c, ph, i);
	check_engine(c, ph, i);
	check_cpus(c, ph, i);
	check_useless(c, path, job);
	check_caches(c, path, job);
	check_file_keys(c, ph, i);
	for (size_t k = 0; k < job->nr_target; k++)
		check_on_target(c, ph, i, scenario_target(c->sc, job->target[k]));
}
