/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with --wrap: reads and syncs of a file fail where a test says so. */
#include "tests/unit/worker/io/rig.h"

#include "common/base/clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <unistd.h>

static struct rig rig;
static int (*read_fails)(uint64_t offset); /* errno for a read there; 0: it succeeds */
static bool sync_fails;

ssize_t __real_pread(int fd, void *buf, size_t bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *buf, size_t bytes, off_t offset);
int __wrap_fdatasync(int fd);

ssize_t __wrap_pread(int fd, void *buf, size_t bytes, off_t offset)
{
	int error = read_fails && fd == rig.fd ? read_fails((uint64_t)offset) : 0;

	if (!error)
		return __real_pread(fd, buf, bytes, offset);
	errno = error;
	return -1;
}

int __wrap_fdatasync(int fd)
{
	(void)fd;
	errno = EIO;
	return sync_fails ? -1 : 0;
}

static int odd_blocks(uint64_t offset)
{
	return offset / 4096 % 2 ? EIO : 0;
}

static int all(uint64_t offset)
{
	(void)offset;
	return ENODEV;
}

static int many_kinds(uint64_t offset)
{
	static const int kinds[] = { 0,       EIO,   ENODATA, ENOSPC,    EREMOTEIO, EILSEQ,
				     ENOLINK, EBADE, EPROTO,  ETIMEDOUT, ENODEV };

	return kinds[offset / 4096 % array_size(kinds)];
}

static int second_half(uint64_t offset)
{
	return offset >= 128 * 4096 ? EIO : 0;
}

static void setup(void)
{
	rig_init(&rig);
	rig_use_file(&rig, 256 * 4096);
	rig.job.engine = ENGINE_PSYNC;
	rig.job.rw = RW_READ;
	rig.job.on_error = ON_ERROR_CONTINUE;
}

static void teardown(void)
{
	rig_fini(&rig);
}

TestSuite(errors, .init = setup, .fini = teardown, .timeout = 60);

static const struct thread_stats *thread(size_t i)
{
	return stats_thread(rig.stats, i);
}

static uint64_t elapsed_ns(void)
{
	return clock_mono_ns() - rig.start_ns;
}

Test(errors, continue_counts_each_and_goes_on_with_the_next_offset)
{
	const struct errno_cell *cell;
	struct direction_sum sum;

	read_fails = odd_blocks;
	cr_assert(rig_run(&rig));
	sum = rig_sum(&rig, DIR_READ);
	cell = &thread(0)->errnos[DIR_READ][0];
	cr_assert_eq(sum.counts.ios, 128);
	cr_assert_eq(sum.counts.errors, 128);
	cr_assert_eq(sum.lat.count, 128, "a failed I/O has no latency");
	cr_assert_eq(cell->number, EIO);
	cr_assert_eq(cell->count, 128);
	cr_assert_eq(cell->first_offset, 4096);
	cr_assert_geq(cell->first_ns, rig.start_ns);
	cr_assert_leq(cell->first_ns, thread(0)->end_ns);
	cr_assert_eq(thread(0)->errnos[DIR_READ][1].number, 0);
	direction_sum_fini(&sum);
}

Test(errors, beyond_the_kinds_that_are_told_apart_none_is_lost)
{
	const struct errno_cell *cells;
	uint64_t sum = 0;

	read_fails = many_kinds;
	cr_assert(rig_run(&rig));
	cells = thread(0)->errnos[DIR_READ];
	for (unsigned i = 0; i <= STATS_ERRNOS; i++)
		sum += cells[i].count;
	cr_assert_eq(sum, 256 - 24, "every eleventh succeeds");
	cr_assert_eq(sum, rig_counts(&rig, DIR_READ).errors);
	cr_assert_eq(cells[STATS_ERRNOS - 1].number, EPROTO);
	cr_assert_eq(cells[STATS_ERRNOS].number, ERRNO_OTHERS);
	cr_assert_eq(cells[STATS_ERRNOS].count, 23 + 23);
	cr_assert_eq(cells[STATS_ERRNOS].first_offset, 9 * 4096);
}

