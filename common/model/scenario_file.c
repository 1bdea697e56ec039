/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/scenario_impl.h"

/* What the job's targets have in common. */
struct kinds {
	bool any_file, all_simulated, all_direct;
};

static struct kinds kinds_of(const struct checker *c, const struct job *job)
{
	struct kinds k = { .all_simulated = true, .all_direct = true };

	for (size_t i = 0; i < job->nr_target; i++) {
		const struct target *t = scenario_target(c->sc, job->target[i]);
		enum target_kind kind = target_kind(t);

		k.any_file |= kind == TARGET_FILE;
		k.all_simulated &= kind == TARGET_SIMULATED;
		k.all_direct &= kind == TARGET_SIMULATED || target_direct(t, job);
	}
	return k;
}

/* Was the key given to this job itself, as far as one can tell? */
static bool given(const struct checker *c, const struct job *job, const char *key)
{
	return schema_is_set(&job_schema, job, key) &&
	       !schema_is_set(&job_schema, &c->sc->defaults, key);
}

static void check_readonly(struct checker *c, const struct phase_at *ph, size_t i)
{
	const struct job *job = &ph->jobs[i];
	_cleanup_free_ char *path = job_path(c, ph->index, i, "readonly");

	if (!job->readonly || !job_key_sure(c, ph->index, i, "rw"))
		return;
	if (job_writes(job))
		find_mistake(c, path,
			     "the job is readonly, but its rw changes the target; leave readonly "
			     "out, or let it read");
	if (job->unlink)
		find_mistake(c, path,
			     "the job is readonly, but unlink removes its file; leave one "
			     "of them out");
	if (job->create_only)
		find_mistake(c, path,
			     "the job is readonly, but create_only does nothing but make files; "
			     "leave one of them out");
}

/* The mapping is of the file as it is, and stores to it reach memory only. */
static void check_mmap(struct checker *c, const struct phase_at *ph, size_t i, bool any_file)
{
	const struct job *job = &ph->jobs[i];
	_cleanup_free_ char *sync = job_path(c, ph->index, i, "sync");
	_cleanup_free_ char *how = job_path(c, ph->index, i, "fallocate");

	if (job->engine != ENGINE_MMAP || !job_key_sure(c, ph->index, i, "engine"))
		return;
	if (job->sync != SYNC_NONE && job_writes(job))
		find_mistake(c, sync,
			     "engine mmap writes to memory, which knows nothing of it; use engine: "
			     "psync, or fsync");
	if (any_file && !job_reads(job) && !job->overwrite &&
	    (job->fallocate == FALLOCATE_NONE || job->fallocate == FALLOCATE_KEEP))
		find_mistake(c, how,
			     "engine mmap cannot make a file grow; use fallocate: native or "
			     "truncate, or engine: psync");
}

/* Keys that do nothing, by what makes them so. */
static void check_useless(struct checker *c, const char *path, const struct job *job,
			  const struct kinds *k)
{
	const struct {
		const char *key;
		bool does_nothing;
		const char *why;
	} keys[] = {
		{ "sync", job->sync && !job_writes(job), "the job only reads" },
		{ "fsync_on_close", job->fsync_on_close && !job_writes(job), "the job only reads" },
		{ "overwrite", job->overwrite && !job_writes(job), "the job only reads" },
		{ "sync", job->sync && job_writes(job) && k->all_simulated,
		  "the job's targets are simulated" },
		{ "pre_read", job->pre_read && k->all_simulated,
		  "the job's targets are simulated" },
		{ "pre_read", job->pre_read && !k->all_simulated && k->all_direct,
		  "the job's I/O is direct" },
		{ "invalidate", job->invalidate && job->pre_read,
		  "pre_read wants the page cache filled" },
		{ "fadvise_hint", job->fadvise_hint != HINT_NONE && k->all_direct,
		  "the job's I/O does not go through the page cache" },
		{ "fallocate", !k->any_file, "none of the job's targets is a file" },
		{ "overwrite", job->overwrite && job_writes(job) && !k->any_file,
		  "none of the job's targets is a file" },
		{ "unlink", job->unlink && !k->any_file, "none of the job's targets is a file" },
	};

	for (size_t i = 0; i < array_size(keys); i++)
		if (keys[i].does_nothing && given(c, job, keys[i].key))
			find_warning(c, path, "%s does nothing: %s", keys[i].key, keys[i].why);
	if (job->create_only && !k->any_file)
		find_warning(c, path,
			     "the job does nothing: it is create_only, and none of its targets is "
			     "a file");
}

static bool uses(const struct job *job, const char *target)
{
	for (size_t i = 0; i < job->nr_target; i++)
		if (streq(job->target[i], target))
			return true;
	return false;
}

/* The job that makes the file, were it not for this one; NULL: there is none before it. */
static const struct job *maker_before(const struct phase_at *ph, size_t i, const char *target)
{
	for (size_t k = 0; k < i; k++)
		if (!ph->jobs[k].readonly && uses(&ph->jobs[k], target))
			return &ph->jobs[k];
	return NULL;
}

/* A file is made once. */
static void check_agreement(struct checker *c, const struct phase_at *ph, size_t i)
{
	const struct job *job = &ph->jobs[i];
	_cleanup_free_ char *path = job_path(c, ph->index, i, "fallocate");

	for (size_t k = 0; k < job->nr_target && !job->readonly; k++) {
		const struct target *t = scenario_target(c->sc, job->target[k]);
		const struct job *maker = maker_before(ph, i, t->name);

		if (target_kind(t) != TARGET_FILE || !maker || maker->fallocate == job->fallocate)
			continue;
		find_mistake(c, path,
			     "job '%s' makes the file of target '%s' in another way; give both "
			     "the same fallocate",
			     maker->name ? maker->name : "?", t->name);
		return;
	}
}

void check_file_keys(struct checker *c, const struct phase_at *ph, size_t i)
{
	_cleanup_free_ char *path = job_path(c, ph->index, i, NULL);
	struct kinds kinds = kinds_of(c, &ph->jobs[i]);

	check_readonly(c, ph, i);
	check_mmap(c, ph, i, kinds.any_file);
	check_useless(c, path, &ph->jobs[i], &kinds);
	if (job_key_sure(c, ph->index, i, "fallocate"))
		check_agreement(c, ph, i);
}
