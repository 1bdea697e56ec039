/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_impl.h - what the files of the scenario's rules share; nobody else includes it. */
#ifndef SALVO_MODEL_SCENARIO_IMPL_H
#define SALVO_MODEL_SCENARIO_IMPL_H

#include "common/model/inventory.h"
#include "common/model/scenario_check.h"

/* Design notes: rules on jobs are checked at every point of the sweep, with its values in place, so the same
 * mistake is found many times. It is kept once, with the points at which it was found: one that is there
 * at some points only says at which; a warning is worth telling only when it is there at all of them. */
struct finding {
	char *path, *text;
	bool warning;
	bool at_points; /* found in a phase that is swept */
	uint64_t first_point, last_point, nr_points;
};

struct checker {
	struct scenario *sc;
	const struct scenario_changes *changes;
	const struct schema_positions *known;
	struct hostlist hosts; /* those of the run that run jobs; "local" when there are none */
	bool hosts_good, sweep_good;
	uint64_t nr_points;
	uint64_t point; /* the one that is checked now, of a swept phase */
	bool at_points;
	struct finding *findings;
	size_t nr_findings;
};

/* A phase with its jobs as they are at the point, without the targets and hosts that are not there. */
struct phase_at {
	size_t index; /* in the scenario's phases */
	struct job *jobs;
	size_t nr_jobs;
};

/* Notes a mistake (a warning) of the part at this path. */
void find_mistake(struct checker *c, const char *path, const char *fmt, ...) _printf_(3, 4);
void find_warning(struct checker *c, const char *path, const char *fmt, ...) _printf_(3, 4);
/* Ends the finding: mistakes become errors, warnings go to the scenario. */
struct error *take_findings(struct checker *c) _must_check_;
/* "jobs[0]" or "phases[1].jobs[0]", ".key" behind it when key is not NULL; owned by the caller. */
char *job_path(const struct checker *c, size_t phase, size_t job,
	       const char *key) _returns_nonnull_;

/* Is the key's value (or its absence) what its author meant? Not when loading found it wrong, or a misspelt
 * key near it, in the job or in the defaults. Of a target likewise. */
bool job_key_sure(const struct checker *c, size_t phase, size_t job, const char *key);
bool target_key_sure(const struct checker *c, const struct target *t, const char *key);

/* The rules of one job on its targets: alignment, ranges, depths (scenario_job.c). */
void check_job(struct checker *c, const struct phase_at *ph, size_t i);
/* Sizes, order and sums of its I/O (scenario_workload.c). */
void check_workload(struct checker *c, const struct phase_at *ph, size_t i);
/* Files, how they are made and opened, and what is kept of them in memory (scenario_file.c). */
void check_file_keys(struct checker *c, const struct phase_at *ph, size_t i);
/* The rules between the jobs of a phase that use one target (scenario_share.c). */
void check_sharing(struct checker *c, const struct phase_at *ph);
/* The rules of `checks` (scenario_checks.c). */
void check_checks(struct checker *c);

#endif
