/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/target_internal.h"

#include "worker/host/counters.h"
#include "worker/host/disk.h"
#include "worker/host/range.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const struct host_root *const root = &host_root_live;

const struct device_info *target_info(const struct open_target *t)
{
	return &t->info;
}

static bool same_inode(const struct open_target *self, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || (st.st_mode & S_IFMT) != (self->place.st.st_mode & S_IFMT))
		return false;
	if (!S_ISREG(st.st_mode))
		return st.st_rdev == self->place.st.st_rdev;
	return st.st_dev == self->place.st.st_dev && st.st_ino == self->place.st.st_ino;
}

struct error *target_check_member(const struct open_target *t, const struct work_member *m)
{
	return range_check(&t->info, m);
}

static int open_flags(const struct target_access *how)
{
	static const int sync_flags[] = {
		[SYNC_NONE] = 0, [SYNC_SYNC] = O_SYNC, [SYNC_DSYNC] = O_DSYNC
	};

	return (how->write ? O_RDWR | sync_flags[how->sync] : O_RDONLY) |
	       (how->direct ? O_DIRECT : 0);
}

static bool same_access(const struct target_access *a, const struct target_access *b)
{
	return a->write == b->write && a->direct == b->direct && a->sync == b->sync &&
	       a->advice == b->advice;
}

static struct error *open_again(struct open_target *t, const struct target_access *how, int *ret)
{
	_cleanup_close_ int fd = place_open(&t->place, open_flags(how));

	if (fd == -EINVAL && how->direct)
		return error_new(
			ERR_REFUSED,
			"%s: its file system does not know direct I/O; set 'direct: false'",
			t->label);
	if (fd < 0)
		return error_new(ERR_REFUSED, "%s: cannot be opened for %s: %s", t->label,
				 how->write ? "writing" : "reading", strerror(-fd));
	if (!same_inode(t, fd))
		return error_new(ERR_REFUSED, "%s: was exchanged after it was checked; try again",
				 t->label);
	if (how->advice != POSIX_FADV_NORMAL) /* a hint, no more */
		(void)posix_fadvise(fd, 0, 0, how->advice);
	*ret = take_fd(&fd);
	return NULL;
}

struct error *target_fd(struct open_target *t, const struct target_access *how, int *ret)
{
	struct error *err;

	for (size_t i = 0; i < t->nr_opened; i++)
		if (same_access(&t->opened[i].how, how)) {
			*ret = t->opened[i].fd;
			return NULL;
		}
	if (t->target.kind == TARGET_SIMULATED || t->probe)
		return error_new(ERR_INTERNAL, "target '%s' has no descriptor", t->target.name);
	if (how->write && !t->writes)
		return error_new(ERR_INTERNAL, "target '%s' was opened for reading only",
				 t->target.name);
	err = open_again(t, how, ret);
	if (err)
		return err;
	t->opened = xrealloc(t->opened, t->nr_opened + 1, sizeof(*t->opened));
	t->opened[t->nr_opened++] = (struct opened) { .how = *how, .fd = *ret };
	return NULL;
}

int target_look_fd(const struct open_target *t)
{
	return t->look_fd >= 0 ? t->look_fd : t->guard_fd;
}

enum target_kind target_kind_of(const struct open_target *t)
{
	return (enum target_kind)t->target.kind;
}

struct error *target_reserve(struct open_target *t, int how)
{
	if (t->target.kind != TARGET_FILE || !t->writes || t->probe)
		return NULL;
	return file_reserve(t->guard_fd, t->place.path, t->target.size, how);
}

struct error *target_unlink(const struct open_target *t, bool *is_gone)
{
	*is_gone = false;
	if (t->target.kind != TARGET_FILE || !t->writes || t->probe)
		return NULL;
	return file_unlink(&t->place, is_gone);
}

struct error *target_layout(struct open_target *t, uint64_t bytes, target_progress progress,
			    void *arg, uint64_t *written)
{
	*written = 0;
	if (t->target.kind != TARGET_FILE || !t->writes || t->probe)
		return NULL;
	return file_lay_out(t->guard_fd, t->place.path, bytes, progress, arg, written);
}

bool target_stat(const struct open_target *t, struct device_stat *ret)
{
	return t->disk && counters_read(root, t->disk, ret);
}

void target_describe_disk(const struct open_target *t, struct device_stat *ret)
{
	ret->disk = disk_name(root, t->disk);
	ret->partition_of = disk_whole_name(root, t->disk);
	ret->max_io_bytes = disk_max_io_bytes(root, t->disk);
	ret->is_file = t->target.kind == TARGET_FILE;
}

uint64_t target_inflight(const struct open_target *t)
{
	return t->dev ? counters_inflight(root, t->dev->rdev) : 0;
}
