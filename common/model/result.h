/* SPDX-License-Identifier: Apache-2.0 */
/* result.h - a finished run: one immutable tree that every report reads.
 *
 * Filled by the collector while the run goes on, or read from a result directory: a report cannot tell
 * which. Its fields are those of result.json (docs/reference/result.md). NULL, NAN and has_x = false
 * mean "not measured", which is never 0.
 */
#ifndef SALVO_MODEL_RESULT_H
#define SALVO_MODEL_RESULT_H

#include "common/model/metrics.h"

#include <stdbool.h>

enum run_status { RUN_COMPLETE, RUN_PARTIAL, RUN_ABORTED, RUN_FAILED };
enum host_state { HOST_COMPLETE, HOST_LOST, HOST_HUNG };
extern const char *const run_status_names[];
extern const char *const host_state_names[];

struct text_pair {
	char *key, *value;
};

struct result_host {
	char *name, *address;
	char *role;               /* "observer"; NULL: an initiator */
	struct text_pair *labels; /* of the inventory */
	size_t nr_labels;
	int state;           /* enum host_state */
	uint64_t lost_at_ns; /* since the run's start, coordinator's clock; 0: not lost */
	bool has_clock;
	int64_t clock_offset_ns;
	uint64_t clock_error_ns;
	double clock_drift_ppb;
	struct text_pair *environment;
	size_t nr_environment;
};

struct result_warning {
	char *host, *target, *text; /* host and target may be NULL */
	bool is_fault; /* I/O went wrong or a host was lost: shown before what is only worth knowing */
};

/* One value per interval: of IOPS or bytes per second. */
struct sample_stats {
	uint64_t n;
	double min, max, mean, stddev;
	uint64_t interval_ns;
};

struct result_direction {
	bool used; /* false: the group has no such direction; it is left out everywhere */
	struct direction_sum sum;
	uint64_t runtime_ns;
	double iops, bw_bytes; /* sum.counts.ios, bytes / runtime_ns */
	bool has_common;       /* the window in which every thread of every member ran */
	uint64_t common_start_ns, common_end_ns; /* since START */
	double common_iops, common_bw_bytes;
	struct sample_stats iops_samples, bw_samples; /* n 0: none */
};

/* I/O errors of one direction and errno. */
struct result_error {
	int direction;
	uint64_t number; /* errno */
	char *name;      /* "EIO" */
	uint64_t count;
	char *first_host, *first_target; /* where and when the first one was */
	uint64_t first_offset;           /* UINT64_MAX: it has none */
	uint64_t first_ns;               /* since START; 0: unknown */
};

struct result_group {
	char *name; /* of the group, host, target or job */
	uint64_t threads, runtime_ns;
	uint64_t buffered_threads; /* of threads: those whose I/O goes through the page cache */
	bool has_cpu;
	double cpu_usr, cpu_sys; /* percent of one CPU over the runtime */
	double cpu_iowq;         /* of cpu_usr + cpu_sys: that of io-wq threads; NAN: unknown */
	uint64_t ctx, majf, minf;
	bool has_depths; /* the next three, over window and drain; see struct member_done */
	struct pow2_counts depths, submits, completes;
	struct result_error *errors;
	size_t nr_errors;
	uint64_t depth;           /* configured I/Os in flight of all its threads together */
	uint64_t effective_depth; /* largest number that one thread really had in flight */
	struct result_direction dir[DIR_COUNT];
	struct result_direction total; /* read, write and trim together; sync is not in it */
	struct result_group *hosts, *targets, *jobs; /* groups again, without these three */
	size_t nr_hosts, nr_targets, nr_jobs;
};

