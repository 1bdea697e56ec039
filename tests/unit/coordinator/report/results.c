/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/coordinator/report/results.h"

#include "coordinator/run/summary.h"

#include <math.h>

static const uint64_t MS = 1000000, US = 1000, S = 1000000000;

static void *one(size_t size)
{
	return xcalloc(1, size);
}

static void fill_run(struct result *r, const char *name, const char *const *hosts, size_t nr)
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

static void add_pair(struct text_pair **pairs, size_t *nr, const char *key, const char *value)
{
	*pairs = xrealloc(*pairs, *nr + 1, sizeof(**pairs));
	(*pairs)[(*nr)++] = (struct text_pair) { .key = xstrdup(key), .value = xstrdup(value) };
}

static struct result_step *add_step(struct result *r, const char *phase, size_t nr_groups)
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

static void name_group(struct result_group *g, const char *name, uint64_t threads,
		       uint64_t runtime_ns)
{
	g->name = xstrdup(name);
	g->threads = threads;
	g->depth = threads * 16;
	g->effective_depth = 16;
	g->runtime_ns = runtime_ns;
}

/* Latencies spread around one value, with a tail. */
static void add_latencies(struct hist *h, uint64_t ios, uint64_t lat_ns)
{
	static const unsigned percent[] = { 60, 75, 90, 100, 105, 115, 130, 180, 400, 2500 };
	static const unsigned share[] = { 5, 10, 15, 25, 20, 10, 8, 4, 2, 1 };

	for (size_t i = 0; i < array_size(percent); i++)
		hist_add(h, lat_ns * percent[i] / 100, ios * share[i] / 100);
}

static void set_rates(struct result_direction *d, uint64_t runtime_ns)
{
	d->used = true;
	d->runtime_ns = runtime_ns;
	d->iops = runtime_ns ? (double)d->sum.counts.ios / ((double)runtime_ns / 1e9) : NAN;
	d->bw_bytes = runtime_ns ? (double)d->sum.counts.bytes / ((double)runtime_ns / 1e9) : NAN;
}

static void set_samples(struct result_direction *d)
{
	struct sample_stats s = { .n = 30, .interval_ns = S };

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
	d->common_start_ns = 2 * S;
	d->common_end_ns = 32 * S;
	d->common_iops = d->iops;
	d->common_bw_bytes = d->bw_bytes;
}

/* `ios` must be a multiple of 100. */
static void set_direction(struct result_direction *d, uint64_t ios, uint64_t bytes, uint64_t lat_ns,
			  uint64_t runtime_ns)
{
	d->sum.counts.ios = ios;
	d->sum.counts.bytes = ios * bytes;
	add_latencies(&d->sum.lat, ios, lat_ns);
	set_rates(d, runtime_ns);
}

static void set_total(struct result_group *g)
{
	for (unsigned dir = 0; dir < DIR_SYNC; dir++)
		if (g->dir[dir].used)
			direction_sum_merge(&g->total.sum, &g->dir[dir].sum);
	set_rates(&g->total, g->runtime_ns);
}

static void set_cpu(struct result_group *g, double usr, double sys)
{
	g->has_cpu = true;
	g->cpu_usr = usr;
	g->cpu_sys = sys;
	g->ctx = 123456;
	g->majf = 0;
	g->minf = 17;
}

/* Adds up the hosts and gives the group a target and a job that are the whole of it. */
static void sum_hosts(struct result_group *g)
{
	for (size_t h = 0; h < g->nr_hosts; h++)
		for (unsigned dir = 0; dir < DIR_COUNT; dir++) {
			const struct result_direction *from = &g->hosts[h].dir[dir];

			if (!from->used)
				continue;
			direction_sum_merge(&g->dir[dir].sum, &from->sum);
			set_rates(&g->dir[dir], g->runtime_ns);
		}
	set_total(g);
}

/* --- the results ----------------------------------------------------------------------------------------- */

void results_single(struct result *r)
{
	static const char *const hosts[] = { "local" };
	struct result_group *all;

	fill_run(r, "quickstart", hosts, 1);
	r->description = xstrdup("4 KiB random reads on a scratch file");
	add_pair(&r->hosts[0].environment, &r->hosts[0].nr_environment, "kernel", "6.1.0-57-amd64");
	all = add_step(r, "main", 1)->groups;
	r->steps[0].has_start = true;
	r->steps[0].start_last_host = xstrdup("local");
	r->steps[0].overlap = 0.99991;
	name_group(all, "all", 1, 5 * S);
	all->hosts = one(sizeof(*all));
	all->nr_hosts = 1;
	name_group(all->hosts, "local", 1, 5 * S);
	set_direction(&all->hosts->dir[DIR_READ], 411900, 4096, 190 * US, 5 * S);
	set_total(all->hosts);
	sum_hosts(all);
	set_samples(&all->dir[DIR_READ]);
	set_cpu(all, 12.34, 45.6);
	summary_fill(r);
}

