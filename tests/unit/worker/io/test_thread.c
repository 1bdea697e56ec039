/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/io/rig.h"

#include "common/base/clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct rig rig;

static void setup(void)
{
	rig_init(&rig);
}

static void teardown(void)
{
	rig_fini(&rig);
}

TestSuite(thread, .init = setup, .fini = teardown, .timeout = 60);

static const struct thread_stats *thread(void)
{
	return stats_thread(rig.stats, 0);
}

static void no_slot_is_taken(void)
{
	for (uint64_t i = 0; i < rig.stats->nr_slots; i++)
		cr_assert_eq(stats_slot(rig.stats, i)->submitted_ns, 0);
}

Test(thread, simulated_latency_is_exact)
{
	struct direction_sum sum;

	rig.job.iodepth = 3;
	rig.job.io_size = 90 * 4096;
	cr_assert(rig_run(&rig));
	sum = rig_sum(&rig, DIR_READ);
	cr_assert_eq(sum.counts.ios, 90);
	cr_assert_eq(sum.counts.bytes, 90 * 4096);
	cr_assert_eq(sum.lat.count, 90);
	cr_assert_eq(sum.lat.min, 100 * NS_PER_US);
	cr_assert_eq(sum.lat.max, 100 * NS_PER_US);
	cr_assert_eq(thread()->end_ns - thread()->first_io_ns, 30 * 100 * NS_PER_US);
	cr_assert_eq(thread()->depth_max, 3);
	no_slot_is_taken();
	direction_sum_fini(&sum);
}

Test(thread, ramp_window_and_drain_are_cut_at_their_instants)
{
	const uint64_t latency = NS_PER_MS, depth = 4;
	uint64_t w0, w1, first, before, in;
	struct direction_sum sum;

	rig.job.iodepth = depth;
	rig.job.time_based = true;
	rig.job.ramp_time_ns = 20 * NS_PER_MS;
	rig.job.runtime_ns = 50 * NS_PER_MS;
	rig.specs[0].latency_ns = latency;
	cr_assert(rig_run(&rig));
	sum = rig_sum(&rig, DIR_READ);
	w0 = rig.start_ns + rig.job.ramp_time_ns;
	w1 = w0 + rig.job.runtime_ns;
	first = thread()->first_io_ns;
	cr_assert_geq(first, rig.start_ns);
	/* Completions stand at first + k x latency; the last is the one submitted before W1. */
	before = (w0 - 1 - first) / latency;
	in = (w1 - 1 - first) / latency - before;
	cr_assert_eq(sum.counts.ramp_ios, depth * before);
	cr_assert_eq(sum.counts.ios, depth * in);
	cr_assert_eq(sum.counts.drain_ios, depth);
	cr_assert_eq(sum.counts.bytes, depth * in * 4096);
	cr_assert_eq(sum.counts.drain_bytes, depth * 4096);
	cr_assert_eq(sum.counts.ramp_bytes, depth * before * 4096);
	cr_assert_eq(sum.counts.drain_lat_max_ns, latency);
	cr_assert_eq(sum.lat.count, sum.counts.ios + sum.counts.drain_ios);
	cr_assert_eq(thread()->begin_ns, w0);
	cr_assert_eq(thread()->end_ns, w1);
	direction_sum_fini(&sum);
}

Test(thread, iops_times_latency_is_depth_times_threads)
{
	struct direction_sum read, write;
	double ios, mean;

	rig_split(&rig, 3);
	rig.job.rw = RW_RANDRW;
	rig.job.iodepth = 8;
	rig.job.time_based = true;
	rig.job.ramp_time_ns = 10 * NS_PER_MS;
	rig.job.runtime_ns = 300 * NS_PER_MS;
	cr_assert(rig_run(&rig));
	read = rig_sum(&rig, DIR_READ);
	write = rig_sum(&rig, DIR_WRITE);
	ios = (double)(read.counts.ios + write.counts.ios);
	mean = (double)(read.lat.sum + write.lat.sum) / (double)(read.lat.count + write.lat.count);
	cr_assert_float_eq(ios / 0.3 * mean / 1e9, 24, 24 * 0.02);
	direction_sum_fini(&read);
	direction_sum_fini(&write);
}

