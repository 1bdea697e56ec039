/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/statedir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is the file that fd has open still the one at that path? Another worker may have removed it on its way out. */
static bool still_there(const char *path, int fd)
{
	struct stat by_path, by_fd;

	return stat(path, &by_path) == 0 && fstat(fd, &by_fd) == 0 &&
	       by_path.st_dev == by_fd.st_dev && by_path.st_ino == by_fd.st_ino;
}

/* Locks it and writes our number into it, for whoever is refused. */
static struct error *hold_file(const char *path, int fd)
{
	char pid[32] = "";

	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		ssize_t n = read(fd, pid, sizeof(pid) - 1);

		pid[n > 0 ? strcspn(pid, "\n") : 0] = '\0';
		return error_new(ERR_CONFIG,
				 "%s: another worker holds it%s%s; give each its own state and "
				 "listen",
				 path, *pid ? ", pid " : "", pid);
	}
	if (ftruncate(fd, 0) != 0 || dprintf(fd, "%d\n", getpid()) < 0)
		return error_new(ERR_CONFIG, "%s: cannot be written: %s", path, strerror(errno));
	return NULL;
}

static struct error *lock_file(const char *path, int *ret)
{
	for (;;) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (fd < 0)
			return error_new(ERR_CONFIG, "%s: cannot be opened: %s", path,
					 strerror(errno));
		struct error *err = hold_file(path, fd);

		if (!err && still_there(path, fd)) {
			*ret = fd;
			return NULL;
		}
		close(fd);
		if (err)
			return err;
	}
}

struct error *statedir_lock(const struct worker_config *c, struct statedir *ret)
{
	const char *ipc = worker_config_ipc_path(c);
	struct error *err;

	ret->socket = ipc ? xstrdup(ipc) : NULL;
	ret->folder = NULL;
	for (size_t i = 0; i < STATEDIR_LOCKS; i++) {
		ret->locks[i].path = NULL;
		ret->locks[i].fd = -1;
	}
	if (mkdir(c->state, 0755) != 0 && errno != EEXIST) {
		freep(&ret->socket);
		return error_new(ERR_CONFIG, "state: '%s': cannot be made: %s", c->state,
				 strerror(errno));
	}
	ret->locks[0].path = xasprintf("%s/lock", c->state);
	err = lock_file(ret->locks[0].path, &ret->locks[0].fd);
	if (!err && ipc) {
		ret->locks[1].path = xasprintf("%s.lock", ipc);
		err = lock_file(ret->locks[1].path, &ret->locks[1].fd);
	}
	if (!err && c->embedded)
		ret->folder = xstrdup(c->state);
	if (err)
		statedir_unlock(ret);
	return err;
}

void statedir_unlock(struct statedir *s)
{
	/* libzmq leaves it there; while the lock is held it is ours. */
	if (s->socket && s->locks[1].fd >= 0)
		unlink(s->socket);
	freep(&s->socket);
	for (size_t i = STATEDIR_LOCKS; i-- > 0;) {
		if (s->locks[i].fd >= 0)
			unlink(s->locks[i].path);
		closep(&s->locks[i].fd);
		freep(&s->locks[i].path);
	}
	if (s->folder)
		rmdir(s->folder);
	freep(&s->folder);
}
