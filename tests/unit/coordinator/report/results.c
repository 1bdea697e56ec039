/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/coordinator/report/results.h"

#include "coordinator/run/summary.h"
#include "tests/unit/coordinator/report/rig.h"

#include <math.h>

static const uint64_t MS = 1000000, US = 1000, S = 1000000000;

void results_single(struct result *r)
{
	static const char *const hosts[] = { "local" };
	struct result_device *device;
	struct result_group *all;

	rig_fill_run(r, "quickstart", hosts, 1);
	r->description = xstrdup("4 KiB random reads on a scratch file");
	rig_add_pair(&r->hosts[0].environment, &r->hosts[0].nr_environment, "kernel",
		     "6.1.0-57-amd64");
	all = rig_add_step(r, "main", 1)->groups;
	r->steps[0].has_start = true;
	r->steps[0].start_last_host = xstrdup("local");
	r->steps[0].overlap = 0.99991;
	rig_name_group(all, "all", 1, 5 * S);
	rig_add_members(&all->hosts, &all->nr_hosts, 1);
	rig_name_group(all->hosts, "local", 1, 5 * S);
	rig_set_direction(&all->hosts->dir[DIR_READ], 411900, 4096, 190 * US, 5 * S);
	rig_add_latencies(&all->hosts->dir[DIR_READ].sum.clat, 411900, 180 * US);
	rig_add_latencies(&all->hosts->dir[DIR_READ].sum.slat, 411900, 10 * US);
	rig_set_total(all->hosts);
	rig_sum_hosts(all);
	rig_set_samples(&all->dir[DIR_READ]);
	rig_set_cpu(all, 12.34, 45.6);
	rig_set_depths(all, 411900, 16);
	rig_add_job(
		&r->steps[0], "reader",
		"rw=randread bs=4KiB iodepth=16 numjobs=1 runtime=5s time_based=true direct=true "
		"engine=io_uring",
		"local", "scratch");
	device = rig_add_device(&r->steps[0], "local", "scratch", "vda");
	device->is_file = true;
	device->read_ios = 412003;
	device->read_bytes = 412003ull * 4096;
	device->read_ticks_ns = 101 * S;
	device->in_queue_ns = 102 * S;
	device->elapsed_ns = 5 * S;
	device->util = 99.42;
	summary_fill(r);
}

void results_short(struct result *r)
{
	static const char *const hosts[] = { "local" };
	struct result_group *all;

	rig_fill_run(r, "short", hosts, 1);
	all = rig_add_step(r, "main", 1)->groups;
	rig_name_group(all, "all", 1, 431 * US);
	all->buffered_threads = 1;
	rig_add_members(&all->hosts, &all->nr_hosts, 1);
	rig_name_group(all->hosts, "local", 1, 431 * US);
	rig_set_direction(&all->hosts->dir[DIR_READ], 256, 4096, 2 * US, 431 * US);
	rig_set_total(all->hosts);
	rig_sum_hosts(all);
	summary_fill(r);
}

static void set_fleet_host(struct result_group *g, const char *name, uint64_t ios, uint64_t lat_ns)
{
	rig_name_group(g, name, 4, 30 * S);
	rig_set_direction(&g->dir[DIR_READ], ios, 8192, lat_ns, 30 * S);
	rig_add_latencies(&g->dir[DIR_READ].sum.clat, ios, lat_ns - 2 * US);
	rig_add_latencies(&g->dir[DIR_READ].sum.slat, ios, 2 * US);
	g->dir[DIR_READ].sum.counts.ramp_ios = ios / 10;
	g->dir[DIR_READ].sum.counts.ramp_bytes = ios / 10 * 8192;
	g->dir[DIR_READ].sum.counts.drain_ios = 64;
	g->dir[DIR_READ].sum.counts.drain_bytes = 64 * 8192;
	g->dir[DIR_READ].sum.counts.drain_lat_max_ns = 25 * lat_ns;
	hist_add(&g->dir[DIR_READ].sum.lat, lat_ns, 64);
	rig_set_direction(&g->dir[DIR_WRITE], ios / 10 * 10 / 2, 8192, 3 * lat_ns, 31 * S);
	rig_set_direction(&g->dir[DIR_SYNC], 1200, 0, 12 * MS, 31 * S);
	g->runtime_ns = 31 * S;
	rig_set_total(g);
	rig_set_cpu(g, 20.5, 61.25);
}