Test(thread, psync_obeys_littles_law)
{
	struct direction_sum sum;

	rig_use_file(&rig, 1 << 20);
	rig.job.engine = ENGINE_PSYNC;
	rig.job.iodepth = 4; /* of which a synchronous engine uses one */
	rig.job.time_based = true;
	rig.job.ramp_time_ns = 10 * NS_PER_MS;
	rig.job.runtime_ns = 100 * NS_PER_MS;
	cr_assert(rig_run(&rig));
	sum = rig_sum(&rig, DIR_READ);
	rig_assert_littles_law(&rig, DIR_READ, 1);
	cr_assert_eq(thread()->depth_max, 1);
	cr_assert_eq(sum.clat.count, 0);
	cr_assert_eq(sum.slat.count, 0);
	direction_sum_fini(&sum);
}

Test(thread, mixed_share_is_kept_and_blocks_are_covered_once)
{
	struct counts read, write;

	rig.job.rw = RW_RANDRW;
	rig.job.rwmixread = 70;
	rig.job.iodepth = 32;
	rig.specs[0].latency_ns = NS_PER_US;
	rig.specs[0].range.bytes = 40000 * 4096ull;
	cr_assert(rig_run(&rig));
	read = rig_counts(&rig, DIR_READ);
	write = rig_counts(&rig, DIR_WRITE);
	cr_assert_eq(read.ios + write.ios, 40000);
	/* Standard deviation 92. */
	cr_assert(read.ios > 27600 && read.ios < 28400, "%llu", (unsigned long long)read.ios);
}

Test(thread, shares_of_all_and_nothing_are_exact)
{
	rig.job.rw = RW_RW;
	rig.job.rwmixread = 100;
	cr_assert(rig_run(&rig));
	cr_assert_eq(rig_counts(&rig, DIR_READ).ios, 256);
	rig_fini(&rig);
	rig.job.rwmixread = 0;
	cr_assert(rig_run(&rig));
	cr_assert_eq(rig_counts(&rig, DIR_WRITE).ios, 256);
}

Test(thread, size_bound_job_moves_exactly_its_bytes_after_the_ramp)
{
	struct direction_sum sum;

	rig.job.iodepth = 8;
	rig.job.io_size = 1000 * 4096;
	rig.job.ramp_time_ns = 10 * NS_PER_MS;
	cr_assert(rig_run(&rig));
	sum = rig_sum(&rig, DIR_READ);
	cr_assert_eq(sum.counts.ios, 1000);
	cr_assert_eq(sum.lat.count, 1000);
	cr_assert_gt(sum.counts.ramp_ios, 0);
	cr_assert_eq(sum.counts.drain_ios, 0);
	cr_assert_geq(thread()->begin_ns, rig.start_ns + rig.job.ramp_time_ns);
	cr_assert_eq(thread()->end_ns, thread()->dir[DIR_READ].end_ns);
	direction_sum_fini(&sum);
}

Test(thread, runtime_ends_a_size_bound_job_early)
{
	struct counts c;

	rig.job.iodepth = 2;
	rig.job.io_size = 1 << 30;
	rig.job.runtime_ns = 20 * NS_PER_MS;
	cr_assert(rig_run(&rig));
	c = rig_counts(&rig, DIR_READ);
	cr_assert_eq(thread()->end_ns, rig.start_ns + rig.job.runtime_ns);
	cr_assert(c.ios > 0 && c.ios <= 2 * 200, "%llu", (unsigned long long)c.ios);
	cr_assert_eq(c.drain_ios, 2);
}

Test(thread, time_based_job_wraps)
{
	rig.job.rw = RW_READ;
	rig.job.time_based = true;
	rig.job.runtime_ns = 50 * NS_PER_MS;
	rig.specs[0].range.bytes = 4 * 4096;
	cr_assert(rig_run(&rig));
	cr_assert_gt(rig_counts(&rig, DIR_READ).ios, 100);
}

Test(thread, lease_end_stops_submission)
{
	const uint64_t latency = NS_PER_MS;
	_cleanup_(error_destroy) struct error *err = NULL;
	uint64_t deadline;

	rig.job.time_based = true;
	rig.job.runtime_ns = 10 * NS_PER_S;
	rig.specs[0].latency_ns = latency;
	err = rig_new(&rig);
	cr_assert_null(err);
	deadline = clock_mono_ns() + 80 * NS_PER_MS;
	cell_set(&rig.stats->deadline_ns, deadline);
	rig_start(&rig);
	rig_wait(&rig);
	/* Some 20 ms early, so that a preempted thread is in time as well. */
	cr_assert_geq(thread()->end_ns, deadline - 20 * NS_PER_MS);
	cr_assert_lt(thread()->end_ns, deadline - 20 * NS_PER_MS + latency);
	cr_assert_gt(rig_counts(&rig, DIR_READ).ios, 0);
}

