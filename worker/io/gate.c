/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/gate.h"

#include "common/base/clock.h"
#include "common/base/compiler.h"

#include <errno.h>

/* From here on a thread sleeps by itself, with a timer of its own, and no longer hears a shut gate. */
#define LAST_SLEEP_NS (3 * NS_PER_MS)
/* An absolute sleep wakes some 50 us late; that much is spun where nobody else needs the CPU. */
#define SPIN_NS (60 * NS_PER_US)

void gate_init(struct gate *g)
{
	pthread_condattr_t attr;

	*g = (struct gate) { .start_ns = UINT64_MAX };
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->changed, &attr);
	pthread_condattr_destroy(&attr);
}

void gate_fini(struct gate *g)
{
	pthread_cond_destroy(&g->changed);
	pthread_mutex_destroy(&g->lock);
}

void gate_wait_arrived(struct gate *g, unsigned nr)
{
	pthread_mutex_lock(&g->lock);
	while (g->nr_arrived < nr)
		pthread_cond_wait(&g->changed, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

void gate_open(struct gate *g, uint64_t start_ns)
{
	pthread_mutex_lock(&g->lock);
	g->start_ns = start_ns;
	g->is_open = true;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

void gate_shut(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->is_shut = true;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

void gate_arrive(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->nr_arrived++;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

/* Waits until LAST_SLEEP_NS before the instant; false: shut. */
static bool wait_near(struct gate *g, uint64_t *start_ns)
{
	bool is_shut;

	pthread_mutex_lock(&g->lock);
	while (!g->is_open && !g->is_shut)
		pthread_cond_wait(&g->changed, &g->lock);
	while (!g->is_shut && clock_mono_ns() + LAST_SLEEP_NS < g->start_ns) {
		struct timespec until = clock_timespec(g->start_ns - LAST_SLEEP_NS);

		pthread_cond_timedwait(&g->changed, &g->lock, &until);
	}
	is_shut = g->is_shut;
	*start_ns = g->start_ns;
	pthread_mutex_unlock(&g->lock);
	return !is_shut;
}

/* Not inherited by what the thread's first submission makes (io-wq): RESET_ON_FORK. */
static void raise_priority(struct passage *p)
{
	struct sched_param fifo = { .sched_priority = 1 };

	if (pthread_getschedparam(pthread_self(), &p->policy, &p->param))
		return;
	p->is_realtime = sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &fifo) == 0;
}

void gate_drop_priority(const struct passage *p)
{
	if (p->is_realtime)
		sched_setscheduler(0, p->policy, &p->param);
}

bool gate_pass(struct gate *g, bool may_spin, struct passage *ret)
{
	struct passage p = { 0 };
	struct timespec until;

	if (!wait_near(g, &p.start_ns))
		return false;
	raise_priority(&p);
	until = clock_timespec(p.start_ns - (may_spin && p.start_ns > SPIN_NS ? SPIN_NS : 0));
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		continue;
	do
		p.now_ns = clock_mono_ns();
	while (p.now_ns < p.start_ns);
	*ret = p;
	return true;
}
