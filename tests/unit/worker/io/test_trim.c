/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/io/rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <unistd.h>

enum { BLOCKS = 256, BLOCK = 4096 };

static struct rig rig;

static void setup(void)
{
	char block[BLOCK];

	memset(block, 'x', sizeof(block));
	rig_init(&rig);
	rig_use_file(&rig, BLOCKS * BLOCK);
	for (int i = 0; i < BLOCKS; i++)
		cr_assert_eq(pwrite(rig.fd, block, BLOCK, i * BLOCK), BLOCK);
	rig.job.rw = RW_RANDTRIM;
}

static void teardown(void)
{
	rig_fini(&rig);
}

TestSuite(trim, .init = setup, .fini = teardown, .timeout = 60);

static void run_or_skip(enum job_engine engine)
{
	rig.job.engine = (int)engine;
	if (!rig_run(&rig))
		cr_skip_test("io_uring is not allowed here");
	if (stats_thread(rig.stats, 0)->errnos[DIR_TRIM][0].number == EOPNOTSUPP)
		cr_skip_test("holes cannot be punched into files of this file system");
}

/* The first byte of each block is either 0 or what a write put there. */
static unsigned blocks_that_are(char byte)
{
	unsigned nr = 0;

	for (int i = 0; i < BLOCKS; i++) {
		char c;

		cr_assert_eq(pread(rig.fd, &c, 1, (off_t)i * BLOCK + BLOCK - 1), 1);
		nr += c == byte;
	}
	return nr;
}

static void expect_trimmed(unsigned nr)
{
	struct direction_sum sum = rig_sum(&rig, DIR_TRIM);

	cr_assert_eq(sum.counts.ios, nr);
	cr_assert_eq(sum.counts.bytes, (uint64_t)nr * BLOCK);
	cr_assert_eq(sum.lat.count, nr);
	cr_assert_eq(sum.counts.errors + sum.counts.short_ios, 0);
	direction_sum_fini(&sum);
}

Test(trim, psync_punches_holes)
{
	rig.job.number_ios = 100;
	run_or_skip(ENGINE_PSYNC);
	expect_trimmed(100);
	cr_assert_eq(blocks_that_are(0), 100);
	cr_assert_eq(blocks_that_are('x'), BLOCKS - 100);
}

Test(trim, sync_and_pvsync2_do_the_same)
{
	rig.job.number_ios = 10;
	run_or_skip(ENGINE_SYNC);
	cr_assert_eq(blocks_that_are(0), 10);
	rig_fini(&rig);
	setup();
	rig.job.number_ios = 10;
	run_or_skip(ENGINE_PVSYNC2);
	cr_assert_eq(blocks_that_are(0), 10);
}

Test(trim, io_uring_keeps_many_in_flight)
{
	rig.job.iodepth = 8;
	rig.job.number_ios = 100;
	run_or_skip(ENGINE_IO_URING);
	expect_trimmed(100);
	cr_assert_eq(stats_thread(rig.stats, 0)->depth_max, 8);
	cr_assert_eq(blocks_that_are(0), 100);
	cr_assert_null(pool_warnings(rig.pool));
}

Test(trim, trimwrite_trims_and_writes_one_at_a_time)
{
	struct counts write;

	rig.job.rw = RW_TRIMWRITE;
	rig.job.iodepth = 4;
	run_or_skip(ENGINE_IO_URING);
	expect_trimmed(BLOCKS);
	write = rig_counts(&rig, DIR_WRITE);
	cr_assert_eq(write.ios, BLOCKS);
	cr_assert_eq(write.bytes, BLOCKS * BLOCK);
	cr_assert_eq(stats_thread(rig.stats, 0)->depth_max, 1);
	cr_assert_eq(blocks_that_are('x'), blocks_that_are('x') & 7, "random bytes now");
	cr_assert_null(pool_warnings(rig.pool)); /* the coordinator says so from the scenario */
}
