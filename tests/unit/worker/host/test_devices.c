/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/devices.h"
#include "worker/host/identity.h"

#include <sys/sysmacros.h>

static struct fixture f;

static void make(void)
{
	fixture_init(&f);
}

static void unmake(void)
{
	fixture_fini(&f);
}

TestSuite(devices, .init = make, .fini = unmake);

static struct block_device *device(unsigned major_no, unsigned minor_no)
{
	struct block_device *dev = block_device_new(&f.root, makedev(major_no, minor_no));

	cr_assert_not_null(dev);
	return dev;
}

Test(devices, unknown_number_is_null)
{
	cr_assert_null(block_device_new(&f.root, makedev(8, 0)));
}

#define NVME "devices/pci0/nvme/nvme0/nvme0n1"

Test(devices, nvme_namespace)
{
	struct block_device *dev;

	fixture_block(&f, NVME, "259:0", "2048\n");
	fixture_text(f.sys, NVME "/queue/logical_block_size", "4096\n");
	fixture_text(f.sys, NVME "/wwid", "eui.00253858414030a1\n");
	fixture_text(f.sys, NVME "/device/transport", "tcp\n");
	fixture_text(f.sys, NVME "/device/model", "ACME SSD          \n");
	fixture_text(f.sys, NVME "/device/serial", "  S4EV   \n");
	dev = device(259, 0);
	cr_assert_str_eq(dev->name, "nvme0n1");
	cr_assert_str_eq(dev->node, "/dev/nvme0n1");
	cr_assert_str_eq(dev->identity, "eui.00253858414030a1");
	cr_assert_str_eq(dev->transport, "nvme-tcp");
	cr_assert_str_eq(dev->model, "ACME SSD");
	cr_assert_str_eq(dev->serial, "S4EV");
	cr_assert_eq(dev->size_bytes, 2048u * 512);
	cr_assert_eq(dev->logical_block_bytes, 4096);
	cr_assert_not(dev->partition);
	block_device_destroy(&dev);
}

Test(devices, nvme_identity_without_wwid)
{
	char *identity;
	_cleanup_free_ char *dir = xasprintf("%s/" NVME, f.sys);

	fixture_text(f.sys, NVME "/eui", "00 25 38 58 41 40 30 a1\n");
	identity = disk_identity(dir);
	cr_assert_str_eq(identity, "eui.00253858414030a1");
	free(identity);
	fixture_text(f.sys, NVME "/nguid", "00253858-4140-30A1-0025-385841403000\n");
	identity = disk_identity(dir);
	cr_assert_str_eq(identity, "eui.00253858414030a10025385841403000");
	free(identity);
	fixture_text(f.sys, NVME "/uuid", "00000000-0000-0000-0000-000000000000\n");
	identity = disk_identity(dir);
	cr_assert_str_eq(identity, "eui.00253858414030a10025385841403000");
	free(identity);
}

Test(devices, nvme_multipath_takes_the_transport_of_a_path)
{
	_cleanup_free_ char *dir = xasprintf("%s/" NVME, f.sys);
	_cleanup_free_ char *transport = NULL;

	fixture_text(f.sys, NVME "/device/nvme1/transport", "rdma\n");
	transport = disk_transport(&f.root, dir);
	cr_assert_str_eq(transport, "nvme-rdma");
}

/* T10 vendor text, a target port's NAA (not the unit's), the unit's EUI, then its NAA. */
static const uint8_t vpd83[] = {
	0,    0x83, 0,    12 + 12 + 12 + 20, /* header */
	0x02, 0x01, 0,    8,
	'A',  'C',  'M',  'E',
	' ',  'x',  'y',  'z', /* T10 */
	0x61, 0x93, 0,    8,
	0x50, 1,    2,    3,
	4,    5,    6,    7, /* NAA of the port */
	0x01, 0x02, 0,    8,
	0x00, 0x25, 0x38, 1,
	2,    3,    4,    5, /* EUI */
	0x01, 0x03, 0,    16,
	0x60, 0x01, 0x40, 0x5a,
	0x1b, 0x2c, 0x3d, 0x4e,
	0,    1,    2,    3,
	4,    5,    6,    7,
};

Test(devices, vpd83_prefers_the_units_naa)
{
	_cleanup_free_ char *naa = identity_from_vpd83(vpd83, sizeof(vpd83));
	_cleanup_free_ char *eui = identity_from_vpd83(vpd83, sizeof(vpd83) - 1);
	_cleanup_free_ char *t10 = identity_from_vpd83(vpd83, 16);

	cr_assert_str_eq(naa, "naa.6001405a1b2c3d4e0001020304050607");
	cr_assert_str_eq(eui, "eui.0025380102030405",
			 "a designator that is cut off does not count");
	cr_assert_str_eq(t10, "t10.ACME xyz");
	for (size_t len = 0; len < 16; len++)
		cr_assert_null(identity_from_vpd83(vpd83, len));
}

