/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/scenario_impl.h"
#include "common/model/split.h"
#include "common/model/workload.h"

#include <inttypes.h>

/* What a phase does to one target. */
struct use {
	uint64_t threads;       /* on all hosts */
	uint64_t threads_max;   /* on the host that has most */
	uint64_t writing_hosts; /* hosts with a thread that writes */
	bool writes, sequential;
};

static bool uses(const struct job *job, const struct target *t)
{
	for (size_t k = 0; k < job->nr_target; k++)
		if (streq(job->target[k], t->name))
			return true;
	return false;
}

static struct use find_use(const struct checker *c, const struct phase_at *ph,
			   const struct target *t)
{
	struct use use = { 0 };

	for (size_t k = 0; k < c->hosts.nr_hosts; k++) {
		uint64_t threads = 0;
		bool writes = false;

		for (size_t i = 0; i < ph->nr_jobs; i++) {
			const struct job *job = &ph->jobs[i];

			if (!uses(job, t) || !job_on_host(job, c->hosts.hosts[k].name))
				continue;
			threads += job->numjobs;
			writes |= job_writes(job);
			use.sequential |= !job_is_random(job);
		}
		use.threads += threads;
		use.writing_hosts += writes;
		use.writes |= writes;
		if (threads > use.threads_max)
			use.threads_max = threads;
	}
	return use;
}

/* Two jobs that meet on some host. */
static bool meet(const struct checker *c, const struct job *a, const struct job *b)
{
	for (size_t k = 0; k < c->hosts.nr_hosts; k++)
		if (job_on_host(a, c->hosts.hosts[k].name) &&
		    job_on_host(b, c->hosts.hosts[k].name))
			return true;
	return false;
}

/* Parts can be made of a range that jobs have in common, and of ranges that do not touch. */
static void check_ranges(struct checker *c, const struct phase_at *ph, const struct target *t)
{
	for (size_t i = 0; i < ph->nr_jobs; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct job *a = &ph->jobs[k], *b = &ph->jobs[i];
			uint64_t a_end = a->size ? a->offset + a->size : UINT64_MAX;
			uint64_t b_end = b->size ? b->offset + b->size : UINT64_MAX;
			_cleanup_free_ char *path = job_path(c, ph->index, i, NULL);

			if (!uses(a, t) || !uses(b, t) || !meet(c, a, b))
				continue;
			if (a->offset == b->offset && a_end == b_end)
				continue;
			if (a_end <= b->offset || b_end <= a->offset)
				continue;
			find_mistake(c, path,
				     "its range of target '%s' overlaps a part of job '%s''s: "
				     "share: partition needs the same or disjoint offset and size",
				     t->name, a->name ? a->name : "?");
		}
	}
}

/* Does every thread of the job's range get at least one block? */
static void check_parts(struct checker *c, const struct phase_at *ph, size_t i,
			const struct target *t, const char *host)
{
	const struct job *job = &ph->jobs[i];
	_cleanup_free_ char *path = job_path(c, ph->index, i, NULL);
	uint64_t parts = 0, align = 1, target_bytes = target_size(t, host), range;

	for (size_t k = 0; k < ph->nr_jobs; k++) {
		const struct job *other = &ph->jobs[k];

		if (!uses(other, t) || !job_on_host(other, host) || other->offset != job->offset ||
		    other->size != job->size)
			continue;
		parts += other->numjobs;
		align = block_multiple(align, job_granule(other));
	}
	if (!align) {
		find_mistake(c, path,
			     "the block sizes of the jobs on target '%s' have no common multiple "
			     "below 1TiB to partition it by",
			     t->name);
		return;
	}
	range = job->size                     ? job->size
		: target_bytes >= job->offset ? target_bytes - job->offset
					      : 0;
	if (range && range / align < parts)
		find_mistake(c, path,
			     "%" PRIu64 " threads on a host partition %" PRIu64
			     " blocks of %" PRIu64 " bytes on target '%s': some would have none",
			     parts, range / align, align, t->name);
}

/* Is the target the same, and used by the same jobs, on all hosts? */
static bool all_hosts_alike(const struct phase_at *ph, const struct target *t)
{
	for (size_t i = 0; i < ph->nr_jobs; i++)
		if (ph->jobs[i].nr_hosts)
			return false;
	return t->nr_per_host == 0;
}

static void check_partition(struct checker *c, const struct phase_at *ph, const struct target *t)
{
	size_t nr_hosts = all_hosts_alike(ph, t) ? 1 : c->hosts.nr_hosts;

	check_ranges(c, ph, t);
	for (size_t i = 0; i < ph->nr_jobs; i++)
		for (size_t k = 0; uses(&ph->jobs[i], t) && k < nr_hosts; k++)
			if (job_on_host(&ph->jobs[i], c->hosts.hosts[k].name))
				check_parts(c, ph, i, t, c->hosts.hosts[k].name);
}

/* Do we know who uses the target, and for what? */
static bool sure(const struct checker *c, const struct phase_at *ph, const struct target *t)
{
	static const char *const job_keys[] = { "rw",     "numjobs", "target", "hosts",
						"offset", "size",    "bs" };
	static const char *const target_keys[] = { "device", "file", "simulated", "share",
						   "allow_overlap" };

	for (size_t k = 0; k < array_size(target_keys); k++)
		if (!target_key_sure(c, t, target_keys[k]))
			return false;
	for (size_t i = 0; i < ph->nr_jobs; i++)
		for (size_t k = 0; uses(&ph->jobs[i], t) && k < array_size(job_keys); k++)
			if (!job_key_sure(c, ph->index, i, job_keys[k]))
				return false;
	return true;
}

void check_sharing(struct checker *c, const struct phase_at *ph)
{
	for (size_t k = 0; k < c->sc->nr_targets; k++) {
		const struct target *t = &c->sc->targets[k];
		struct use use = find_use(c, ph, t);
		uint64_t threads = t->device ? use.threads : use.threads_max;
		_cleanup_free_ char *path = xasprintf("targets.%s", t->name);

		if (!use.threads || !sure(c, ph, t))
			continue;
		if (t->share == SHARE_PARTITION)
			check_partition(c, ph, t);
		else if (t->share == SHARE_UNSET && threads > 1 && (use.writes || use.sequential) &&
			 target_kind(t) != TARGET_SIMULATED)
			find_mistake(c, path,
				     "%" PRIu64
				     " threads use it at once and %s: say how with share: "
				     "partition (a part for each) or share: shared",
				     threads, use.writes ? "write" : "go through it in sequence");
		if (t->share == SHARE_SHARED && t->device && use.writing_hosts > 1 &&
		    !t->allow_overlap)
			find_mistake(c, path,
				     "%" PRIu64
				     " hosts write the same blocks of it: share: partition gives "
				     "each thread its own, allow_overlap: true allows it",
				     use.writing_hosts);
	}
}
