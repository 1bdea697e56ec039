/* SPDX-License-Identifier: Apache-2.0 */
/* The collector as the coordinator uses it: samples, totals, lost hosts, warnings, repeats. */
#include "tests/unit/coordinator/fleet.h"

#include <criterion/criterion.h>
#include <math.h>

static const uint64_t MS = 1000000, US = 1000, S = 1000000000;

/* --- lost hosts --------------------------------------------------------------------------------------- */

Test(collector, samples_of_a_lost_host_stay)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result_group *all;
	const struct result *r;
	struct test_fleet f;

	job.time_based = true;
	job.runtime_ns = 10 * S;
	fleet_init(&f, 2, &job, 1);
	collector_begin(f.collector, 0, 7 * S);
	/* The host's clock is 7 s behind, so START is 0 there. */
	collector_clock(f.collector, 0, -7 * (int64_t)S, 20 * US, 0);
	fleet_intervals(&f, 0, 3, 100);
	fleet_intervals(&f, 1, 10, 200);
	collector_lost(f.collector, 0, HOST_LOST, 7 * S + 3210 * MS);
	fleet_total(&f, 1, 2000, 10);
	r = fleet_finish(&f);
	all = &r->steps[0].groups[0];
	cr_expect_eq(r->hosts[0].state, HOST_LOST);
	cr_expect_eq(r->hosts[0].lost_at_ns, 3210 * MS);
	cr_expect_str_eq(r->steps[0].hosts_text, "1 of 2 hosts");
	cr_expect(r->steps[0].partial);
	cr_expect_eq(all->total.sum.counts.ios, 2300);
	cr_expect_eq(all->hosts[0].total.runtime_ns, 3 * S);
	cr_expect_float_eq(all->hosts[0].total.iops, 100, 1e-9);
	cr_expect_not(all->has_cpu);
	cr_expect(all->hosts[1].has_cpu);
	cr_expect_eq(all->total.iops_samples.n, 3);
	cr_expect(fleet_warned(
		r,
		"lost 3.210 s after the start; what its samples told of the step's first 3.000 s"));
	cr_expect_eq(r->nr_summary, 1);
	cr_expect_eq(r->summary[0].nr_metrics, 0);
	fleet_fini(&f);
}

Test(collector, a_host_that_was_lost_before_takes_no_part)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result *r;
	struct test_fleet f;

	fleet_init(&f, 2, &job, 1);
	collector_lost(f.collector, 0, HOST_LOST, 5);
	collector_begin(f.collector, 0, 10);
	fleet_intervals(&f, 1, 4, 10);
	fleet_total(&f, 1, 40, 4);
	r = fleet_finish(&f);
	cr_expect_str_eq(r->steps[0].hosts_text, "1 of 2 hosts");
	cr_expect_eq(r->steps[0].groups[0].nr_hosts, 1);
	cr_expect_eq(r->steps[0].groups[0].threads, 1);
	cr_expect_eq(r->steps[0].groups[0].total.iops_samples.n, 4);
	cr_expect_gt(r->hosts[0].lost_at_ns, 0);
	fleet_fini(&f);
}

Test(collector, totals_of_a_dead_io_process_are_partial)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	char text[] = "the I/O process was killed by signal 9 (Killed)";
	struct member_done member = fleet_member(0, 1, 0, 2 * S);
	struct msg_done done = {
		.samples = 2, .members = &member, .nr_members = 1, .failure = text
	};
	struct load load = { .dir = DIR_READ };
	const struct result *r;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	fleet_intervals(&f, 0, 2, 50);
	load_add(&load, 100, 4096, 100 * US);
	fleet_done(&f, 0, done, &load, 1);
	r = fleet_finish(&f);
	cr_expect(r->steps[0].partial);
	cr_expect_float_eq(r->steps[0].groups[0].total.iops, 50, 1e-9);
	cr_expect_not(r->steps[0].groups[0].has_cpu, "nobody was left to read it");
	cr_expect_eq(r->summary[0].nr_metrics, 0, "it is no repeat like the others");
	fleet_fini(&f);
}

