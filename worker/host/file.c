/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/file.h"

#include "common/base/str.h"
#include "worker/host/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <libmount.h>
#include <limits.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char mark_name[] = "user.salvo", mark_value[] = "made by salvo";

/* Files that this process made: where a file system keeps no extended attributes, the next phase of the same
 * session may still write them. One I/O process is one session, and one thread of it opens targets. */
static struct {
	dev_t dev;
	ino_t ino;
} * made_here;
static size_t nr_made_here;

static void remember_made(const struct stat *st)
{
	made_here = xrealloc(made_here, nr_made_here + 1, sizeof(*made_here));
	made_here[nr_made_here].dev = st->st_dev;
	made_here[nr_made_here++].ino = st->st_ino;
}

static bool was_made_here(const struct stat *st)
{
	for (size_t i = 0; i < nr_made_here; i++)
		if (made_here[i].dev == st->st_dev && made_here[i].ino == st->st_ino)
			return true;
	return false;
}

/* Its number may become that of another file. */
static void forget_made(const struct stat *st)
{
	for (size_t i = nr_made_here; i-- > 0;)
		if (made_here[i].dev == st->st_dev && made_here[i].ino == st->st_ino)
			made_here[i] = made_here[--nr_made_here];
}

static char *self_fd(int fd)
{
	return xasprintf("%s/self/fd/%d", host_root_live.proc, fd);
}

