/* SPDX-License-Identifier: Apache-2.0 */
/* signature.h - what a device holds: file systems, RAID and LVM members, partition tables, also inside the
 * partitions of a disk; and whether it looks as if somebody uses it just now, perhaps on another host. */
#ifndef SALVO_HOST_SIGNATURE_H
#define SALVO_HOST_SIGNATURE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct signature {
	unsigned
		partition; /* number of the partition in which it was found; 0: on the device itself */
	char *type;        /* "ext4", "LVM2_member", "gpt" */
	char *uuid, *label; /* NULL where it has none */
	char *alive;        /* "its journal needs recovery"; NULL: no sign of life */
	bool esp;           /* an EFI system partition */
};

struct signatures {
	struct signature *list;
	size_t nr;
};

/* Reads through the descriptor, which must be open for reading without O_DIRECT. */
struct error *signatures_read(int fd, struct signatures *ret) _must_check_;
/* A hash of the first 128 KiB as they are on the device now: where it has not changed, nobody has made a file
 * system or a partition table since. */
uint64_t signature_head(int fd);
void signatures_fini(struct signatures *list);

/* "ext4, label 'data', UUID 1b2c…, in partition 1"; owned by the caller. */
char *signature_text(const struct signature *s);
/* The word by which `destroy: {uuid: …}` names it: its UUID, or its type where it has none. */
const char *signature_word(const struct signature *s);
bool signature_is_named(const struct signature *s, const char *word);

/* The sign of life of a file system of this type at `offset`; NULL: none; owned by the caller. */
char *signature_alive(int fd, uint64_t offset, const char *type);
/* The same for XFS alone. */
char *xfs_alive(int fd, uint64_t offset);

#endif
