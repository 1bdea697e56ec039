/* SPDX-License-Identifier: Apache-2.0 */
/* step_sums.h - the sums of one running step: per host and member while it runs, per group at its end.
 *
 * Design notes. A host's samples are added to its members' sums; DONE brings the exact totals, which
 * replace them and are compared with them. Rates per interval go straight into the series of every group
 * that a member is in. Totals of groups are computed once, at the end, from the members. Pure.
 */
#ifndef SALVO_RUN_STEP_SUMS_H
#define SALVO_RUN_STEP_SUMS_H

#include "common/net/message.h"
#include "coordinator/run/plan.h"
#include "coordinator/run/tally.h"

/* A member is in `all` and perhaps in a named group; in each by itself, its host, target and job. */
enum { MEMBER_TALLIES = 8 };

struct member_sums {
	const struct work_member *work;
	const char *target;
	struct direction_sum dir[DIR_COUNT]; /* of the samples; after DONE the exact totals */
	bool is_done;
	struct member_done done; /* without its lists, which are in the next five */
	bool has_depths;
	struct pow2_counts depths, submits, completes;
	struct error_row *errors;
	size_t nr_errors;
	struct tally *tallies[MEMBER_TALLIES];
	size_t nr_tallies;
};

struct host_sums {
	const struct assignment *work; /* NULL: takes no part in this step */
	const char *name;
	struct member_sums *members;
	struct tally **tallies; /* all those that any of its members is in */
	size_t nr_tallies;
	bool is_done, is_lost, was_stopped;
	bool is_salvaged; /* its totals are what was left when its I/O process died or hung */
	uint64_t threads;
	uint64_t ramp_ns; /* shortest of its members: where its grid of intervals starts */
	/* The windows of all its members have begun, and none has ended, by time alone. */
	uint64_t all_from_ns, all_to_ns;
	uint64_t start_ns;       /* START on the host's clock */
	uint64_t clock_error_ns; /* of that instant on the coordinator's */
	uint64_t nr_samples, next_sequence, nr_late;
	int64_t last_interval;
	bool was_full;         /* at the last reading all threads were running */
	uint64_t last_read_ns; /* instant of the last reading, since START */
	uint64_t running, oldest_ns;
	double iops, bw_bytes; /* of the last sample */
	struct device_stat *devices;
	size_t nr_devices;
	struct stuck_io *stuck;
	size_t nr_stuck;
};

/* What READY said about a host's devices; texts may be NULL. */
struct ready_device {
	uint64_t target; /* index in the assignment */
	char *path, *identity, *transport, *warning;
};
struct ready_devices {
	struct ready_device *devices;
	size_t nr_devices;
};

struct step_sums {
	const struct plan *plan;
	const struct step *step;
	struct result *result;   /* takes the warnings */
	struct host_sums *hosts; /* one per host of the plan */
	struct tally *groups;    /* [0] is all */
	size_t nr_groups;
	uint64_t errors;
	bool is_cut;       /* the coordinator stopped it before its time */
	bool is_abandoned; /* or ended itself: of hosts that had not, the samples count */
};

/* Hosts of plan and result have the same order; those that are lost already take no part. */
void step_sums_init(struct step_sums *s, const struct plan *plan, size_t step, uint64_t start_ns,
		    struct result *result);
void step_sums_fini(struct step_sums *s);
/* The clock with which START was sent, when it became known only after step_sums_init; later news about it
 * do not move the instants of this step. */
void step_sums_clock(struct step_sums *s, size_t host, int64_t offset_ns, uint64_t error_ns,
		     uint64_t start_ns);
struct error *step_sums_sample(struct step_sums *s, size_t host,
			       const struct msg_sample *m) _must_check_;
struct error *step_sums_done(struct step_sums *s, size_t host,
			     const struct msg_done *m) _must_check_;
void step_sums_lost(struct step_sums *s, size_t host);
/* Warns about what went wrong; then fills *ret unless the step is not measured (false). */
bool step_sums_finish(struct step_sums *s, const struct ready_devices *ready,
		      struct result_step *ret);
/* What the jobs of the step were, and where they ran (step_jobs.c). */
void step_fill_jobs(const struct plan *plan, const struct step *step, struct result_step *ret);
/* "bs=4k, repeat 2, phase 'main': " where a run has several steps, else ""; owned by the caller. */
char *step_label(const struct plan *plan, const struct step *step) _returns_nonnull_;

#endif