Test(errors, continue_does_not_spin_where_nothing_succeeds)
{
	struct counts c;

	read_fails = all;
	rig.job.time_based = true;
	rig.job.runtime_ns = 400 * NS_PER_MS;
	cr_assert(rig_run(&rig));
	c = rig_counts(&rig, DIR_READ);
	cr_assert_eq(c.ios, 0);
	/* 16 at once, then one after each pause of 1, 2, 4 ... 64, 100, 100 ms. */
	cr_assert(c.errors >= 18 && c.errors <= 26, "%llu", (unsigned long long)c.errors);
	cr_assert_eq(thread(0)->end_ns, rig.start_ns + rig.job.runtime_ns, "to the window's end");
}

Test(errors, a_pause_after_errors_hears_stop)
{
	_cleanup_(error_destroy) struct error *err = rig_new(&rig);
	struct timespec pause = clock_timespec(150 * NS_PER_MS);

	cr_assert_null(err);
	read_fails = all;
	rig.job.time_based = true;
	rig.job.runtime_ns = 100 * NS_PER_S;
	rig_start(&rig);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	pool_stop(rig.pool);
	rig_wait(&rig);
	cr_assert_lt(elapsed_ns(), 10 * NS_PER_S);
}

Test(errors, continue_with_a_queue_counts_all_in_flight)
{
	struct counts c;

	rig_use_file(&rig, 128 * 4096);
	rig.specs[0].range.bytes = 160 * 4096; /* the last 32 blocks are behind the end */
	rig.job.engine = ENGINE_IO_URING;
	rig.job.iodepth = 8;
	if (!rig_run(&rig))
		cr_skip_test("io_uring is not allowed here");
	c = rig_counts(&rig, DIR_READ);
	cr_assert_eq(c.ios, 128);
	cr_assert_eq(c.errors, 32);
	cr_assert_eq(thread(0)->errnos[DIR_READ][0].number, ENODATA);
	cr_assert_eq(thread(0)->errnos[DIR_READ][0].count, 32);
}

Test(errors, stop_ends_the_thread_at_the_first_one)
{
	read_fails = odd_blocks;
	rig.job.on_error = ON_ERROR_STOP;
	rig_split(&rig, 2);
	cr_assert(rig_run(&rig));
	cr_assert_eq(rig_counts(&rig, DIR_READ).ios, 2);
	cr_assert_eq(rig_counts(&rig, DIR_READ).errors, 2, "each thread by itself");
	cr_assert_eq(rig.stats->stop, 0);
}

Test(errors, stop_ends_the_thread_in_the_ramp_too)
{
	read_fails = odd_blocks;
	rig.job.on_error = ON_ERROR_STOP;
	rig.job.time_based = true;
	rig.job.ramp_time_ns = 100 * NS_PER_S;
	rig.job.runtime_ns = NS_PER_S;
	cr_assert(rig_run(&rig));
	cr_assert_lt(elapsed_ns(), 10 * NS_PER_S);
	cr_assert_eq(rig_counts(&rig, DIR_READ).ramp_ios, 1);
	cr_assert_eq(rig_counts(&rig, DIR_READ).errors, 1);
	cr_assert_eq(thread(0)->begin_ns, thread(0)->end_ns, "an empty window");
}

Test(errors, stop_all_ends_the_other_threads_at_once)
{
	read_fails = second_half;
	rig.job.on_error = ON_ERROR_STOP_ALL;
	rig.job.time_based = true;
	rig.job.runtime_ns = 100 * NS_PER_S;
	rig_split(&rig, 2);
	cr_assert(rig_run(&rig));
	cr_assert_lt(elapsed_ns(), 10 * NS_PER_S);
	cr_assert_eq(thread(0)->dir[DIR_READ].counts.errors, 0);
	cr_assert_eq(thread(1)->dir[DIR_READ].counts.errors, 1);
	cr_assert_eq(rig.stats->stop, 1);
}

Test(errors, a_sync_has_no_offset)
{
	sync_fails = true;
	rig.job.rw = RW_WRITE;
	rig.job.fdatasync = 64;
	cr_assert(rig_run(&rig));
	cr_assert_eq(rig_counts(&rig, DIR_WRITE).ios, 256);
	cr_assert_eq(rig_counts(&rig, DIR_SYNC).ios, 0);
	cr_assert_eq(rig_counts(&rig, DIR_SYNC).errors, 4);
	cr_assert_eq(thread(0)->errnos[DIR_SYNC][0].number, EIO);
	cr_assert_eq(thread(0)->errnos[DIR_SYNC][0].first_offset, UINT64_MAX);
}
