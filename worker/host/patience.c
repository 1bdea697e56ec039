/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/patience.h"

#include "common/base/clock.h"
#include "common/base/str.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct question {
	char *name;
	bool (*ask)(struct question *q);
	bool is_answered, is_known;
	bool is_left; /* nobody waits: its thread frees it */
	struct stat st;
	struct loop_info64 info;
	struct question *next;
};

/* The lock guards the list and the flags. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct question *left_alone;

static bool ask_stat(struct question *q)
{
	return stat(q->name, &q->st) == 0;
}

static bool ask_loop(struct question *q)
{
	_cleanup_close_ int fd = open(q->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd >= 0 && ioctl(fd, LOOP_GET_STATUS64, &q->info) == 0;
}

static void question_free(struct question *q)
{
	free(q->name);
	free(q);
}

static void forget(struct question *q)
{
	struct question **at = &left_alone;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	question_free(q);
}

static void *answer(void *arg)
{
	struct question *q = arg;
	bool is_known = q->ask(q);

	pthread_mutex_lock(&lock);
	q->is_answered = true;
	q->is_known = is_known;
	if (q->is_left)
		forget(q);
	pthread_cond_broadcast(&answered);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void init(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&answered, &attr);
	pthread_condattr_destroy(&attr);
}

static bool is_open(const struct question *new)
{
	for (const struct question *q = left_alone; q; q = q->next)
		if (q->ask == new->ask && streq(q->name, new->name))
			return true;
	return false;
}

/* With the lock held. True: it has been answered in time. */
static bool wait_for_answer(struct question *q)
{
	struct timespec end = clock_timespec(clock_mono_ns() + PATIENCE_NS);

	while (!q->is_answered)
		if (pthread_cond_timedwait(&answered, &lock, &end) != 0)
			break;
	return q->is_answered;
}

/* The question with its answer, the caller's; NULL: not known. */
static struct question *ask(bool (*function)(struct question *q), const char *name)
{
	struct question *q = xcalloc(1, sizeof(*q));
	pthread_t thread;

	pthread_once(&once, init);
	q->name = xstrdup(name);
	q->ask = function;
	pthread_mutex_lock(&lock);
	if (is_open(q) || pthread_create(&thread, NULL, answer, q) != 0) {
		question_free(q);
		q = NULL;
	} else {
		pthread_detach(thread);
		if (!wait_for_answer(q)) {
			q->is_left = true;
			q->next = left_alone;
			left_alone = q;
			q = NULL;
		}
	}
	pthread_mutex_unlock(&lock);
	return q;
}

bool patient_stat(const char *path, struct stat *ret)
{
	struct question *q = ask(ask_stat, path);
	bool is_known = q && q->is_known;

	if (is_known)
		*ret = q->st;
	if (q)
		question_free(q);
	return is_known;
}

bool patient_loop_status(const char *node, struct loop_info64 *ret)
{
	struct question *q = ask(ask_loop, node);
	bool is_known = q && q->is_known;

	if (is_known)
		*ret = q->info;
	if (q)
		question_free(q);
	return is_known;
}