Test(collector, steps_that_did_not_run_are_counted)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct load l = { .dir = DIR_READ };
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	fleet_steps(&f, 2, 2);
	f.plan.steps[3].measured = false;
	collector_begin(f.collector, 0, 0);
	load_add(&l, 10, 4096, MS);
	fleet_done_one(&f, 0, l, 0, S);
	cr_expect(fleet_warned(fleet_finish(&f), "2 of 3 measured steps did not run"));
	fleet_fini(&f);
}

Test(collector, nothing_measured_is_not_zero)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result_group *all;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	collector_lost(f.collector, 0, HOST_LOST, 5);
	all = &fleet_finish(&f)->steps[0].groups[0];
	cr_expect(isnan(all->total.iops));
	cr_expect(isnan(all->dir[DIR_READ].bw_bytes));
	cr_expect_eq(all->total.sum.lat.count, 0);
	cr_expect_not(all->has_cpu);
	cr_expect_not(all->dir[DIR_WRITE].used);
	fleet_fini(&f);
}

/* --- start, runtime, errors --------------------------------------------------------------------------- */

Test(collector, start_spread_over_hosts)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result_step *s;
	struct test_fleet f;

	fleet_init(&f, 3, &job, 1);
	collector_begin(f.collector, 0, 100);
	collector_clock(f.collector, 0, 5 * (int64_t)S, 20 * US, 1);
	collector_clock(f.collector, 1, -5 * (int64_t)S, 70 * US, 1);
	collector_clock(f.collector, 2, 0, 30 * US, 1);
	for (size_t h = 0; h < 3; h++) {
		struct member_done m = fleet_member(0, 1, 0, S);
		struct load l = { .dir = DIR_READ };

		m.first_io_ns = (h == 1 ? 450 : 100 + 10 * h) * US;
		load_add(&l, 10, 4096, MS);
		fleet_done(&f, h, (struct msg_done) { .members = &m, .nr_members = 1 }, &l, 1);
	}
	/* News about a clock after the start does not change the start. */
	collector_clock(f.collector, 1, 0, 900 * US, 1);
	s = &fleet_finish(&f)->steps[0];
	cr_expect(s->has_start);
	cr_expect_eq(s->start_spread_ns, 350 * US);
	cr_expect_eq(s->start_error_ns, 70 * US);
	cr_expect_str_eq(s->start_last_host, "h1");
	fleet_fini(&f);
}

/* Of two hosts only one's first I/O is known: that is no spread of 0. */
Test(collector, one_host_that_is_left_has_no_spread)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct member_done m = fleet_member(0, 1, 0, S);
	struct load l = { .dir = DIR_READ };
	struct test_fleet f;

	fleet_init(&f, 2, &job, 1);
	collector_begin(f.collector, 0, 0);
	m.first_io_ns = 100 * US;
	load_add(&l, 10, 4096, MS);
	fleet_done(&f, 0, (struct msg_done) { .members = &m, .nr_members = 1 }, &l, 1);
	collector_lost(f.collector, 1, HOST_LOST, S);
	cr_expect_not(fleet_finish(&f)->steps[0].has_start);
	fleet_fini(&f);
}

