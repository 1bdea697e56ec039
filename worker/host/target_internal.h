/* SPDX-License-Identifier: Apache-2.0 */
/* target_internal.h - what target.c (opens and judges) and target_use.c (what is done with it then) share. */
#ifndef SALVO_HOST_TARGET_INTERNAL_H
#define SALVO_HOST_TARGET_INTERNAL_H

#include "worker/host/devices.h"
#include "worker/host/file.h"
#include "worker/host/target.h"

struct open_target {
	struct work_target target;        /* a copy: the assignment may end before the session */
	const struct access_rules *rules; /* borrowed */
	struct device_info info;
	char *label; /* how messages call it: the path as given, and the canonical one where it differs */
	struct place place;
	struct block_device *dev;
	struct place block; /* of a generic device: the block device behind it */
	dev_t disk;         /* whose counters tell of its I/O; 0: none */
	bool writes;        /* may be written: the rules for writers were kept */
	bool probe;
	uint64_t head; /* of a device: signature_head when its content was judged */
	int look_fd;   /* open for reading; of a file only where it is not written */
	int guard_fd;  /* O_EXCL and flocked (device), or flocked (file) */
	struct opened {
		struct target_access how;
		int fd;
	} * opened; /* those that were asked for */
	size_t nr_opened;
};

#endif