#define SCSI "devices/platform/host3/session1/target3:0:0/3:0:0:0/block/sdb"

Test(devices, scsi_lun_over_iscsi)
{
	static const uint8_t vpd80[] = { 0, 0x80, 0, 6, ' ', 'S', 'N', '0', '7', ' ' };
	struct block_device *dev;

	fixture_block(&f, SCSI, "8:16", "100\n");
	fixture_bytes(f.sys, SCSI "/device/vpd_pg83", vpd83, sizeof(vpd83));
	fixture_bytes(f.sys, SCSI "/device/vpd_pg80", vpd80, sizeof(vpd80));
	fixture_text(f.sys, SCSI "/device/vendor", "LIO-ORG \n");
	fixture_text(f.sys, SCSI "/device/model", "block0          \n");
	dev = device(8, 16);
	cr_assert_str_eq(dev->identity, "naa.6001405a1b2c3d4e0001020304050607");
	cr_assert_str_eq(dev->serial, "SN07");
	cr_assert_str_eq(dev->model, "LIO-ORG block0");
	cr_assert_str_eq(dev->transport, "iscsi");
	block_device_destroy(&dev);
	fixture_text(f.sys, "class/scsi_host/host3/proc_name", "iscsi_iser\n");
	dev = device(8, 16);
	cr_assert_str_eq(dev->transport, "iser");
	block_device_destroy(&dev);
}

Test(devices, scsi_transports)
{
	static const struct {
		const char *path, *transport;
	} cases[] = {
		{ "devices/pci0/ata1/host0/target0:0:0/block/sda", "sata" },
		{ "devices/pci0/usb1/1-1/host6/block/sdc", "usb" },
		{ "devices/pci0/host1/port-1:0/end_device-1:0/block/sdd", "sas" },
		{ "devices/pci0/host2/rport-2:0-1/block/sde", "fc" },
		{ "devices/pci0/virtio1/host4/block/sdf", "virtio" },
		{ "devices/pseudo/adapter0/host5/block/sdg", "scsi" },
		{ "devices/virtual/block/zram0", "zram" },
		{ "devices/virtual/block/pmem0", "nvdimm" },
		{ "devices/pci0/virtio2/block/vda", "virtio" },
	};

	for (size_t i = 0; i < array_size(cases); i++) {
		_cleanup_free_ char *transport = disk_transport(&f.root, cases[i].path);

		cr_assert_str_eq(transport, cases[i].transport, "%s", cases[i].path);
	}
}

Test(devices, partition_has_its_disks_identity_and_a_number)
{
	struct block_device *dev;
	struct relatives relatives;

	fixture_block(&f, NVME, "259:0", "2048");
	fixture_text(f.sys, NVME "/wwid", "eui.01");
	fixture_block(&f, NVME "/nvme0n1p2", "259:2", "1024");
	fixture_text(f.sys, NVME "/nvme0n1p2/partition", "2\n");
	dev = device(259, 2);
	cr_assert(dev->partition);
	cr_assert_str_eq(dev->identity, "eui.01-part2");
	relatives = block_device_relatives(&f.root, dev);
	cr_assert_eq(relatives.nr, 1);
	cr_assert_str_eq(relatives.devices[0]->name, "nvme0n1");
	relatives_fini(&relatives);
	block_device_destroy(&dev);

	dev = device(259, 0);
	relatives = block_device_relatives(&f.root, dev);
	cr_assert_eq(relatives.nr, 1);
	cr_assert_str_eq(relatives.devices[0]->name, "nvme0n1p2");
	relatives_fini(&relatives);
	block_device_destroy(&dev);
}

Test(devices, multipath_device_is_its_lun)
{
	_cleanup_free_ char *dir = xasprintf("%s/devices/virtual/block/dm-0", f.sys);
	_cleanup_free_ char *identity = NULL, *model = NULL;

	fixture_text(f.sys, "devices/virtual/block/dm-0/dm/uuid", "mpath-36001405a1b2c3d4e\n");
	fixture_text(f.sys, "devices/virtual/block/dm-0/dm/name", "mpatha\n");
	identity = disk_identity(dir);
	model = disk_model(dir);
	cr_assert_str_eq(identity, "naa.6001405a1b2c3d4e");
	cr_assert_str_eq(model, "device-mapper mpatha");
}