/* The window is 2 s; end_fsync takes 1 s more: it is in the writes' time and the group's, not the reads'. */
Test(collector, end_fsync_is_part_of_the_writes)
{
	struct job job = fleet_job("m", RW_RANDRW);
	struct member_done m = fleet_member(0, 1, S, 4 * S);
	struct load loads[3] = { { .dir = DIR_READ }, { .dir = DIR_WRITE }, { .dir = DIR_SYNC } };
	const struct result_group *all;
	struct test_fleet f;

	job.time_based = true;
	job.ramp_time_ns = S;
	job.runtime_ns = 2 * S;
	job.end_fsync = true;
	m.read_end_ns = 2999 * MS;
	m.write_end_ns = 2998 * MS;
	m.sync_end_ns = 4 * S;
	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	load_add(&loads[0], 100, 4096, MS);
	load_add(&loads[1], 60, 4096, MS);
	load_add(&loads[2], 1, 0, S);
	fleet_done(&f, 0, (struct msg_done) { .members = &m, .nr_members = 1 }, loads, 3);
	all = &fleet_finish(&f)->steps[0].groups[0];
	cr_expect_eq(all->dir[DIR_READ].runtime_ns, 2 * S);
	cr_expect_eq(all->dir[DIR_WRITE].runtime_ns, 3 * S);
	cr_expect_eq(all->runtime_ns, 3 * S);
	cr_expect_eq(all->total.runtime_ns, 3 * S);
	cr_expect_float_eq(all->dir[DIR_WRITE].iops, 20, 1e-9);
	cr_expect_float_eq(all->dir[DIR_READ].iops, 50, 1e-9);
	/* A flush is no transfer: it is counted apart. */
	cr_expect_eq(all->total.sum.counts.ios, 160);
	cr_expect_eq(all->dir[DIR_SYNC].sum.counts.ios, 1);
	cr_expect_eq(all->dir[DIR_SYNC].sum.lat.count, 1);
	fleet_fini(&f);
}

/* Without time_based a direction ends with its last I/O, or with end_fsync. */
Test(collector, a_pass_ends_with_its_last_io)
{
	struct job job = fleet_job("m", RW_RW);
	struct member_done m = fleet_member(0, 1, 0, 5 * S);
	struct load loads[2] = { { .dir = DIR_READ }, { .dir = DIR_WRITE } };
	const struct result_group *all;
	struct test_fleet f;

	m.read_end_ns = 4 * S;
	m.write_end_ns = 5 * S;
	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	load_add(&loads[0], 100, 4096, MS);
	load_add(&loads[1], 100, 4096, MS);
	fleet_done(&f, 0, (struct msg_done) { .members = &m, .nr_members = 1 }, loads, 2);
	all = &fleet_finish(&f)->steps[0].groups[0];
	cr_expect_float_eq(all->dir[DIR_READ].iops, 25, 1e-9);
	cr_expect_float_eq(all->dir[DIR_WRITE].iops, 20, 1e-9);
	cr_expect_float_eq(all->total.iops, 40, 1e-9);
	cr_expect_not(all->dir[DIR_SYNC].used);
	fleet_fini(&f);
}

Test(collector, cpu_is_percent_of_one_cpu)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct member_done m = fleet_member(0, 1, 0, 2 * S);
	struct load l = { .dir = DIR_READ };
	const struct result_group *all;
	struct test_fleet f;

	m.cpu_usr_ns = 500 * MS;
	m.cpu_sys_ns = 1500 * MS;
	m.ctx = 7;
	fleet_init(&f, 2, &job, 1);
	collector_begin(f.collector, 0, 0);
	for (size_t h = 0; h < 2; h++) {
		load_add(&l, 1, 4096, MS);
		fleet_done(&f, h, (struct msg_done) { .members = &m, .nr_members = 1 }, &l, 1);
		l = (struct load) { .dir = DIR_READ };
	}
	all = &fleet_finish(&f)->steps[0].groups[0];
	cr_expect(all->has_cpu);
	cr_expect_float_eq(all->cpu_usr, 50, 1e-9);
	cr_expect_float_eq(all->cpu_sys, 150, 1e-9);
	cr_expect_eq(all->ctx, 14);
	cr_expect_float_eq(all->hosts[0].cpu_sys, 75, 1e-9);
	fleet_fini(&f);
}

