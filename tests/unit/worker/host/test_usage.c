/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/usage.h"

#include <sys/sysmacros.h>

#define SDA "devices/pci0/ata1/host0/block/sda"

static struct fixture f;
static struct used used;
static struct findings found;

static void make(void)
{
	fixture_init(&f);
	fixture_block(&f, SDA, "8:0", "8");
	used = (struct used) { .root = &f.root,
			       .dev = block_device_new(&f.root, makedev(8, 0)),
			       .path = "/dev/sda" };
	cr_assert_not_null(used.dev);
	found = (struct findings) { 0 };
}

static void unmake(void)
{
	struct block_device *dev = (struct block_device *)used.dev;

	block_device_destroy(&dev);
	findings_fini(&found);
	fixture_fini(&f);
}

TestSuite(usage, .init = make, .fini = unmake);

static void expect(const char *text, const char *remedy)
{
	cr_assert_eq(found.nr, 1, "%zu findings", found.nr);
	cr_assert_str_eq(found.list[0].text, text);
	cr_assert_str_eq(found.list[0].remedy, remedy);
	cr_assert_eq(found.list[0].code, ERR_REFUSED);
}

Test(usage, an_idle_device_has_no_finding)
{
	find_mounted(&used, &found);
	find_swap(&used, &found);
	find_held(&used, &found);
	find_multipath(&used, &found);
	find_loop_backing(&used, &found);
	find_exported(&used, &found);
	find_opened(&used, &found);
	cr_assert_eq(found.nr, 0);
}

Test(usage, mounted_here)
{
	fixture_text(f.proc, "self/mountinfo",
		     "21 1 8:16 / / rw - ext4 /dev/sdb rw\n"
		     "22 21 8:0 / /srv/my\\040data rw - ext4 /dev/sda rw\n"
		     "23 21 8:0 /x /srv/y rw - ext4 /dev/sda rw\n");
	find_mounted(&used, &found);
	expect("mounted on /srv/my data (and 1 more)", "unmount it or choose another device");
}

static void namespace_link(const char *path, const char *name)
{
	_cleanup_free_ char *full = xasprintf("%s/%s", f.proc, path);
	_cleanup_free_ char *folder = xstrndup(full, (size_t)(strrchr(full, '/') - full));

	fixture_folder(folder);
	cr_assert_eq(symlink(name, full), 0);
}

Test(usage, mounted_in_another_namespace)
{
	fixture_text(f.proc, "self/mountinfo", "21 1 8:16 / / rw - ext4 /dev/sdb rw\n");
	fixture_text(f.proc, "77/mountinfo", "22 21 8:0 / /data rw - xfs /dev/sda rw\n");
	fixture_text(f.proc, "77/comm", "postgres\n");
	namespace_link("self/ns/mnt", "mnt:[1]");
	namespace_link("77/ns/mnt", "mnt:[2]");
	find_mounted(&used, &found);
	expect("mounted on /data in the mount namespace of process 77 (postgres)",
	       "unmount it or choose another device");
}

Test(usage, swap)
{
	fixture_text(f.proc, "swaps",
		     "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
		     "/dev/sdb                                partition\t8\t0\t-2\n"
		     "/dev/sda                                partition\t8\t0\t-3\n");
	find_swap(&used, &found);
	expect("used as swap", "swapoff it or choose another device");
}

Test(usage, held_by_lvm_raid_and_others)
{
	fixture_text(f.sys, "devices/virtual/block/dm-1/dm/name", "vg-lv\n");
	fixture_text(f.sys, "devices/virtual/block/dm-1/dm/uuid", "LVM-abc\n");
	fixture_link(f.sys, SDA "/holders/dm-1", "devices/virtual/block/dm-1");
	find_held(&used, &found);
	expect("held by the LVM volume vg-lv (dm-1)", "stop its user or choose another device");
	findings_fini(&found);

	fixture_text(f.sys, "devices/virtual/block/md127/md/level", "raid1\n");
	fixture_link(f.sys, SDA "/holders/md127", "devices/virtual/block/md127");
	fixture_text(f.sys, "devices/virtual/block/bcache0/size", "8\n");
	fixture_link(f.sys, SDA "/holders/bcache0", "devices/virtual/block/bcache0");
	fixture_text(f.sys, "devices/virtual/block/dm-2/dm/name", "secret\n");
	fixture_text(f.sys, "devices/virtual/block/dm-2/dm/uuid", "CRYPT-LUKS2-abc\n");
	fixture_link(f.sys, SDA "/holders/dm-2", "devices/virtual/block/dm-2");
	find_held(&used, &found);
	cr_assert_eq(found.nr, 4);
	cr_assert_str_eq(found.list[0].text, "held by bcache0");
	cr_assert_str_eq(found.list[2].text, "held by the device-mapper device secret (dm-2)");
	cr_assert_str_eq(found.list[3].text, "held by the RAID array md127 (raid1)");
}