Test(thread, lease_that_is_over_at_the_start_lets_nothing_through)
{
	_cleanup_(error_destroy) struct error *err = rig_new(&rig);

	cr_assert_null(err);
	cell_set(&rig.stats->deadline_ns, clock_mono_ns());
	rig_start(&rig);
	rig_wait(&rig);
	cr_assert_eq(thread()->first_io_ns, 0);
	cr_assert_eq(rig_counts(&rig, DIR_READ).ios, 0);
}

Test(thread, stop_ends_running_threads_and_closes_the_window)
{
	_cleanup_(error_destroy) struct error *err = NULL;
	struct timespec pause = clock_timespec(40 * NS_PER_MS);
	struct counts c;

	rig.job.time_based = true;
	rig.job.iodepth = 4;
	rig.job.runtime_ns = 100 * NS_PER_S;
	rig_split(&rig, 2);
	err = rig_new(&rig);
	cr_assert_null(err);
	rig_start(&rig);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	pool_stop(rig.pool);
	rig_wait(&rig);
	c = rig_counts(&rig, DIR_READ);
	cr_assert_gt(c.ios, 0);
	cr_assert_leq(c.drain_ios, 2 * 4);
	cr_assert_lt(thread()->end_ns, rig.start_ns + NS_PER_S);
	no_slot_is_taken();
}

Test(thread, fsync_after_every_so_many_writes)
{
	struct direction_sum sync;

	rig_use_file(&rig, 1 << 20);
	rig.job.engine = ENGINE_PSYNC;
	rig.job.rw = RW_WRITE;
	rig.job.fsync = 32;
	cr_assert(rig_run(&rig));
	sync = rig_sum(&rig, DIR_SYNC);
	cr_assert_eq(rig_counts(&rig, DIR_WRITE).ios, 256);
	cr_assert_eq(sync.counts.ios, 8);
	cr_assert_eq(sync.counts.bytes, 0);
	cr_assert_eq(sync.lat.count, 8);
	direction_sum_fini(&sync);
}

Test(thread, fsync_of_a_mixed_job_counts_writes_only)
{
	struct counts write;

	rig.job.rw = RW_RANDRW;
	rig.job.iodepth = 8;
	rig.job.fsync = 5;
	cr_assert(rig_run(&rig));
	write = rig_counts(&rig, DIR_WRITE);
	cr_assert_eq(write.ios + rig_counts(&rig, DIR_READ).ios, 256);
	cr_assert_eq(rig_counts(&rig, DIR_SYNC).ios, write.ios / 5);
}

Test(thread, end_fsync_is_inside_the_run_time)
{
	const struct thread_stats *t;

	rig.job.rw = RW_WRITE;
	rig.job.iodepth = 4;
	rig.job.end_fsync = true;
	rig.specs[0].latency_ns = NS_PER_MS;
	cr_assert(rig_run(&rig));
	t = thread();
	cr_assert_eq(rig_counts(&rig, DIR_SYNC).ios, 1);
	cr_assert_eq(t->end_ns, t->dir[DIR_SYNC].end_ns);
	cr_assert_eq(t->end_ns - t->dir[DIR_WRITE].end_ns, NS_PER_MS);
}

Test(thread, end_fsync_extends_a_time_based_job)
{
	rig.job.rw = RW_WRITE;
	rig.job.time_based = true;
	rig.job.runtime_ns = 20 * NS_PER_MS;
	rig.job.end_fsync = true;
	rig.specs[0].latency_ns = 3 * NS_PER_MS;
	cr_assert(rig_run(&rig));
	cr_assert_eq(rig_counts(&rig, DIR_SYNC).ios, 1);
	cr_assert_gt(thread()->end_ns, rig.start_ns + rig.job.runtime_ns);
}

Test(thread, end_of_file_is_an_error_that_stops_the_thread)
{
	struct counts c;

	rig_use_file(&rig, 64 << 10);
	rig.specs[0].range.bytes = 1 << 20;
	rig.job.engine = ENGINE_PSYNC;
	rig.job.rw = RW_READ;
	cr_assert(rig_run(&rig));
	c = rig_counts(&rig, DIR_READ);
	cr_assert_eq(c.ios, 16);
	cr_assert_eq(c.errors, 1);
	cr_assert_eq(thread()->errnos[DIR_READ][0].number, ENODATA);
	cr_assert_eq(thread()->errnos[DIR_READ][0].count, 1);
	cr_assert_eq(thread()->errnos[DIR_READ][0].first_offset, 64 << 10);
	no_slot_is_taken();
}