Test(collector, errors_are_counted_named_and_warned_about)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct error_row row = { .direction = DIR_READ,
				 .number = 5,
				 .name = (char *)"EIO",
				 .count = 3,
				 .first_offset = 4096,
				 .first_ns = 7 };
	struct member_done m = fleet_member(0, 1, 0, S);
	struct load l = { .dir = DIR_READ };
	const struct result *r;
	struct test_fleet f;

	m.errors = &row;
	m.nr_errors = 1;
	fleet_init(&f, 2, &job, 1);
	collector_begin(f.collector, 0, 0);
	load_add(&l, 10, 4096, MS);
	l.counts.errors = 3;
	l.counts.short_ios = 2;
	l.counts.unfinished_ios = 1;
	l.counts.unfinished_age_ns = 2500 * MS;
	fleet_done(&f, 1, (struct msg_done) { .members = &m, .nr_members = 1 }, &l, 1);
	l = (struct load) { .dir = DIR_READ };
	m.nr_errors = 0;
	load_add(&l, 10, 4096, MS);
	fleet_done(&f, 0, (struct msg_done) { .members = &m, .nr_members = 1 }, &l, 1);
	cr_expect_eq(collector_errors(f.collector), 3);
	r = fleet_finish(&f);
	cr_expect_eq(collector_errors(f.collector), 3);
	cr_assert_eq(r->steps[0].groups[0].nr_errors, 1);
	cr_expect_str_eq(r->steps[0].groups[0].errors[0].first_host, "h1");
	cr_expect_str_eq(r->steps[0].groups[0].errors[0].first_target, "t0");
	cr_expect_eq(r->steps[0].groups[0].hosts[0].nr_errors, 0);
	cr_expect(fleet_warned(r, "job 'r': 3 I/O errors; first: read: Input/output error at "
				  "offset 4096 (3 of them)"));
	cr_expect(fleet_warned(r, "2 I/Os moved fewer bytes than asked"));
	cr_expect(fleet_warned(r, "1 I/Os never completed; the oldest was 2.500 s old"));
	cr_expect_str_eq(r->warnings[0].target, "t0");
	fleet_fini(&f);
}

Test(collector, an_unmeasured_phase_leaves_only_its_warnings)
{
	struct job job = fleet_job("fill", RW_WRITE);
	struct load l = { .dir = DIR_WRITE };
	const struct result *r;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	f.plan.steps[0].measured = false;
	collector_begin(f.collector, 0, 0);
	load_add(&l, 10, 4096, MS);
	l.counts.errors = 4;
	fleet_done_one(&f, 0, l, 0, S);
	r = fleet_finish(&f);
	cr_expect_eq(r->nr_steps, 0);
	cr_expect_eq(collector_errors(f.collector), 4);
	cr_expect(fleet_warned(r, "job 'fill': 4 I/O errors"));
	fleet_fini(&f);
}

/* --- devices ------------------------------------------------------------------------------------------ */

Test(collector, devices_join_ready_and_done)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct device_info info = { .path = (char *)"/dev/loop0",
				    .transport = (char *)"loop",
				    .warning = (char *)"is mounted on /srv" };
	struct device_stat stat = {
		.read_ios = 12, .read_bytes = 49152, .busy_ns = 3 * S, .elapsed_ns = 2 * S
	};
	struct msg_ready ready = { .devices = &info, .nr_devices = 1 };
	const struct result_device *d;
	const struct result *r;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_ready(f.collector, 0, &ready);
	collector_begin(f.collector, 0, 0);
	fleet_done(&f, 0, (struct msg_done) { .devices = &stat, .nr_devices = 1 }, NULL, 0);
	r = fleet_finish(&f);
	cr_assert_eq(r->steps[0].nr_devices, 1);
	d = &r->steps[0].devices[0];
	cr_expect_str_eq(d->host, "h0");
	cr_expect_str_eq(d->target, "t0");
	cr_expect_str_eq(d->path, "/dev/loop0");
	cr_expect_str_eq(d->transport, "loop");
	cr_expect_null(d->identity);
	cr_expect_eq(d->read_bytes, 49152);
	cr_expect_float_eq(d->util, 100, 1e-9); /* never above, whatever the counters say */
	cr_expect(fleet_warned(r, "is mounted on /srv"));
	fleet_fini(&f);
}

/* --- repeats ------------------------------------------------------------------------------------------- */

