/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/iocheck.h"

#include <criterion/criterion.h>

static struct work_target targets[2];
static struct work_member members[3];
static struct device_info info[2];
static struct io_setup limits;
static struct assignment a;

static void setup(void)
{
	limits = (struct io_setup) { .threads = 256, .memory = 8ull << 30 };
	for (size_t i = 0; i < array_size(targets); i++) {
		targets[i] = (struct work_target) { .kind = TARGET_DEVICE };
		info[i] = (struct device_info) { .target = i, .size_bytes = 1 << 20 };
	}
	for (size_t i = 0; i < array_size(members); i++)
		members[i] = (struct work_member) {
			.job = { .rw = RW_WRITE, .bs = 4096, .iodepth = 2, .numjobs = 2 },
			.nr_parts = 1,
			.part_align = 4096,
		};
	a = (struct assignment) {
		.targets = targets, .nr_targets = 2, .members = members, .nr_members = 1
	};
}

TestSuite(iocheck, .init = setup);

static void expect_reasons(size_t nr, const char *part)
{
	_cleanup_(error_destroy) struct error *err = iocheck_limits(&a, &limits);
	size_t found = 0;

	for (const struct error *e = err; e; e = error_next(e))
		found++;
	cr_assert_eq(found, nr);
	if (nr)
		cr_assert_not_null(strstr(error_message(err), part), "%s", error_message(err));
}

Test(iocheck, threads_and_memory_have_limits_and_both_are_told)
{
	expect_reasons(0, "");
	members[0].job.numjobs = 257;
	expect_reasons(1, "needs 257 threads, the worker's limit is 256");
	members[0].job.iodepth = 4096;
	members[0].job.bs = 1 << 20;
	expect_reasons(2, "raise limits.threads");
	members[0].job.numjobs = 1;
	members[0].job.iodepth = 4096;
	members[0].job.bs = 1 << 30;
	expect_reasons(1, "raise limits.memory");
}

Test(iocheck, product_beyond_64_bits_is_over_every_limit)
{
	limits.memory = UINT64_MAX - 1;
	members[0].job.bs = 1ull << 62;
	expect_reasons(1, "limits.memory");
}

Test(iocheck, step_without_threads_is_no_step)
{
	a.nr_members = 0;
	expect_reasons(1, "without any thread");
}

Test(iocheck, thread_has_its_part_or_the_whole_range)
{
	struct range r;

	members[0].job.offset = 8192;
	r = iocheck_thread_range(&members[0], &targets[0], &info[0], 1);
	cr_assert_eq(r.start, 8192);
	cr_assert_eq(r.bytes, (1 << 20) - 8192);
	members[0].job.size = 64 << 10;
	members[0].nr_parts = 4;
	members[0].part_first = 2;
	r = iocheck_thread_range(&members[0], &targets[0], &info[0], 1);
	cr_assert_eq(r.start, 8192 + (48 << 10));
	cr_assert_eq(r.bytes, 16 << 10);
}

Test(iocheck, size_of_a_file_is_what_the_scenario_says)
{
	targets[0].kind = TARGET_FILE;
	targets[0].size = 32 << 10;
	info[0].size_bytes = 0; /* not laid out yet */
	cr_assert_eq(iocheck_thread_range(&members[0], &targets[0], &info[0], 0).bytes, 32 << 10);
}

Test(iocheck, what_can_be_written_is_the_union_of_the_writers_ranges)
{
	a.nr_members = 3;
	members[0].job.size = 64 << 10; /* 0..64k, both threads */
	members[1].job.offset = 32 << 10;
	members[1].job.size = 64 << 10; /* 32k..96k */
	members[2].job.rw = RW_READ;    /* reads all */
	iocheck_max_write(&a, info);
	cr_assert_eq(info[0].max_write_bytes, 96 << 10);
	cr_assert_eq(info[1].max_write_bytes, 0);
	members[1].job.offset = 512 << 10; /* apart */
	iocheck_max_write(&a, info);
	cr_assert_eq(info[0].max_write_bytes, 128 << 10);
	members[2].job.rw = RW_RANDRW;
	members[2].target = 1;
	iocheck_max_write(&a, info);
	cr_assert_eq(info[1].max_write_bytes, 1 << 20);
}

Test(iocheck, file_is_laid_out_as_far_as_it_is_read)
{
	a.nr_members = 3;
	members[1].job.rw = RW_RANDREAD;
	members[1].job.size = 64 << 10;
	members[2].job.rw = RW_RW;
	members[2].job.offset = 100 << 10;
	members[2].job.size = 28 << 10;
	cr_assert_eq(iocheck_layout_bytes(&a, 0, &info[0]), 0, "a device is real as it is");
	targets[0].kind = TARGET_FILE;
	cr_assert_eq(iocheck_layout_bytes(&a, 0, &info[0]), 128 << 10);
	cr_assert_eq(iocheck_layout_bytes(&a, 1, &info[1]), 0);
}

Test(iocheck, every_thread_has_slots_for_its_depth)
{
	a.nr_members = 2;
	members[1].job.iodepth = 7;
	members[1].job.numjobs = 3;
	cr_assert_eq(iocheck_slots(&a), 2 * 2 + 3 * 7);
}
