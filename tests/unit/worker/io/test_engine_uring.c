/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/io/rig.h"

#include "common/base/clock.h"
#include "worker/io/buffers.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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

TestSuite(engine_uring, .init = setup, .fini = teardown, .timeout = 60);

static void run_or_skip(void)
{
	if (!rig_run(&rig))
		cr_skip_test("io_uring is not allowed here");
}

static int compare_stamps(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct stamp));
}

/* Reads the stamp of every block of the file. Owned by the caller. */
static struct stamp *read_stamps(size_t nr)
{
	struct stamp *stamps = xcalloc(nr, sizeof(*stamps));

	for (size_t i = 0; i < nr; i++)
		cr_assert_eq(pread(rig.fd, &stamps[i], sizeof(*stamps), (off_t)(i * STAMP_CHUNK)),
			     sizeof(*stamps));
	return stamps;
}

Test(engine_uring, writes_every_block_once_and_no_two_alike)
{
	const size_t nr = 1024;
	_cleanup_free_ struct stamp *stamps = NULL;

	rig_use_file(&rig, nr * 4096);
	rig_split(&rig, 4);
	rig.job.rw = RW_RANDWRITE;
	rig.job.iodepth = 16;
	run_or_skip();
	cr_assert_eq(rig_counts(&rig, DIR_WRITE).ios, nr);
	cr_assert_eq(rig_counts(&rig, DIR_WRITE).bytes, nr * 4096);
	stamps = read_stamps(nr);
	for (size_t i = 0; i < nr; i++)
		cr_assert_eq(stamps[i].writer, i / (nr / 4), "block %zu", i);
	qsort(stamps, nr, sizeof(*stamps), compare_stamps);
	for (size_t i = 0; i < nr; i++) {
		cr_assert_neq(stamps[i].sequence, 0);
		cr_assert(!i || compare_stamps(&stamps[i - 1], &stamps[i]));
	}
}

Test(engine_uring, larger_writes_carry_a_stamp_per_4k)
{
	const size_t nr = 512;
	_cleanup_free_ struct stamp *stamps = NULL;

	rig_use_file(&rig, nr * 4096);
	rig.job.rw = RW_WRITE;
	rig.job.bs = 64 << 10;
	rig.job.iodepth = 4;
	run_or_skip();
	stamps = read_stamps(nr);
	qsort(stamps, nr, sizeof(*stamps), compare_stamps);
	for (size_t i = 1; i < nr; i++)
		cr_assert(compare_stamps(&stamps[i - 1], &stamps[i]));
}

Test(engine_uring, mixed_job_covers_each_block_once_with_one_generator)
{
	const size_t nr = 1024;
	_cleanup_free_ struct stamp *stamps = NULL;
	uint64_t written = 0;

	rig_use_file(&rig, nr * 4096);
	rig.job.rw = RW_RANDRW;
	rig.job.iodepth = 8;
	run_or_skip();
	stamps = read_stamps(nr);
	for (size_t i = 0; i < nr; i++)
		written += stamps[i].sequence != 0;
	/* As many different blocks as writes, and reads for the rest. */
	cr_assert_eq(rig_counts(&rig, DIR_WRITE).ios, written);
	cr_assert_eq(rig_counts(&rig, DIR_READ).ios, nr - written);
}

Test(engine_uring, latency_splits_into_submission_and_completion)
{
	struct direction_sum sum;

	rig_use_file(&rig, 1 << 20);
	rig.job.iodepth = 8;
	rig.job.time_based = true;
	rig.job.ramp_time_ns = 20 * NS_PER_MS;
	rig.job.runtime_ns = 100 * NS_PER_MS;
	run_or_skip();
	sum = rig_sum(&rig, DIR_READ);
	cr_assert_eq(sum.lat.count, sum.counts.ios + sum.counts.drain_ios);
	cr_assert_eq(sum.slat.count, sum.lat.count);
	cr_assert_eq(sum.clat.count, sum.lat.count);
	cr_assert_eq(sum.lat.sum, sum.slat.sum + sum.clat.sum);
	direction_sum_fini(&sum);
}

Test(engine_uring, obeys_littles_law)
{
	rig_use_file(&rig, 1 << 20);
	rig.job.iodepth = 32;
	rig.job.time_based = true;
	rig.job.ramp_time_ns = 20 * NS_PER_MS;
	rig.job.runtime_ns = 300 * NS_PER_MS;
	run_or_skip();
	rig_assert_littles_law(&rig, DIR_READ, 32);
}

Test(engine_uring, fsync_goes_through_the_ring)
{
	struct direction_sum sync;

	rig_use_file(&rig, 1 << 20);
	rig.job.rw = RW_RANDWRITE;
	rig.job.iodepth = 16;
	rig.job.fsync = 32;
	rig.job.end_fsync = true;
	run_or_skip();
	sync = rig_sum(&rig, DIR_SYNC);
	cr_assert_eq(rig_counts(&rig, DIR_WRITE).ios, 256);
	cr_assert_eq(sync.counts.ios, 9);
	cr_assert_eq(sync.lat.count, 9);
	cr_assert_eq(stats_thread(rig.stats, 0)->end_ns,
		     stats_thread(rig.stats, 0)->dir[DIR_SYNC].end_ns);
	direction_sum_fini(&sync);
}

Test(engine_uring, errors_of_all_in_flight_are_counted_and_end_the_thread)
{
	const struct thread_stats *t;
	struct counts c;

	rig_use_file(&rig, 1 << 20);
	rig.specs[0].range.start = 1 << 30; /* far behind the end */
	rig.job.iodepth = 8;
	run_or_skip();
	c = rig_counts(&rig, DIR_READ);
	t = stats_thread(rig.stats, 0);
	cr_assert_eq(c.ios, 0);
	cr_assert_eq(c.errors, 8);
	cr_assert_eq(t->errnos[DIR_READ][0].number, ENODATA);
	cr_assert_eq(t->errnos[DIR_READ][0].count, 8);
	cr_assert_geq(t->errnos[DIR_READ][0].first_offset, 1 << 30);
	cr_assert_eq(c.drain_ios, 0);
}

/* As an ordinary user: root and CAP_IPC_LOCK know no limit of locked memory. */
static void drop_ipc_lock(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];

	cr_assert_eq(syscall(SYS_capget, &head, caps), 0);
	caps[0].effective &= ~(1u << CAP_IPC_LOCK);
	cr_assert_eq(syscall(SYS_capset, &head, caps), 0);
}

Test(engine_uring, goes_on_without_registered_buffers_and_says_why)
{
	struct rlimit small = { 64 << 10, 64 << 10 }; /* the ring fits, the buffers do not */
	const struct error *warning;

	setrlimit(RLIMIT_MEMLOCK, &small);
	drop_ipc_lock();
	rig_use_file(&rig, 1 << 20);
	rig_split(&rig, 2);
	rig.job.rw = RW_RANDRW;
	rig.job.iodepth = 32;
	run_or_skip();
	cr_assert_eq(rig_counts(&rig, DIR_READ).ios + rig_counts(&rig, DIR_WRITE).ios, 256);
	warning = pool_warnings(rig.pool);
	cr_assert_not_null(warning);
	cr_assert_not_null(strstr(error_message(warning), "LimitMEMLOCK"));
	cr_assert_null(error_next(warning), "said once for all threads");
}