static void add_fleet_device(struct result_step *s, const char *host, bool is_foreign)
{
	struct result_device *d = rig_add_device(s, host, "lun0", "nvme0n1");

	d->path = xstrdup("/dev/nvme0n1");
	d->identity = xstrdup("naa.6001405a1b2c3d4e");
	d->transport = xstrdup("nvme-tcp");
	d->read_ios = 1320064;
	d->read_bytes = 1320064ull * 8192;
	d->read_merges = 17;
	d->read_ticks_ns = 1900 * S;
	d->write_ios = 600000;
	d->write_bytes = 600000ull * 8192;
	d->write_ticks_ns = 1800 * S;
	d->in_queue_ns = 3712 * S;
	d->flush_ios = 1200;
	d->util = 98.75;
	d->has_foreign = true;
	d->foreign_ios = is_foreign ? 3071 : 0;
	d->foreign_bytes = d->foreign_ios * 4096;
}

static const char *const fleet_hosts[] = { "initiator01", "initiator02", "initiator03",
					   "initiator04", "target" };

static void fill_fleet_run(struct result *r)
{
	rig_fill_run(r, "oltp-mix", fleet_hosts, 5);
	r->hosts[4].role = xstrdup("observer");
	for (size_t h = 0; h < 4; h++)
		rig_add_pair(&r->hosts[h].labels, &r->hosts[h].nr_labels, "rack",
			     h < 2 ? "a" : "b");
	rig_add_pair(&r->labels, &r->nr_labels, "kernel", "6.1-rt");
	rig_add_pair(&r->labels, &r->nr_labels, "tester", "jo");
	r->exit_status = 1;
	result_warn(r, NULL, NULL, "a warning of the whole run");
	for (size_t h = 0; h < 4; h++) {
		_cleanup_free_ char *late = xasprintf(
			"%zu of 31 samples were taken late; their rates divide by the time that "
			"really passed",
			h + 1);

		result_warn(r, fleet_hosts[h], NULL, late);
		result_warn(r, fleet_hosts[h], "lun0", "the device's cache was not dropped");
	}
	result_fault(
		r, "initiator03", "lun0",
		"job 'oltp': 3 I/O errors; first: read: Input/output error at offset 4096 (3 of "
		"them)");
}

static struct result_step *add_fleet_step(struct result *r)
{
	struct result_step *s = rig_add_step(r, "main", 2);

	s->has_start = true;
	s->start_spread_ns = 412 * US;
	s->start_error_ns = 23 * US;
	s->start_last_host = xstrdup("initiator03");
	s->overlap = 0.9774;
	s->min_overlap = 0.99;
	rig_add_job(
		s, "oltp",
		"rw=randrw bs=8KiB iodepth=16 numjobs=2 runtime=30s ramp_time=2s time_based=true "
		"rwmixread=67 direct=true engine=io_uring fsync=500",
		"initiator[01-04]", "lun0");
	rig_add_job(s, "backup",
		    "rw=read bs=8KiB iodepth=16 numjobs=2 runtime=30s ramp_time=2s time_based=true "
		    "direct=true engine=io_uring",
		    "initiator[01-04]", "lun0");
	s->jobs[1].group = xstrdup("bulk");
	for (size_t h = 0; h < 4; h++)
		add_fleet_device(s, fleet_hosts[h], h == 3);
	return s;
}

