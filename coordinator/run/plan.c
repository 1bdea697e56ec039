/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/plan.h"

#include "common/model/inventory.h"
#include "common/model/split.h"
#include "common/model/workload.h"

#include <inttypes.h>

/* Every assignment is made beforehand; this bounds the memory that they take to about a gigabyte. */
#define MAX_ASSIGNMENTS 1000000ull

/* --- one host's share of a step -------------------------------------------------------------------- */

static struct work_target *find_work_target(struct assignment *a, const char *name)
{
	for (size_t i = 0; i < a->nr_targets; i++)
		if (streq(a->targets[i].name, name))
			return &a->targets[i];
	return NULL;
}

static void copy_quantiles(struct work_target *w, const struct simulated *from)
{
	w->quantiles = xcalloc(from->nr_quantiles + 1, sizeof(*w->quantiles));
	for (size_t i = 0; i < from->nr_quantiles; i++)
		schema_copy(&quantile_schema, &w->quantiles[i], &from->quantiles[i]);
	w->nr_quantiles = from->nr_quantiles;
}

/* The index of the target in the assignment; it is added when it is new there. */
static uint64_t add_target(struct assignment *a, const struct target *t, const char *host,
			   const struct job *job)
{
	struct work_target *w = find_work_target(a, t->name);
	const char *path = target_path(t, host);

	if (!w) {
		a->targets = xrealloc(a->targets, a->nr_targets + 1, sizeof(*a->targets));
		w = &a->targets[a->nr_targets++];
		*w = (struct work_target) {
			.name = xstrdup(t->name),
			.kind = target_kind(t),
			.path = path ? xstrdup(path) : NULL,
			.size = target_size(t, host),
			.latency_ns = path ? 0 : t->simulated.latency_ns,
			.stall = t->simulated.stall,
			.destroy = t->destroy.level,
			.destroy_uuid = t->destroy.uuid ? xstrdup(t->destroy.uuid) : NULL,
		};
		w->readonly = true;
		copy_quantiles(w, &t->simulated);
	}
	w->reads |= job_reads(job);
	w->writes |= job_writes(job);
	w->unlink |= job->unlink && w->kind == TARGET_FILE;
	w->readonly &= job->readonly;
	return (uint64_t)(w - a->targets);
}

/* The job as the worker needs it: of one target, of this host, with the target's own default of direct. */
static void copy_job(struct job *to, const struct job *from, const struct target *t)
{
	schema_copy(&job_schema, to, from);
	for (size_t i = 0; i < to->nr_target; i++)
		free(to->target[i]);
	to->target[0] = xstrdup(t->name);
	to->nr_target = 1;
	for (size_t i = 0; i < to->nr_hosts; i++)
		free(to->hosts[i]);
	freep(&to->hosts);
	to->nr_hosts = 0;
	job_set_direct(to, target_direct(t, from));
}

static void add_member(struct assignment *a, const struct target *t, const char *host,
		       const struct job *job, uint64_t job_index, uint64_t *next_thread)
{
	uint64_t target = add_target(a, t, host, job);
	struct work_member *m;

	a->members = xrealloc(a->members, a->nr_members + 1, sizeof(*a->members));
	m = &a->members[a->nr_members++];
	*m = (struct work_member) {
		.target = target,
		.job_index = job_index,
		.first_thread = *next_thread,
		.nr_parts = 1,
		.part_align = job_granule(job),
	};
	copy_job(&m->job, job, t);
	*next_thread += job->numjobs;
}

static bool same_range(const struct work_member *a, const struct work_member *b)
{
	return a->target == b->target && a->job.offset == b->job.offset &&
	       a->job.size == b->job.size;
}

/* share: partition: the members of the host that have a range in common divide it among their threads. */
static void set_parts(const struct scenario *sc, struct assignment *a)
{
	for (size_t i = 0; i < a->nr_members; i++) {
		struct work_member *m = &a->members[i];
		uint64_t before = 0, parts = 0, align = 1;

		if (scenario_target(sc, a->targets[m->target].name)->share != SHARE_PARTITION)
			continue;
		for (size_t k = 0; k < a->nr_members; k++) {
			const struct work_member *other = &a->members[k];

			if (!same_range(m, other))
				continue;
			before += k < i ? other->job.numjobs : 0;
			parts += other->job.numjobs;
			align = block_multiple(align, job_granule(&other->job));
		}
		m->part_first = before;
		m->nr_parts = parts;
		m->part_align = align;
	}
}

