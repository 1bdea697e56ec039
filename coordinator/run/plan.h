/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - what will be done, step by step: sweep points x repeats x phases, and for each step what every
 * host gets. Pure: made from a scenario and a list of hosts, no clock, no socket.
 */
#ifndef SALVO_RUN_PLAN_H
#define SALVO_RUN_PLAN_H

#include "common/model/assignment.h"
#include "common/model/hostlist.h"

struct point_value {
	char *key, *value; /* of one sweep axis: "bs", "4k" */
};

struct point {
	struct point_value *values; /* in the order of the axes; none without a sweep */
	size_t nr_values;
};

struct step {
	size_t point;    /* index in plan.points */
	uint64_t repeat; /* from 0 */
	size_t phase;    /* index in the scenario's phases */
	const char *phase_name;
	bool measured;
	struct job *jobs; /* the phase's jobs with sweep and defaults applied */
	size_t nr_jobs;
	struct assignment *
		*hosts; /* one per plan.hosts entry; NULL: idle in this step (observers in all) */
	uint64_t duration_ns; /* expected: ramp + longest runtime; 0 when it ends by size alone */
	uint64_t rest_ns;     /* before it: the scenario's pause where a new run begins */
};

struct plan {
	const struct scenario *scenario; /* borrowed */
	struct hostlist hosts;
	bool embedded; /* no hosts were given: one embedded worker */
	struct point *points;
	size_t nr_points;
	struct step *steps; /* in the order in which they run */
	size_t nr_steps;
	uint64_t duration_ns; /* of all steps whose end is known, and of the rests between runs */
	uint64_t seed;        /* of jobs that give none */
};

/* `hosts` (moved into the plan) may be empty: then the plan has one embedded host named "local". The seed is
 * used for jobs that have none, so that it can be recorded. All mistakes at once. */
struct error *plan_new(const struct scenario *sc, struct hostlist *hosts, const char *run_id,
		       uint64_t seed, struct plan **ret) _must_check_;
void plan_destroy(struct plan **self_p);
/* "bs=4k numjobs=8" of a point; "" without a sweep. Owned by the caller. */
char *plan_point_text(const struct plan *plan, size_t point);

#endif