static void fill_fleet_total(struct result_group *all)
{
	static const uint64_t ios[] = { 1200000, 1201000, 790000, 1199000 };
	static const char *const jobs[] = { "oltp", "backup" };

	rig_name_group(all, "all", 16, 31 * S);
	rig_add_members(&all->hosts, &all->nr_hosts, 4);
	for (size_t h = 0; h < 4; h++)
		set_fleet_host(&all->hosts[h], fleet_hosts[h], ios[h], (h == 2 ? 1519 : 1000) * US);
	all->hosts[2].dir[DIR_READ].sum.counts.errors = 3;
	all->hosts[2].total.sum.counts.errors = 3;
	rig_sum_hosts(all);
	rig_set_samples(&all->dir[DIR_READ]);
	all->dir[DIR_READ].common_iops *= 1.04;
	all->dir[DIR_READ].common_bw_bytes *= 1.04;
	rig_set_cpu(all, 82, 245);
	rig_set_depths(all, 6585000, 16);
	rig_add_error(all, &(struct rig_error) {
				   .direction = DIR_READ,
				   .number = 5,
				   .name = "EIO",
				   .count = 3,
				   .host = "initiator03",
				   .target = "lun0",
				   .offset = 4096,
				   .at_ns = 12345 * MS,
			   });
	rig_add_members(&all->jobs, &all->nr_jobs, 2);
	for (size_t j = 0; j < 2; j++)
		set_fleet_host(&all->jobs[j], jobs[j], 2195000, 1100 * US);
}

void results_fleet(struct result *r)
{
	struct result_step *s;

	fill_fleet_run(r);
	s = add_fleet_step(r);
	fill_fleet_total(&s->groups[0]);
	/* A group of one host. */
	rig_name_group(&s->groups[1], "bulk", 4, 31 * S);
	rig_add_members(&s->groups[1].hosts, &s->groups[1].nr_hosts, 1);
	set_fleet_host(s->groups[1].hosts, fleet_hosts[0], 100000, 1000 * US);
	rig_sum_hosts(&s->groups[1]);
	rig_add_check(r, s, "errors == 0", CHECK_FAILED, "errors is 3");
	rig_add_check(r, s, "bulk:read.iops > 1k", CHECK_PASSED, "bulk:read.iops is 3226");
	rig_add_check(r, s, "trim.iops > 1", CHECK_SKIPPED, "no metric trim.iops here");
	summary_fill(r);
}

void results_lost(struct result *r)
{
	static const char *const hosts[] = { "node1", "node2", "evil\x1b[31m\n" };
	struct result_group *all;
	struct result_step *s;

	rig_fill_run(r, "bad \x1b]0;title\x07 day", hosts, 3);
	r->status = RUN_PARTIAL;
	r->exit_status = 3;
	r->hosts[1].state = HOST_LOST;
	r->hosts[1].lost_at_ns = 3210 * MS;
	r->hosts[1].has_clock = false;
	r->hosts[2].state = HOST_HUNG;
	r->hosts[2].lost_at_ns = 9 * S;
	rig_add_pair(&r->hosts[2].environment, &r->hosts[2].nr_environment, "model",
		     "\xff\xfe\x80 disk");
	result_fault(r, "node2", NULL,
		     "lost 3.210 s after the start; its samples up to then are in the "
		     "result");
	result_warn(r, hosts[2], "t0", "\x1b[2Jcleared\r\n");
	s = rig_add_step(r, "main", 1);
	s->hosts_text = xstrdup("1 of 3 hosts");
	s->partial = true;
	s->stuck = xcalloc(1, sizeof(*s->stuck));
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
	rig_name_group(all, "all", 3, 8 * S);
	all->hosts = xcalloc(3, sizeof(*all));
	all->nr_hosts = 3;
	rig_name_group(&all->hosts[0], hosts[0], 1, 8 * S);
	rig_set_direction(&all->hosts[0].dir[DIR_WRITE], 1000, 4096, 8 * MS, 8 * S);
	rig_set_total(&all->hosts[0]);
	rig_name_group(&all->hosts[1], hosts[1], 1, 3 * S);
	rig_set_direction(&all->hosts[1].dir[DIR_WRITE], 300, 4096, 8 * MS, 3 * S);
	rig_set_total(&all->hosts[1]);
	rig_name_group(&all->hosts[2], hosts[2], 1, 0);
	rig_set_direction(&all->hosts[2].dir[DIR_WRITE], 0, 4096, 1, 0);
	all->hosts[2].dir[DIR_WRITE].sum.counts.unfinished_ios = 1;
	all->hosts[2].dir[DIR_WRITE].sum.counts.unfinished_age_ns = 9500 * MS;
	rig_set_total(&all->hosts[2]);
	rig_sum_hosts(all);
	all->effective_depth = 0;
	all->buffered_threads = 1;
	summary_fill(r);
}