static void assignment_destroy(struct assignment **self_p)
{
	if (*self_p)
		schema_fini(&assignment_schema, *self_p);
	freep(self_p);
}

/* NULL when the host has nothing to do. */
static struct assignment *assignment_new(const struct plan *plan, const struct step *step,
					 const char *host, const char *run_id,
					 uint64_t *next_thread)
{
	const struct scenario *sc = plan->scenario;
	struct assignment *a = xcalloc(1, sizeof(*a));

	a->run = xstrdup(run_id);
	a->step = (uint64_t)(step - plan->steps);
	a->interval_ns = sc->interval_ns;
	for (size_t i = 0; i < step->nr_jobs; i++) {
		const struct job *job = &step->jobs[i];

		for (size_t k = 0; job_on_host(job, host) && k < job->nr_target; k++)
			add_member(a, scenario_target(sc, job->target[k]), host, job, i,
				   next_thread);
	}
	if (!a->nr_members) {
		assignment_destroy(&a);
		return NULL;
	}
	set_parts(sc, a);
	return a;
}

/* --- steps ---------------------------------------------------------------------------------------- */

/* Ramp and longest runtime; 0 when all jobs end by size alone. */
static uint64_t step_duration(const struct step *step)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < step->nr_jobs; i++) {
		const struct job *job = &step->jobs[i];

		if (job->runtime_ns && job->ramp_time_ns + job->runtime_ns > longest)
			longest = job->ramp_time_ns + job->runtime_ns;
	}
	return longest;
}

static void step_init(struct plan *plan, struct step *step, size_t point, uint64_t repeat,
		      size_t phase, const char *run_id)
{
	const struct phase *ph = &plan->scenario->phases[phase];
	uint64_t next_thread = 0;

	*step = (struct step) {
		.point = point,
		.repeat = repeat,
		.phase = phase,
		.phase_name = ph->name,
		.measured = ph->measured,
		.jobs = xcalloc(ph->nr_jobs, sizeof(*step->jobs)),
		.nr_jobs = ph->nr_jobs,
		.hosts = xcalloc(plan->hosts.nr_hosts, sizeof(struct assignment *)),
	};
	for (size_t i = 0; i < ph->nr_jobs; i++) {
		scenario_job_at(plan->scenario, ph, &ph->jobs[i], point, &step->jobs[i]);
		job_set_seed(&step->jobs[i], plan->seed);
	}
	for (size_t h = 0; h < plan->hosts.nr_hosts; h++) {
		const struct host *host = &plan->hosts.hosts[h];

		if (!host_is_observer(host))
			step->hosts[h] =
				assignment_new(plan, step, host->name, run_id, &next_thread);
	}
	step->duration_ns = step_duration(step);
	plan->duration_ns += step->duration_ns;
}

static void step_fini(const struct plan *plan, struct step *step)
{
	for (size_t i = 0; i < step->nr_jobs; i++)
		schema_fini(&job_schema, &step->jobs[i]);
	free(step->jobs);
	for (size_t h = 0; step->hosts && h < plan->hosts.nr_hosts; h++)
		assignment_destroy(&step->hosts[h]);
	free(step->hosts);
}

static void make_points(struct plan *plan)
{
	const struct scenario *sc = plan->scenario;

	plan->nr_points = scenario_points(sc);
	plan->points = xcalloc(plan->nr_points, sizeof(*plan->points));
	for (size_t p = 0; p < plan->nr_points; p++) {
		struct point *point = &plan->points[p];

		point->values = xcalloc(sc->nr_sweep, sizeof(*point->values));
		point->nr_values = sc->nr_sweep;
		for (size_t i = 0; i < sc->nr_sweep; i++)
			point->values[i] = (struct point_value) {
				.key = xstrdup(sc->sweep[i].key),
				.value = xstrdup(scenario_point_value(sc, p, i)),
			};
	}
}

/* All phases of one run, as written: what prepares a phase runs before each of its measurements. */
static void add_run(struct plan *plan, size_t point, uint64_t repeat, const char *run_id)
{
	const struct scenario *sc = plan->scenario;
	struct step *first = &plan->steps[plan->nr_steps];

	for (size_t phase = 0; phase < sc->nr_phases; phase++)
		step_init(plan, &plan->steps[plan->nr_steps++], point, repeat, phase, run_id);
	if (first == plan->steps)
		return; /* nothing came before it */
	first->rest_ns = sc->pause_ns;
	plan->duration_ns += first->rest_ns;
}

