/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/devices.h"

#include "common/base/str.h"
#include "worker/host/identity.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { SECTOR_BYTES = 512 }; /* sysfs counts in these, whatever the device's blocks are */

char *sysdir_of_block(const struct host_root *root, dev_t rdev)
{
	_cleanup_free_ char *path =
		xasprintf("%s/dev/block/%u:%u", root->sys, major(rdev), minor(rdev));

	return realpath(path, NULL);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return xstrndup(path, slash ? (size_t)(slash - path) : 0);
}

char *block_device_diskdir(const struct block_device *dev)
{
	return dev->partition ? parent_of(dev->sysdir) : xstrdup(dev->sysdir);
}

char *loop_backing_file(const char *sysdir)
{
	return sysfs_text(sysdir, "loop/backing_file");
}

/* The kernel writes '!' for '/' in names of sysfs folders. */
static char *node_of(const char *name)
{
	char *node = xasprintf("/dev/%s", name);

	for (char *p = node; *p; p++)
		if (*p == '!')
			*p = '/';
	return node;
}

struct block_device *block_device_new(const struct host_root *root, dev_t rdev)
{
	char *sysdir = sysdir_of_block(root, rdev);
	_cleanup_free_ char *diskdir = NULL;
	struct block_device *dev;

	if (!sysdir)
		return NULL;
	dev = xcalloc(1, sizeof(*dev));
	dev->rdev = rdev;
	dev->sysdir = sysdir;
	dev->name = xstrdup(last_part(sysdir));
	dev->node = node_of(dev->name);
	dev->partition = sysfs_exists(sysdir, "partition");
	diskdir = block_device_diskdir(dev);
	dev->read_only = sysfs_number(sysdir, "ro", 0) != 0;
	dev->size_bytes = sysfs_number(sysdir, "size", 0) * SECTOR_BYTES;
	dev->logical_block_bytes = sysfs_number(diskdir, "queue/logical_block_size", SECTOR_BYTES);
	dev->physical_block_bytes =
		sysfs_number(diskdir, "queue/physical_block_size", dev->logical_block_bytes);
	dev->model = disk_model(diskdir);
	dev->serial = disk_serial(diskdir);
	dev->transport = disk_transport(root, diskdir);
	dev->identity = disk_identity(diskdir);
	if (dev->identity && dev->partition) {
		char *whole = dev->identity;

		dev->identity = xasprintf("%s-part%llu", whole,
					  (unsigned long long)sysfs_number(sysdir, "partition", 0));
		free(whole);
	}
	return dev;
}

void block_device_destroy(struct block_device **self_p)
{
	struct block_device *dev = *self_p;

	if (!dev)
		return;
	free(dev->name);
	free(dev->node);
	free(dev->sysdir);
	free(dev->model);
	free(dev->serial);
	free(dev->identity);
	free(dev->transport);
	free(dev);
	*self_p = NULL;
}

static bool is_link_to(const char *path, dev_t rdev)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISBLK(st.st_mode) && st.st_rdev == rdev;
}

/* Links below `dir` that lead to the device. Folders that everybody may write to (shm, mqueue) are left out: a
 * link there says nothing about the device. */
static void add_links(struct names *list, const char *dir, dev_t rdev, int depth)
{
	enum { DEPTH_MAX = 4 };
	struct names entries = names_of_folder(dir);

	for (size_t i = 0; i < entries.nr; i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", dir, entries.names[i]);
		struct stat st;

		if (lstat(path, &st) < 0)
			continue;
		if (S_ISLNK(st.st_mode) && is_link_to(path, rdev))
			names_add(list, path);
		else if (S_ISDIR(st.st_mode) && !(st.st_mode & S_IWOTH) && depth < DEPTH_MAX)
			add_links(list, path, rdev, depth + 1);
	}
	names_fini(&entries);
}

struct names block_device_names(const struct host_root *root, const struct block_device *dev)
{
	struct names list = { 0 };

	names_add(&list, dev->node);
	add_links(&list, root->dev, dev->rdev, 0);
	return list;
}