void results_short(struct result *r)
{
	static const char *const hosts[] = { "local" };
	struct result_group *all;

	fill_run(r, "short", hosts, 1);
	all = add_step(r, "main", 1)->groups;
	name_group(all, "all", 1, 431 * US);
	all->buffered_threads = 1;
	all->hosts = one(sizeof(*all));
	all->nr_hosts = 1;
	name_group(all->hosts, "local", 1, 431 * US);
	set_direction(&all->hosts->dir[DIR_READ], 256, 4096, 2 * US, 431 * US);
	set_total(all->hosts);
	sum_hosts(all);
	summary_fill(r);
}

static void set_fleet_host(struct result_group *g, const char *name, uint64_t ios, uint64_t lat_ns)
{
	name_group(g, name, 4, 30 * S);
	set_direction(&g->dir[DIR_READ], ios, 8192, lat_ns, 30 * S);
	add_latencies(&g->dir[DIR_READ].sum.clat, ios, lat_ns - 2 * US);
	add_latencies(&g->dir[DIR_READ].sum.slat, ios, 2 * US);
	g->dir[DIR_READ].sum.counts.ramp_ios = ios / 10;
	g->dir[DIR_READ].sum.counts.ramp_bytes = ios / 10 * 8192;
	g->dir[DIR_READ].sum.counts.drain_ios = 64;
	g->dir[DIR_READ].sum.counts.drain_bytes = 64 * 8192;
	g->dir[DIR_READ].sum.counts.drain_lat_max_ns = 25 * lat_ns;
	hist_add(&g->dir[DIR_READ].sum.lat, lat_ns, 64);
	set_direction(&g->dir[DIR_WRITE], ios / 10 * 10 / 2, 8192, 3 * lat_ns, 31 * S);
	set_direction(&g->dir[DIR_SYNC], 1200, 0, 12 * MS, 31 * S);
	g->runtime_ns = 31 * S;
	set_total(g);
	set_cpu(g, 20.5, 61.25);
}

static void add_fleet_device(struct result_step *s, const char *host, const char *identity)
{
	s->devices = xrealloc(s->devices, s->nr_devices + 1, sizeof(*s->devices));
	s->devices[s->nr_devices++] = (struct result_device) {
		.host = xstrdup(host),
		.target = xstrdup("lun0"),
		.path = xstrdup("/dev/nvme0n1"),
		.identity = identity ? xstrdup(identity) : NULL,
		.transport = xstrdup("nvme-tcp"),
		.read_ios = 1320064,
		.read_bytes = 1320064ull * 8192,
		.write_ios = 600000,
		.write_bytes = 600000ull * 8192,
		.util = identity ? 98.75 : NAN,
	};
}

void results_fleet(struct result *r)
{
	static const char *const hosts[] = { "initiator01", "initiator02", "initiator03",
					     "initiator04" };
	static const uint64_t ios[] = { 1200000, 1201000, 790000, 1199000 };
	static const char *const jobs[] = { "oltp", "backup" };
	struct result_group *all;
	struct result_step *s;

	fill_run(r, "oltp-mix", hosts, 4);
	add_pair(&r->labels, &r->nr_labels, "kernel", "6.1-rt");
	add_pair(&r->labels, &r->nr_labels, "rack", "a");
	r->exit_status = 1;
	result_warn(
		r, "initiator03", "lun0",
		"job 'oltp': 3 I/O errors; first: read: Input/output error at offset 4096 (3 of "
		"them)");
	result_warn(r, NULL, NULL, "a warning of the whole run");
	s = add_step(r, "main", 2);
	s->has_start = true;
	s->start_spread_ns = 412 * US;
	s->start_error_ns = 23 * US;
	s->start_last_host = xstrdup("initiator03");
	s->overlap = 0.9994;
	all = &s->groups[0];
	name_group(all, "all", 16, 31 * S);
	all->hosts = xcalloc(4, sizeof(*all));
	all->nr_hosts = 4;
	for (size_t h = 0; h < 4; h++)
		set_fleet_host(&all->hosts[h], hosts[h], ios[h], (h == 2 ? 1519 : 1000) * US);
	all->hosts[2].dir[DIR_READ].sum.counts.errors = 3;
	all->hosts[2].total.sum.counts.errors = 3;
	all->errors = one(sizeof(*all->errors));
	all->nr_errors = 1;
	all->errors[0] = (struct result_error) {
		.direction = DIR_READ,
		.number = 5,
		.name = xstrdup("EIO"),
		.count = 3,
		.first_host = xstrdup("initiator03"),
		.first_target = xstrdup("lun0"),
		.first_offset = 4096,
		.first_ns = 1234567890,
	};
	sum_hosts(all);
	set_samples(&all->dir[DIR_READ]);
	all->dir[DIR_READ].common_iops *= 1.04;
	all->dir[DIR_READ].common_bw_bytes *= 1.04;
	set_cpu(all, 82, 245);
	all->jobs = xcalloc(2, sizeof(*all));
	all->nr_jobs = 2;
	for (size_t j = 0; j < 2; j++)
		set_fleet_host(&all->jobs[j], jobs[j], 2195000, 1100 * US);
	/* A group of one host. */
	name_group(&s->groups[1], "bulk", 4, 31 * S);
	s->groups[1].hosts = one(sizeof(*all));
	s->groups[1].nr_hosts = 1;
	set_fleet_host(s->groups[1].hosts, hosts[0], 100000, 1000 * US);
	sum_hosts(&s->groups[1]);
	for (size_t h = 0; h < 4; h++)
		add_fleet_device(s, hosts[h], h ? "naa.6001405a1b2c3d4e" : NULL);
	summary_fill(r);
}

