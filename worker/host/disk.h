/* SPDX-License-Identifier: Apache-2.0 */
/* disk.h - which block device's counters tell of a target. */
#ifndef SALVO_HOST_DISK_H
#define SALVO_HOST_DISK_H

#include "worker/host/sysfs.h"

/* The block device under the file system in which `fd` (O_PATH will do) lies. btrfs and overlay have numbers of
 * their own and are looked up in the mount table. 0: none, or not just one, or unknown. */
dev_t disk_of_file(const struct host_root *root, int fd);
/* The kernel's name of it: "sda1", "cciss/c0d0"; NULL: unknown. Owned by the caller. */
char *disk_name(const struct host_root *root, dev_t rdev);
/* Of a partition the name of the disk that it is on; NULL: it is none. Owned by the caller. */
char *disk_whole_name(const struct host_root *root, dev_t rdev);
/* The largest I/O that the kernel hands to it in one piece; 0: unknown. */
uint64_t disk_max_io_bytes(const struct host_root *root, dev_t rdev);

#endif
