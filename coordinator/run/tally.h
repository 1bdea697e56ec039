/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - one group's totals while they are being added up, member by member.
 *
 * A member is one job on one target on one host. Rates are totals / runtime; the runtime goes from the
 * first begin to the last end of the members. Pure; belongs to one thread.
 */
#ifndef SALVO_RUN_TALLY_H
#define SALVO_RUN_TALLY_H

#include "common/net/message.h"
#include "coordinator/run/series.h"

/* What a member has done, from its DONE or, when there is none, from its samples. Instants are ns since
 * START. */
struct member_totals {
	const char *host, *target; /* names, borrowed */
	const struct job *job;
	uint64_t threads;
	bool is_buffered; /* its I/O goes through the page cache */
	struct direction_sum dir[DIR_COUNT];
	uint64_t begin_ns, end_ns; /* the measured window; a later end_fsync included */
	uint64_t dir_end_ns[DIR_COUNT];
	uint64_t first_io_ns;              /* 0: unknown */
	uint64_t all_begin_ns, all_end_ns; /* between them all its threads ran */
	bool has_cpu;
	uint64_t cpu_usr_ns, cpu_sys_ns, iowq_ns, ctx, majf, minf;
	bool has_depths;
	struct pow2_counts depths, submits, completes;
	uint64_t effective_depth;       /* 0: unknown */
	const struct error_row *errors; /* borrowed */
	size_t nr_errors;
};

/* Does the job have that direction at all? Then it is shown, and 0 is a number. */
bool job_has_direction(const struct job *job, enum direction dir);
/* Fills dir_end_ns of a member whose begin_ns and end_ns are known: the window's end for a time-based job; of
 * a job that reads and writes until its pass is over the direction's last completion, from `ends` (0: none);
 * else the member's end. end_fsync belongs to the writes. */
void member_set_ends(struct member_totals *m, const uint64_t ends[DIR_COUNT]);

struct tally {
	const char *name; /* borrowed */
	struct series series;
	struct result_group group; /* sums so far; rates come with tally_finish */
	uint64_t nr_members;
	uint64_t begin_ns, end_ns;
	uint64_t last_begin_ns; /* when the last window begins; its ramp is over then */
	uint64_t dir_begin_ns[DIR_COUNT], dir_end_ns[DIR_COUNT];
	uint64_t all_begin_ns, all_end_ns, first_io_ns;
	uint64_t cpu_usr_ns, cpu_sys_ns, iowq_ns;
	size_t nr_without_cpu, nr_without_depths;
	struct tally *hosts, *targets, *jobs;
	size_t nr_hosts, nr_targets, nr_jobs;
};

void tally_fini(struct tally *t);
/* Adds a member to this tally alone, not to those below it. */
void tally_add(struct tally *t, const struct member_totals *m);
/* Computes rates and moves everything, with the tallies below, to *ret. Tallies of which no member was
 * added are left out. */
void tally_finish(struct tally *t, struct result_group *ret);

#endif
