/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/range.h"

#include "common/base/str.h"

#include <criterion/criterion.h>

static struct device_info info;
static struct work_member member;

static void make(void)
{
	info = (struct device_info) { .path = xstrdup("/dev/x"),
				      .size_bytes = 64 << 20,
				      .logical_block_bytes = 4096 };
	member = (struct work_member) { .nr_parts = 1 };
	member.job = (struct job) { .name = xstrdup("j"), .bs = 4096, .direct = true };
}

static void unmake(void)
{
	free(info.path);
	free(member.job.name);
}

TestSuite(range, .init = make, .fini = unmake);

static void refused(const char *part)
{
	struct error *err = range_check(&info, &member);

	cr_assert_not_null(err, "%s", part);
	cr_assert_not_null(strstr(error_message(err), part), "%s", error_message(err));
	cr_assert_eq(error_code(err), ERR_REFUSED);
	error_destroy(&err);
}

static void accepted(void)
{
	struct error *err = range_check(&info, &member);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
}

Test(range, whole_target_fits)
{
	accepted();
	member.job.size = 64 << 20;
	accepted();
	member.job.offset = 4096;
	member.job.size = (64 << 20) - 4096;
	accepted();
}

Test(range, beyond_the_end)
{
	member.job.size = 128 << 20;
	refused("offset 0 and size 134217728 reach beyond the end of /dev/x (67108864 bytes)");
	member.job.size = UINT64_MAX - 4095;
	member.job.offset = 8192;
	refused("beyond the end");
	member.job.size = 0;
	member.job.offset = 64 << 20;
	refused("offset: 67108864 is beyond the end of /dev/x (67108864 bytes)");
}

Test(range, direct_io_keeps_to_the_logical_block)
{
	member.job.bs = 512;
	refused("bs: 512 is not a multiple of the 4096-byte logical blocks of /dev/x");
	member.job.bs = 6144;
	refused("bs: 6144");
	member.job.bs = 4096;
	member.job.offset = 512;
	refused("offset: 512 is not a multiple");
	member.job.direct = false;
	accepted();
	info.logical_block_bytes = 512;
	member.job.direct = true;
	member.job.bs = 1000;
	refused("bs: 1000 is not a multiple of the 512-byte");
}

Test(range, all_mistakes_at_once)
{
	struct error *err;

	member.job.bs = 512;
	member.job.offset = (64 << 20) + 1;
	err = range_check(&info, &member);
	cr_assert_not_null(err);
	cr_assert_not_null(error_next(err));
	cr_assert_not_null(error_next(error_next(err)));
	cr_assert_null(error_next(error_next(error_next(err))));
	error_destroy(&err);
}

Test(range, every_thread_gets_a_block)
{
	member.job.size = 16384;
	member.part_align = 4096;
	member.nr_parts = 4;
	accepted();
	member.nr_parts = 5;
	refused("16384 bytes of /dev/x shared by 5 threads leave less than one block of 4096");
	member.nr_parts = 1;
	member.job.bs = 32768;
	refused("a block of 32768 bytes does not fit into the 16384 bytes");
}
