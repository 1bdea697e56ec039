/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/target_internal.h"

#include "common/base/str.h"
#include "worker/host/devices.h"
#include "worker/host/disk.h"
#include "worker/host/file.h"
#include "worker/host/safety.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Design notes
 *
 * A path is resolved once and held by an O_PATH descriptor, which opens nothing. Everything later is opened
 * through that descriptor, so it is the very inode that the rules judged. The order is: rules that need
 * nothing opened; a read-only descriptor and the rules on what it holds; an O_EXCL guard, read-only as well;
 * and only then, on request, descriptors for writing. No refusal comes after an open for writing.
 */

static const struct host_root *const root = &host_root_live;

static void info_fini(struct device_info *info)
{
	free(info->path);
	free(info->model);
	free(info->serial);
	free(info->identity);
	free(info->transport);
	free(info->in_use);
	free(info->signature);
	free(info->warning);
	*info = (struct device_info) { 0 };
}

void target_close(struct open_target **self_p)
{
	struct open_target *self = *self_p;

	if (!self)
		return;
	for (size_t i = 0; i < self->nr_opened; i++)
		closep(&self->opened[i].fd);
	free(self->opened);
	closep(&self->look_fd);
	closep(&self->guard_fd);
	place_fini(&self->place);
	place_fini(&self->block);
	block_device_destroy(&self->dev);
	info_fini(&self->info);
	free(self->target.name);
	free(self->target.path);
	free(self->target.destroy_uuid);
	free(self->label);
	free(self);
	*self_p = NULL;
}

static struct open_target *target_new(const struct work_target *t, uint64_t index,
				      const struct access_rules *rules, bool probe)
{
	struct open_target *self = xcalloc(1, sizeof(*self));

	self->target = *t;
	self->target.name = xstrdup(t->name);
	self->target.path = t->path ? xstrdup(t->path) : NULL;
	self->target.destroy_uuid = t->destroy_uuid ? xstrdup(t->destroy_uuid) : NULL;
	self->rules = rules;
	self->probe = probe;
	self->info.target = index;
	self->place.path_fd = self->place.parent_fd = -1;
	self->block.path_fd = self->block.parent_fd = -1;
	self->look_fd = self->guard_fd = -1;
	return self;
}

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "a regular file";
	case S_IFDIR:
		return "a folder";
	case S_IFBLK:
		return "a block device";
	case S_IFCHR:
		return "a character device";
	case S_IFIFO:
		return "a fifo";
	case S_IFSOCK:
		return "a socket";
	default:
		return "something unknown";
	}
}

static char *shown(const char *text)
{
	return text ? str_printable(text) : NULL;
}

/* Finds the thing, and for devices its block device. */
static struct error *resolve(struct open_target *self)
{
	const struct work_target *t = &self->target;
	struct error *err;
	dev_t rdev;

	if (!self->rules->below && t->path && *t->path != '/')
		return error_new(ERR_REFUSED, "%s: is not an absolute path; begin it with '/'",
				 t->path);
	err = place_find(t->path, &self->place);
	if (err)
		return err;
	self->label = streq(t->path, self->place.path)
			      ? xstrdup(t->path)
			      : xasprintf("%s (%s)", t->path, self->place.path);
	self->info.path = shown(self->place.path);
	if (t->kind == TARGET_FILE) {
		if (self->place.exists && !S_ISREG(self->place.st.st_mode))
			return error_new(ERR_REFUSED, "%s: is %s, not a regular file%s",
					 self->label, kind_of(self->place.st.st_mode),
					 S_ISBLK(self->place.st.st_mode)
						 ? "; name it with 'device:'"
						 : "; name another path");
		return NULL;
	}
	if (!self->place.exists)
		return error_new(ERR_REFUSED, "%s: No such file or directory; correct the path",
				 self->label);
	if (S_ISBLK(self->place.st.st_mode))
		rdev = self->place.st.st_rdev;
	else if (S_ISCHR(self->place.st.st_mode))
		rdev = device_of_generic(root, self->place.st.st_rdev);
	else
		return error_new(ERR_REFUSED, "%s: is %s, not a device%s", self->label,
				 kind_of(self->place.st.st_mode),
				 S_ISREG(self->place.st.st_mode) ? "; name it with 'file:'"
								 : "; correct the path");
	self->dev = rdev ? block_device_new(root, rdev) : NULL;
	if (!self->dev)
		return error_new(ERR_REFUSED,
				 "%s: no block device can be found behind it, so that nobody can "
				 "tell what it holds; name the block device",
				 self->label);
	return NULL;
}

