/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/counters.h"

#include <sys/sysmacros.h>

static struct fixture f;

static void make(void)
{
	fixture_init(&f);
	fixture_block(&f, "devices/virtual/block/loop3", "7:3", "8");
}

static void unmake(void)
{
	fixture_fini(&f);
}

TestSuite(counters, .init = make, .fini = unmake);

Test(counters, sectors_are_512_bytes_and_ticks_milliseconds)
{
	struct device_stat st;

	fixture_text(f.sys, "devices/virtual/block/loop3/stat",
		     "     100        0      800       10        20        0     4096"
		     "       11        3      1500       21        0        0        0        0\n");
	cr_assert(counters_read(&f.root, makedev(7, 3), &st));
	cr_assert_eq(st.read_ios, 100);
	cr_assert_eq(st.read_bytes, 800 * 512);
	cr_assert_eq(st.write_ios, 20);
	cr_assert_eq(st.write_bytes, 4096 * 512);
	cr_assert_eq(st.busy_ns, 1500000000);
}

Test(counters, none_or_too_few)
{
	struct device_stat st;

	cr_assert_not(counters_read(&f.root, makedev(7, 3), &st));
	fixture_text(f.sys, "devices/virtual/block/loop3/stat", "1 2 3\n");
	cr_assert_not(counters_read(&f.root, makedev(7, 3), &st));
	cr_assert_not(counters_read(&f.root, makedev(8, 0), &st));
}

Test(counters, in_flight)
{
	cr_assert_eq(counters_inflight(&f.root, makedev(7, 3)), 0);
	fixture_text(f.sys, "devices/virtual/block/loop3/inflight", "       3        4\n");
	cr_assert_eq(counters_inflight(&f.root, makedev(7, 3)), 7);
}
