/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.h - a scenario file as validated structs.
 *
 * scenario_load gives a scenario in which everything that one file can get wrong has been checked and
 * `defaults` are merged into the jobs. Sweeps and repeats are not expanded here: that is the plan.
 */
#ifndef SALVO_MODEL_SCENARIO_H
#define SALVO_MODEL_SCENARIO_H

#include "common/model/job.h"
#include "common/model/simulated.h"

enum share { SHARE_UNSET, SHARE_PARTITION, SHARE_SHARED };
enum destroy_level { DESTROY_NO, DESTROY_YES, DESTROY_FORCE };
extern const struct choice destroy_choices[]; /* false, true, force */
enum on_loss { ON_LOSS_ABORT, ON_LOSS_CONTINUE };
enum order { ORDER_SEQUENTIAL, ORDER_INTERLEAVED };
enum target_kind { TARGET_DEVICE, TARGET_FILE, TARGET_SIMULATED };

/* destroy: true | false | force | {uuid: TEXT} */
struct destroy {
	int level;  /* enum destroy_level */
	char *uuid; /* the signature that may be destroyed although it looks alive elsewhere */
	struct fieldset set;
};

/* per_host: {db1: {device: /dev/sdb}}: what differs on one host. */
struct target_override {
	char *host;
	char *device, *file;
	uint64_t size;
	struct fieldset set;
};

struct target {
	char *name;
	char *device; /* path; exactly one of device, file, simulated */
	char *file;
	uint64_t size; /* of the file */
	struct simulated simulated;
	int share; /* enum share */
	bool allow_overlap;
	struct destroy destroy;
	struct target_override *per_host;
	size_t nr_per_host;
	struct fieldset set;
};

struct phase {
	char *name;
	struct job *jobs;
	size_t nr_jobs;
	bool measured;
	struct fieldset set;
};

struct sweep_axis {
	char *key; /* a job key */
	char **values;
	size_t nr_values;
};

struct label {
	char *key, *value;
};

struct fleet {
	int on_loss; /* enum on_loss */
	uint64_t lease_ns, grace_ns, max_clock_error_ns;
	double min_overlap; /* percent */
	bool strict;
	struct fieldset set;
};

struct scenario {
	char *name, *description;
	struct label *labels;
	size_t nr_labels;
	char **hosts; /* host expressions as written; empty: the embedded worker */
	size_t nr_hosts;
	struct target *targets;
	size_t nr_targets;
	struct job defaults; /* only its given fields count */
	struct job *jobs;    /* as written; scenario_load turns them into one phase */
	size_t nr_jobs;
	struct phase *phases; /* always filled after scenario_load */
	size_t nr_phases;
	struct sweep_axis *sweep;
	size_t nr_sweep;
	uint64_t repeat;
	int order;         /* enum order */
	uint64_t pause_ns; /* rest between runs (of a point and repeat) */
	char **checks;     /* "lat.p99 < 2ms", as written; see check.h */
	size_t nr_checks;
	uint64_t interval_ns;
	struct fleet fleet;
	struct fieldset set;

	/* Not in the file: */
	struct inventory *inventory; /* owned; NULL: none was given */
	bool one_phase;              /* it has `jobs`, which are phases[0].jobs now */
	char **warnings; /* what is allowed but does not do what it says; texts for people */
	size_t nr_warnings;
};

extern const struct schema scenario_schema;
extern const struct schema target_schema;
extern const struct schema label_schema;

struct inventory;
struct hostlist;

struct setting {
	const char *key, *value; /* of --set KEY=VALUE */
};

/* What the command line changes, in this order; all of it borrowed, zeroes change nothing. */
struct scenario_changes {
	const struct setting *settings; /* --set */
	size_t nr_settings;
	const struct setting *labels; /* --label; added or replaced */
	size_t nr_labels;
	const char *repeat, *on_loss; /* as written; NULL: not given */
	char *const *hosts;           /* --hosts: replaces those of the file */
	size_t nr_hosts;
	const char *inventory; /* path of --inventory */
};

/* Loads, applies the changes, merges defaults, checks everything (names of targets and hosts, share and destroy
 * rules, ranges against bs, at every point of the sweep). All mistakes at once, in file order; mistakes of the
 * command line behind them. */
struct error *scenario_load_changed(const char *path, const struct scenario_changes *changes,
				    struct scenario **ret) _must_check_;
/* The same with --set only. */
struct error *scenario_load(const char *path, const struct setting *settings, size_t nr_settings,
			    struct scenario **ret) _must_check_;
void scenario_destroy(struct scenario **self_p);
/* The hosts of the run, observers among them: those named, else all of the inventory; none: the embedded worker.
 * They borrow from the scenario. */
struct error *scenario_hosts(const struct scenario *sc, struct hostlist *ret) _must_check_;
const struct target *scenario_target(const struct scenario *sc, const char *name);
enum target_kind target_kind(const struct target *t);
/* The entry of per_host for this host, or NULL. */
const struct target_override *target_override(const struct target *t, const char *host);
/* Path and size of a target on a host; path NULL: simulated; size 0: a device. */
const char *target_path(const struct target *t, const char *host);
uint64_t target_size(const struct target *t, const char *host);
/* Does the job bypass the page cache on this target? */
bool target_direct(const struct target *t, const struct job *job);
/* Does the job run on this host? */
bool job_on_host(const struct job *job, const char *host);

/* The sweep's cross product: nr_values of all axes multiplied, 1 without a sweep; at most UINT64_MAX. */
uint64_t scenario_points(const struct scenario *sc);
/* The value of an axis at a point: the last axis turns fastest. */
const char *scenario_point_value(const struct scenario *sc, uint64_t point, size_t axis);
/* A copy of the job as it is at that point; the sweep's values are known to be good. */
void scenario_job_at(const struct scenario *sc, const struct phase *phase, const struct job *job,
		     uint64_t point, struct job *ret);

/* The key counts as not given any more. */
void scenario_unset(const struct schema *s, void *obj, const char *name);
/* Gives the job a seed unless it has one; the other makes `direct` explicit. */
void job_set_seed(struct job *job, uint64_t seed);
void job_set_direct(struct job *job, bool direct);
/* Writes the scenario as resolved: defaults merged, settings, hosts and seeds in their places. It loads
 * again and then runs the same. */
void scenario_print(const struct scenario *sc, uint64_t seed, FILE *out);

#endif
