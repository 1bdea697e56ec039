/* SPDX-License-Identifier: Apache-2.0 */
/* step_jobs.c - the jobs of a step as a reader of its numbers wants to know them. Read from the table of
 * job keys, so a new key is here as soon as it is there. */
#include "coordinator/run/step_sums.h"

#include "common/model/hostlist.h"

/* Said even when they have their defaults. */
static const char *const always[] = { "rw", "bs", "engine", "iodepth", "numjobs", "direct" };
/* Names, which stand apart; and the seed, which every job has and scenario.yaml tells. */
static const char *const never[] = { "name", "target", "hosts", "group", "randseed" };

static bool is_among(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (streq(names[i], name))
			return true;
	return false;
}

/* Both are resolved per target: what they are on all of the job's targets, or on each. */
static char *resolved_text(const struct scenario *sc, const struct job *job, const char *key,
			   const char *given)
{
	bool any[2] = { false, false }, is_simulated = true;

	for (size_t i = 0; i < job->nr_target; i++) {
		const struct target *t = scenario_target(sc, job->target[i]);

		if (!t)
			return xstrdup(given);
		if (target_kind(t) == TARGET_SIMULATED)
			continue;
		is_simulated = false;
		any[target_direct(t, job)] = true;
	}
	if (streq(key, "engine"))
		return xstrdup(is_simulated ? "simulated" : given);
	if (any[0] && any[1])
		return xstrdup("true for devices, false for files");
	return xstrdup(any[1] ? "true" : any[0] ? "false" : given);
}

static bool is_told(const struct field *f, const char *text, const char *standard)
{
	if (is_among(f->name, never, array_size(never)))
		return false;
	if (is_among(f->name, always, array_size(always)))
		return true;
	return *text && !streq(text, standard);
}

static void add_option(const struct scenario *sc, const struct job *job, const struct job *standard,
		       const struct field *f, struct result_job *ret)
{
	_cleanup_free_ char *text = schema_format(f, job);
	_cleanup_free_ char *def = schema_format(f, standard);
	bool is_resolved = streq(f->name, "engine") || streq(f->name, "direct");

	if (!is_told(f, text, def))
		return;
	ret->options = xrealloc(ret->options, ret->nr_options + 1, sizeof(*ret->options));
	ret->options[ret->nr_options++] = (struct text_pair) {
		.key = xstrdup(f->name),
		.value = is_resolved ? resolved_text(sc, job, f->name, text) : xstrdup(text),
	};
}

static bool has_job(const struct assignment *work, size_t job)
{
	for (size_t i = 0; work && i < work->nr_members; i++)
		if (work->members[i].job_index == job)
			return true;
	return false;
}

static char *hosts_text(const struct plan *plan, const struct step *step, size_t job)
{
	_cleanup_free_ const char **names = xcalloc(plan->hosts.nr_hosts, sizeof(*names));
	size_t nr = 0;

	for (size_t i = 0; i < plan->hosts.nr_hosts; i++)
		if (has_job(step->hosts[i], job))
			names[nr++] = plan->hosts.hosts[i].name;
	return hostlist_fold(names, nr);
}

static char *targets_text(const struct job *job)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < job->nr_target; i++) {
		if (i)
			buf_add(&text, ", ", 2);
		buf_add(&text, job->target[i], strlen(job->target[i]));
	}
	buf_add(&text, "", 1);
	return (char *)text.data;
}

void step_fill_jobs(const struct plan *plan, const struct step *step, struct result_step *ret)
{
	struct job standard;

	schema_init(&job_schema, &standard);
	ret->jobs = xcalloc(step->nr_jobs, sizeof(*ret->jobs));
	ret->nr_jobs = step->nr_jobs;
	for (size_t i = 0; i < step->nr_jobs; i++) {
		const struct job *job = &step->jobs[i];

		ret->jobs[i] = (struct result_job) {
			.name = xstrdup(job->name),
			.group = job->group ? xstrdup(job->group) : NULL,
			.hosts = hosts_text(plan, step, i),
			.targets = targets_text(job),
		};
		for (const struct field *f = job_schema.fields; f->name; f++)
			add_option(plan->scenario, job, &standard, f, &ret->jobs[i]);
	}
	schema_fini(&job_schema, &standard);
}
