/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/engine.h"

#include <criterion/criterion.h>

/* What validation believes of an engine is what the engine does. */
Test(engines, are_what_the_scenario_says_of_them)
{
	for (int i = 0; i < JOB_ENGINES; i++) {
		const struct engine_ops *ops = engine_of((enum job_engine)i, false);

		cr_assert_str_eq(ops->name, job_engine_name((enum job_engine)i));
		cr_assert_eq(!(ops->caps & ENGINE_ASYNC),
			     !(job_engine_can((enum job_engine)i) & ENGINE_CAN_QUEUE), "%s",
			     ops->name);
	}
	cr_assert_eq(engine_of(ENGINE_PSYNC, true), &engine_simulated);
}