Test(thread, short_transfer_is_counted_as_what_it_moved)
{
	struct counts c;

	rig_use_file(&rig, 6144);
	rig.specs[0].range.bytes = 8192;
	rig.job.engine = ENGINE_PSYNC;
	rig.job.rw = RW_READ;
	cr_assert(rig_run(&rig));
	c = rig_counts(&rig, DIR_READ);
	cr_assert_eq(c.ios, 2);
	cr_assert_eq(c.short_ios, 1);
	cr_assert_eq(c.bytes, 6144);
	cr_assert_eq(c.errors, 0);
}

Test(thread, cpu_time_is_that_of_the_window)
{
	const struct thread_stats *t;

	rig_use_file(&rig, 1 << 20);
	rig.job.engine = ENGINE_PSYNC;
	rig.job.time_based = true;
	rig.job.ramp_time_ns = 10 * NS_PER_MS;
	rig.job.runtime_ns = 100 * NS_PER_MS;
	cr_assert(rig_run(&rig));
	t = thread();
	cr_assert_gt(t->cpu_usr_ns + t->cpu_sys_ns, 0);
	/* The clock of CPU time advances in ticks. */
	cr_assert_leq(t->cpu_usr_ns + t->cpu_sys_ns, 120 * NS_PER_MS);
}

Test(thread, fdatasync_and_fsync_each_keep_their_own_count)
{
	struct direction_sum sync;

	rig_use_file(&rig, 1 << 20);
	rig.job.engine = ENGINE_PSYNC;
	rig.job.rw = RW_WRITE;
	rig.job.io_size = 100 * 4096;
	rig.job.fdatasync = 1;
	cr_assert(rig_run(&rig));
	cr_assert_eq(rig_counts(&rig, DIR_WRITE).ios, 100);
	cr_assert_eq(rig_counts(&rig, DIR_SYNC).ios, 100);
	rig_fini(&rig);

	rig_use_file(&rig, 1 << 20);
	rig.job.fdatasync = 4;
	rig.job.fsync = 10;
	cr_assert(rig_run(&rig));
	sync = rig_sum(&rig, DIR_SYNC);
	cr_assert_eq(rig_counts(&rig, DIR_WRITE).ios, 100);
	cr_assert_eq(sync.counts.ios, 100 / 4 + 100 / 10);
	cr_assert_eq(sync.lat.count, sync.counts.ios);
	direction_sum_fini(&sync);
}

Test(thread, batches_are_counted_by_powers_of_two)
{
	const struct batch_cells *b;

	rig.job.iodepth = 3;
	rig.job.io_size = 90 * 4096;
	cr_assert(rig_run(&rig));
	b = &thread()->batches;
	/* The first I/O goes alone, then two more, then three at a time. */
	cr_assert_eq(b->depths.bucket[0], 1);
	cr_assert_eq(b->depths.bucket[1], 89);
	cr_assert_eq(b->submits.bucket[0], 1);
	cr_assert_eq(b->submits.bucket[1], 30);
	cr_assert_eq(b->completes.bucket[0], 0);
	cr_assert_eq(b->completes.bucket[1], 30);
}

Test(thread, batches_of_the_ramp_are_not_kept)
{
	const struct batch_cells *b;
	struct counts c;

	rig.job.iodepth = 4;
	rig.job.time_based = true;
	rig.job.ramp_time_ns = 20 * NS_PER_MS;
	rig.job.runtime_ns = 20 * NS_PER_MS;
	cr_assert(rig_run(&rig));
	b = &thread()->batches;
	c = rig_counts(&rig, DIR_READ);
	cr_assert_gt(c.ramp_ios, 0);
	cr_assert_eq(b->completes.bucket[2], (c.ios + c.drain_ios) / 4);
	/* Those in flight at the window's begin were submitted before it. */
	cr_assert_eq(b->depths.bucket[2], c.ios + c.drain_ios - 4);
	cr_assert_eq(b->submits.bucket[2], (c.ios + c.drain_ios) / 4 - 1);
}

Test(thread, depth_one_has_batches_of_one)
{
	rig.job.fsync = 10;
	rig.job.rw = RW_WRITE;
	cr_assert(rig_run(&rig));
	cr_assert_eq(thread()->batches.depths.bucket[0], 256);
	cr_assert_eq(thread()->batches.submits.bucket[0], 256);
	cr_assert_eq(thread()->batches.completes.bucket[0], 256);
}

