/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/engine.h"

#include <criterion/criterion.h>

/* What validation believes of an engine is what the engine does. */
Test(engines, are_what_the_scenario_says_of_them)
{
	struct job job = { 0 };

	for (job.engine = 0; job.engine < JOB_ENGINES; job.engine++) {
		const struct engine_ops *ops = engine_of(&job, false);
		enum job_engine engine = (enum job_engine)job.engine;

		cr_assert_str_eq(ops->name, job_engine_name(engine));
		cr_assert_eq(!(ops->caps & ENGINE_ASYNC),
			     !(job_engine_can(engine) & ENGINE_CAN_QUEUE), "%s", ops->name);
	}
}

Test(engines, suit_the_wishes_of_the_job)
{
	struct job job = { .engine = ENGINE_IO_URING };

	cr_assert_eq(engine_of(&job, false), &engine_uring);
	job.hipri = true;
	cr_assert_eq(engine_of(&job, false), &engine_uring_wishes);
	cr_assert_eq(engine_of(&job, true), &engine_simulated);
	job.engine = ENGINE_PVSYNC2;
	cr_assert_eq(engine_of(&job, false), &engine_pvsync2);
	job = (struct job) { .engine = ENGINE_IO_URING, .sqthread_poll = true };
	cr_assert_eq(engine_of(&job, false), &engine_uring_wishes);
}