static const struct result_metric *metric_of(const struct result_summary *s, const char *name)
{
	for (size_t i = 0; i < s->nr_metrics; i++)
		if (streq(s->metrics[i].name, name))
			return &s->metrics[i];
	return NULL;
}

Test(collector, summaries_over_repeats)
{
	static const uint64_t ios[] = { 90, 100, 110, 500 };
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result_metric *m;
	const struct result *r;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	fleet_steps(&f, 2, 2);
	f.plan.steps[2].point = 0; /* three repeats of the first point, one of the second */
	f.plan.steps[2].repeat = 2;
	for (size_t s = 0; s < 4; s++) {
		struct load l = { .dir = DIR_READ };

		collector_begin(f.collector, s, 0);
		load_add(&l, ios[s], 4096, MS);
		fleet_done_one(&f, 0, l, 0, S);
		collector_end(f.collector);
	}
	r = fleet_finish(&f);
	cr_assert_eq(r->nr_summary, 2);
	cr_expect_str_eq(r->summary[0].point[0].value, "4k");
	cr_expect_str_eq(r->summary[0].group, "all");
	m = metric_of(&r->summary[0], "read.iops");
	cr_assert_not_null(m);
	cr_expect_eq(m->n, 3);
	cr_expect_eq(m->nr_values, 3);
	cr_expect_float_eq(m->mean, 100, 1e-9);
	cr_expect_float_eq(m->stddev, 10, 1e-9); /* by n - 1; by n it would be 8.16 */
	cr_expect_float_eq(m->min, 90, 1e-9);
	cr_expect_float_eq(m->max, 110, 1e-9);
	cr_expect_float_eq(m->values[2], 110, 1e-9);
	cr_expect_null(metric_of(&r->summary[0], "write.iops"));
	m = metric_of(&r->summary[1], "read.iops");
	cr_assert_not_null(m);
	cr_expect_eq(m->n, 1);
	cr_expect(isnan(m->stddev));
	cr_expect_not_null(metric_of(&r->summary[1], "errors"));
	fleet_fini(&f);
}

Test(collector, a_stopped_repeat_has_no_value)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result_metric *m;
	const struct result *r;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	fleet_steps(&f, 1, 2);
	for (size_t s = 0; s < 2; s++) {
		struct member_done member = fleet_member(0, 1, 0, S);
		struct msg_done done = { .members = &member, .nr_members = 1, .stopped = s == 1 };
		struct load l = { .dir = DIR_READ };

		collector_begin(f.collector, s, 0);
		load_add(&l, 100, 4096, MS);
		fleet_done(&f, 0, done, &l, 1);
		collector_end(f.collector);
	}
	r = fleet_finish(&f);
	m = metric_of(&r->summary[0], "read.iops");
	cr_assert_not_null(m);
	cr_expect_eq(m->n, 1);
	cr_expect_eq(m->nr_values, 2);
	cr_expect(isnan(m->values[1]));
	cr_expect(r->steps[1].partial);
	cr_expect_null(r->steps[1].hosts_text);
	fleet_fini(&f);
}

Test(collector, live_is_the_last_interval_of_all_hosts)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct live live;
	struct test_fleet f;

	fleet_init(&f, 3, &job, 1);
	collector_live(f.collector, &live);
	cr_expect_eq(live.hosts_total, 0);
	collector_begin(f.collector, 0, 0);
	collector_live(f.collector, &live);
	cr_expect_not(live.has_rates);
	fleet_intervals(&f, 0, 2, 100);
	fleet_intervals(&f, 1, 2, 300);
	collector_lost(f.collector, 2, HOST_LOST, 1);
	collector_live(f.collector, &live);
	cr_expect(live.has_rates);
	cr_expect_float_eq(live.iops, 400, 1e-9);
	cr_expect_float_eq(live.bw_bytes, 400 * 4096, 1e-6);
	cr_expect_eq(live.hosts_running, 2);
	cr_expect_eq(live.hosts_total, 3);
	fleet_fini(&f);
}