static void relatives_add(struct relatives *list, const struct host_root *root, dev_t rdev)
{
	struct block_device *dev = rdev ? block_device_new(root, rdev) : NULL;

	if (!dev)
		return;
	list->devices = xrealloc(list->devices, list->nr + 1, sizeof(*list->devices));
	list->devices[list->nr++] = dev;
}

struct relatives block_device_relatives(const struct host_root *root,
					const struct block_device *dev)
{
	struct relatives list = { 0 };
	struct names entries;

	if (dev->partition) {
		_cleanup_free_ char *diskdir = block_device_diskdir(dev);

		relatives_add(&list, root, sysfs_devno(diskdir));
		return list;
	}
	entries = names_of_folder(dev->sysdir);
	for (size_t i = 0; i < entries.nr; i++) {
		_cleanup_free_ char *dir = xasprintf("%s/%s", dev->sysdir, entries.names[i]);

		if (sysfs_exists(dir, "partition"))
			relatives_add(&list, root, sysfs_devno(dir));
	}
	names_fini(&entries);
	return list;
}

void relatives_fini(struct relatives *list)
{
	for (size_t i = 0; i < list->nr; i++)
		block_device_destroy(&list->devices[i]);
	free(list->devices);
	*list = (struct relatives) { 0 };
}

bool devnos_contain(const struct devnos *set, dev_t rdev)
{
	for (size_t i = 0; i < set->nr; i++)
		if (set->numbers[i] == rdev)
			return true;
	return false;
}

void devnos_add_with_ancestors(struct devnos *set, const struct host_root *root, dev_t rdev)
{
	_cleanup_free_ char *sysdir = NULL, *slaves = NULL, *backing = NULL;
	struct names list;
	struct stat st;

	if (devnos_contain(set, rdev))
		return;
	sysdir = sysdir_of_block(root, rdev);
	if (!sysdir)
		return;
	set->numbers = xrealloc(set->numbers, set->nr + 1, sizeof(*set->numbers));
	set->numbers[set->nr++] = rdev;
	if (sysfs_exists(sysdir, "partition")) {
		_cleanup_free_ char *diskdir = parent_of(sysdir);

		devnos_add_with_ancestors(set, root, sysfs_devno(diskdir));
	}
	slaves = xasprintf("%s/slaves", sysdir);
	list = names_of_folder(slaves);
	for (size_t i = 0; i < list.nr; i++) {
		_cleanup_free_ char *dir = xasprintf("%s/%s", slaves, list.names[i]);

		devnos_add_with_ancestors(set, root, sysfs_devno(dir));
	}
	names_fini(&list);
	backing = loop_backing_file(sysdir);
	if (backing && stat(backing, &st) == 0)
		devnos_add_with_ancestors(set, root, S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev);
}

void devnos_fini(struct devnos *set)
{
	free(set->numbers);
	*set = (struct devnos) { 0 };
}

/* The only block device of a SCSI device. */
static dev_t scsi_block_of(const char *chardir)
{
	_cleanup_free_ char *dir = xasprintf("%s/device/block", chardir);
	struct names list = names_of_folder(dir);
	dev_t rdev = 0;

	if (list.nr == 1) {
		_cleanup_free_ char *disk = xasprintf("%s/%s", dir, list.names[0]);

		rdev = sysfs_devno(disk);
	}
	names_fini(&list);
	return rdev;
}

dev_t device_of_generic(const struct host_root *root, dev_t char_rdev)
{
	_cleanup_free_ char *link =
		xasprintf("%s/dev/char/%u:%u", root->sys, major(char_rdev), minor(char_rdev));
	_cleanup_free_ char *chardir = realpath(link, NULL);
	_cleanup_free_ char *classlink = NULL, *class = NULL, *disk = NULL;
	const char *name, *kind;

	if (!chardir)
		return 0;
	classlink = xasprintf("%s/subsystem", chardir);
	class = realpath(classlink, NULL);
	if (!class)
		return 0;
	name = last_part(chardir);
	kind = last_part(class);
	if (streq(kind, "scsi_generic") || streq(kind, "bsg"))
		return scsi_block_of(chardir);
	if (!streq(kind, "nvme-generic") || !str_starts(name, "ng"))
		return 0;
	disk = xasprintf("%s/class/block/nvme%s", root->sys, name + strlen("ng"));
	return sysfs_devno(disk);
}