/* Bytes that the file will take from its file system beyond what it has. */
static uint64_t missing_bytes(const struct open_target *self)
{
	enum { BLOCK = 512 };
	uint64_t has = self->place.exists ? (uint64_t)self->place.st.st_blocks * BLOCK : 0;

	return self->target.size > has ? self->target.size - has : 0;
}

static struct subject subject_of(struct open_target *self)
{
	struct subject s = { .root = root,
			     .target = &self->target,
			     .rules = self->rules,
			     .label = self->label,
			     .path = self->place.path,
			     .reads = self->target.reads,
			     .writes = self->target.writes,
			     .dev = self->dev,
			     .guarded = self->guard_fd >= 0,
			     .exists = self->place.exists,
			     .st = self->place.st };

	if (self->dev)
		return s;
	s.ours = s.exists && file_is_ours(&self->place);
	/* A file that is not there yet, or ours with holes, is written before it is read. To remove it is to write it. */
	if (self->target.unlink ||
	    (!self->target.readonly &&
	     (!s.exists || (uint64_t)s.st.st_size < self->target.size ||
	      (s.ours && !s.writes && !file_is_laid_out(&self->place, self->target.size)))))
		s.writes = true;
	s.need = s.writes ? missing_bytes(self) : 0;
	s.free = file_free_bytes(&self->place);
	return s;
}

/* The place through which the block device is opened: itself, or the one behind a generic device. */
static struct error *find_block(struct open_target *self, struct place **ret)
{
	struct error *err;

	*ret = &self->place;
	if (S_ISBLK(self->place.st.st_mode))
		return NULL;
	err = place_find(self->dev->node, &self->block);
	if (err)
		return err;
	*ret = &self->block;
	return NULL;
}

/* Opens for reading and makes sure that it is the device that the rules judged. */
static struct error *look(struct open_target *self)
{
	struct place *block;
	struct stat st;
	struct error *err = find_block(self, &block);
	int fd;

	if (err)
		return err;
	fd = place_open(block, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return error_new(ERR_REFUSED, "%s: cannot be opened for reading: %s", self->label,
				 strerror(-fd));
	self->look_fd = fd;
	if (fstat(fd, &st) < 0 || !S_ISBLK(st.st_mode) || st.st_rdev != self->dev->rdev)
		return error_new(ERR_REFUSED, "%s: was exchanged while it was looked at; try again",
				 self->label);
	return NULL;
}

static struct error *lock(struct open_target *self, int fd)
{
	/* udev locks a device (shared) while it looks at it. */
	enum { TRIES = 10, PAUSE_MS = 30 };

	for (int i = 0; i < TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return NULL;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return error_new(ERR_REFUSED, "%s: cannot be locked: %s", self->label,
					 strerror(errno));
		host_pause_ms(PAUSE_MS);
	}
	return error_new(ERR_REFUSED,
			 "%s: locked by another Salvo worker, or by another target of this one; "
			 "wait for it or choose another target",
			 self->label);
}

/* Takes the device for this session. The guard is read-only: holding it needs no right to write, and giving
 * it back makes no prober believe that something was written. */
static struct error *guard(struct open_target *self)
{
	const struct place *block = self->block.path ? &self->block : &self->place;
	int fd = place_open(block, O_RDONLY | O_EXCL | O_NONBLOCK);

