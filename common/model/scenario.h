/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.h - a scenario file as validated structs.
 *
 * scenario_load gives a scenario in which everything that one file can get wrong has been checked and
 * `defaults` are merged into the jobs. Sweeps and repeats are not expanded here: that is the plan.
 */
#ifndef SALVO_MODEL_SCENARIO_H
#define SALVO_MODEL_SCENARIO_H

#include "common/model/job.h"

enum share { SHARE_UNSET, SHARE_PARTITION, SHARE_SHARED };
enum destroy_level { DESTROY_NO, DESTROY_YES, DESTROY_FORCE };
extern const struct choice destroy_choices[]; /* false, true, force */
enum on_loss { ON_LOSS_ABORT, ON_LOSS_CONTINUE };
enum target_kind { TARGET_DEVICE, TARGET_FILE, TARGET_SIMULATED };

/* destroy: true | false | force | {uuid: TEXT} */
struct destroy {
	int level;  /* enum destroy_level */
	char *uuid; /* the signature that may be destroyed although it looks alive elsewhere */
	struct fieldset set;
};

struct simulated {
	uint64_t size; /* bytes */
	uint64_t latency_ns;
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
	uint64_t interval_ns;
	struct fleet fleet;
	struct fieldset set;
};

extern const struct schema scenario_schema;

struct setting {
	const char *key, *value; /* of --set KEY=VALUE */
};

/* Loads, applies --set in order, merges defaults, checks everything that the file alone can tell (names of
 * targets and hosts, share and destroy rules, ranges against bs). All mistakes at once. */
struct error *scenario_load(const char *path, const struct setting *settings, size_t nr_settings,
			    struct scenario **ret) _must_check_;
void scenario_destroy(struct scenario **self_p);
const struct target *scenario_target(const struct scenario *sc, const char *name);
enum target_kind target_kind(const struct target *t);

#endif
