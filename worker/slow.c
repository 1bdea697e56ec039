/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/slow.h"

#include "common/base/clock.h"
#include "common/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

/* Belongs to both sides; the last one frees it. */
struct slow {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* on the monotonic clock */
	slow_function call;
	int fd;
	int result;
	bool is_done, is_left;
};

static struct slow *slow_new(slow_function call, int fd)
{
	struct slow *s = xcalloc(1, sizeof(*s));
	pthread_condattr_t attr;

	*s = (struct slow) { .call = call, .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0) };
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &attr);
	pthread_condattr_destroy(&attr);
	return s;
}

static void slow_free(struct slow *s)
{
	closep(&s->fd);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void *slow_main(void *arg)
{
	struct slow *s = arg;
	int result = s->call(s->fd);
	bool is_left;

	pthread_mutex_lock(&s->lock);
	s->result = result;
	s->is_done = true;
	is_left = s->is_left;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
	if (is_left)
		slow_free(s);
	return NULL;
}

/* One look's time, or until the call is done; with the lock held. */
static void wait_a_bit(struct slow *s)
{
	struct timespec until = clock_timespec(clock_mono_ns() + SLOW_LOOK_NS);

	while (!s->is_done && pthread_cond_timedwait(&s->changed, &s->lock, &until) == 0)
		continue;
}

/* False: it was left alone, and is not ours any more. */
static bool watch(struct slow *s, slow_look look, void *arg)
{
	bool is_done;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		bool go_on;

		wait_a_bit(s);
		if (s->is_done)
			break;
		pthread_mutex_unlock(&s->lock);
		go_on = look(arg);
		pthread_mutex_lock(&s->lock);
		if (!go_on)
			break;
	}
	is_done = s->is_done;
	s->is_left = !is_done;
	pthread_mutex_unlock(&s->lock);
	return is_done;
}

int slow_call(slow_function call, int fd, slow_look look, void *arg)
{
	struct slow *s = slow_new(call, fd);
	pthread_t thread;
	int result;

	if (s->fd < 0 || pthread_create(&thread, NULL, slow_main, s) != 0) {
		slow_free(s); /* no room for a thread: it is done here, unwatched */
		return call(fd);
	}
	pthread_detach(thread);
	if (!watch(s, look, arg))
		return -ECANCELED;
	result = s->result;
	slow_free(s);
	return result;
}
