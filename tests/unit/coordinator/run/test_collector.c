/* SPDX-License-Identifier: Apache-2.0 */
/* The collector as the coordinator uses it: samples, totals, lost hosts, warnings, repeats. */
#include "tests/unit/coordinator/fleet.h"

#include <criterion/criterion.h>
#include <math.h>

static const uint64_t MS = 1000000, US = 1000, S = 1000000000;

/* A sample of interval k with these many I/Os of one member, all threads running. */
static struct error *send_interval(struct test_fleet *f, size_t host, uint64_t k, uint64_t ios)
{
	struct msg_sample m = {
		.sequence = k,
		.interval = (int64_t)k,
		.from_ns = k * S,
		.to_ns = (k + 1) * S,
		.running = 1,
	};
	struct load l = { .dir = DIR_READ };
	struct error *err;

	load_add(&l, ios, 4096, 100 * US);
	err = fleet_sample(f, host, m, &l, 1);
	hist_fini(&l.lat);
	return err;
}

static void send_intervals(struct test_fleet *f, size_t host, uint64_t nr, uint64_t ios)
{
	for (uint64_t k = 0; k < nr; k++)
		cr_assert_null(send_interval(f, host, k, ios));
}

static void send_total(struct test_fleet *f, size_t host, uint64_t ios, uint64_t samples)
{
	struct member_done member = fleet_member(0, 1, 0, samples * S);
	struct msg_done done = { .samples = samples, .members = &member, .nr_members = 1 };
	struct load l = { .dir = DIR_READ };

	load_add(&l, ios, 4096, 100 * US);
	fleet_done(f, host, done, &l, 1);
}

/* --- intervals --------------------------------------------------------------------------------------- */

Test(collector, one_sample_per_interval)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result_direction *d;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	send_intervals(&f, 0, 10, 100);
	send_total(&f, 0, 1000, 10);
	d = &fleet_finish(&f)->steps[0].groups[0].dir[DIR_READ];
	cr_expect_eq(d->iops_samples.n, 10);
	cr_expect_float_eq(d->iops_samples.min, 100, 1e-9);
	cr_expect_float_eq(d->iops_samples.max, 100, 1e-9);
	cr_expect_float_eq(d->iops_samples.stddev, 0, 1e-9);
	cr_expect_float_eq(d->bw_samples.mean, 409600, 1e-6);
	cr_expect_eq(d->iops_samples.interval_ns, S);
	cr_expect(d->has_common);
	cr_expect_eq(d->common_start_ns, 0);
	cr_expect_eq(d->common_end_ns, 10 * S);
	cr_expect_float_eq(d->common_iops, 100, 1e-9);
	cr_expect_eq(collector_errors(f.collector), 0);
	fleet_fini(&f);
}

Test(collector, hosts_add_within_an_interval)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result_group *all;
	struct test_fleet f;

	fleet_init(&f, 2, &job, 1);
	collector_begin(f.collector, 0, 0);
	for (uint64_t k = 0; k < 4; k++) {
		cr_assert_null(send_interval(&f, 0, k, 100 + 10 * k));
		cr_assert_null(send_interval(&f, 1, k, 200));
	}
	send_total(&f, 0, 460, 4);
	send_total(&f, 1, 800, 4);
	all = &fleet_finish(&f)->steps[0].groups[0];
	cr_expect_eq(all->total.iops_samples.n, 4);
	cr_expect_float_eq(all->total.iops_samples.min, 300, 1e-9);
	cr_expect_float_eq(all->total.iops_samples.max, 330, 1e-9);
	cr_expect_float_eq(all->total.iops_samples.mean, 315, 1e-9);
	/* 300 310 320 330: the sum of squares is 500, over n - 1 */
	cr_expect_float_eq(all->total.iops_samples.stddev, sqrt(500.0 / 3), 1e-9);
	cr_expect_float_eq(all->hosts[1].total.iops_samples.mean, 200, 1e-9);
	fleet_fini(&f);
}

Test(collector, rates_divide_by_the_time_between_readings)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct msg_sample m = { .interval = 0, .from_ns = 0, .to_ns = 1250 * MS, .running = 1 };
	struct load l = { .dir = DIR_READ };
	const struct result *r;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	load_add(&l, 1250, 4096, 100 * US);
	cr_assert_null(fleet_sample(&f, 0, m, &l, 1));
	hist_fini(&l.lat);
	send_total(&f, 0, 1250, 1);
	r = fleet_finish(&f);
	cr_expect_float_eq(r->steps[0].groups[0].total.iops_samples.mean, 1000, 1e-9);
	cr_expect(fleet_warned(r, "1 of 1 samples were taken late"));
	fleet_fini(&f);
}

