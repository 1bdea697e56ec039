/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs with a rate, on a device whose time is exact. */
#include "tests/unit/worker/io/rig.h"

#include "common/base/clock.h"

#include <criterion/criterion.h>

static struct rig rig;

static void setup(void)
{
	rig_init(&rig);
	rig.job.time_based = true;
	rig.job.runtime_ns = 100 * NS_PER_MS;
	rig.job.rate_iops = (char *)"1000";
}

static void teardown(void)
{
	rig_fini(&rig);
}

TestSuite(rate, .init = setup, .fini = teardown, .timeout = 60);

static const struct thread_stats *thread(void)
{
	return stats_thread(rig.stats, 0);
}

Test(rate, an_idle_device_answers_each_io_when_it_is_due)
{
	struct direction_sum sum;

	rig.job.iodepth = 4;
	rig.specs[0].latency_ns = 300 * NS_PER_US;
	cr_assert(rig_run(&rig));
	sum = rig_sum(&rig, DIR_READ);
	cr_assert_eq(sum.counts.ios + sum.counts.drain_ios, 100);
	cr_assert_eq(sum.counts.unissued_ios, 0);
	cr_assert_eq(sum.lat.count, 100);
	cr_assert_eq(sum.service.count, 100);
	cr_assert_eq(sum.service.max, 300 * NS_PER_US);
	cr_assert_eq(sum.late.count, 100);
	/* But for the first ones, which are due while the thread wakes. */
	cr_assert_float_eq((double)hist_percentile(&sum.lat, 50), 300 * NS_PER_US,
			   300 * NS_PER_US / 256.0);
	cr_assert_eq(hist_percentile(&sum.late, 50), 0);
	cr_assert_eq(thread()->end_ns, rig.start_ns + rig.job.runtime_ns);
	direction_sum_fini(&sum);
}

Test(rate, a_slow_device_makes_them_wait_and_none_is_forgotten)
{
	struct direction_sum sum;
	double last_due, lat;

	/* One each 2 ms, and one is due each ms: the k-th waits k ms. */
	rig.specs[0].latency_ns = 2 * NS_PER_MS;
	cr_assert(rig_run(&rig));
	sum = rig_sum(&rig, DIR_READ);
	cr_assert_eq(sum.counts.ios + sum.counts.drain_ios + sum.counts.unissued_ios, 100);
	cr_assert(sum.counts.ios >= 48 && sum.counts.ios <= 50, "%llu",
		  (unsigned long long)sum.counts.ios);
	cr_assert_eq(sum.service.min, 2 * NS_PER_MS);
	cr_assert_eq(sum.service.max, 2 * NS_PER_MS, "of itself each is as quick as ever");
	lat = (double)sum.lat.max / NS_PER_MS;
	cr_assert(lat > 48 && lat < 55, "%g ms", lat);
	last_due = (double)(sum.counts.ios + sum.counts.drain_ios);
	cr_assert_float_eq((double)sum.counts.unissued_age_ns / NS_PER_MS, 100 - last_due, 0.01);
	cr_assert_eq(hist_percentile(&sum.late, 50), 0, "the thread had no free slot");
	direction_sum_fini(&sum);
}

Test(rate, directions_keep_their_rates)
{
	rig.job.rw = RW_RANDRW;
	rig.job.rate_iops = (char *)"700,300";
	rig.job.iodepth = 4;
	rig.job.runtime_ns = 200 * NS_PER_MS;
	cr_assert(rig_run(&rig));
	cr_assert_eq(rig_counts(&rig, DIR_READ).ios + rig_counts(&rig, DIR_READ).drain_ios, 140);
	cr_assert_eq(rig_counts(&rig, DIR_WRITE).ios + rig_counts(&rig, DIR_WRITE).drain_ios, 60);
}

Test(rate, bytes_per_second)
{
	struct counts c;

	rig.job.rate_iops = NULL;
	rig.job.rate = (char *)"64m";
	rig.job.bssplit = (char *)"4k/50:64k/50";
	rig.job.iodepth = 16;
	cr_assert(rig_run(&rig));
	c = rig_counts(&rig, DIR_READ);
	cr_assert_float_eq((double)(c.bytes + c.drain_bytes) / (6.4 * (1 << 20)), 1, 0.02);
}

Test(rate, ramp_and_window_have_one_schedule)
{
	struct counts c;

	rig.job.ramp_time_ns = 50 * NS_PER_MS;
	cr_assert(rig_run(&rig));
	c = rig_counts(&rig, DIR_READ);
	cr_assert_eq(c.ramp_ios + c.ios + c.drain_ios, 150);
	cr_assert(c.ramp_ios >= 49 && c.ramp_ios <= 50);
	cr_assert_eq(c.unissued_ios, 0);
}

Test(rate, a_size_bound_job_ends_with_its_last_io)
{
	rig.job.time_based = false;
	rig.job.runtime_ns = 0;
	rig.job.io_size = 50 * 4096;
	cr_assert(rig_run(&rig));
	cr_assert_eq(rig_counts(&rig, DIR_READ).ios, 50);
	cr_assert_eq(rig_counts(&rig, DIR_READ).unissued_ios, 0);
	/* The last is due 49 ms after the start. */
	cr_assert_geq(thread()->end_ns, rig.start_ns + 49 * NS_PER_MS);
	cr_assert_lt(thread()->end_ns, rig.start_ns + 60 * NS_PER_MS);
}

Test(rate, syncs_come_between)
{
	rig.job.rw = RW_WRITE;
	rig.job.fsync = 10;
	cr_assert(rig_run(&rig));
	cr_assert_eq(rig_counts(&rig, DIR_WRITE).ios + rig_counts(&rig, DIR_WRITE).drain_ios, 100);
	cr_assert_geq(rig_counts(&rig, DIR_SYNC).ios, 9);
}

Test(rate, stop_is_heard_between_two_ios)
{
	_cleanup_(error_destroy) struct error *err = NULL;
	struct timespec pause = clock_timespec(30 * NS_PER_MS);

	rig.job.rate_iops = (char *)"1";
	rig.job.runtime_ns = 1000 * NS_PER_S;
	err = rig_new(&rig);
	cr_assert_null(err);
	rig_start(&rig);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	pool_stop(rig.pool);
	rig_wait(&rig);
	cr_assert_lt(clock_mono_ns() - rig.start_ns, 5 * NS_PER_S);
}

Test(rate, engines_without_a_wait_of_their_own_keep_it_too)
{
	struct direction_sum sum;

	rig_use_file(&rig, 1 << 20);
	rig.job.engine = ENGINE_PSYNC;
	rig.job.runtime_ns = 200 * NS_PER_MS;
	cr_assert(rig_run(&rig));
	sum = rig_sum(&rig, DIR_READ);
	cr_assert_eq(sum.counts.ios + sum.counts.drain_ios + sum.counts.unissued_ios, 200);
	cr_assert_gt(sum.counts.ios, 100);
	direction_sum_fini(&sum);
	rig_fini(&rig);

	rig_use_file(&rig, 1 << 20);
	rig.job.engine = ENGINE_IO_URING;
	rig.job.iodepth = 4;
	if (!rig_run(&rig))
		cr_skip_test("io_uring is not allowed here");
	sum = rig_sum(&rig, DIR_READ);
	cr_assert_eq(sum.counts.ios + sum.counts.drain_ios + sum.counts.unissued_ios, 200);
	cr_assert_eq(sum.lat.count, sum.service.count);
	cr_assert_geq(sum.lat.sum, sum.service.sum);
	direction_sum_fini(&sum);
}
