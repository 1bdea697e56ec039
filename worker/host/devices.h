/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - what a block device is: names, identity, model, transport, sizes, relatives; from sysfs.
 *
 * Everything goes by device number, never by name alone. Nothing here opens a device. Not thread-safe
 * objects; any thread.
 */
#ifndef SALVO_HOST_DEVICES_H
#define SALVO_HOST_DEVICES_H

#include "common/base/error.h"
#include "worker/host/sysfs.h"

struct block_device {
	dev_t rdev;
	char *name;     /* the kernel's: "nvme0n1p1", "cciss!c0d0" */
	char *node;     /* canonical node: "/dev/nvme0n1p1" */
	char *sysdir;   /* its folder in sysfs, all links resolved */
	bool partition; /* then the disk's folder is the one above sysdir */
	bool read_only;
	uint64_t size_bytes, logical_block_bytes, physical_block_bytes;
	/* NULL where there is none. identity: "naa.…", "eui.…", "uuid.…", "nvme.…", "t10.…", a partition's
	 * with "-part1" behind; the same on every host that sees the medium. */
	char *model, *serial, *identity, *transport;
};

/* NULL where sysfs knows no block device of that number. */
struct block_device *block_device_new(const struct host_root *root, dev_t rdev);
void block_device_destroy(struct block_device **self_p);

/* The canonical node and every link in the device folder that leads to it. */
struct names block_device_names(const struct host_root *root, const struct block_device *dev);

/* A disk's partitions, or a partition's disk. */
struct relatives {
	struct block_device **devices;
	size_t nr;
};
struct relatives block_device_relatives(const struct host_root *root,
					const struct block_device *dev);
void relatives_fini(struct relatives *list);

/* A set of device numbers. */
struct devnos {
	dev_t *numbers;
	size_t nr;
};
bool devnos_contain(const struct devnos *set, dev_t rdev);
/* Adds `rdev` and all that it stands on: its disk, what dm and md devices are made of, the device under a
 * loop device's file. */
void devnos_add_with_ancestors(struct devnos *set, const struct host_root *root, dev_t rdev);
void devnos_fini(struct devnos *set);

/* The block device behind a generic character device (/dev/ng*, /dev/sg*, /dev/bsg/...); 0 where none can be
 * found or it is none of these. */
dev_t device_of_generic(const struct host_root *root, dev_t char_rdev);

/* The folder of a device's disk in sysfs: its own or the one above; owned by the caller. */
char *block_device_diskdir(const struct block_device *dev);
/* /sys/dev/block/MAJ:MIN with all links resolved, NULL where there is none; owned by the caller. */
char *sysdir_of_block(const struct host_root *root, dev_t rdev);
/* The file under a loop device; NULL for others and for loop devices without one; owned by the caller. */
char *loop_backing_file(const char *sysdir);

#endif
