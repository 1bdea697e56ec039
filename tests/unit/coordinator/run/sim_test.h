/* SPDX-License-Identifier: Apache-2.0 */
/* sim_test.h - what the tests of the simulated fleet have in common. */
#ifndef SALVO_TEST_SIM_TEST_H
#define SALVO_TEST_SIM_TEST_H

#include "common/base/clock.h"
#include "tests/unit/coordinator/run/sim.h"

#include <criterion/criterion.h>

#define MINUTE_NS (60 * NS_PER_S)

static struct sim sim;

static inline void go(enum run_mode mode)
{
	sim_begin(&sim, mode);
	cr_assert(sim_go(&sim, 5 * MINUTE_NS), "the run never ends");
}

static inline double seconds(void)
{
	return (double)(sim.now_ns - sim.begun_ns) / NS_PER_S;
}

/* Whatever happened: nobody that can still hear works on, and nobody is still owned. */
static inline void check_all_left(void)
{
	for (size_t i = 0; i < sim.plan->hosts.nr_hosts; i++) {
		const struct sim_worker *w = &sim.workers[i];

		if (w->dies_at_ns)
			continue; /* its lease ends it */
		cr_assert(!w->running && !w->owned, "w%zu was left alone", i);
	}
}

/* Once per test. */
static inline const struct result *result(void)
{
	return collector_finish(sim.collector, run_status(sim.run), sim_exit_status(&sim), "a",
				"b");
}

#endif