void results_lost(struct result *r)
{
	static const char *const hosts[] = { "node1", "node2", "evil\x1b[31m\n" };
	struct result_group *all;
	struct result_step *s;

	fill_run(r, "bad \x1b]0;title\x07 day", hosts, 3);
	r->status = RUN_PARTIAL;
	r->exit_status = 3;
	r->hosts[1].state = HOST_LOST;
	r->hosts[1].lost_at_ns = 3210 * MS;
	r->hosts[1].has_clock = false;
	r->hosts[2].state = HOST_HUNG;
	r->hosts[2].lost_at_ns = 9 * S;
	add_pair(&r->hosts[2].environment, &r->hosts[2].nr_environment, "model",
		 "\xff\xfe\x80 disk");
	result_warn(r, "node2", NULL,
		    "lost 3.210 s after the start; its samples up to then are in the "
		    "result");
	result_warn(r, hosts[2], "t0", "\x1b[2Jcleared\r\n");
	s = add_step(r, "main", 1);
	s->hosts_text = xstrdup("1 of 3 hosts");
	s->partial = true;
	s->stuck = one(sizeof(*s->stuck));
	s->nr_stuck = 1;
	*s->stuck = (struct result_stuck) {
		.host = xstrdup(hosts[2]),
		.target = xstrdup("t0"),
		.offset = 40960,
		.bytes = 4096,
		.age_ns = 9500 * MS,
		.direction = DIR_WRITE,
	};
	all = &s->groups[0];
	name_group(all, "all", 3, 8 * S);
	all->hosts = xcalloc(3, sizeof(*all));
	all->nr_hosts = 3;
	name_group(&all->hosts[0], hosts[0], 1, 8 * S);
	set_direction(&all->hosts[0].dir[DIR_WRITE], 1000, 4096, 8 * MS, 8 * S);
	set_total(&all->hosts[0]);
	name_group(&all->hosts[1], hosts[1], 1, 3 * S);
	set_direction(&all->hosts[1].dir[DIR_WRITE], 300, 4096, 8 * MS, 3 * S);
	set_total(&all->hosts[1]);
	name_group(&all->hosts[2], hosts[2], 1, 0);
	set_direction(&all->hosts[2].dir[DIR_WRITE], 0, 4096, 1, 0);
	all->hosts[2].dir[DIR_WRITE].sum.counts.unfinished_ios = 1;
	all->hosts[2].dir[DIR_WRITE].sum.counts.unfinished_age_ns = 9500 * MS;
	set_total(&all->hosts[2]);
	sum_hosts(all);
	all->effective_depth = 0;
	all->buffered_threads = 1;
	summary_fill(r);
}

void results_repeats(struct result *r)
{
	static const char *const hosts[] = { "a" }, *const points[] = { "4k", "64k" };
	static const uint64_t ios[] = { 100000, 101000, 99000, 20000, 20000, 20000 };

	fill_run(r, "repeats", hosts, 1);
	for (size_t i = 0; i < 6; i++) {
		struct result_step *s = add_step(r, "main", 1);
		struct result_group *all = s->groups;
		uint64_t bytes = i < 3 ? 4096 : 65536;

		add_pair(&s->point, &s->nr_point, "bs", points[i / 3]);
		s->repeat = i % 3 + 1;
		name_group(all, "all", 1, S);
		all->hosts = one(sizeof(*all));
		all->nr_hosts = 1;
		name_group(all->hosts, "a", 1, S);
		set_direction(&all->hosts->dir[DIR_READ], ios[i], bytes, 10 * US, S);
		set_total(all->hosts);
		sum_hosts(all);
	}
	summary_fill(r);
}

void results_many(struct result *r)
{
	enum { HOSTS = 200 };
	char *names[HOSTS];
	struct result_group *all;

	for (size_t h = 0; h < HOSTS; h++)
		names[h] = xasprintf("node%03zu", h);
	fill_run(r, "many", (const char *const *)names, HOSTS);
	all = add_step(r, "main", 1)->groups;
	name_group(all, "all", HOSTS, S);
	all->hosts = xcalloc(HOSTS, sizeof(*all));
	all->nr_hosts = HOSTS;
	for (size_t h = 0; h < HOSTS; h++) {
		name_group(&all->hosts[h], names[h], 1, S);
		set_direction(&all->hosts[h].dir[DIR_READ], h == 150 ? 500 : 1000, 4096, MS, S);
		all->hosts[h].dir[DIR_READ].sum.counts.errors = h == 190;
		set_total(&all->hosts[h]);
		free(names[h]);
	}
	sum_hosts(all);
}