void results_repeats(struct result *r)
{
	static const char *const hosts[] = { "a" }, *const points[] = { "4k", "64k" };
	static const uint64_t ios[] = { 100000, 101000, 99000, 20000, 20000, 20000 };

	rig_fill_run(r, "repeats", hosts, 1);
	for (size_t i = 0; i < 6; i++) {
		struct result_step *s = rig_add_step(r, "main", 1);
		struct result_group *all = s->groups;
		uint64_t bytes = i < 3 ? 4096 : 65536;

		rig_add_pair(&s->point, &s->nr_point, "bs", points[i / 3]);
		s->repeat = i % 3 + 1;
		rig_name_group(all, "all", 1, S);
		rig_add_members(&all->hosts, &all->nr_hosts, 1);
		rig_name_group(all->hosts, "a", 1, S);
		rig_set_direction(&all->hosts->dir[DIR_READ], ios[i], bytes, 10 * US, S);
		rig_set_total(all->hosts);
		rig_sum_hosts(all);
		rig_set_cpu(all, 10 + (double)i, 20);
		s->partial = i == 5;
		rig_add_job(s, "reader", i < 3 ? "rw=randread bs=4KiB" : "rw=randread bs=64KiB",
			    "a", "t");
		rig_add_check(r, s, "read.iops > 50k", i < 3 ? CHECK_PASSED : CHECK_FAILED,
			      i < 3 ? "read.iops is 100000" : "read.iops is 20000");
	}
	result_warn(r, NULL, NULL,
		    "bs=4k, repeat 1: all threads ran together for only 97.1 % of the time");
	result_warn(r, NULL, NULL,
		    "bs=4k, repeat 2: all threads ran together for only 97.4 % of the time");
	summary_fill(r);
}

void results_many(struct result *r)
{
	enum { HOSTS = 64 };
	char *names[HOSTS];
	struct result_group *all;

	for (size_t h = 0; h < HOSTS; h++)
		names[h] = xasprintf("node%02zu", h);
	rig_fill_run(r, "many", (const char *const *)names, HOSTS);
	all = rig_add_step(r, "main", 1)->groups;
	rig_name_group(all, "all", HOSTS, S);
	all->hosts = xcalloc(HOSTS, sizeof(*all));
	all->nr_hosts = HOSTS;
	for (size_t h = 0; h < HOSTS; h++) {
		rig_name_group(&all->hosts[h], names[h], 1, S);
		rig_set_direction(&all->hosts[h].dir[DIR_READ], h == 50 ? 500 : 1000 + h % 7, 4096,
				  MS, S);
		all->hosts[h].dir[DIR_READ].sum.counts.errors = h == 60;
		rig_set_total(&all->hosts[h]);
		rig_add_device(&r->steps[0], names[h], "lun0", "sdb")->read_ios = 1000;
		r->steps[0].devices[h].has_foreign = true;
		r->steps[0].devices[h].foreign_ios = h == 40;
		free(names[h]);
	}
	rig_sum_hosts(all);
}

