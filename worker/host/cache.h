/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - the page cache: what of a file or block device is written back, dropped, or still there.
 *
 * Calls with a descriptor may block for as long as the device likes. They return 0 or -errno. */
#ifndef SALVO_HOST_CACHE_H
#define SALVO_HOST_CACHE_H

#include "common/base/error.h"
#include "worker/host/sysfs.h"

/* Writes back what is dirty of the file or device, and flushes the device's own cache. */
int cache_sync(int fd);
/* The same for all of the file system in which fd lies, its journal too. */
int cache_sync_system(int fd);
/* Drops clean pages of the file or block device from memory; those that others map or lock stay. */
int cache_drop(int fd);
/* Bytes of it that are in memory now; UINT64_MAX: this kernel (before 6.5) does not say. */
uint64_t cache_bytes(int fd);
/* Does the file live in memory and nowhere else (tmpfs)? */
bool cache_is_home(int fd);

/* Opens the switch that drops the host's caches; the error (ERR_REFUSED) says what to do. */
struct error *cache_open_switch(const struct host_root *root, int *ret) _must_check_;
/* Drops the host's clean page cache, dentries and inodes: sync first. `fd`: of the switch. */
int cache_drop_all(int fd);

/* Bytes of the host that are waiting to be written or being written; 0 where it cannot be read. */
uint64_t cache_unwritten(const struct host_root *root);

#endif