Test(collector, no_common_window_under_three_intervals)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result_direction *d;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	send_intervals(&f, 0, 2, 100);
	send_total(&f, 0, 200, 2);
	d = &fleet_finish(&f)->steps[0].groups[0].dir[DIR_READ];
	cr_expect_eq(d->iops_samples.n, 2);
	cr_expect_not(d->has_common);
	fleet_fini(&f);
}

/* One host ends after 5 s, the other after 8: the group's window is the first five intervals. */
Test(collector, common_window_ends_with_the_first_that_ends)
{
	struct job job = fleet_job("r", RW_READ);
	const struct result *r;
	const struct result_group *all;
	struct test_fleet f;

	fleet_init(&f, 2, &job, 1);
	collector_begin(f.collector, 0, 0);
	send_intervals(&f, 0, 5, 100);
	send_intervals(&f, 1, 8, 300);
	send_total(&f, 0, 500, 5);
	send_total(&f, 1, 2400, 8);
	r = fleet_finish(&f);
	all = &r->steps[0].groups[0];
	cr_expect_eq(all->total.common_end_ns, 5 * S);
	cr_expect_float_eq(all->total.common_iops, 400, 1e-9);
	cr_expect_float_eq(all->total.iops, 2900 / 8.0, 1e-9);
	cr_expect_eq(all->hosts[1].total.iops_samples.n, 8);
	cr_expect_float_eq(r->steps[0].overlap, 5.0 / 8, 1e-6);
	cr_expect(fleet_warned(r, "all threads ran together for only 62.5 % of the time"));
	fleet_fini(&f);
}

/* With a ramp, interval 0 begins at its end, and the window is told since START. */
Test(collector, intervals_count_from_the_end_of_the_ramp)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct member_done member = fleet_member(0, 1, 2500 * MS, 5500 * MS);
	struct load total = { .dir = DIR_READ };
	const struct result_direction *d;
	struct test_fleet f;

	job.ramp_time_ns = 2500 * MS;
	job.runtime_ns = 3 * S;
	job.time_based = true;
	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	for (uint64_t k = 0; k < 4; k++) {
		struct msg_sample m = {
			.sequence = k,
			.interval = (int64_t)k - 1,
			.from_ns = k ? 1500 * MS + k * S : 0,
			.to_ns = 2500 * MS + k * S,
			.running = 1,
		};
		struct load l = { .dir = DIR_READ };

		if (k)
			load_add(&l, 100, 4096, 100 * US);
		else
			l.counts.ramp_ios = 250;
		cr_assert_null(fleet_sample(&f, 0, m, &l, 1));
		hist_fini(&l.lat);
	}
	load_add(&total, 300, 4096, 100 * US);
	total.counts.ramp_ios = 250;
	fleet_done(&f, 0, (struct msg_done) { .samples = 4, .members = &member, .nr_members = 1 },
		   &total, 1);
	d = &fleet_finish(&f)->steps[0].groups[0].dir[DIR_READ];
	cr_expect_eq(d->iops_samples.n, 3);
	cr_expect_eq(d->common_start_ns, 2500 * MS);
	cr_expect_eq(d->common_end_ns, 5500 * MS);
	cr_expect_eq(d->runtime_ns, 3 * S);
	cr_expect_float_eq(d->iops, 100, 1e-9);
	cr_expect_eq(d->sum.counts.ramp_ios, 250);
	fleet_fini(&f);
}

/* --- samples against totals -------------------------------------------------------------------------- */

Test(collector, totals_that_agree_say_nothing)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result *r;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	send_intervals(&f, 0, 3, 100);
	send_total(&f, 0, 300, 3);
	r = fleet_finish(&f);
	cr_expect_eq(r->nr_warnings, 0);
	fleet_fini(&f);
}

Test(collector, totals_that_differ_are_said_and_stand)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result *r;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	send_intervals(&f, 0, 3, 100);
	send_total(&f, 0, 301, 3);
	r = fleet_finish(&f);
	cr_assert_eq(r->nr_warnings, 1);
	cr_expect_str_eq(
		r->warnings[0].text,
		"job 'r': the sum of the samples differs from the totals, which are reported: "
		"read: ios 300 in the samples, 301 in the totals");
	cr_expect_str_eq(r->warnings[0].host, "h0");
	cr_expect_eq(r->steps[0].groups[0].total.sum.counts.ios, 301);
	fleet_fini(&f);
}

