/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/coordinator/report/rig.h"

#include "common/base/clock.h"

#include <math.h>

void rig_fill_run(struct result *r, const char *name, const char *const *hosts, size_t nr)
{
	*r = (struct result) {
		.id = xstrdup("20260131T120000Z-0123abcd"),
		.name = xstrdup(name),
		.version = xstrdup("0.1.0"),
		.started = xstrdup("2026-01-31T12:00:00Z"),
		.ended = xstrdup("2026-01-31T12:00:31Z"),
		.hosts = xcalloc(nr, sizeof(*r->hosts)),
		.nr_hosts = nr,
	};
	for (size_t i = 0; i < nr; i++)
		r->hosts[i] = (struct result_host) {
			.name = xstrdup(hosts[i]),
			.address = xasprintf("tcp://10.0.0.%zu:7600", i + 1),
			.has_clock = true,
			.clock_offset_ns = -1500 * (int64_t)(i + 1),
			.clock_error_ns = 20000 + 1000 * i,
			.clock_drift_ppb = 12.5,
		};
}

void rig_add_pair(struct text_pair **pairs, size_t *nr, const char *key, const char *value)
{
	*pairs = xrealloc(*pairs, *nr + 1, sizeof(**pairs));
	(*pairs)[(*nr)++] = (struct text_pair) { .key = xstrdup(key), .value = xstrdup(value) };
}

struct result_step *rig_add_step(struct result *r, const char *phase, size_t nr_groups)
{
	struct result_step *s;

	r->steps = xrealloc(r->steps, r->nr_steps + 1, sizeof(*r->steps));
	s = &r->steps[r->nr_steps++];
	*s = (struct result_step) {
		.repeat = 1,
		.phase = xstrdup(phase),
		.overlap = NAN,
		.groups = xcalloc(nr_groups, sizeof(*s->groups)),
		.nr_groups = nr_groups,
	};
	return s;
}

/* --- groups ---------------------------------------------------------------------------------------------- */

void rig_name_group(struct result_group *g, const char *name, uint64_t threads, uint64_t runtime_ns)
{
	g->name = xstrdup(name);
	g->threads = threads;
	g->depth = threads * 16;
	g->effective_depth = 16;
	g->runtime_ns = runtime_ns;
}

void rig_add_latencies(struct hist *h, uint64_t ios, uint64_t lat_ns)
{
	static const unsigned percent[] = { 60, 75, 90, 100, 105, 115, 130, 180, 400, 2500 };
	static const unsigned share[] = { 5, 10, 15, 25, 20, 10, 8, 4, 2, 1 };

	for (size_t i = 0; i < array_size(percent); i++)
		hist_add(h, lat_ns * percent[i] / 100, ios * share[i] / 100);
}

void rig_set_rates(struct result_direction *d, uint64_t runtime_ns)
{
	d->used = true;
	d->runtime_ns = runtime_ns;
	d->iops = runtime_ns ? (double)d->sum.counts.ios / ((double)runtime_ns / 1e9) : NAN;
	d->bw_bytes = runtime_ns ? (double)d->sum.counts.bytes / ((double)runtime_ns / 1e9) : NAN;
}

void rig_set_samples(struct result_direction *d)
{
	struct sample_stats s = { .n = d->runtime_ns / NS_PER_S, .interval_ns = NS_PER_S };

	s.mean = d->iops;
	s.min = d->iops * 0.9;
	s.max = d->iops * 1.05;
	s.stddev = d->iops * 0.02;
	d->iops_samples = s;
	s.mean = d->bw_bytes;
	s.min = d->bw_bytes * 0.9;
	s.max = d->bw_bytes * 1.05;
	s.stddev = d->bw_bytes * 0.02;
	d->bw_samples = s;
	d->has_common = true;
	d->common_start_ns = 2 * NS_PER_S;
	d->common_end_ns = d->common_start_ns + s.n * NS_PER_S;
	d->common_iops = d->iops;
	d->common_bw_bytes = d->bw_bytes;
}

void rig_set_direction(struct result_direction *d, uint64_t ios, uint64_t bytes, uint64_t lat_ns,
		       uint64_t runtime_ns)
{
	d->sum.counts.ios = ios;
	d->sum.counts.bytes = ios * bytes;
	rig_add_latencies(&d->sum.lat, ios, lat_ns);
	rig_set_rates(d, runtime_ns);
}

