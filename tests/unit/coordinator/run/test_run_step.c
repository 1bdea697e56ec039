/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/inventory.h"
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
	cr_assert_lt(seconds(), 2.6);
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

static const struct inventory_host observer_entry = { .role = ROLE_OBSERVER };

/* The last host runs nothing and is only watched. */
static void init_observed(size_t nr_hosts, size_t nr_steps)
{
	sim_init(&sim, nr_hosts, nr_steps);
	sim.plan->hosts.hosts[nr_hosts - 1].entry = &observer_entry;
	for (size_t i = 0; i < nr_steps; i++) {
		schema_fini(&assignment_schema, sim.plan->steps[i].hosts[nr_hosts - 1]);
		freep(&sim.plan->steps[i].hosts[nr_hosts - 1]);
	}
}

Test(run_step, observer_is_held_and_watched)
{
	init_observed(3, 2);
	go(MODE_RUN);
	cr_assert_null(run_errors(sim.run));
	cr_assert_eq(sim.workers[2].received[MSG_HELLO], 1);
	cr_assert_eq(sim.workers[2].received[MSG_PREPARE], 0);
	cr_assert_eq(sim.workers[2].received[MSG_START], 0);
	check_all_left();
	const struct result *r = result();

	cr_assert_str_eq(r->hosts[2].role, "observer");
	cr_assert_null(r->hosts[1].role);
	cr_assert(r->hosts[2].has_clock);
	cr_assert_lt(llabs(r->hosts[2].clock_offset_ns - sim.workers[2].offset_ns),
		     (int64_t)r->hosts[2].clock_error_ns + 1);
	cr_assert_null(r->steps[0].hosts_text);
	sim_fini(&sim);
}

Test(run_step, lost_observer_is_said_and_the_run_goes_on)
{
	init_observed(3, 8);
	sim.workers[2].dies_at_ns = sim.now_ns + 1500 * NS_PER_MS;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_LOST, "host 'w2' was lost"));
	cr_assert_eq(sim_exit_status(&sim), 3);
	cr_assert_eq(run_status(sim.run), RUN_COMPLETE);
	cr_assert_eq(sim.started, 8);
	cr_assert_eq(sim.workers[0].received[MSG_STOP], 0);
	const struct result *r = result();

	cr_assert_eq(r->hosts[2].state, HOST_LOST);
	for (size_t i = 0; i < r->nr_steps; i++)
		cr_assert_not(r->steps[i].partial);
	cr_assert_eq(r->nr_warnings, 1);
	cr_assert(strstr(r->warnings[0].text, "nothing of the load is missing"));
	sim_fini(&sim);
}

/* Before anything starts, everybody who was asked for must be there. */
Test(run_step, observer_that_cannot_be_reached)
{
	init_observed(3, 1);
	sim.workers[2].fault = SIM_NO_LINK;
	go(MODE_RUN);
	cr_assert_eq(sim_exit_status(&sim), 3);
	cr_assert_eq(sim.started, 0);
	check_all_left();
	sim_fini(&sim);
}
