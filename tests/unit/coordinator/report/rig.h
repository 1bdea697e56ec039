/* SPDX-License-Identifier: Apache-2.0 */
/* rig.h - parts of which made-up results are put together. Texts are copied. */
#ifndef SALVO_TEST_REPORT_RIG_H
#define SALVO_TEST_REPORT_RIG_H

#include "common/model/result.h"

void rig_fill_run(struct result *r, const char *name, const char *const *hosts, size_t nr);
void rig_add_pair(struct text_pair **pairs, size_t *nr, const char *key, const char *value);
/* The step is valid until the next one is added. */
struct result_step *rig_add_step(struct result *r, const char *phase, size_t nr_groups);
/* `options` is "key=value key=value ..." */
void rig_add_job(struct result_step *s, const char *name, const char *options, const char *hosts,
		 const char *targets);
struct result_device *rig_add_device(struct result_step *s, const char *host, const char *target,
				     const char *disk);
void rig_add_check(struct result *r, const struct result_step *s, const char *text, int state,
		   const char *why);

void rig_name_group(struct result_group *g, const char *name, uint64_t threads,
		    uint64_t runtime_ns);
/* Makes an empty list of n groups: &g->hosts, &g->nr_hosts. */
struct result_group *rig_add_members(struct result_group **list, size_t *nr, size_t n);
void rig_set_cpu(struct result_group *g, double usr, double sys);
/* Depths and batches as of an asynchronous engine: mostly full, in batches of some. */
void rig_set_depths(struct result_group *g, uint64_t ios, uint64_t depth);
struct rig_error {
	int direction;
	uint64_t number;
	const char *name;
	uint64_t count;
	const char *host, *target;
	uint64_t offset, at_ns;
};
/* A row alone: the counters are set apart. */
void rig_add_error(struct result_group *g, const struct rig_error *e);
/* Merges the directions into `total`. */
void rig_set_total(struct result_group *g);
/* Adds up the hosts. */
void rig_sum_hosts(struct result_group *g);

/* Latencies spread around one value, with a tail; `ios` is a multiple of 100. */
void rig_add_latencies(struct hist *h, uint64_t ios, uint64_t lat_ns);
void rig_set_direction(struct result_direction *d, uint64_t ios, uint64_t bytes, uint64_t lat_ns,
		       uint64_t runtime_ns);
void rig_set_rates(struct result_direction *d, uint64_t runtime_ns);
void rig_set_samples(struct result_direction *d);

#endif