	if (fd < 0)
		return error_new(ERR_REFUSED,
				 "%s: cannot be taken exclusively: %s; stop its user or choose "
				 "another device",
				 self->label, strerror(-fd));
	self->guard_fd = fd;
	return lock(self, fd);
}

static void describe_device(struct open_target *self)
{
	const struct block_device *dev = self->dev;
	struct device_info *info = &self->info;
	uint64_t bytes;
	unsigned physical;
	int logical;

	self->disk = dev->rdev;
	info->size_bytes = dev->size_bytes;
	info->logical_block_bytes = dev->logical_block_bytes;
	info->physical_block_bytes = dev->physical_block_bytes;
	info->model = shown(dev->model);
	info->serial = shown(dev->serial);
	info->identity = shown(dev->identity);
	info->transport = shown(dev->transport);
	/* The descriptor's word stands above sysfs's. */
	if (self->look_fd >= 0 && ioctl(self->look_fd, BLKGETSIZE64, &bytes) == 0)
		info->size_bytes = bytes;
	if (self->look_fd >= 0 && ioctl(self->look_fd, BLKSSZGET, &logical) == 0)
		info->logical_block_bytes = (uint64_t)logical;
	if (self->look_fd >= 0 && ioctl(self->look_fd, BLKPBSZGET, &physical) == 0)
		info->physical_block_bytes = physical;
}

static struct error *open_device(struct open_target *self)
{
	_cleanup_(verdict_fini) struct verdict v = { 0 };
	struct subject s = subject_of(self);
	struct error *err = NULL;

	self->writes = s.writes;
	safety_check_closed(&s, &v);
	if (v.untouchable)
		return take_ptr(v.refusals);
	err = look(self);
	if (!err)
		safety_check_opened(&s, self->look_fd, &v);
	error_append(&v.refusals, err);
	if (!v.refusals && s.writes && !self->probe)
		v.refusals = guard(self);
	if (v.refusals)
		return take_ptr(v.refusals);
	self->head = signature_head(self->look_fd);
	describe_device(self);
	self->info.in_use = take_ptr(v.in_use);
	self->info.signature = take_ptr(v.signature);
	if (self->info.in_use)
		self->info.warning = xasprintf("%s is in use (%s): others' I/O is measured as well",
					       self->info.path, self->info.in_use);
	return NULL;
}

static struct error *size_unknown(const struct open_target *self)
{
	return error_new(ERR_REFUSED,
			 "%s: is not there yet and has no size; give target '%s' a size",
			 self->label, self->target.name);
}

/* What `readonly` would have to make. */
static struct error *check_readonly(const struct open_target *self)
{
	unsigned long long has =
		self->place.exists ? (unsigned long long)self->place.st.st_size : 0;

	if (!self->target.readonly || (self->place.exists && has >= self->target.size))
		return NULL;
	if (!self->place.exists)
		return error_new(ERR_REFUSED,
				 "%s: is not there, and no file is made for readonly jobs; correct "
				 "the path, or leave readonly out",
				 self->label);
	return error_new(ERR_REFUSED,
			 "%s: has only %llu of %llu bytes, and is not made larger for readonly "
			 "jobs; lower the size of target '%s', or leave readonly out",
			 self->label, has, (unsigned long long)self->target.size,
			 self->target.name);
}

static struct error *take_file(struct open_target *self)
{
	int fd = -1;

	if (!self->place.exists) {
		struct error *err = file_make(&self->place, &fd);

		if (err)
			return err;
	} else {
		fd = place_open(&self->place, O_RDWR);
		if (fd < 0)
			return error_new(ERR_REFUSED, "%s: cannot be opened for writing: %s",
					 self->label, strerror(-fd));
	}
	self->guard_fd = fd;
	return lock(self, fd);
}

/* The multiple of which direct I/O on a file must be; 0: unknown. */
#ifdef STATX_DIOALIGN
static uint64_t direct_alignment(int fd)
{
	struct statx sx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &sx) < 0 ||
	    !(sx.stx_mask & STATX_DIOALIGN))
		return 0;
	return sx.stx_dio_offset_align;
}
#else
static uint64_t direct_alignment(_unused_ int fd)
{
	return 0;
}
#endif