/* Sixteen threads that write and flush after every write, through the page cache. */
void results_fsync(struct result *r)
{
	static const char *const hosts[] = { "local" };
	const uint64_t ran = 60015 * MS, ios = 26900;
	struct result_direction *write, *sync;
	struct result_device *device;
	struct result_group *all;
	struct result_step *s;

	rig_fill_run(r, "seed-ext4-fsync", hosts, 1);
	result_warn(r, "local", "file", "job 'rw': 1.5 GiB of page cache were dropped");
	s = rig_add_step(r, "main", 1);
	s->has_start = true;
	s->start_last_host = xstrdup("local");
	s->overlap = 0.9998;
	rig_add_job(s, "rw",
		    "rw=randwrite bs=16KiB iodepth=1 numjobs=16 runtime=1m time_based=true "
		    "direct=false "
		    "engine=psync fsync=1 drop_caches=true",
		    "local", "file");
	all = s->groups;
	rig_name_group(all, "all", 16, ran);
	all->depth = 16;
	all->effective_depth = 1;
	all->buffered_threads = 16;
	rig_name_group(rig_add_members(&all->hosts, &all->nr_hosts, 1), "local", 16, ran);
	write = &all->hosts->dir[DIR_WRITE];
	sync = &all->hosts->dir[DIR_SYNC];
	rig_set_direction(write, ios, 16384, 58 * US, ran);
	rig_set_direction(sync, ios, 0, 32 * MS, ran);
	sync->sum.counts.drain_ios = 16;
	sync->sum.counts.drain_lat_max_ns = 61 * MS;
	hist_add(&sync->sum.lat, 61 * MS, 16);
	rig_set_total(all->hosts);
	rig_sum_hosts(all);
	rig_set_samples(&all->dir[DIR_WRITE]);
	rig_set_cpu(all, 0.41, 3.75);
	all->depths.bucket[0] = all->submits.bucket[0] = all->completes.bucket[0] = 2 * ios + 16;
	all->has_depths = true;
	device = rig_add_device(s, "local", "file", "loop0");
	device->is_file = true;
	device->write_ios = 30627;
	device->write_bytes = 30627ull * 16384;
	device->write_merges = 2125;
	device->write_ticks_ns = 410990 * MS;
	device->in_queue_ns = 411003 * MS;
	device->flush_ios = 14002;
	device->util = 99.94;
	device->has_cached = true;
	summary_fill(r);
}

static void add_stuck(struct result_step *s)
{
	for (size_t i = 0; i < 24; i++) {
		s->stuck = xrealloc(s->stuck, i + 1, sizeof(*s->stuck));
		s->stuck[s->nr_stuck++] = (struct result_stuck) {
			.host = xstrdup("node1"),
			.target = xstrdup("disk"),
			.path = xstrdup("/dev/sdb"),
			.offset = 1048576 * i,
			.bytes = 4096,
			.age_ns = 31 * S - i * MS,
			.direction = DIR_READ,
		};
	}
}