Test(collector, another_histogram_is_a_difference)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct load l = { .dir = DIR_READ };
	const struct result *r;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	send_intervals(&f, 0, 1, 100);
	load_add(&l, 99, 4096, 100 * US);
	load_add(&l, 1, 4096, 200 * US);
	fleet_done(&f, 0, (struct msg_done) { .samples = 1 }, &l, 1);
	r = fleet_finish(&f);
	cr_expect(fleet_warned(r, "another latency histogram"));
	fleet_fini(&f);
}

Test(collector, a_gap_in_the_sequence_is_said_once)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result *r;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	for (uint64_t k = 0; k < 6; k++)
		if (k != 2)
			cr_assert_null(send_interval(&f, 0, k, 100));
	send_total(&f, 0, 600, 6);
	r = fleet_finish(&f);
	cr_assert_eq(r->nr_warnings, 1);
	cr_expect(fleet_warned(r, "1 of 6 samples were lost"));
	cr_expect_eq(r->steps[0].groups[0].total.sum.counts.ios, 600);
	cr_expect_eq(r->steps[0].groups[0].total.iops_samples.n, 5);
	fleet_fini(&f);
}

Test(collector, latencies_that_are_not_those_of_the_ios_are_said)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct load l = { .dir = DIR_READ };
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	load_add(&l, 10, 4096, 100 * US);
	l.counts.drain_ios = 2;
	fleet_done(&f, 0, (struct msg_done) { .samples = 1 }, &l, 1);
	cr_expect(fleet_warned(fleet_finish(&f), "10 latencies of 12 I/Os"));
	fleet_fini(&f);
}

/* --- what a peer must not send ----------------------------------------------------------------------- */

static void expect_refused(struct test_fleet *f, size_t host, struct msg_sample m, struct load l,
			   const char *text)
{
	struct error *err = fleet_sample(f, host, m, &l, 1);

	cr_assert_not_null(err);
	cr_expect_eq(error_code(err), ERR_PROTOCOL);
	cr_expect(strstr(error_message(err), text) != NULL, "%s", error_message(err));
	error_destroy(&err);
}

Test(collector, refuses_what_makes_no_sense)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct msg_sample ok = { .interval = 0, .to_ns = S, .running = 1 };
	struct msg_sample backwards = { .interval = 0, .from_ns = S, .to_ns = 1 };
	struct msg_sample far = { .interval = INT64_MAX, .to_ns = 1 };
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	expect_refused(&f, 0, ok, (struct load) { 0 }, "while nothing runs");
	collector_begin(f.collector, 0, 0);
	expect_refused(&f, 0, ok, (struct load) { .member = 1 }, "a member that it does not have");
	expect_refused(&f, 0, ok, (struct load) { .dir = DIR_COUNT }, "unknown direction");
	expect_refused(&f, 0, backwards, (struct load) { 0 }, "impossible instants");
	expect_refused(&f, 0, far, (struct load) { 0 }, "impossible instants");
	cr_assert_null(send_interval(&f, 0, 0, 5));
	expect_refused(&f, 0, ok, (struct load) { 0 }, "sample 0 again");
	send_total(&f, 0, 5, 1);
	ok.sequence = 1;
	expect_refused(&f, 0, ok, (struct load) { 0 }, "out of turn");
	fleet_fini(&f);
}

