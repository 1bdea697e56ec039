/* SPDX-License-Identifier: Apache-2.0 */
/* Mount tables of every mount namespace on this host: the part of usage.h that needs libmount. */
#include "common/base/str.h"
#include "worker/host/usage.h"

#include <ctype.h>
#include <libmount.h>
#include <limits.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The block device of a mount; file systems of several devices (btrfs) have a number of their own and name
 * only their source. 0: none. */
static dev_t device_of_mount(struct libmnt_fs *fs)
{
	dev_t devno = mnt_fs_get_devno(fs);
	const char *source = mnt_fs_get_srcpath(fs);
	struct stat st;

	if (major(devno) != 0)
		return devno;
	if (source && str_starts(source, "/dev/") && stat(source, &st) == 0 && S_ISBLK(st.st_mode))
		return st.st_rdev;
	return 0;
}

typedef void (*mount_visitor)(struct libmnt_fs *fs, const char *pid, void *arg);

static void visit_table(const struct host_root *root, const char *pid, mount_visitor visit,
			void *arg)
{
	_cleanup_free_ char *path = xasprintf("%s/%s/mountinfo", root->proc, pid);
	struct libmnt_table *table = mnt_new_table_from_file(path);
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;

	while (table && iter && mnt_table_next_fs(table, iter, &fs) == 0)
		visit(fs, pid, arg);
	mnt_free_iter(iter);
	mnt_unref_table(table);
}

/* Could a mount table name the device? Hosts with hundreds of containers have hundreds of tables, and reading
 * the bytes is far cheaper than taking them apart. btrfs has numbers of its own. */
static bool may_name(const struct used *u, const char *pid)
{
	_cleanup_free_ char *attr = xasprintf("%s/mountinfo", pid);
	_cleanup_free_ char *number =
		xasprintf(" %u:%u ", major(u->dev->rdev), minor(u->dev->rdev));
	_cleanup_free_ char *text = NULL;
	size_t len;

	text = sysfs_bytes(u->root->proc, attr, &len);
	return text && (strstr(text, number) || strstr(text, " btrfs "));
}

/* Every mount table once: first our own, then one for each further mount namespace. */
static void visit_all_tables(const struct used *u, mount_visitor visit, void *arg)
{
	struct names pids = names_of_folder(u->root->proc), seen = { 0 };

	names_add(&pids, "self");
	for (size_t i = pids.nr; i-- > 0;) {
		_cleanup_free_ char *path = xasprintf("%s/%s/ns/mnt", u->root->proc, pids.names[i]);
		char space[64];
		ssize_t len;
		size_t before = seen.nr;

		if (!streq(pids.names[i], "self") && !isdigit((unsigned char)*pids.names[i]))
			continue;
		len = readlink(path, space, sizeof(space) - 1);
		if (len < 0 && !streq(pids.names[i], "self"))
			continue;
		space[len < 0 ? 0 : len] = '\0';
		names_add(&seen, space);
		if (seen.nr > before && may_name(u, pids.names[i]))
			visit_table(u->root, pids.names[i], visit, arg);
	}
	names_fini(&seen);
	names_fini(&pids);
}

struct mount_search {
	const struct used *used;
	char *where, *pid; /* of the first one found */
	unsigned nr;
};

static void note_mount(struct libmnt_fs *fs, const char *pid, void *arg)
{
	struct mount_search *search = arg;

	if (device_of_mount(fs) != search->used->dev->rdev)
		return;
	if (search->nr++ == 0) {
		search->where = xstrdup(mnt_fs_get_target(fs));
		search->pid = xstrdup(pid);
	}
}

void find_mounted(const struct used *u, struct findings *found)
{
	struct mount_search search = { .used = u };
	_cleanup_free_ char *elsewhere = NULL, *more = NULL;

	visit_all_tables(u, note_mount, &search);
	if (search.nr == 0)
		return;
	more = search.nr > 1 ? xasprintf(" (and %u more)", search.nr - 1) : xstrdup("");
	if (streq(search.pid, "self")) {
		elsewhere = xstrdup("");
	} else {
		_cleanup_free_ char *attr = xasprintf("%s/comm", search.pid);
		_cleanup_free_ char *command = sysfs_text(u->root->proc, attr);

		elsewhere = xasprintf(" in the mount namespace of process %s (%s)", search.pid,
				      command ? command : "?");
	}
	findings_add(found, ERR_REFUSED,
		     xasprintf("mounted on %s%s%s", search.where, more, elsewhere),
		     xstrdup("unmount it or choose another device"));
	free(search.where);
	free(search.pid);
}

static bool is_system_place(const char *target)
{
	static const char *const places[] = { "/",         "/usr",           "/boot",
					      "/boot/efi", "/boot/firmware", "/efi" };

	for (size_t i = 0; i < array_size(places); i++)
		if (streq(target, places[i]))
			return true;
	return false;
}

struct system_search {
	const struct host_root *root;
	struct devnos found;
};

static void add_path(struct system_search *search, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && major(st.st_dev) != 0)
		devnos_add_with_ancestors(&search->found, search->root, st.st_dev);
}

/* An overlay stands on the file systems of its layers. */
static void add_layers(struct system_search *search, const char *options)
{
	static const char *const keys[] = { "lowerdir=", "upperdir=", "lowerdir+=" };
	_cleanup_free_ char *copy = xstrdup(options ? options : "");
	char *rest = copy, *option;

	while ((option = strsep(&rest, ",")) != NULL) {
		for (size_t i = 0; i < array_size(keys); i++) {
			char *layers = option + strlen(keys[i]), *layer;

			if (!str_starts(option, keys[i]))
				continue;
			while ((layer = strsep(&layers, ":")) != NULL)
				if (*layer)
					add_path(search, layer);
		}
	}
}

/* A btrfs of several devices names only one of them as its source. */
static void add_btrfs_members(struct system_search *search, dev_t one)
{
	_cleanup_free_ char *sysdir = sysdir_of_block(search->root, one);
	_cleanup_free_ char *base = xasprintf("%s/fs/btrfs", search->root->sys);
	struct names all = names_of_folder(base);

	for (size_t i = 0; sysdir && i < all.nr; i++) {
		_cleanup_free_ char *dir = xasprintf("%s/%s/devices", base, all.names[i]);
		struct names members = { 0 };

		if (sysfs_exists(dir, strrchr(sysdir, '/') + 1))
			members = names_of_folder(dir);
		for (size_t k = 0; k < members.nr; k++) {
			_cleanup_free_ char *member = xasprintf("%s/%s", dir, members.names[k]);

			devnos_add_with_ancestors(&search->found, search->root,
						  sysfs_devno(member));
		}
		names_fini(&members);
	}
	names_fini(&all);
}

static void note_system(struct libmnt_fs *fs, _unused_ const char *pid, void *arg)
{
	struct system_search *search = arg;
	const char *target = mnt_fs_get_target(fs), *type = mnt_fs_get_fstype(fs);
	dev_t rdev;

	if (!target || !is_system_place(target))
		return;
	rdev = device_of_mount(fs);
	if (rdev)
		devnos_add_with_ancestors(&search->found, search->root, rdev);
	if (type && streq(type, "overlay"))
		add_layers(search, mnt_fs_get_fs_options(fs));
	if (type && streq(type, "btrfs") && rdev)
		add_btrfs_members(search, rdev);
}

struct devnos system_devices(const struct host_root *root)
{
	struct system_search search = { .root = root };

	/* Also pid 1's: a worker in a container must not write to its host's disk. */
	visit_table(root, "self", note_system, &search);
	visit_table(root, "1", note_system, &search);
	return search.found;
}
