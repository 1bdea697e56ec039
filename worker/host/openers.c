/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes have a block device open: the part of usage.h that walks through /proc/PID/fd. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "worker/host/usage.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Design notes
 *
 * A host may have 100000 descriptors open, and 100 targets may be asked about one after the other, each with
 * its partitions, in the half second before a start. So one walk notes all block devices that anybody has open
 * (there are few) and serves all questions of the next moment. One thread of the I/O process asks.
 */
struct opener {
	dev_t rdev;
	char *pid;
};

static struct {
	char *proc; /* which /proc it was read from; NULL: none yet */
	uint64_t read_ns, took_ns;
	struct opener *list;
	size_t nr;
} openers;

static void openers_clear(void)
{
	for (size_t i = 0; i < openers.nr; i++)
		free(openers.list[i].pid);
	free(openers.list);
	free(openers.proc);
	openers.list = NULL;
	openers.proc = NULL;
	openers.nr = 0;
}

static void openers_add(dev_t rdev, const char *pid)
{
	for (size_t i = openers.nr; i-- > 0 && streq(openers.list[i].pid, pid);)
		if (openers.list[i].rdev == rdev)
			return;
	openers.list = xrealloc(openers.list, openers.nr + 1, sizeof(*openers.list));
	openers.list[openers.nr].rdev = rdev;
	openers.list[openers.nr++].pid = xstrdup(pid);
}

static void note_process(const char *proc, const char *pid)
{
	_cleanup_free_ char *path = xasprintf("%s/%s/fd", proc, pid);
	DIR *fds = opendir(path);
	const struct dirent *entry;

	if (!fds)
		return;
	while ((entry = readdir(fds)) != NULL) {
		struct statx sx;

		if (*entry->d_name == '.')
			continue;
		/* DONT_SYNC: a file server that hangs is not asked. */
		if (statx(dirfd(fds), entry->d_name, AT_STATX_DONT_SYNC, STATX_TYPE, &sx) == 0 &&
		    S_ISBLK(sx.stx_mode))
			openers_add(makedev(sx.stx_rdev_major, sx.stx_rdev_minor), pid);
	}
	closedir(fds);
}

static void openers_read(const char *proc)
{
	_cleanup_free_ char *self = xasprintf("%ld", (long)getpid());
	DIR *pids = opendir(proc);
	const struct dirent *entry;

	uint64_t begin_ns = clock_mono_ns();

	openers_clear();
	while (pids && (entry = readdir(pids)) != NULL)
		if (isdigit((unsigned char)*entry->d_name) && !streq(entry->d_name, self))
			note_process(proc, entry->d_name);
	if (pids)
		closedir(pids);
	openers.proc = xstrdup(proc);
	openers.read_ns = clock_mono_ns();
	openers.took_ns = openers.read_ns - begin_ns;
}

/* Does the last walk still answer? On a host with 100000 descriptors one walk takes longer than there is time
 * between START and its instant; then the one of PREPARE must do: the device is held O_EXCL since. */
static bool is_fresh(const struct used *u)
{
	static const uint64_t fresh_ns = 200 * NS_PER_MS, long_ns = 100 * NS_PER_MS;

	if (!openers.proc || !streq(openers.proc, u->root->proc))
		return false;
	return (u->quick && openers.took_ns > long_ns) ||
	       clock_mono_ns() - openers.read_ns <= fresh_ns;
}

static bool is_open(const struct used *u)
{
	for (size_t i = 0; i < openers.nr; i++)
		if (openers.list[i].rdev == u->dev->rdev)
			return true;
	return false;
}

static void note_opener(const struct used *u, const char *pid, struct findings *found)
{
	_cleanup_free_ char *attr = xasprintf("%s/comm", pid);
	_cleanup_free_ char *command = sysfs_text(u->root->proc, attr);
	bool ours = command && streq(command, "salvo-worker");

	findings_add(found, ERR_REFUSED,
		     xasprintf("opened by %sprocess %s (%s)", ours ? "another Salvo worker, " : "",
			       pid, command ? command : "?"),
		     xstrdup("stop it or choose another device"));
}

void find_opened(const struct used *u, struct findings *found)
{
	/* udev and other probers open a device for some milliseconds: only who stays counts. */
	enum { TRIES = 10, PAUSE_MS = 30 };

	if (!is_fresh(u))
		openers_read(u->root->proc);
	for (int i = 1; i < TRIES && is_open(u); i++) {
		host_pause_ms(PAUSE_MS);
		openers_read(u->root->proc);
	}
	for (size_t i = 0; i < openers.nr; i++)
		if (openers.list[i].rdev == u->dev->rdev)
			note_opener(u, openers.list[i].pid, found);
}
