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

static void write_stat(const char *path, const char *text)
{
	_cleanup_free_ char *attr = xasprintf("%s/stat", path);

	fixture_text(f.sys, attr, text);
}

static const char loop[] = "devices/virtual/block/loop3";

Test(counters, all_columns)
{
	struct device_stat st;

	write_stat(loop, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n");
	cr_assert(counters_read(&f.root, makedev(7, 3), &st));
	cr_expect_eq(st.read_ios, 1);
	cr_expect_eq(st.read_merges, 2);
	cr_expect_eq(st.read_bytes, 3 * 512);
	cr_expect_eq(st.read_ticks_ns, 4000000);
	cr_expect_eq(st.write_ios, 5);
	cr_expect_eq(st.write_merges, 6);
	cr_expect_eq(st.write_bytes, 7 * 512);
	cr_expect_eq(st.write_ticks_ns, 8000000);
	cr_expect_eq(st.busy_ns, 10000000);
	cr_expect_eq(st.in_queue_ns, 11000000);
	cr_expect_eq(st.discard_ios, 12);
	cr_expect_eq(st.discard_bytes, 14 * 512);
	cr_expect_eq(st.flush_ios, 16);
}

Test(counters, older_kernels_have_fewer)
{
	static const char *const texts[] = { "1 2 3 4 5 6 7 8 9 10 11\n",
					     "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n" };
	struct device_stat st;

	for (size_t i = 0; i < array_size(texts); i++) {
		write_stat(loop, texts[i]);
		cr_assert(counters_read(&f.root, makedev(7, 3), &st));
		cr_expect_eq(st.in_queue_ns, 11000000);
		cr_expect_eq(st.discard_ios, i ? 12 : 0);
		cr_expect_eq(st.flush_ios, 0);
	}
}

Test(counters, switched_off)
{
	struct device_stat st;

	write_stat(loop, "1 2 3 4 5 6 7 8 9 10 11\n");
	fixture_text(f.sys, "devices/virtual/block/loop3/queue/iostats", "0\n");
	cr_expect_not(counters_read(&f.root, makedev(7, 3), &st));
	fixture_block(&f, "devices/virtual/block/loop3/loop3p1", "259:1", "8");
	write_stat("devices/virtual/block/loop3/loop3p1", "1 2 3 4 5 6 7 8 9 10 11\n");
	cr_expect_not(counters_read(&f.root, makedev(259, 1), &st));
	fixture_text(f.sys, "devices/virtual/block/loop3/queue/iostats", "1\n");
	cr_expect(counters_read(&f.root, makedev(7, 3), &st));
	cr_expect(counters_read(&f.root, makedev(259, 1), &st));
}

Test(counters, zram_counts_whatever_it_says)
{
	static const char zram[] = "devices/virtual/block/zram0";
	struct device_stat st;

	fixture_block(&f, zram, "252:0", "8");
	write_stat(zram, "1 2 3 4 5 6 7 8 9 10 11\n");
	fixture_text(f.sys, "devices/virtual/block/zram0/queue/iostats", "0\n");
	cr_assert(counters_read(&f.root, makedev(252, 0), &st));
	cr_expect_eq(st.read_ios, 1);
}

/* Before 6.4 the device of all paths counts nothing. */
Test(counters, nvme_multipath_is_the_sum_of_its_paths)
{
	static const char head[] = "devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1";
	struct device_stat st;

	fixture_block(&f, head, "259:0", "8");
	fixture_block(&f, "devices/pci0/nvme/nvme0/nvme0c0n1", "0:0", "8");
	fixture_block(&f, "devices/pci0/nvme/nvme1/nvme0c1n1", "0:1", "8");
	fixture_block(&f, "devices/pci0/nvme/nvme1/nvme0c1n11", "0:2", "8");
	write_stat(head, "0 0 0 0 0 0 0 0 0 0 0\n");
	write_stat("devices/pci0/nvme/nvme0/nvme0c0n1", "1 0 8 0 2 0 16 0 0 5 5\n");
	write_stat("devices/pci0/nvme/nvme1/nvme0c1n1", "10 0 80 0 20 0 160 0 0 6 6\n");
	write_stat("devices/pci0/nvme/nvme1/nvme0c1n11", "100 0 800 0 200 0 1600 0 0 7 7\n");
	cr_assert(counters_read(&f.root, makedev(259, 0), &st));
	cr_expect_eq(st.read_ios, 11);
	cr_expect_eq(st.write_bytes, 176 * 512);
	write_stat(head, "3 0 24 0 0 0 0 0 0 5 5\n");
	cr_assert(counters_read(&f.root, makedev(259, 0), &st));
	cr_expect_eq(st.read_ios, 3);
}

Test(counters, differences_are_never_negative)
{
	struct device_stat before = { .read_ios = 5, .write_bytes = 512, .flush_ios = 3 };
	struct device_stat after = { .read_ios = 7, .write_bytes = 0, .flush_ios = 4 };
	struct device_stat d = counters_between(&before, &after);

	cr_expect_eq(d.read_ios, 2);
	cr_expect_eq(d.write_bytes, 0);
	cr_expect_eq(d.flush_ios, 1);
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