int place_open(const struct place *p, int flags)
{
	_cleanup_free_ char *path = self_fd(p->path_fd);
	int fd = open(path, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Is the opened thing still the one that the path was resolved to? A folder in between may have been
 * exchanged for a link meanwhile. */
static bool is_at(int fd, const char *path)
{
	_cleanup_free_ char *link = self_fd(fd);
	char now[PATH_MAX];
	ssize_t len = readlink(link, now, sizeof(now) - 1);

	if (len < 0)
		return false;
	now[len] = '\0';
	return streq(now, path);
}

static struct error *changed(const char *path)
{
	return error_new(ERR_REFUSED, "%s: was exchanged while it was looked at; try again", path);
}

static struct error *find_existing(const char *path, struct place *p)
{
	p->path = realpath(path, NULL);
	if (!p->path)
		return error_new(ERR_REFUSED, "%s: cannot be found: %s; correct the path", path,
				 strerror(errno));
	p->path_fd = open(p->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (p->path_fd < 0 || fstat(p->path_fd, &p->st) < 0)
		return error_new(ERR_REFUSED, "%s: cannot be opened: %s", path, strerror(errno));
	p->exists = true;
	return is_at(p->path_fd, p->path) ? NULL : changed(path);
}

static struct error *find_new(const char *path, struct place *p)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	_cleanup_free_ char *folder =
		slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	_cleanup_free_ char *canonical = realpath(folder, NULL);

	if (!*name || streq(name, ".") || streq(name, ".."))
		return error_new(ERR_REFUSED, "'%s': is not a path of a file", path);
	if (!canonical)
		return error_new(ERR_REFUSED, "%s: its folder %s: %s; make the folder first", path,
				 folder, strerror(errno));
	p->parent_fd = open(canonical, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->parent_fd < 0)
		return error_new(ERR_REFUSED, "%s: its folder %s: %s", path, canonical,
				 strerror(errno));
	if (!is_at(p->parent_fd, canonical))
		return changed(path);
	p->path = xasprintf("%s/%s", streq(canonical, "/") ? "" : canonical, name);
	return NULL;
}

struct error *place_find(const char *path, struct place *ret)
{
	struct place p = { .path_fd = -1, .parent_fd = -1 };
	struct stat st;
	struct error *err;

	if (!path || !*path)
		return error_new(ERR_REFUSED, "a target without a path; name a device or a file");
	/* A link to nowhere must not be followed to make a file there. */
	if (lstat(path, &st) < 0 && errno == ENOENT)
		err = find_new(path, &p);
	else
		err = find_existing(path, &p);
	if (err) {
		place_fini(&p);
		return err;
	}
	*ret = p;
	return NULL;
}

void place_fini(struct place *p)
{
	closep(&p->path_fd);
	closep(&p->parent_fd);
	free(p->path);
	*p = (struct place) { .path_fd = -1, .parent_fd = -1 };
}

bool file_is_ours(const struct place *p)
{
	_cleanup_free_ char *path = self_fd(p->path_fd);

	if (p->st.st_nlink > 1)
		return false;
	return was_made_here(&p->st) || getxattr(path, mark_name, NULL, 0) >= 0;
}

bool file_is_laid_out(const struct place *p, uint64_t bytes)
{
	enum { BLOCK = 512 }; /* st_blocks counts in these */
	_cleanup_close_ int fd = -1;
	struct stat st;
	off_t hole;

	fd = place_open(p, O_RDONLY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || (uint64_t)st.st_size < bytes ||
	    (uint64_t)st.st_blocks * BLOCK < bytes)
		return false;
	/* Reserved but unwritten blocks count as holes here: they are answered without the device. */
	hole = lseek(fd, 0, SEEK_HOLE);
	return hole < 0 || (uint64_t)hole >= bytes;
}

uint64_t file_free_bytes(const struct place *p)
{
	int fd = p->exists ? p->path_fd : p->parent_fd;
	struct statvfs fs;

	return fstatvfs(fd, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
}

struct error *file_make(struct place *p, int *ret)
{
	_cleanup_close_ int fd = openat(p->parent_fd, strrchr(p->path, '/') + 1,
					O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	_cleanup_free_ char *link = NULL;

	if (fd < 0)
		return error_new(ERR_REFUSED, "%s: cannot be made: %s", p->path, strerror(errno));
	/* Not every file system keeps marks; then the process remembers. */
	if (fsetxattr(fd, mark_name, mark_value, strlen(mark_value), 0) < 0 && errno == ENOSPC)
		return error_new(ERR_REFUSED, "%s: no room to mark it as Salvo's own", p->path);
	link = self_fd(fd);
	p->path_fd = open(link, O_PATH | O_CLOEXEC);
	if (p->path_fd < 0 || fstat(fd, &p->st) < 0)
		return error_new(ERR_REFUSED, "%s: %s", p->path, strerror(errno));
	closep(&p->parent_fd);
	p->exists = true;
	remember_made(&p->st);
	*ret = take_fd(&fd);
	return NULL;
}

/* 0 or an errno, as posix_fallocate does it. */
static int reserve(int fd, off_t bytes, int how)
{
	int rc = 0;

	switch ((enum job_fallocate)how) {
	case FALLOCATE_NONE:
		return 0;
	case FALLOCATE_POSIX:
		return posix_fallocate(fd, 0, bytes);
	case FALLOCATE_TRUNCATE:
		return ftruncate(fd, bytes) < 0 ? errno : 0;
	case FALLOCATE_KEEP:
		rc = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, bytes);
		return rc < 0 ? errno : 0;
	case FALLOCATE_NATIVE:
		rc = fallocate(fd, 0, 0, bytes);
		if (rc < 0 && errno == EOPNOTSUPP)
			rc = ftruncate(fd, bytes);
		return rc < 0 ? errno : 0;
	}
	return EINVAL;
}

struct error *file_reserve(int fd, const char *path, uint64_t bytes, int how)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0)
		return error_new(ERR_REFUSED, "%s: %s", path, strerror(errno));
	if ((uint64_t)st.st_size >= bytes)
		return NULL;
	if (bytes > INT64_MAX)
		return error_new(ERR_REFUSED, "%s: no file can be that large; lower its size",
				 path);
	do
		rc = reserve(fd, (off_t)bytes, how);
	while (rc == EINTR);
	if (rc == EOPNOTSUPP)
		return error_new(ERR_REFUSED,
				 "%s: its file system reserves no blocks; use fallocate: truncate "
				 "or none",
				 path);
	if (rc)
		return error_new(ERR_REFUSED, "%s: cannot be given a size of %llu bytes: %s", path,
				 (unsigned long long)bytes, strerror(rc));
	return NULL;
}

struct error *file_unlink(const struct place *p, bool *is_gone)
{
	const char *slash = strrchr(p->path, '/');
	_cleanup_free_ char *folder = xstrndup(p->path, (size_t)(slash - p->path) + 1);
	_cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	*is_gone = false;
	if (fd < 0 || fstatat(fd, slash + 1, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    st.st_dev != p->st.st_dev || st.st_ino != p->st.st_ino || st.st_nlink > 1 ||
	    !file_is_ours(p))
		return NULL;
	if (unlinkat(fd, slash + 1, 0) < 0)
		return error_new(ERR_REFUSED, "%s: cannot be removed: %s", p->path,
				 strerror(errno));
	*is_gone = true;
	forget_made(&st);
	/* What that writes is not to be written into the next step. */
	if (fsync(fd) < 0)
		return error_new(ERR_IO, "%s: was removed, but its folder cannot be synced: %s",
				 p->path, strerror(errno));
	return NULL;
}

/* Of all mounts of the device the one that the path goes through. */
static bool is_mount_of(struct libmnt_fs *fs, const struct place *p, size_t longest)
{
	const char *target = mnt_fs_get_target(fs);
	size_t len = target ? strlen(target) : 0;

	if (len < longest || !target || strncmp(p->path, target, len) != 0)
		return false;
	return streq(target, "/") || p->path[len] == '/';
}

char *file_system_text(const struct place *p, dev_t dev)
{
	_cleanup_free_ char *path = xasprintf("%s/self/mountinfo", host_root_live.proc);
	struct libmnt_table *table = mnt_new_table_from_file(path);
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs, *best = NULL;
	size_t longest = 0;
	char *text = NULL;

	while (table && iter && mnt_table_next_fs(table, iter, &fs) == 0) {
		if (mnt_fs_get_devno(fs) != dev || !is_mount_of(fs, p, longest))
			continue;
		best = fs;
		longest = strlen(mnt_fs_get_target(fs));
	}
	if (best)
		text = xasprintf("%s on %s, mounted on %s", mnt_fs_get_fstype(best),
				 mnt_fs_get_source(best) ? mnt_fs_get_source(best) : "none",
				 mnt_fs_get_target(best));
	mnt_free_iter(iter);
	mnt_unref_table(table);
	return text;
}