Test(devices, loop_names_its_backing_file)
{
	struct block_device *dev;

	fixture_block(&f, "devices/virtual/block/loop3", "7:3", "8");
	fixture_text(f.sys, "devices/virtual/block/loop3/loop/backing_file", "/srv/disk.img\n");
	dev = device(7, 3);
	cr_assert_str_eq(dev->model, "loop (/srv/disk.img)");
	cr_assert_null(dev->identity, "a loop device is each host's own");
	block_device_destroy(&dev);
}

Test(devices, name_with_a_slash)
{
	struct block_device *dev;

	fixture_block(&f, "devices/pci0/cciss0/block/cciss!c0d0", "104:0", "8");
	dev = device(104, 0);
	cr_assert_str_eq(dev->node, "/dev/cciss/c0d0");
	block_device_destroy(&dev);
}

/* Root on LVM on md on two partitions: both disks are the system's. */
Test(devices, ancestors_reach_the_disks)
{
	struct devnos set = { 0 };

	fixture_block(&f, "devices/pci0/ata1/host0/block/sda", "8:0", "8");
	fixture_block(&f, "devices/pci0/ata1/host0/block/sda/sda2", "8:2", "8");
	fixture_text(f.sys, "devices/pci0/ata1/host0/block/sda/sda2/partition", "2");
	fixture_block(&f, "devices/pci0/ata2/host1/block/sdb", "8:16", "8");
	fixture_block(&f, "devices/virtual/block/md0", "9:0", "8");
	fixture_link(f.sys, "devices/virtual/block/md0/slaves/sda2",
		     "devices/pci0/ata1/host0/block/sda/sda2");
	fixture_link(f.sys, "devices/virtual/block/md0/slaves/sdb",
		     "devices/pci0/ata2/host1/block/sdb");
	fixture_block(&f, "devices/virtual/block/dm-0", "253:0", "8");
	fixture_link(f.sys, "devices/virtual/block/dm-0/slaves/md0", "devices/virtual/block/md0");
	fixture_block(&f, "devices/pci0/ata3/host2/block/sdc", "8:32", "8");

	devnos_add_with_ancestors(&set, &f.root, makedev(253, 0));
	cr_assert_eq(set.nr, 5);
	cr_assert(devnos_contain(&set, makedev(8, 0)));
	cr_assert(devnos_contain(&set, makedev(8, 2)));
	cr_assert(devnos_contain(&set, makedev(8, 16)));
	cr_assert(devnos_contain(&set, makedev(9, 0)));
	cr_assert_not(devnos_contain(&set, makedev(8, 32)));
	devnos_fini(&set);
}

Test(devices, generic_devices_lead_to_their_block_device)
{
	fixture_block(&f, NVME, "259:0", "8");
	fixture_text(f.sys, "devices/pci0/nvme/nvme0/ng0n1/dev", "241:0");
	fixture_link(f.sys, "dev/char/241:0", "devices/pci0/nvme/nvme0/ng0n1");
	fixture_text(f.sys, "class/nvme-generic/x", "");
	fixture_link(f.sys, "devices/pci0/nvme/nvme0/ng0n1/subsystem", "class/nvme-generic");
	cr_assert_eq(device_of_generic(&f.root, makedev(241, 0)), makedev(259, 0));

	fixture_block(&f, "devices/pci0/host1/1:0:0:0/block/sdh", "8:112", "8");
	fixture_text(f.sys, "devices/pci0/host1/1:0:0:0/scsi_generic/sg3/dev", "21:3");
	fixture_link(f.sys, "devices/pci0/host1/1:0:0:0/scsi_generic/sg3/device",
		     "devices/pci0/host1/1:0:0:0");
	fixture_text(f.sys, "class/scsi_generic/x", "");
	fixture_link(f.sys, "devices/pci0/host1/1:0:0:0/scsi_generic/sg3/subsystem",
		     "class/scsi_generic");
	fixture_link(f.sys, "dev/char/21:3", "devices/pci0/host1/1:0:0:0/scsi_generic/sg3");
	cr_assert_eq(device_of_generic(&f.root, makedev(21, 3)), makedev(8, 112));
	cr_assert_eq(device_of_generic(&f.root, makedev(1, 3)), 0, "/dev/null is none");
}

Test(devices, a_tape_has_no_block_device)
{
	fixture_text(f.sys, "devices/pci0/host1/1:0:1:0/scsi_generic/sg4/dev", "21:4");
	fixture_text(f.sys, "class/scsi_generic/x", "");
	fixture_link(f.sys, "devices/pci0/host1/1:0:1:0/scsi_generic/sg4/subsystem",
		     "class/scsi_generic");
	fixture_link(f.sys, "dev/char/21:4", "devices/pci0/host1/1:0:1:0/scsi_generic/sg4");
	cr_assert_eq(device_of_generic(&f.root, makedev(21, 4)), 0);
}
