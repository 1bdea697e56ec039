/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/gate.h"

#include "common/base/clock.h"

#include <criterion/criterion.h>

enum { THREADS = 4 };

struct visitor {
	pthread_t pthread;
	struct gate *gate;
	struct passage passage;
	bool may_spin, has_passed;
};

static void *visit(void *arg)
{
	struct visitor *v = arg;

	gate_arrive(v->gate);
	v->has_passed = gate_pass(v->gate, v->may_spin, &v->passage);
	if (v->has_passed)
		gate_drop_priority(&v->passage);
	return NULL;
}

static void send_visitors(struct gate *g, struct visitor visitors[THREADS])
{
	gate_init(g);
	for (int i = 0; i < THREADS; i++) {
		visitors[i] = (struct visitor) { .gate = g, .may_spin = i % 2 };
		cr_assert_eq(pthread_create(&visitors[i].pthread, NULL, visit, &visitors[i]), 0);
	}
	gate_wait_arrived(g, THREADS);
}

static void join(struct gate *g, struct visitor visitors[THREADS])
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(visitors[i].pthread, NULL);
	gate_fini(g);
}

Test(gate, nobody_passes_before_the_instant)
{
	struct visitor visitors[THREADS];
	struct gate g;
	uint64_t start;

	send_visitors(&g, visitors);
	start = clock_mono_ns() + 20 * NS_PER_MS;
	gate_open(&g, start);
	join(&g, visitors);
	for (int i = 0; i < THREADS; i++) {
		cr_assert(visitors[i].has_passed);
		cr_assert_eq(visitors[i].passage.start_ns, start);
		cr_assert_geq(visitors[i].passage.now_ns, start);
	}
}

Test(gate, an_instant_that_is_over_lets_all_pass_at_once)
{
	struct visitor visitors[THREADS];
	struct gate g;

	send_visitors(&g, visitors);
	gate_open(&g, 1);
	join(&g, visitors);
	for (int i = 0; i < THREADS; i++)
		cr_assert(visitors[i].has_passed);
}

Test(gate, shut_sends_all_home, .timeout = 20)
{
	struct visitor visitors[THREADS];
	struct gate g;

	send_visitors(&g, visitors);
	gate_shut(&g);
	join(&g, visitors);
	for (int i = 0; i < THREADS; i++)
		cr_assert_not(visitors[i].has_passed);
}

Test(gate, shut_wakes_those_who_sleep_until_the_instant, .timeout = 20)
{
	struct visitor visitors[THREADS];
	struct gate g;

	send_visitors(&g, visitors);
	gate_open(&g, clock_mono_ns() + 3600 * NS_PER_S);
	gate_shut(&g);
	join(&g, visitors);
	for (int i = 0; i < THREADS; i++)
		cr_assert_not(visitors[i].has_passed);
}

Test(gate, priority_is_given_back)
{
	struct sched_param param;
	struct passage p;
	struct gate g;
	int before, after;

	gate_init(&g);
	gate_open(&g, 1);
	pthread_getschedparam(pthread_self(), &before, &param);
	cr_assert(gate_pass(&g, false, &p));
	if (p.is_realtime)
		cr_assert_eq(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_FIFO);
	gate_drop_priority(&p);
	pthread_getschedparam(pthread_self(), &after, &param);
	cr_assert_eq(after, before);
	gate_fini(&g);
}