/* Two devices of one host, two jobs; errors of several kinds, and a device that hangs. */
void results_hung(struct result *r)
{
	static const char *const hosts[] = { "node1" }, *const targets[] = { "nvme", "disk" };
	static const char *const jobs[] = { "oltp", "log" };
	struct result_group *all, *rows;
	struct result_step *s;

	rig_fill_run(r, "hung", hosts, 1);
	r->status = RUN_PARTIAL;
	r->exit_status = 3;
	r->hosts[0].state = HOST_HUNG;
	r->hosts[0].lost_at_ns = 61 * S;
	result_warn(r, "node1", "nvme", "throttled: the processor ran at 1.2 of 3.4 GHz");
	result_fault(r, "node1", "disk", "2 I/Os never completed; the oldest was 31.000 s old");
	s = rig_add_step(r, "main", 1);
	s->partial = true;
	s->overlap = 0.5;
	s->min_overlap = 0.99;
	rig_add_job(s, jobs[0], "rw=randread bs=4KiB iodepth=32 engine=io_uring", "node1",
		    "nvme, disk");
	rig_add_job(s, jobs[1], "rw=write bs=64KiB iodepth=2 engine=io_uring fdatasync=16", "node1",
		    "nvme");
	add_stuck(s);
	all = s->groups;
	rig_name_group(all, "all", 3, 30 * S);
	rig_name_group(rig_add_members(&all->hosts, &all->nr_hosts, 1), "node1", 3, 30 * S);
	rig_set_direction(&all->hosts->dir[DIR_READ], 90000, 4096, 700 * US, 30 * S);
	rig_set_direction(&all->hosts->dir[DIR_WRITE], 30000, 65536, 2 * MS, 30 * S);
	rig_set_direction(&all->hosts->dir[DIR_SYNC], 1800, 0, 9 * MS, 30 * S);
	all->hosts->dir[DIR_READ].sum.counts.unfinished_ios = 24;
	all->hosts->dir[DIR_READ].sum.counts.unfinished_age_ns = 31 * S;
	all->hosts->dir[DIR_READ].sum.counts.errors = 13;
	all->hosts->dir[DIR_WRITE].sum.counts.errors = 2;
	all->hosts->dir[DIR_WRITE].sum.counts.short_ios = 1;
	all->hosts->dir[DIR_SYNC].sum.counts.errors = 1;
	rig_set_total(all->hosts);
	rig_sum_hosts(all);
	rig_add_error(all, &(struct rig_error) { DIR_READ, 5, "EIO", 12, "node1", "nvme", 40960,
						 1500 * MS });
	rig_add_error(all,
		      &(struct rig_error) { DIR_READ, 61, "ENODATA", 1, "node1", "disk", 0, 0 });
	rig_add_error(all, &(struct rig_error) { DIR_WRITE, 28, "ENOSPC", 2, "node1", "nvme",
						 1ull << 40, 29 * S });
	rig_add_error(all, &(struct rig_error) { DIR_SYNC, 5, "EIO", 1, "node1", "nvme", UINT64_MAX,
						 29500 * MS });
	rows = rig_add_members(&all->targets, &all->nr_targets, 2);
	for (size_t i = 0; i < 2; i++) {
		rig_name_group(&rows[i], targets[i], i ? 1 : 2, 30 * S);
		rig_set_direction(&rows[i].dir[DIR_READ], i ? 10000 : 80000, 4096,
				  (i ? 3000 : 400) * US, 30 * S);
		rig_set_total(&rows[i]);
		rows[i].total.sum.counts.errors = i ? 1 : 14;
	}
	rows = rig_add_members(&all->jobs, &all->nr_jobs, 2);
	for (size_t i = 0; i < 2; i++) {
		rig_name_group(&rows[i], jobs[i], i ? 1 : 2, 30 * S);
		rig_set_direction(&rows[i].dir[i], i ? 30000 : 90000, i ? 65536 : 4096,
				  (i ? 2000 : 700) * US, 30 * S);
		rig_set_total(&rows[i]);
	}
	rig_add_device(s, "node1", "disk", "sdb")->read_ios = 10024;
	s->devices[0].read_bytes = 10024ull * 4096;
	s->devices[0].util = 100;
	rig_add_device(s, "node1", "nvme", "nvme0n1")->read_ios = 80012;
	s->devices[1].read_bytes = 80012ull * 4096;
	s->devices[1].write_ios = 30002;
	s->devices[1].write_bytes = 30002ull * 65536;
	s->devices[1].discard_ios = 12;
	s->devices[1].discard_bytes = 12ull << 30;
	s->devices[1].util = 61.3;
	summary_fill(r);
}

/* Nothing but zeros: no I/O, no time, no hosts that answered. */
void results_empty(struct result *r)
{
	static const char *const hosts[] = { "node1", "node2" };
	struct result_group *all;

	rig_fill_run(r, "empty", hosts, 2);
	r->status = RUN_ABORTED;
	r->exit_status = 130;
	all = rig_add_step(r, "main", 1)->groups;
	r->steps[0].partial = true;
	r->steps[0].hosts_text = xstrdup("0 of 2 hosts");
	rig_name_group(all, "all", 0, 0);
	all->depth = all->effective_depth = 0;
	all->dir[DIR_READ].used = all->total.used = true;
	all->dir[DIR_READ].iops = all->dir[DIR_READ].bw_bytes = NAN;
	all->total.iops = all->total.bw_bytes = NAN;
	rig_add_members(&all->hosts, &all->nr_hosts, 2);
	for (size_t h = 0; h < 2; h++)
		rig_name_group(&all->hosts[h], hosts[h], 0, 0);
	summary_fill(r);
}
