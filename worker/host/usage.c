/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/usage.h"

#include "common/base/str.h"
#include "worker/host/patience.h"

#include <glob.h>
#include <stdio.h>

void findings_add(struct findings *found, enum error_code code, char *text, char *remedy)
{
	struct finding *f;

	found->list = xrealloc(found->list, found->nr + 1, sizeof(*found->list));
	f = &found->list[found->nr++];
	f->code = code;
	f->text = text;
	f->remedy = remedy;
}

void findings_fini(struct findings *found)
{
	for (size_t i = 0; i < found->nr; i++) {
		free(found->list[i].text);
		free(found->list[i].remedy);
	}
	free(found->list);
	*found = (struct findings) { 0 };
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *other(const struct used *u)
{
	return u->dev ? "choose another device" : "choose another file";
}

/* Is the thing that `path` names the one we look for? It may lie on anything that hangs. */
static bool is_it(const struct used *u, const char *path)
{
	struct stat st;

	if (streq(path, u->dev ? u->dev->node : u->path))
		return true;
	if (*path != '/' || !patient_stat(path, &st))
		return false;
	if (u->dev)
		return S_ISBLK(st.st_mode) && st.st_rdev == u->dev->rdev;
	return st.st_dev == u->st.st_dev && st.st_ino == u->st.st_ino;
}

/* /proc/swaps: a heading, then one line each; blanks in names stand as \040. */
void find_swap(const struct used *u, struct findings *found)
{
	size_t len;
	_cleanup_free_ char *text = sysfs_bytes(u->root->proc, "swaps", &len);
	char *rest = text, *line;

	while (rest && (line = strsep(&rest, "\n")) != NULL) {
		line[strcspn(line, " \t")] = '\0';
		for (char *blank = line; (blank = strstr(blank, "\\040")) != NULL; blank++) {
			*blank = ' ';
			memmove(blank + 1, blank + 4, strlen(blank + 4) + 1);
		}
		if (*line == '/' && is_it(u, line))
			findings_add(found, ERR_REFUSED, xstrdup("used as swap"),
				     xasprintf("swapoff it or %s", other(u)));
	}
}

static char *holder_text(const char *dir, const char *name)
{
	_cleanup_free_ char *dm_name = sysfs_text(dir, "dm/name");
	_cleanup_free_ char *dm_uuid = sysfs_text(dir, "dm/uuid");
	_cleanup_free_ char *level = sysfs_text(dir, "md/level");

	if (dm_name && dm_uuid && str_starts(dm_uuid, "LVM-"))
		return xasprintf("held by the LVM volume %s (%s)", dm_name, name);
	if (dm_name)
		return xasprintf("held by the device-mapper device %s (%s)", dm_name, name);
	if (level || str_starts(name, "md"))
		return xasprintf("held by the RAID array %s%s%s%s", name, level ? " (" : "",
				 level ? level : "", level ? ")" : "");
	return xasprintf("held by %s", name);
}

static bool is_multipath(const char *holder_dir)
{
	_cleanup_free_ char *uuid = sysfs_text(holder_dir, "dm/uuid");

	return uuid && str_starts(uuid, "mpath-");
}

static void find_btrfs(const struct used *u, struct findings *found)
{
	_cleanup_free_ char *dir = xasprintf("%s/fs/btrfs", u->root->sys);
	struct names list = names_of_folder(dir);

	for (size_t i = 0; i < list.nr; i++) {
		_cleanup_free_ char *attr = xasprintf("%s/devices/%s", list.names[i], u->dev->name);

		if (sysfs_exists(dir, attr))
			findings_add(found, ERR_REFUSED,
				     xasprintf("part of the mounted btrfs file system %s",
					       list.names[i]),
				     xstrdup("unmount it or choose another device"));
	}
	names_fini(&list);
}

/* Calls for each holder that is (or is not) a multipath device. */
static void each_holder(const struct used *u, bool multipath, struct findings *found)
{
	_cleanup_free_ char *holders = xasprintf("%s/holders", u->dev->sysdir);
	struct names list = names_of_folder(holders);

	for (size_t i = 0; i < list.nr; i++) {
		_cleanup_free_ char *dir = xasprintf("%s/%s", holders, list.names[i]);
		_cleanup_free_ char *dm_name = sysfs_text(dir, "dm/name");

		if (is_multipath(dir) != multipath)
			continue;
		if (multipath)
			findings_add(found, ERR_REFUSED,
				     xasprintf("a path of the multipath device %s", dm_name),
				     xasprintf("use /dev/mapper/%s instead", dm_name));
		else
			findings_add(found, ERR_REFUSED, holder_text(dir, list.names[i]),
				     xstrdup("stop its user or choose another device"));
	}
	names_fini(&list);
}

void find_held(const struct used *u, struct findings *found)
{
	each_holder(u, false, found);
	find_btrfs(u, found);
}

/* nvme2c1n3 is one path of nvme2n3. */
static char *nvme_head_of(const char *name)
{
	const char *c = strchr(name, 'c');
	const char *n = c ? strchr(c, 'n') : NULL;

	return c && n ? xasprintf("%.*s%s", (int)(c - name), name, n) : NULL;
}

void find_multipath(const struct used *u, struct findings *found)
{
	_cleanup_free_ char *diskdir = block_device_diskdir(u->dev);

	each_holder(u, true, found);
	if (sysfs_number(diskdir, "hidden", 0) == 1) {
		_cleanup_free_ char *head = nvme_head_of(last_part(diskdir));

		findings_add(found, ERR_REFUSED,
			     xasprintf("one path of the NVMe multipath device %s",
				       head ? head : "above it"),
			     head ? xasprintf("use /dev/%s instead", head)
				  : xstrdup("use that instead"));
	}
}

/* What the loop driver itself says: right also for a file that was renamed, deleted, or that lies in another
 * mount namespace. It asks the file behind the device, which may not answer; a device that is our target would, for
 * its node lies on no disk, and a file beside ours would hang no less than ours. */
static bool loop_stands_on(const struct used *u, const char *loop_node)
{
	struct loop_info64 info;

	if (!patient_loop_status(loop_node, &info))
		return false;
	if (u->dev)
		return info.lo_rdevice == u->dev->rdev;
	return info.lo_inode == u->st.st_ino && info.lo_device == u->st.st_dev;
}

void find_loop_backing(const struct used *u, struct findings *found)
{
	_cleanup_free_ char *blocks = xasprintf("%s/block", u->root->sys);
	struct names list = names_of_folder(blocks);

	for (size_t i = 0; i < list.nr; i++) {
		_cleanup_free_ char *dir = xasprintf("%s/%s", blocks, list.names[i]);
		_cleanup_free_ char *backing = loop_backing_file(dir);
		_cleanup_free_ char *node = xasprintf("%s/%s", u->root->dev, list.names[i]);

		if (!backing || (u->dev && streq(u->dev->name, list.names[i])))
			continue;
		if (is_it(u, backing) || loop_stands_on(u, node))
			findings_add(
				found, ERR_REFUSED,
				xasprintf("the backing of /dev/%s", list.names[i]),
				xasprintf("'losetup -d /dev/%s' or %s", list.names[i], other(u)));
	}
	names_fini(&list);
}

/* Targets that the kernel exports: files in which it names the device. */
void find_exported(const struct used *u, struct findings *found)
{
	static const struct {
		const char *base, *pattern, *by;
	} places[] = {
		{ "kernel/config/nvmet", "subsystems/*/namespaces/*/device_path", "nvmet" },
		{ "kernel/config/target", "core/*/*/udev_path", "LIO" },
		{ "kernel/scst_tgt", "devices/*/filename", "SCST" },
	};

	for (size_t i = 0; i < array_size(places); i++) {
		_cleanup_free_ char *base = xasprintf("%s/%s", u->root->sys, places[i].base);
		_cleanup_free_ char *pattern = xasprintf("%s/%s", base, places[i].pattern);
		glob_t matches = { 0 };

		if (glob(pattern, GLOB_NOSORT, NULL, &matches) != 0)
			continue;
		for (size_t k = 0; k < matches.gl_pathc; k++) {
			const char *attr = matches.gl_pathv[k] + strlen(base) + 1;
			_cleanup_free_ char *exported = sysfs_text(base, attr);

			if (exported && is_it(u, exported))
				findings_add(found, ERR_REFUSED,
					     xasprintf("exported by %s (%.*s)", places[i].by,
						       (int)(strrchr(attr, '/') - attr), attr),
					     xasprintf("remove it there or %s", other(u)));
		}
		globfree(&matches);
	}
}
