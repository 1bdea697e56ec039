/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/child.h"

#include "common/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORDS = 64 * 1024, MAX_PATTERNS = 4096 };

/* clang-format off */
static const struct field io_setup_fields[] = {
	F_STRLIST(struct io_setup, read, nr_read, .max = MAX_PATTERNS, .help = "May be read"),
	F_STRLIST(struct io_setup, write, nr_write, .max = MAX_PATTERNS, .help = "May be written"),
	F_STRING(struct io_setup, below, .flags = FIELD_OPTIONAL, .help = "Files below it may be written"),
	F_STRING(struct io_setup, state, .flags = FIELD_REQUIRED, .help = "Folder of the worker's state"),
	F_COUNT(struct io_setup, threads, .flags = FIELD_REQUIRED, .help = "Most threads of a step"),
	F_SIZE(struct io_setup, memory, .flags = FIELD_REQUIRED, .help = "Most memory of a step"),
	{ NULL },
};
const struct schema io_setup_schema = {
	.name = "io_setup", .help = "What the I/O process must know of worker.yaml",
	.size = sizeof(struct io_setup), .fields = io_setup_fields,
};
/* clang-format on */

struct error *io_setup_make(const struct worker_config *c, struct io_setup *ret)
{
	*ret = (struct io_setup) {
		.read = c->allow.read,
		.nr_read = c->allow.nr_read,
		.write = c->allow.write,
		.nr_write = c->allow.nr_write,
		.state = c->state,
		.threads = c->limits.threads,
		.memory = c->limits.memory,
	};
	if (!c->embedded)
		return NULL;
	ret->below = getcwd(NULL, 0);
	return ret->below ? NULL
			  : error_new(ERR_CONFIG, "the current folder cannot be found: %s",
				      strerror(errno));
}

/* The child's descriptors come from dup2 in the child; all others are closed there, marked or not. */
static int spawn(int pair_fd, int stats_fd, int words_fd, pid_t *ret)
{
	char *const argv[] = { (char[]) { "salvo-worker" }, (char[]) { "--io-process" }, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, words_fd, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, words_fd, STDERR_FILENO);
	posix_spawn_file_actions_adddup2(&actions, pair_fd, CHILD_PAIR_FD);
	posix_spawn_file_actions_adddup2(&actions, stats_fd, CHILD_STATS_FD);
	posix_spawn_file_actions_addclosefrom_np(&actions, CHILD_STATS_FD + 1);
	rc = posix_spawn(ret, "/proc/self/exe", &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return rc;
}

/* Moves a descriptor out of the way of the child's fixed numbers: dup2 must not overwrite one of them. */
static int above_fixed(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, CHILD_STATS_FD + 1);

	close(fd);
	return moved;
}

static struct error *make_descriptors(int pair[2], int *stats_fd, int *words_fd)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return error_new(ERR_INTERNAL, "cannot make a socket pair: %s", strerror(errno));
	*stats_fd = memfd_create("salvo-stats", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* It only grows: what the control process has mapped stays there. */
	if (*stats_fd < 0 || fcntl(*stats_fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
		return error_new(ERR_INTERNAL, "cannot make the statistics memory: %s",
				 strerror(errno));
	*words_fd = memfd_create("salvo-words", MFD_CLOEXEC);
	if (*words_fd < 0)
		return error_new(ERR_INTERNAL, "memfd_create: %s", strerror(errno));
	pair[0] = above_fixed(pair[0]);
	pair[1] = above_fixed(pair[1]);
	*stats_fd = above_fixed(*stats_fd);
	*words_fd = above_fixed(*words_fd);
	if (pair[0] < 0 || pair[1] < 0 || *stats_fd < 0 || *words_fd < 0)
		return error_new(ERR_INTERNAL, "cannot duplicate a descriptor: %s",
				 strerror(errno));
	return NULL;
}

struct error *child_start(const struct io_setup *setup, struct child **ret)
{
	int pair[2] = { -1, -1 }, stats_fd = -1, words_fd = -1;
	struct error *err = make_descriptors(pair, &stats_fd, &words_fd);
	struct child *c;
	pid_t pid = 0;

	if (!err) {
		int rc = spawn(pair[1], stats_fd, words_fd, &pid);

		if (rc)
			err = error_new(ERR_INTERNAL, "cannot start the I/O process: %s",
					strerror(rc));
	}
	closep(&pair[1]);
	if (err) {
		closep(&pair[0]);
		closep(&stats_fd);
		closep(&words_fd);
		return err;
	}
	c = xcalloc(1, sizeof(*c));
	c->pid = pid;
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	c->stats_fd = stats_fd;
	c->words_fd = words_fd;
	control_pair_init(&c->pair, pair[0]);
	if (c->pidfd < 0) {
		err = error_new(ERR_INTERNAL, "pidfd_open: %s", strerror(errno));
		child_destroy(&c); /* the closed pair ends it */
		return err;
	}
	struct buf frame = { 0 };

	schema_pack(&io_setup_schema, setup, &frame);
	control_pair_send(&c->pair, frame.data, frame.len);
	buf_fini(&frame);
	*ret = c;
	return NULL;
}

void child_close(struct child *c)
{
	control_pair_fini(&c->pair);
	closep(&c->stats_fd);
	closep(&c->words_fd);
	closep(&c->pidfd);
}

void child_destroy(struct child **self_p)
{
	struct child *c = *self_p;

	if (!c)
		return;
	child_unmap(c);
	child_close(c);
	free(c);
	*self_p = NULL;
}

void child_unmap(struct child *c)
{
	if (c->block)
		munmap(c->block, c->block_bytes);
	c->block = NULL;
}

struct error *child_map(struct child *c)
{
	struct stat st;
	void *map;

	child_unmap(c);
	if (fstat(c->stats_fd, &st) != 0 || st.st_size <= 0)
		return error_new(ERR_INTERNAL, "the I/O process laid out no statistics");
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, c->stats_fd, 0);
	if (map == MAP_FAILED)
		return error_new(ERR_INTERNAL, "cannot map the statistics: %s", strerror(errno));
	c->block = map;
	c->block_bytes = (size_t)st.st_size;
	if (!stats_block_valid(c->block, c->block_bytes)) {
		child_unmap(c);
		return error_new(ERR_INTERNAL, "the statistics of the I/O process are damaged");
	}
	return NULL;
}

bool child_set_deadline(struct child *c, uint64_t ns)
{
	struct message m = { .type = MSG_PING, .ping = { .last_pong_ns = ns } };

	if (c->block) {
		cell_set(&c->block->deadline_ns, ns);
		return false;
	}
	if (c->pair.fd >= 0)
		control_pair_send_message(&c->pair, &m);
	return c->pair.fd >= 0;
}

char *child_words(const struct child *c)
{
	char *text = xcalloc(MAX_WORDS + 1, 1);
	ssize_t n = pread(c->words_fd, text, MAX_WORDS, 0);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

void child_log_words(const struct child *c)
{
	_cleanup_free_ char *words = child_words(c);
	char *save = NULL;

	for (char *line = strtok_r(words, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		log_err("the I/O process said: %s", line);
}

char *child_reap(int pidfd)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG) != 0)
		return xstrdup("ended and cannot be asked how");
	if (info.si_pid == 0)
		return NULL;
	if (info.si_code == CLD_EXITED)
		return xasprintf("ended with status %d", info.si_status);
	return xasprintf(
		"was killed by signal %d (%s)%s", info.si_status, strsignal(info.si_status),
		info.si_status == SIGKILL ? ": by somebody, for lack of memory, or because "
					    "it had been stopped until its lease ended"
					  : "");
}