static void describe_file(struct open_target *self)
{
	struct device_info *info = &self->info;
	_cleanup_free_ char *system = NULL;
	struct block_device *dev;
	struct stat st = self->place.st;
	int fd = self->place.exists ? self->place.path_fd : self->place.parent_fd;

	if (fstat(fd, &st) < 0)
		st = self->place.st;
	self->disk = disk_of_file(root, fd);
	info->size_bytes = self->target.size ? self->target.size : (uint64_t)st.st_size;
	info->transport = xstrdup("file");
	system = file_system_text(&self->place, st.st_dev);
	info->model = shown(system);
	info->logical_block_bytes = info->physical_block_bytes = 512;
	dev = self->disk ? block_device_new(root, self->disk) : NULL;
	if (dev) {
		info->logical_block_bytes = dev->logical_block_bytes;
		info->physical_block_bytes = dev->physical_block_bytes;
	}
	block_device_destroy(&dev);
	if (self->place.exists && direct_alignment(self->place.path_fd))
		info->logical_block_bytes = direct_alignment(self->place.path_fd);
}

static struct error *open_file(struct open_target *self)
{
	_cleanup_(verdict_fini) struct verdict v = { 0 };
	struct subject s = subject_of(self);
	struct error *err = NULL;
	int fd;

	err = check_readonly(self);
	if (err)
		return err;
	if (!s.exists && self->target.size == 0)
		return size_unknown(self);
	self->writes = s.writes;
	safety_check_closed(&s, &v);
	if (v.refusals)
		return take_ptr(v.refusals);
	if (s.writes && !self->probe)
		err = take_file(self);
	if (err)
		return err;
	if (!s.writes) {
		fd = place_open(&self->place, O_RDONLY | O_NONBLOCK);
		if (fd < 0)
			return error_new(ERR_REFUSED, "%s: cannot be opened for reading: %s",
					 self->label, strerror(-fd));
		self->look_fd = fd;
	}
	describe_file(self);
	self->info.in_use = take_ptr(v.in_use);
	if (self->info.in_use)
		self->info.warning =
			xasprintf("%s is in use (%s)", self->info.path, self->info.in_use);
	else if (!s.writes && (!s.ours || self->target.readonly) &&
		 !file_is_laid_out(&self->place, self->info.size_bytes))
		self->info.warning = xasprintf(
			"%s has holes: reads of them do not reach the device", self->info.path);
	return NULL;
}

static void describe_simulated(struct open_target *self)
{
	self->info.path = xstrdup("simulated");
	self->info.transport = xstrdup("simulated");
	self->info.size_bytes = self->target.size;
	self->info.logical_block_bytes = self->info.physical_block_bytes = 1;
}

struct error *target_open(const struct work_target *t, uint64_t index,
			  const struct access_rules *rules, bool probe, struct open_target **ret)
{
	_cleanup_(target_close) struct open_target *self = target_new(t, index, rules, probe);
	struct error *err = NULL;

	if (t->kind == TARGET_SIMULATED)
		describe_simulated(self);
	else
		err = resolve(self);
	if (!err && t->kind == TARGET_DEVICE)
		err = open_device(self);
	if (!err && t->kind == TARGET_FILE)
		err = open_file(self);
	if (err)
		return err;
	*ret = take_ptr(self);
	return NULL;
}

struct error *target_recheck(struct open_target *t)
{
	_cleanup_(verdict_fini) struct verdict v = { 0 };
	struct subject s;

	if (t->target.kind == TARGET_SIMULATED || !t->writes)
		return NULL;
	if (fstat(t->place.path_fd, &t->place.st) < 0)
		return error_new(ERR_REFUSED, "%s: %s", t->label, strerror(errno));
	s = subject_of(t);
	safety_check_closed(&s, &v);
	if (t->dev && !v.untouchable) {
		/* There is little time between START and its instant: one read tells whether there is
		 * anything new to judge. */
		uint64_t head = signature_head(t->look_fd);

		if (head != t->head)
			safety_check_opened(&s, t->look_fd, &v);
		t->head = head;
	}
	return take_ptr(v.refusals);
}