Test(thread, runs_on_the_cpus_that_it_is_given)
{
	_cleanup_(error_destroy) struct error *err = NULL;
	cpu_set_t cpus, absent;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	CPU_ZERO(&absent);
	CPU_SET(CPU_SETSIZE - 1, &absent);
	rig.specs[0].cpus = &absent;
	err = rig_new(&rig);
	cr_assert_not_null(err);
	cr_assert_not_null(strstr(error_message(err), "cpus_allowed"));
	rig_fini(&rig);
	rig.specs[0].cpus = &cpus;
	cr_assert(rig_run(&rig));
	cr_assert_eq(rig_counts(&rig, DIR_READ).ios, 256);
}

/* What a job moves in all: its range, io_size, loops, number_ios. */
static void expect_moved(uint64_t io_size, uint64_t loops, uint64_t number_ios, uint64_t ios)
{
	rig.job.io_size = io_size;
	rig.job.loops = loops;
	rig.job.number_ios = number_ios;
	cr_assert(rig_run(&rig));
	cr_expect_eq(rig_counts(&rig, DIR_READ).ios, ios);
	cr_expect_eq(rig_counts(&rig, DIR_READ).bytes, ios * 4096);
	cr_expect_eq(thread()->batches.submits.bucket[0], ios);
	cr_expect_eq(thread()->batches.completes.bucket[0], ios);
	rig_fini(&rig);
}

Test(thread, loops_io_size_and_number_of_ios_add_up)
{
	rig.specs[0].latency_ns = NS_PER_US;
	for (int k = 0; k < 2; k++) {
		rig.job.rw = k ? RW_READ : RW_RANDREAD;
		expect_moved(0, 3, 0, 768);
		expect_moved(256 << 10, 1, 0, 64);
		expect_moved(3 << 20, 1, 0, 768);
		expect_moved(64 << 10, 3, 0, 48);
		expect_moved(0, 1, 10, 10);
	}
	/* The same from a source. */
	rig.job.percentage_random = 50;
	rig.job.rw = RW_RANDREAD;
	expect_moved(0, 3, 0, 768);
	expect_moved(256 << 10, 1, 0, 64);
	expect_moved(64 << 10, 3, 0, 48);
	expect_moved(0, 1, 10, 10);
}

Test(thread, sizes_that_vary_are_counted_as_what_they_are)
{
	struct direction_sum read, write;

	rig.job.bssplit = (char *)"4k/50:64k/50,8k/100";
	rig.job.rw = RW_RANDRW;
	rig.job.iodepth = 8;
	rig.specs[0].latency_ns = NS_PER_US;
	rig.specs[0].range.bytes = 64 << 20;
	rig.job.fsync = 10;
	cr_assert(rig_run(&rig));
	read = rig_sum(&rig, DIR_READ);
	write = rig_sum(&rig, DIR_WRITE);
	cr_assert_eq(read.counts.bytes + write.counts.bytes, 64 << 20);
	cr_assert_leq(write.counts.bytes, write.counts.ios * 8192);
	cr_assert_gt(write.counts.bytes, (write.counts.ios - 1) * 8192);
	cr_assert_gt(read.counts.bytes / read.counts.ios, 28 << 10);
	cr_assert_eq(read.counts.short_ios + read.counts.errors + write.counts.errors, 0);
	cr_assert_eq(rig_counts(&rig, DIR_SYNC).ios, write.counts.ios / 10);
	cr_assert_eq(read.lat.count, read.counts.ios);
	direction_sum_fini(&read);
	direction_sum_fini(&write);
}

static void expect_mistake(const char *part)
{
	_cleanup_(error_destroy) struct error *err = rig_new(&rig);

	cr_assert_not_null(err, "%s", part);
	cr_assert_not_null(strstr(error_message(err), part), "%s", error_message(err));
	rig_fini(&rig);
}

Test(thread, what_no_thread_could_do_is_refused)
{
	rig.job.bssplit = (char *)"4k/120";
	expect_mistake("bssplit");
	rig.job.bssplit = (char *)"4k/50:2m/50";
	expect_mistake("holds no block");
	rig.job.bssplit = NULL;
	rig.job.random_distribution = (char *)"zipf:x";
	expect_mistake("random_distribution");
	rig.job.random_distribution = NULL;
	rig.job.blockalign = 2 << 20;
	expect_mistake("holds no block");
	rig.job.blockalign = 0;
	rig.job.rw = RW_TRIM;
	rig.job.engine = ENGINE_LIBAIO;
	rig_use_file(&rig, 1 << 20);
	expect_mistake("cannot trim");
}