void rig_set_total(struct result_group *g)
{
	for (unsigned dir = 0; dir < DIR_SYNC; dir++)
		if (g->dir[dir].used)
			direction_sum_merge(&g->total.sum, &g->dir[dir].sum);
	rig_set_rates(&g->total, g->runtime_ns);
}

void rig_set_cpu(struct result_group *g, double usr, double sys)
{
	g->has_cpu = true;
	g->cpu_usr = usr;
	g->cpu_sys = sys;
	g->ctx = 123456;
	g->majf = 0;
	g->minf = 17;
}

void rig_set_depths(struct result_group *g, uint64_t ios, uint64_t depth)
{
	unsigned full = pow2_bucket(depth);

	g->has_depths = true;
	g->depths.bucket[full] = ios - ios / 1000;
	g->depths.bucket[0] = ios / 1000;
	g->submits.bucket[0] = ios / 4;
	g->submits.bucket[full] = ios / 20;
	g->completes = g->submits;
}

void rig_add_job(struct result_step *s, const char *name, const char *options, const char *hosts,
		 const char *targets)
{
	_cleanup_free_ char *copy = xstrdup(options);
	struct result_job *j;

	s->jobs = xrealloc(s->jobs, s->nr_jobs + 1, sizeof(*s->jobs));
	j = &s->jobs[s->nr_jobs++];
	*j = (struct result_job) {
		.name = xstrdup(name),
		.hosts = xstrdup(hosts),
		.targets = xstrdup(targets),
	};
	for (char *save = NULL, *pair = strtok_r(copy, " ", &save); pair;
	     pair = strtok_r(NULL, " ", &save)) {
		char *value = strchr(pair, '=');

		*value = '\0';
		rig_add_pair(&j->options, &j->nr_options, pair, value + 1);
	}
}

struct result_device *rig_add_device(struct result_step *s, const char *host, const char *target,
				     const char *disk)
{
	s->devices = xrealloc(s->devices, s->nr_devices + 1, sizeof(*s->devices));
	s->devices[s->nr_devices] = (struct result_device) {
		.host = xstrdup(host),
		.target = xstrdup(target),
		.disk = disk ? xstrdup(disk) : NULL,
		.util = NAN,
	};
	return &s->devices[s->nr_devices++];
}

void rig_add_check(struct result *r, const struct result_step *s, const char *text, int state,
		   const char *why)
{
	struct result_check *c;

	r->checks = xrealloc(r->checks, r->nr_checks + 1, sizeof(*r->checks));
	c = &r->checks[r->nr_checks++];
	*c = (struct result_check) {
		.text = xstrdup(text),
		.repeat = s->repeat,
		.phase = xstrdup(s->phase),
		.state = state,
		.value = NAN,
		.why = why ? xstrdup(why) : NULL,
	};
	for (size_t i = 0; i < s->nr_point; i++)
		rig_add_pair(&c->point, &c->nr_point, s->point[i].key, s->point[i].value);
}

void rig_add_error(struct result_group *g, const struct rig_error *e)
{
	g->errors = xrealloc(g->errors, g->nr_errors + 1, sizeof(*g->errors));
	g->errors[g->nr_errors++] = (struct result_error) {
		.direction = e->direction,
		.number = e->number,
		.name = xstrdup(e->name),
		.count = e->count,
		.first_host = xstrdup(e->host),
		.first_target = xstrdup(e->target),
		.first_offset = e->offset,
		.first_ns = e->at_ns,
	};
}

struct result_group *rig_add_members(struct result_group **list, size_t *nr, size_t n)
{
	*list = xcalloc(n, sizeof(**list));
	*nr = n;
	return *list;
}

void rig_sum_hosts(struct result_group *g)
{
	for (size_t h = 0; h < g->nr_hosts; h++)
		for (unsigned dir = 0; dir < DIR_COUNT; dir++) {
			const struct result_direction *from = &g->hosts[h].dir[dir];

			if (!from->used)
				continue;
			direction_sum_merge(&g->dir[dir].sum, &from->sum);
			rig_set_rates(&g->dir[dir], g->runtime_ns);
		}
	rig_set_total(g);
}
