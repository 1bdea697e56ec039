/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/embedded.h"

#include "common/base/str.h"

#include <assert.h>
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { END_MS = 3000, KILL_MS = 1000, FOLDER_FILES = 16 };

struct embedded {
	char *dir, *endpoint;
	pid_t pid; /* 0: not running, or reaped */
	int pidfd;
};

/* "DIR of our program" + rest, when that can be executed. */
static char *beside_us(const char *rest)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash, *path;

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	path = xasprintf("%.*s/%s", (int)(slash - self), self, rest);
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static char *find_in_path(const char *name)
{
	_cleanup_free_ char *list = xstrdup(getenv("PATH") ? getenv("PATH") : "");
	char *save = NULL;

	for (char *dir = strtok_r(list, ":", &save); dir; dir = strtok_r(NULL, ":", &save)) {
		char *path = xasprintf("%s/%s", dir, name);

		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

static struct error *find_program(char **ret)
{
	static const char *const places[] = { "salvo-worker", "../worker/salvo-worker",
					      "../libexec/salvo-worker" };
	const char *given = getenv("SALVO_WORKER");
	char *path = NULL;

	if (given && *given) {
		if (access(given, X_OK))
			return error_new(ERR_USAGE, "SALVO_WORKER: '%s' cannot be executed: %s",
					 given, strerror(errno));
		*ret = xstrdup(given);
		return NULL;
	}
	for (size_t i = 0; !path && i < array_size(places); i++)
		path = beside_us(places[i]);
	if (!path)
		path = find_in_path("salvo-worker");
	if (!path)
		return error_new(ERR_USAGE,
				 "the program 'salvo-worker' is not beside salvo and not in "
				 "PATH; set SALVO_WORKER, or name hosts with --hosts");
	*ret = path;
	return NULL;
}

static int remove_entry(const char *path, _unused_ const struct stat *st, _unused_ int type,
			_unused_ struct FTW *ftw)
{
	return remove(path);
}

static struct error *make_folder(struct embedded *e)
{
	const char *tmp = getenv("TMPDIR");
	_cleanup_free_ char *dir = xasprintf("%s/salvo-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (strlen(dir) + strlen("/worker.sock") >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return error_new(ERR_USAGE, "TMPDIR: '%s' is too long for a socket's path", dir);
	if (!mkdtemp(dir)) /* mode 0700 */
		return error_new(ERR_OUTPUT, "'%s': cannot make a folder for the worker: %s", dir,
				 strerror(errno));
	e->endpoint = xasprintf("ipc://%s/worker.sock", dir);
	e->dir = take_ptr(dir);
	return NULL;
}

static struct error *spawn(struct embedded *e, const char *program)
{
	const char *const argv[] = { program,   "--embedded", "--listen", e->endpoint,
				     "--state", e->dir,       NULL };
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	assert(program);
	/* Neither our blocked signals nor the terminal's Ctrl-C: the coordinator decides what ends. */
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETPGROUP);
	rc = posix_spawn(&e->pid, program, NULL, &attr, (char *const *)argv, environ);
	posix_spawnattr_destroy(&attr);
	if (rc) {
		e->pid = 0;
		return error_new(ERR_IO, "'%s': cannot be started: %s", program, strerror(rc));
	}
	e->pidfd = pidfd_open(e->pid, 0);
	if (e->pidfd < 0)
		return error_new(ERR_IO, "pidfd_open: %s", strerror(errno));
	return NULL;
}

struct error *embedded_start(struct embedded **ret)
{
	_cleanup_(embedded_stop) struct embedded *e = xcalloc(1, sizeof(*e));
	_cleanup_free_ char *program = NULL;
	struct error *err;

	e->pidfd = -1;
	err = find_program(&program);
	if (!err)
		err = make_folder(e);
	if (!err)
		err = spawn(e, program);
	if (err)
		return error_context(err, "embedded worker");
	*ret = take_ptr(e);
	return NULL;
}

static bool wait_end(struct embedded *e, int ms)
{
	struct pollfd p = { .fd = e->pidfd, .events = POLLIN };

	if (e->pid && poll(&p, 1, ms) == 1 && waitpid(e->pid, NULL, WNOHANG) == e->pid)
		e->pid = 0;
	return e->pid == 0;
}

void embedded_stop(struct embedded **self_p)
{
	struct embedded *e = *self_p;

	if (!e)
		return;
	if (e->pid) {
		kill(e->pid, SIGTERM);
		if (!wait_end(e, END_MS)) {
			kill(e->pid, SIGKILL);
			wait_end(e,
				 KILL_MS); /* in vain when it hangs in a device: it is left alone */
		}
	}
	closep(&e->pidfd);
	if (e->dir)
		nftw(e->dir, remove_entry, FOLDER_FILES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	free(e->dir);
	free(e->endpoint);
	free(e);
	*self_p = NULL;
}

const char *embedded_endpoint(const struct embedded *e)
{
	return e->endpoint;
}

int embedded_pidfd(const struct embedded *e)
{
	return e->pidfd;
}

struct error *embedded_ended(struct embedded *e)
{
	int status = 0;

	if (!e->pid || waitpid(e->pid, &status, WNOHANG) != e->pid)
		return error_new(ERR_LOST, "the embedded worker has ended");
	e->pid = 0;
	if (WIFSIGNALED(status))
		return error_new(ERR_LOST, "the embedded worker was ended by signal %d (%s)",
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
	return error_new(ERR_LOST,
			 "the embedded worker has ended with status %d; its messages are "
			 "above",
			 WEXITSTATUS(status));
}
