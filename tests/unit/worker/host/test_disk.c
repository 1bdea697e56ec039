/* SPDX-License-Identifier: Apache-2.0 */
/* Which block device counts the I/O of a file, on made-up hosts and on this one. */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/disk.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

static struct fixture f;
static int
	fd; /* of the fixture's own folder, of which fdinfo and mountinfo tell what a test wants */

static void make(void)
{
	fixture_init(&f);
	fd = open(f.dir, O_PATH | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	fixture_block(&f, "devices/x/block/sda", "8:0", "1000");
	fixture_block(&f, "devices/x/block/sda/sda2", "8:2", "100");
	fixture_text(f.sys, "devices/x/block/sda/sda2/partition", "2\n");
	fixture_block(&f, "devices/y/block/cciss!c0d0", "104:0", "1000");
	fixture_text(f.sys, "devices/x/block/sda/queue/max_sectors_kb", "512\n");
}

static void unmake(void)
{
	close(fd);
	fixture_fini(&f);
}

TestSuite(disk, .init = make, .fini = unmake);

static void mounted(const char *line)
{
	_cleanup_free_ char *attr = xasprintf("self/fdinfo/%d", fd);
	_cleanup_free_ char *table = xasprintf("30 1 8:0 / / rw - ext4 /dev/sda rw\n%s\n", line);

	fixture_text(f.proc, attr, "pos:\t0\nflags:\t012000000\nmnt_id:\t42\nino:\t7\n");
	fixture_text(f.proc, "self/mountinfo", table);
}

Test(disk, names)
{
	_cleanup_free_ char *sda = disk_name(&f.root, makedev(8, 0));
	_cleanup_free_ char *part = disk_name(&f.root, makedev(8, 2));
	_cleanup_free_ char *whole = disk_whole_name(&f.root, makedev(8, 2));
	_cleanup_free_ char *slash = disk_name(&f.root, makedev(104, 0));

	cr_expect_str_eq(sda, "sda");
	cr_expect_str_eq(part, "sda2");
	cr_expect_str_eq(whole, "sda");
	cr_expect_str_eq(slash, "cciss/c0d0");
	cr_expect_null(disk_whole_name(&f.root, makedev(8, 0)));
	cr_expect_null(disk_name(&f.root, makedev(9, 9)));
	cr_expect_null(disk_name(&f.root, 0));
	cr_expect_eq(disk_max_io_bytes(&f.root, makedev(8, 0)), 512 * 1024);
	cr_expect_eq(disk_max_io_bytes(&f.root, makedev(8, 2)), 512 * 1024);
	cr_expect_eq(disk_max_io_bytes(&f.root, makedev(104, 0)), 0);
}

/* The number that stat gives is that of a subvolume; the mount's number and source tell more. */
Test(disk, of_the_mount)
{
	mounted("42 30 8:2 / /srv rw - ext4 /dev/sda2 rw");
	cr_expect_eq(disk_of_file(&f.root, fd), makedev(8, 2));
	mounted("42 30 0:55 / /srv rw - tmpfs tmpfs rw");
	cr_expect_eq(disk_of_file(&f.root, fd), 0);
	mounted("42 30 0:55 / /srv rw - nfs4 server:/export rw");
	cr_expect_eq(disk_of_file(&f.root, fd), 0);
	mounted("43 30 8:2 / /elsewhere rw - ext4 /dev/sda2 rw");
	cr_expect_eq(disk_of_file(&f.root, fd), 0);
}

Test(disk, without_mount_table)
{
	cr_expect_eq(disk_of_file(&f.root, fd), 0);
}

Test(disk, of_an_overlay_that_of_its_upper_layer)
{
	_cleanup_free_ char *upper = xasprintf("%s/upper", f.dir);
	_cleanup_free_ char *line = xasprintf(
		"42 30 0:60 / /srv rw - overlay overlay rw,lowerdir=/l,upperdir=%s", upper);
	struct stat st;

	fixture_folder(upper);
	cr_assert_eq(stat(upper, &st), 0);
	mounted(line);
	cr_expect_eq(disk_of_file(&f.root, fd), 0);
	if (major(st.st_dev)) { /* /tmp is on a disk here: the fixture learns to know it */
		_cleanup_free_ char *devno = xasprintf("%u:%u", major(st.st_dev), minor(st.st_dev));

		fixture_block(&f, "devices/z/block/disk", devno, "1000");
		cr_expect_eq(disk_of_file(&f.root, fd), st.st_dev);
	}
	mounted("42 30 0:60 / /srv rw - overlay overlay rw,lowerdir=/l,upperdir=/nowhere/at/all");
	cr_expect_eq(disk_of_file(&f.root, fd), major(st.st_dev) ? st.st_dev : 0);
}

Test(disk, live)
{
	_cleanup_close_ int own = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	struct stat st;

	cr_assert_eq(fstat(own, &st), 0);
	if (major(st.st_dev))
		cr_expect_eq(disk_of_file(&host_root_live, own), st.st_dev);
	own = open("/proc/self", O_PATH | O_CLOEXEC);
	cr_expect_eq(disk_of_file(&host_root_live, own), 0);
}
