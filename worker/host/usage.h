/* SPDX-License-Identifier: Apache-2.0 */
/* usage.h - who uses a block device or file on this host: the reasons behind EBUSY, and those that the kernel
 * does not refuse by itself.
 *
 * Every finder looks at one device (or file) and appends what it found; none opens the device.
 */
#ifndef SALVO_HOST_USAGE_H
#define SALVO_HOST_USAGE_H

#include "common/base/error.h"
#include "worker/host/devices.h"

#include <sys/stat.h>

/* One thing that speaks against writing: "mounted on /mnt/x", "unmount it or choose another device". */
struct finding {
	enum error_code code;
	char *text;
	char *remedy; /* NULL: nothing to add */
};
struct findings {
	struct finding *list;
	size_t nr;
};
void findings_add(struct findings *found, enum error_code code, char *text, char *remedy);
void findings_fini(struct findings *found);

/* What is looked for: a block device, or a file by its inode (then `dev` is NULL). */
struct used {
	const struct host_root *root;
	const struct block_device *dev;
	const char *path; /* canonical */
	struct stat st;   /* of a file */
	bool quick;       /* there is no time for what took long when it was looked for before */
};

void find_mounted(const struct used *u, struct findings *found);   /* in every mount namespace */
void find_swap(const struct used *u, struct findings *found);      /* devices and swap files */
void find_held(const struct used *u, struct findings *found);      /* dm, md, bcache, btrfs */
void find_multipath(const struct used *u, struct findings *found); /* dm paths, hidden NVMe paths */
void find_loop_backing(const struct used *u, struct findings *found);
void find_exported(const struct used *u, struct findings *found); /* nvmet, LIO (vhost too), SCST */
void find_opened(const struct used *u, struct findings *found);   /* by any other process */

/* All devices on which this host's /, /usr, /boot or EFI partition stands, up to the disks. */
struct devnos system_devices(const struct host_root *root);

#endif
