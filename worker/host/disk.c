/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/disk.h"

#include "common/base/str.h"
#include "worker/host/devices.h"

#include <fcntl.h>
#include <libmount.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* An overlay may stand on a btrfs, and that is the end of it. */
enum { LAYERS_MAX = 3 };

static bool is_known(const struct host_root *root, dev_t rdev)
{
	_cleanup_free_ char *sysdir = major(rdev) ? sysdir_of_block(root, rdev) : NULL;

	return sysdir;
}

/* Identifier of the mount through which `fd` was opened; -1: unknown. */
static int mount_id(const struct host_root *root, int fd)
{
	static const char key[] = "mnt_id:";
	_cleanup_free_ char *attr = xasprintf("self/fdinfo/%d", fd), *text = NULL;
	const char *line;
	size_t len;

	text = sysfs_bytes(root->proc, attr, &len);
	line = text ? strstr(text, key) : NULL;
	return line ? (int)strtol(line + strlen(key), NULL, 10) : -1;
}

/* Is the block device the only one of its btrfs? Where the kernel does not say, nobody knows. */
static bool is_whole_btrfs(const struct host_root *root, const char *name)
{
	_cleanup_free_ char *base = xasprintf("%s/fs/btrfs", root->sys);
	struct names all = names_of_folder(base);
	bool is_whole = false;

	for (size_t i = 0; i < all.nr && !is_whole; i++) {
		_cleanup_free_ char *dir = xasprintf("%s/%s/devices", base, all.names[i]);
		struct names members = names_of_folder(dir);

		is_whole = members.nr == 1 && streq(members.names[0], name);
		names_fini(&members);
	}
	names_fini(&all);
	return is_whole;
}

static dev_t disk_of_btrfs(const struct host_root *root, struct libmnt_fs *fs)
{
	const char *source = mnt_fs_get_srcpath(fs);
	_cleanup_free_ char *sysdir = NULL;
	struct stat st;

	if (!source || stat(source, &st) < 0 || !S_ISBLK(st.st_mode))
		return 0;
	sysdir = sysdir_of_block(root, st.st_rdev);
	return sysdir && is_whole_btrfs(root, strrchr(sysdir, '/') + 1) ? st.st_rdev : 0;
}

static dev_t find_disk(const struct host_root *root, int fd, int layers);

/* What is written goes to the upper layer. The layers' paths are those of whoever mounted it. */
static dev_t disk_of_overlay(const struct host_root *root, struct libmnt_fs *fs, int layers)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *upper = NULL;
	size_t len;
	char *value;

	if (mnt_optstr_get_option(mnt_fs_get_fs_options(fs), "upperdir", &value, &len) != 0)
		return 0;
	upper = xstrndup(value, len);
	fd = open(upper, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? 0 : find_disk(root, fd, layers + 1);
}

static dev_t disk_of_mount(const struct host_root *root, struct libmnt_fs *fs, int layers)
{
	const char *type = mnt_fs_get_fstype(fs);

	if (is_known(root, mnt_fs_get_devno(fs)))
		return mnt_fs_get_devno(fs);
	if (type && streq(type, "btrfs"))
		return disk_of_btrfs(root, fs);
	if (type && streq(type, "overlay"))
		return disk_of_overlay(root, fs, layers);
	return 0;
}

static dev_t find_disk(const struct host_root *root, int fd, int layers)
{
	_cleanup_free_ char *path = xasprintf("%s/self/mountinfo", root->proc);
	struct libmnt_table *table;
	struct libmnt_iter *iter;
	struct libmnt_fs *fs;
	struct stat st;
	dev_t disk = 0;
	int id;

	if (layers >= LAYERS_MAX || fstat(fd, &st) < 0)
		return 0;
	if (is_known(root, st.st_dev))
		return st.st_dev;
	id = mount_id(root, fd);
	table = mnt_new_table_from_file(path);
	iter = mnt_new_iter(MNT_ITER_FORWARD);
	while (table && iter && !disk && mnt_table_next_fs(table, iter, &fs) == 0)
		if (mnt_fs_get_id(fs) == id)
			disk = disk_of_mount(root, fs, layers);
	mnt_free_iter(iter);
	mnt_unref_table(table);
	return disk;
}

dev_t disk_of_file(const struct host_root *root, int fd)
{
	return find_disk(root, fd, 0);
}

/* The kernel writes '!' for '/' in names of sysfs folders. */
static char *name_of_folder(const char *sysdir)
{
	char *name = xstrdup(strrchr(sysdir, '/') + 1);

	for (char *p = name; *p; p++)
		if (*p == '!')
			*p = '/';
	return name;
}

char *disk_name(const struct host_root *root, dev_t rdev)
{
	_cleanup_free_ char *sysdir = rdev ? sysdir_of_block(root, rdev) : NULL;

	return sysdir ? name_of_folder(sysdir) : NULL;
}

char *disk_whole_name(const struct host_root *root, dev_t rdev)
{
	_cleanup_free_ char *sysdir = rdev ? sysdir_of_block(root, rdev) : NULL;

	if (!sysdir || !sysfs_exists(sysdir, "partition"))
		return NULL;
	*strrchr(sysdir, '/') = '\0';
	return name_of_folder(sysdir);
}

uint64_t disk_max_io_bytes(const struct host_root *root, dev_t rdev)
{
	enum { KIB = 1024 };
	_cleanup_free_ char *sysdir = rdev ? sysdir_of_block(root, rdev) : NULL;

	if (sysdir && sysfs_exists(sysdir, "partition"))
		*strrchr(sysdir, '/') = '\0';
	return sysdir ? sysfs_number(sysdir, "queue/max_sectors_kb", 0) * KIB : 0;
}
