/* SPDX-License-Identifier: Apache-2.0 */
/* assignment.h - all that one worker needs to know to run its share of one phase (PREPARE).
 *
 * The coordinator's plan makes one per host and step; a worker never sees the scenario. A *member* is one
 * job on one target on this host, with `numjobs` threads: the unit that SAMPLE and DONE speak of, by its
 * index in `members`. Data only.
 */
#ifndef SALVO_MODEL_ASSIGNMENT_H
#define SALVO_MODEL_ASSIGNMENT_H

#include "common/model/scenario.h"

struct work_target {
	char *name;
	int kind;      /* enum target_kind */
	char *path;    /* device or file; NULL for a simulated target */
	uint64_t size; /* bytes of a file or simulated target; 0 for a device */
	uint64_t
		latency_ns; /* of a simulated target; where it has quantiles they stand in its place */
	struct quantile *quantiles;
	size_t nr_quantiles;
	struct stall stall;
	bool reads, writes; /* what the members of this phase do to it */
	bool unlink;        /* a file of Salvo's own is removed after the step */
	bool readonly;      /* all members say so: it is not made and not laid out */
	int destroy;        /* enum destroy_level */
	char *destroy_uuid;
};

struct work_member {
	uint64_t target;    /* index in assignment.targets */
	uint64_t job_index; /* index of the job in its phase, the same on all hosts */
	struct job job;     /* with everything resolved */
	uint64_t
		first_thread; /* number of its first thread among all of the fleet's in this phase */
	/* share: partition gives thread i of this member part `part_first + i` of `nr_parts` equal parts of
	 * the job's range, in units of part_align bytes (see split.h); nr_parts 1: the whole range each. */
	uint64_t part_first, nr_parts, part_align;
};

struct assignment {
	char *run;     /* the run's id, for logs */
	uint64_t step; /* number of the step in the run, from 0 */
	bool probe; /* look at the targets and answer, but open nothing for writing and make no threads */
	uint64_t interval_ns;
	struct work_target *targets;
	size_t nr_targets;
	struct work_member *members;
	size_t nr_members;
};

extern const struct schema assignment_schema;

uint64_t assignment_threads(const struct assignment *a);

#endif
