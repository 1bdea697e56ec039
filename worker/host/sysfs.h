/* SPDX-License-Identifier: Apache-2.0 */
/* sysfs.h - where the kernel's files are on this host, and small readers of them.
 *
 * The roots are a parameter so that tests can read a made-up host. Used by the I/O process and by tests.
 */
#ifndef SALVO_HOST_SYSFS_H
#define SALVO_HOST_SYSFS_H

#include "common/base/compiler.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct host_root {
	const char *sys, *proc, *dev; /* folders, without a slash at the end */
};

extern const struct host_root host_root_live; /* /sys, /proc, /dev */

/* The first line of DIR/ATTR without white space around it; NULL where it cannot be read or is empty. */
char *sysfs_text(const char *dir, const char *attr);
/* The whole file with a NUL behind it; NULL where it cannot be read or is far too long. */
char *sysfs_bytes(const char *dir, const char *attr, size_t *ret_len);
/* The decimal number in DIR/ATTR, or `missing`. */
uint64_t sysfs_number(const char *dir, const char *attr, uint64_t missing);
bool sysfs_exists(const char *dir, const char *attr);
/* "MAJ:MIN" in DIR/dev; 0 where there is none. */
dev_t sysfs_devno(const char *dir);

/* Sleeps before another try. */
void host_pause_ms(unsigned ms);

/* The names in a folder without "." and "..", sorted; none where it cannot be read. */
struct names {
	char **names;
	size_t nr;
};
struct names names_of_folder(const char *dir);
void names_add(struct names *list, const char *name); /* unless it is there already */
void names_fini(struct names *list);

#endif
