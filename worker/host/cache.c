/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/cache.h"

#include "common/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Newer than the headers that we build with; the same number on all architectures that have io_uring. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

int cache_sync(int fd)
{
	return fsync(fd) < 0 ? -errno : 0;
}

int cache_sync_system(int fd)
{
	return syncfs(fd) < 0 ? -errno : 0;
}

int cache_drop(int fd)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0)
		return -errno;
	/* Drops what fadvise leaves (buffers of whole pages), and needs CAP_SYS_ADMIN: best effort. */
	if (S_ISBLK(st.st_mode))
		(void)ioctl(fd, BLKFLSBUF, 0);
	rc = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return -rc;
}

uint64_t cache_bytes(int fd)
{
	struct {
		uint64_t offset, length;
	} all = { 0 };
	struct {
		uint64_t cached, dirty, writeback, evicted, recently_evicted; /* pages */
	} pages;

	if (syscall(SYS_cachestat, fd, &all, &pages, 0) != 0)
		return UINT64_MAX;
	return pages.cached * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool cache_is_home(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

struct error *cache_open_switch(const struct host_root *root, int *ret)
{
	_cleanup_free_ char *path = xasprintf("%s/sys/vm/drop_caches", root->proc);

	*ret = open(path, O_WRONLY | O_CLOEXEC);
	if (*ret >= 0)
		return NULL;
	return error_new(ERR_REFUSED,
			 "drop_caches: %s cannot be written: %s; run the worker as root (in a "
			 "container: with the host's /proc/sys), or leave drop_caches out",
			 path, strerrordesc_np(errno));
}

int cache_drop_all(int fd)
{
	/* 1: page cache, 2: dentries and inodes. */
	static const char both[] = "3";

	return write(fd, both, strlen(both)) < 0 ? -errno : 0;
}

/* "Dirty:     1234 kB" */
static uint64_t meminfo(const char *text, const char *key)
{
	enum { KIB = 1024 };
	const char *line = strstr(text, key);

	return line ? strtoull(line + strlen(key), NULL, 10) * KIB : 0;
}

uint64_t cache_unwritten(const struct host_root *root)
{
	size_t len;
	_cleanup_free_ char *text = sysfs_bytes(root->proc, "meminfo", &len);

	return text ? meminfo(text, "\nDirty:") + meminfo(text, "\nWriteback:") : 0;
}