static void make_steps(struct plan *plan, const char *run_id)
{
	const struct scenario *sc = plan->scenario;
	uint64_t runs = plan->nr_points * sc->repeat;

	plan->steps = xcalloc(runs * sc->nr_phases, sizeof(*plan->steps));
	for (uint64_t i = 0; i < runs; i++) {
		if (sc->order == ORDER_INTERLEAVED)
			add_run(plan, i % plan->nr_points, i / plan->nr_points, run_id);
		else
			add_run(plan, i / sc->repeat, i % sc->repeat, run_id);
	}
}

/* --- plan ----------------------------------------------------------------------------------------- */

/* Every host that a job names must be there; the scenario was checked against its own hosts. */
static struct error *check_job_hosts(const struct plan *plan)
{
	const struct scenario *sc = plan->scenario;
	struct error *errors = NULL;

	for (size_t p = 0; p < sc->nr_phases; p++)
		for (size_t i = 0; i < sc->phases[p].nr_jobs; i++) {
			const struct job *job = &sc->phases[p].jobs[i];

			for (size_t k = 0; k < job->nr_hosts; k++) {
				size_t h = 0;

				while (h < plan->hosts.nr_hosts &&
				       !streq(plan->hosts.hosts[h].name, job->hosts[k]))
					h++;
				if (h == plan->hosts.nr_hosts)
					error_append(&errors, error_new(ERR_CONFIG,
									"job '%s': no host '%s' "
									"among those of the run",
									job->name, job->hosts[k]));
			}
		}
	return errors;
}

struct error *plan_new(const struct scenario *sc, struct hostlist *hosts, const char *run_id,
		       uint64_t seed, struct plan **ret)
{
	_cleanup_(plan_destroy) struct plan *plan = xcalloc(1, sizeof(*plan));
	uint64_t assignments = scenario_points(sc) * sc->repeat * sc->nr_phases;
	struct error *errors;

	plan->scenario = sc;
	plan->seed = seed;
	plan->hosts = *hosts;
	*hosts = (struct hostlist) { 0 };
	plan->embedded = plan->hosts.nr_hosts == 0;
	if (plan->embedded) {
		plan->hosts.hosts = xcalloc(1, sizeof(*plan->hosts.hosts));
		plan->hosts.hosts[0] =
			(struct host) { .name = xstrdup("local"), .address = xstrdup("") };
		plan->hosts.nr_hosts = 1;
	}
	errors = check_job_hosts(plan);
	if (assignments * plan->hosts.nr_hosts > MAX_ASSIGNMENTS)
		error_append(&errors,
			     error_new(ERR_CONFIG,
				       "the plan has %" PRIu64
				       " steps on %zu hosts, which is more than %llu together; use "
				       "fewer points, repeats or hosts",
				       assignments, plan->hosts.nr_hosts, MAX_ASSIGNMENTS));
	if (errors)
		return errors;
	make_points(plan);
	make_steps(plan, run_id);
	*ret = take_ptr(plan);
	return NULL;
}

void plan_destroy(struct plan **self_p)
{
	struct plan *plan = *self_p;

	if (!plan)
		return;
	for (size_t i = 0; i < plan->nr_steps; i++)
		step_fini(plan, &plan->steps[i]);
	free(plan->steps);
	for (size_t p = 0; p < plan->nr_points; p++) {
		for (size_t i = 0; i < plan->points[p].nr_values; i++) {
			free(plan->points[p].values[i].key);
			free(plan->points[p].values[i].value);
		}
		free(plan->points[p].values);
	}
	free(plan->points);
	hostlist_fini(&plan->hosts);
	freep(self_p);
}

char *plan_point_text(const struct plan *plan, size_t point)
{
	const struct point *p = &plan->points[point];
	struct buf text = { 0 };

	for (size_t i = 0; i < p->nr_values; i++) {
		_cleanup_free_ char *one =
			xasprintf("%s%s=%s", i ? " " : "", p->values[i].key, p->values[i].value);

		buf_add(&text, one, strlen(one));
	}
	buf_add(&text, "", 1);
	return (char *)text.data;
}
