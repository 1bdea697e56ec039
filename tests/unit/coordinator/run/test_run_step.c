/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/coordinator/run/sim_test.h"

static void set_stop_all(size_t host)
{
	for (size_t i = 0; i < sim.plan->nr_steps; i++)
		sim.plan->steps[i].hosts[host]->members[0].job.on_error = ON_ERROR_STOP_ALL;
}

Test(run_step, stop_all_ends_the_run_on_all_hosts)
{
	sim_init(&sim, 3, 2);
	sim.workers[1].fault = SIM_IO_ERRORS;
	set_stop_all(1);
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_IO, "host 'w1': job '"));
	cr_assert(sim_has_error(&sim, ERR_IO, "on_error: stop_all"));
	cr_assert_eq(sim_exit_status(&sim), 1);
	cr_assert_eq(run_status(sim.run), RUN_ABORTED);
	cr_assert_eq(sim.started, 1);
	for (size_t i = 0; i < 3; i++)
		cr_assert_eq(sim.workers[i].received[MSG_STOP], 1);
	/* The first sample tells: nobody waits for the step's end. */
	cr_assert_lt(seconds(), 2);
	check_all_left();
	const struct result *r = result();

	cr_assert_eq(r->nr_steps, 1);
	cr_assert(r->steps[0].partial);
	cr_assert_eq(r->hosts[1].state, HOST_COMPLETE);
	sim_fini(&sim);
}

/* Errors that only DONE tells, when there is nobody left to stop. */
Test(run_step, stop_all_at_the_end_leaves_no_further_step)
{
	sim_init(&sim, 1, 2);
	sim.workers[0].fault = SIM_RAMP_ERRORS;
	set_stop_all(0);
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_IO, "on_error: stop_all"));
	cr_assert_eq(sim.started, 1);
	cr_assert_eq(run_status(sim.run), RUN_ABORTED);
	cr_assert(result()->steps[0].partial);
	check_all_left();
	sim_fini(&sim);
}

Test(run_step, stop_all_of_another_job_is_none_of_the_host)
{
	sim_init(&sim, 2, 2);
	sim.workers[1].fault = SIM_IO_ERRORS;
	set_stop_all(0);
	go(MODE_RUN);
	cr_assert_eq(sim.started, 2);
	cr_assert_eq(run_status(sim.run), RUN_COMPLETE);
	cr_assert_not(result()->steps[0].partial);
	sim_fini(&sim);
}

/* Two runs of one step each, with a rest between them. */
static void init_resting(size_t nr_hosts, uint64_t rest_ns)
{
	sim_init(&sim, nr_hosts, 2);
	sim.plan->steps[1].rest_ns = rest_ns;
}

Test(run_step, rests_between_runs_and_keeps_its_leases)
{
	unsigned pings;

	init_resting(2, MINUTE_NS);
	sim_begin(&sim, MODE_RUN);
	sim_go(&sim, 10 * NS_PER_S);
	struct run_view v;

	run_view(sim.run, &v);
	cr_assert_eq(v.phase, PHASE_RESTING);
	cr_assert_eq(v.step, 1);
	cr_assert_gt(v.end_ns, sim.now_ns + 50 * NS_PER_S);
	pings = sim.workers[1].received[MSG_PING];
	cr_assert(sim_go(&sim, 2 * MINUTE_NS));
	cr_assert_null(run_errors(sim.run));
	cr_assert_eq(sim.started, 2);
	cr_assert_gt(seconds(), 2 + 60 + 2);
	cr_assert_lt(seconds(), 2 + 60 + 2 + 3);
	cr_assert_gt(sim.workers[1].received[MSG_PING], pings + 200);
	cr_assert_eq(run_status(sim.run), RUN_COMPLETE);
	cr_assert_eq(result()->nr_warnings, 0);
	sim_fini(&sim);
}

Test(run_step, interrupt_while_resting)
{
	init_resting(2, MINUTE_NS);
	sim_begin(&sim, MODE_RUN);
	sim_go(&sim, 10 * NS_PER_S);
	run_interrupt(sim.run, sim.now_ns);
	cr_assert(sim_go(&sim, 12 * NS_PER_S));
	cr_assert_eq(sim_exit_status(&sim), 130);
	cr_assert_eq(sim.started, 1);
	cr_assert_eq(sim.workers[0].received[MSG_STOP], 0);
	cr_assert_not(result()->steps[0].partial);
	check_all_left();
	sim_fini(&sim);
}

Test(run_step, host_lost_while_resting)
{
	init_resting(2, MINUTE_NS);
	sim.workers[1].dies_at_ns = sim.now_ns + 10 * NS_PER_S;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_LOST, "host 'w1' was lost"));
	cr_assert_eq(sim.started, 1);
	cr_assert_lt(seconds(), 10 + 10 + 1);
	cr_assert_not(result()->steps[0].partial);
	sim_fini(&sim);
}

Test(run_step, rest_before_a_step_that_is_left_out)
{
	sim_init(&sim, 2, 3);
	sim.plan->steps[1].rest_ns = 20 * NS_PER_S;
	for (size_t i = 0; i < 2; i++) {
		schema_fini(&assignment_schema, sim.plan->steps[1].hosts[i]);
		freep(&sim.plan->steps[1].hosts[i]);
	}
	go(MODE_RUN);
	cr_assert_eq(sim.started, 2);
	cr_assert_gt(seconds(), 2 + 20 + 2);
	sim_fini(&sim);
}

Test(run_step, probe_does_not_rest)
{
	init_resting(2, MINUTE_NS);
	go(MODE_PROBE);
	cr_assert_null(run_errors(sim.run));
	cr_assert_lt(seconds(), 2);
	sim_fini(&sim);
}
