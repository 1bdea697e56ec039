/* SPDX-License-Identifier: Apache-2.0 */
/* A step while it runs: intervals, samples against totals, and what a peer must not send. */
#include "tests/unit/coordinator/fleet.h"

#include <criterion/criterion.h>
#include <math.h>

static const uint64_t MS = 1000000, US = 1000, S = 1000000000;

/* --- intervals --------------------------------------------------------------------------------------- */

Test(collector, one_sample_per_interval)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result_direction *d;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	fleet_intervals(&f, 0, 10, 100);
	fleet_total(&f, 0, 1000, 10);
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
		cr_assert_null(fleet_interval(&f, 0, k, 100 + 10 * k));
		cr_assert_null(fleet_interval(&f, 1, k, 200));
	}
	fleet_total(&f, 0, 460, 4);
	fleet_total(&f, 1, 800, 4);
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
	fleet_total(&f, 0, 1250, 1);
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
	fleet_intervals(&f, 0, 2, 100);
	fleet_total(&f, 0, 200, 2);
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
	fleet_intervals(&f, 0, 5, 100);
	fleet_intervals(&f, 1, 8, 300);
	fleet_total(&f, 0, 500, 5);
	fleet_total(&f, 1, 2400, 8);
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
	fleet_intervals(&f, 0, 3, 100);
	fleet_total(&f, 0, 300, 3);
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
	fleet_intervals(&f, 0, 3, 100);
	fleet_total(&f, 0, 301, 3);
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
	fleet_intervals(&f, 0, 1, 100);
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
			cr_assert_null(fleet_interval(&f, 0, k, 100));
	fleet_total(&f, 0, 600, 6);
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
	cr_assert_null(fleet_interval(&f, 0, 0, 5));
	expect_refused(&f, 0, ok, (struct load) { 0 }, "sample 0 again");
	fleet_total(&f, 0, 5, 1);
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