Test(collector, refuses_bytes_that_are_no_histogram_and_adds_nothing_of_them)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	uint8_t bytes[] = { 10, 1, 5, 0x83, 0x01, 7, 0xff, 0xff };
	struct member_row row = { .lat = bytes, .lat_len = sizeof(bytes) };
	struct msg_sample m = { .to_ns = S, .rows = &row, .nr_rows = 1 };
	struct error *err;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	err = collector_sample(f.collector, 0, &m);
	cr_assert_not_null(err);
	error_destroy(&err);
	collector_lost(f.collector, 0, HOST_LOST, 5 * S);
	cr_expect_eq(fleet_finish(&f)->steps[0].groups[0].total.sum.lat.count, 0);
	fleet_fini(&f);
}

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
	send_intervals(&f, 0, 3, 100);
	send_intervals(&f, 1, 10, 200);
	collector_lost(f.collector, 0, HOST_LOST, 7 * S + 3210 * MS);
	send_total(&f, 1, 2000, 10);
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
	cr_expect(fleet_warned(r, "lost 3.210 s after the start"));
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
	send_intervals(&f, 1, 4, 10);
	send_total(&f, 1, 40, 4);
	r = fleet_finish(&f);
	cr_expect_str_eq(r->steps[0].hosts_text, "1 of 2 hosts");
	cr_expect_eq(r->steps[0].groups[0].nr_hosts, 1);
	cr_expect_eq(r->steps[0].groups[0].threads, 1);
	cr_expect_eq(r->steps[0].groups[0].total.iops_samples.n, 4);
	cr_expect_gt(r->hosts[0].lost_at_ns, 0);
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
	struct member_done m = fleet_member(0, 1, 0, S);
	struct load l = { .dir = DIR_READ };
	const struct result *r;
	struct test_fleet f;

	m.first_error = (char *)"read: Input/output error at offset 4096 (3 of them)";
	fleet_init(&f, 2, &job, 1);
	collector_begin(f.collector, 0, 0);
	load_add(&l, 10, 4096, MS);
	l.counts.errors = 3;
	l.counts.short_ios = 2;
	l.counts.unfinished_ios = 1;
	l.counts.unfinished_age_ns = 2500 * MS;
	fleet_done(&f, 1, (struct msg_done) { .members = &m, .nr_members = 1 }, &l, 1);
	l = (struct load) { .dir = DIR_READ };
	m.first_error = NULL;
	load_add(&l, 10, 4096, MS);
	fleet_done(&f, 0, (struct msg_done) { .members = &m, .nr_members = 1 }, &l, 1);
	cr_expect_eq(collector_errors(f.collector), 3);
	r = fleet_finish(&f);
	cr_expect_eq(collector_errors(f.collector), 3);
	cr_expect_str_eq(r->steps[0].groups[0].first_error,
			 "h1: read: Input/output error at offset 4096 (3 of them)");
	cr_expect_str_eq(r->steps[0].groups[0].hosts[1].first_error,
			 "read: Input/output error at offset 4096 (3 of them)");
	cr_expect(fleet_warned(r, "job 'r': 3 I/O errors; first: read: Input/output error"));
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
	send_intervals(&f, 0, 2, 100);
	send_intervals(&f, 1, 2, 300);
	collector_lost(f.collector, 2, HOST_LOST, 1);
	collector_live(f.collector, &live);
	cr_expect_float_eq(live.iops, 400, 1e-9);
	cr_expect_float_eq(live.bw_bytes, 400 * 4096, 1e-6);
	cr_expect_eq(live.hosts_running, 2);
	cr_expect_eq(live.hosts_total, 3);
	fleet_fini(&f);
}

/* Two members of one host, one with a ramp of 2 s: what it does there is not in the intervals, so the group
 * counts from its window on, and the member without a ramp by itself from the start. */
Test(collector, intervals_wait_for_the_last_ramp)
{
	struct job jobs[2] = { fleet_job("a", RW_RANDREAD), fleet_job("b", RW_RANDREAD) };
	struct member_done members[2] = { fleet_member(0, 1, 0, 6 * S),
					  fleet_member(1, 1, 2 * S, 6 * S) };
	struct load totals[2] = { { .member = 0 }, { .member = 1 } };
	const struct result_group *all;
	struct test_fleet f;

	jobs[0].time_based = jobs[1].time_based = true;
	jobs[0].runtime_ns = 6 * S;
	jobs[1].ramp_time_ns = 2 * S;
	jobs[1].runtime_ns = 4 * S;
	members[1].all_begin_ns = 1;
	fleet_init(&f, 1, jobs, 2);
	collector_begin(f.collector, 0, 0);
	for (uint64_t k = 0; k < 6; k++) {
		struct msg_sample m = {
			.sequence = k,
			.interval = (int64_t)k,
			.from_ns = k * S,
			.to_ns = (k + 1) * S,
			.running = 2,
		};
		struct load l[2] = { { .member = 0 }, { .member = 1 } };

		load_add(&l[0], 100, 4096, MS);
		if (k >= 2)
			load_add(&l[1], 50, 4096, MS);
		cr_assert_null(fleet_sample(&f, 0, m, l, 2));
		hist_fini(&l[0].lat);
		hist_fini(&l[1].lat);
	}
	load_add(&totals[0], 600, 4096, MS);
	load_add(&totals[1], 200, 4096, MS);
	fleet_done(&f, 0, (struct msg_done) { .samples = 6, .members = members, .nr_members = 2 },
		   totals, 2);
	all = &fleet_finish(&f)->steps[0].groups[0];
	cr_expect_eq(all->total.iops_samples.n, 4);
	cr_expect_float_eq(all->total.iops_samples.min, 150, 1e-9);
	cr_expect_eq(all->total.common_start_ns, 2 * S);
	cr_expect_eq(all->jobs[0].total.iops_samples.n, 6);
	cr_expect_eq(all->jobs[1].total.iops_samples.n, 4);
	fleet_fini(&f);
}