Test(usage, member_of_a_mounted_btrfs)
{
	fixture_link(f.sys, "fs/btrfs/1b2c/devices/sda", SDA);
	find_held(&used, &found);
	expect("part of the mounted btrfs file system 1b2c", "unmount it or choose another device");
}

Test(usage, path_of_a_multipath_device)
{
	fixture_text(f.sys, "devices/virtual/block/dm-0/dm/name", "mpatha\n");
	fixture_text(f.sys, "devices/virtual/block/dm-0/dm/uuid", "mpath-36001405\n");
	fixture_link(f.sys, SDA "/holders/dm-0", "devices/virtual/block/dm-0");
	find_held(&used, &found);
	cr_assert_eq(found.nr, 0, "said once");
	find_multipath(&used, &found);
	expect("a path of the multipath device mpatha", "use /dev/mapper/mpatha instead");
}

Test(usage, hidden_path_of_an_nvme_subsystem)
{
	struct block_device *path;

	fixture_block(&f, "devices/pci0/nvme/nvme2/nvme2c1n3", "259:5", "8");
	fixture_text(f.sys, "devices/pci0/nvme/nvme2/nvme2c1n3/hidden", "1\n");
	path = block_device_new(&f.root, makedev(259, 5));
	find_multipath(&(struct used) { .root = &f.root, .dev = path }, &found);
	expect("one path of the NVMe multipath device nvme2n3", "use /dev/nvme2n3 instead");
	block_device_destroy(&path);
}

Test(usage, backing_of_a_loop_device)
{
	fixture_block(&f, "devices/virtual/block/loop3", "7:3", "8");
	fixture_text(f.sys, "devices/virtual/block/loop3/loop/backing_file", "/dev/sda\n");
	find_loop_backing(&used, &found);
	expect("the backing of /dev/loop3", "'losetup -d /dev/loop3' or choose another device");
}

Test(usage, exported_to_other_hosts)
{
	fixture_text(f.sys,
		     "kernel/config/nvmet/subsystems/nqn.2024-01.org:x/namespaces/1/device_path",
		     "/dev/sda\n");
	fixture_text(f.sys,
		     "kernel/config/nvmet/subsystems/nqn.2024-01.org:x/namespaces/2/device_path",
		     "/dev/sdb\n");
	find_exported(&used, &found);
	expect("exported by nvmet (subsystems/nqn.2024-01.org:x/namespaces/1)",
	       "remove it there or choose another device");
	findings_fini(&found);
	fixture_text(f.sys, "kernel/config/target/core/iblock_0/disk/udev_path", "/dev/sda\n");
	find_exported(&used, &found);
	cr_assert_eq(found.nr, 2);
	cr_assert_str_eq(found.list[1].text, "exported by LIO (core/iblock_0/disk)");
}

Test(usage, system_devices_from_the_mount_tables)
{
	struct devnos set;

	fixture_block(&f, "devices/pci0/ata2/host1/block/sdb", "8:16", "8");
	fixture_block(&f, "devices/pci0/ata2/host1/block/sdb/sdb1", "8:17", "8");
	fixture_text(f.sys, "devices/pci0/ata2/host1/block/sdb/sdb1/partition", "1");
	fixture_block(&f, "devices/pci0/ata3/host2/block/sdc", "8:32", "8");
	fixture_text(f.proc, "self/mountinfo",
		     "21 1 0:30 / / rw - overlay overlay rw\n"
		     "22 21 8:0 / /srv rw - ext4 /dev/sda rw\n");
	fixture_text(f.proc, "1/mountinfo",
		     "31 1 8:17 / / rw - ext4 /dev/sdb1 rw\n"
		     "32 31 8:32 / /boot/efi rw - vfat /dev/sdc rw\n");
	set = system_devices(&f.root);
	cr_assert(devnos_contain(&set, makedev(8, 16)), "the disk of the host's root partition");
	cr_assert(devnos_contain(&set, makedev(8, 17)));
	cr_assert(devnos_contain(&set, makedev(8, 32)));
	cr_assert_not(devnos_contain(&set, makedev(8, 0)), "/srv is not the system");
	devnos_fini(&set);
}

/* A process of the made-up host that has a real block device open can only be shown by a real one: safety.sh. What
 * can be shown here is that descriptors of other kinds are no openers. */
Test(usage, other_descriptors_do_not_count)
{
	fixture_text(f.proc, "4711/comm", "cat\n");
	fixture_text(f.proc, "4711/fd/3", "a regular file\n");
	fixture_link(f.proc, "4711/fd/4", "no/such/file");
	find_opened(&used, &found);
	cr_assert_eq(found.nr, 0);
}