struct result_device {
	char *host, *target, *path, *identity, *transport; /* NULL: none */
	uint64_t read_ios, write_ios, read_bytes, write_bytes;
	double util; /* percent of the elapsed time, 0..100 */
	char *disk;  /* the block device that was counted; NULL: no counters (a simulated target) */
	bool is_file; /* the target is a file on it */
	uint64_t read_merges, write_merges, read_ticks_ns, write_ticks_ns, in_queue_ns, elapsed_ns;
	uint64_t discard_ios, discard_bytes, flush_ios;
	/* What the device did beyond this host's own I/O on it; only where that can be told: direct I/O alone. */
	bool has_foreign;
	uint64_t foreign_ios, foreign_bytes;
	/* Of buffered reads: bytes that the device did not have to read. */
	bool has_cached;
	uint64_t cached_bytes;
};

/* A job as it ran in a step: what a reader needs to know beside its numbers. */
struct result_job {
	char *name, *group; /* group NULL: none */
	struct text_pair *
		options; /* key and value as in the scenario, those that matter: rw, bs, engine, ... */
	size_t nr_options;
	char *hosts;   /* folded: "node[01-04]" */
	char *targets; /* "lun0, lun1" */
};

/* A check of the scenario at one step. */
enum check_state { CHECK_PASSED, CHECK_FAILED, CHECK_SKIPPED };
extern const char *const check_state_names[]; /* "passed", ... */
struct result_check {
	char *text; /* as in the scenario */
	struct text_pair *point;
	size_t nr_point;
	uint64_t repeat;
	char *phase;
	int state;
	double value; /* NAN when skipped */
	char *why;    /* "lat.p99 is 2.31 ms", "no metric trim.iops here" */
};

struct result_stuck {
	char *host, *target;
	char *path; /* of the target there; NULL: not known */
	uint64_t offset, bytes, age_ns;
	int direction;
};

struct result_step {
	struct text_pair *point;
	size_t nr_point;
	uint64_t repeat; /* from 1 */
	char *phase;
	bool has_start;
	uint64_t start_spread_ns,
		start_error_ns; /* of the hosts' first I/Os, on the coordinator's clock */
	char *start_last_host;
	double overlap; /* share of the run in which every thread was running, 0..1; NAN: unknown */
	double min_overlap; /* what the scenario asks for, 0..1; 0: nothing */
	char *hosts_text;   /* "7 of 8 hosts" when some are missing; NULL: all */
	bool partial;       /* a host was lost in it or it was stopped: left out of the summaries */
	struct result_job *jobs;
	size_t nr_jobs;
	struct result_group *groups; /* [0] is "all" */
	size_t nr_groups;
	struct result_device *devices;
	size_t nr_devices;
	struct result_stuck *stuck;
	size_t nr_stuck;
};

/* One metric over the repeats of a point: "read.iops". stddev divides by n - 1 (NAN for n 1). */
struct result_metric {
	char *name;
	uint64_t n;
	double mean, stddev, min, max;
	double *values; /* one per repeat, NAN where the repeat has none */
	size_t nr_values;
};

struct result_summary {
	struct text_pair *point;
	size_t nr_point;
	char *phase, *group;
	struct result_metric *metrics;
	size_t nr_metrics;
};

struct result {
	char *id, *name, *description, *version;
	int status;            /* enum run_status */
	int exit_status;       /* negative: the run did not come to its end */
	char *started, *ended; /* RFC 3339, UTC */
	struct text_pair *labels;
	size_t nr_labels;
	struct result_host *hosts;
	size_t nr_hosts;
	struct result_warning *warnings;
	size_t nr_warnings;
	struct result_step *steps; /* measured phases only */
	size_t nr_steps;
	struct result_summary *summary;
	size_t nr_summary;
	struct result_check *checks;
	size_t nr_checks;
};

void result_fini(struct result *r);
/* Appends a copy of the texts (host and target may be NULL); the same warning twice is kept once. */
void result_warn(struct result *r, const char *host, const char *target, const char *text);
/* The same for I/O that went wrong and hosts that were lost. */
void result_fault(struct result *r, const char *host, const char *target, const char *text);
/* Frees a group and all groups below it. */
void result_group_fini(struct result_group *g);

#endif
