/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/coordinator/run/sim_test.h"

Test(run, sound_fleet_runs_all_steps)
{
	sim_init(&sim, 3, 2);
	go(MODE_RUN);
	cr_assert_null(run_errors(sim.run));
	cr_assert_eq(run_status(sim.run), RUN_COMPLETE);
	cr_assert_eq(sim.started, 2);
	cr_assert_eq(sim.sampled, 6);
	cr_assert_lt(seconds(), 6.5);
	check_all_left();
	const struct result *r = result();

	cr_assert_eq(r->nr_steps, 2);
	cr_assert_eq(r->nr_warnings, 0);
	sim_fini(&sim);
}

Test(run, all_hosts_start_at_the_same_instant)
{
	sim_init(&sim, 4, 1);
	sim.workers[2].offset_ns = -400 * (int64_t)NS_PER_S;
	go(MODE_RUN);
	for (size_t i = 1; i < 4; i++) {
		int64_t apart = (int64_t)(sim.workers[i].start_ns - sim.workers[0].start_ns);

		/* Half a round trip is the bound of a clock's error; the simulated way is symmetric. */
		cr_assert_lt(llabs(apart), 2 * 10000, "w%zu: %lld ns", i, (long long)apart);
	}
	sim_fini(&sim);
}

Test(run, slow_link_gets_a_later_start)
{
	sim_init(&sim, 2, 1);
	sim.workers[1].latency_ns = 40 * NS_PER_MS; /* 20 round trips: 1.6 s */
	go(MODE_RUN);
	cr_assert_null(run_errors(sim.run));
	cr_assert_gt(seconds(), 2 + 1.6);
	/* and its clock cannot be known better than fleet.max_clock_error */
	const struct result *r = result();

	cr_assert_eq(r->nr_warnings, 1);
	cr_assert_str_eq(r->warnings[0].host, "w1");
	sim_fini(&sim);
}

Test(run, layout_has_no_limit_while_it_advances)
{
	sim_init(&sim, 2, 1);
	sim.workers[1].layout_ns = 4 * MINUTE_NS;
	go(MODE_RUN);
	cr_assert_null(run_errors(sim.run));
	sim_fini(&sim);
}

Test(run, stalled_layout_ends)
{
	sim_init(&sim, 2, 1);
	sim.workers[1].fault = SIM_STALLS;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_HUNG, "host 'w1'"));
	cr_assert_eq(sim.started, 0);
	cr_assert_eq(run_status(sim.run), RUN_FAILED);
	sim_fini(&sim);
}

/* Each of these is found before anything starts: nothing runs anywhere, exit 3, all hosts are freed. */
static void check_refused(enum sim_fault fault, enum error_code code, const char *part,
			  double limit_s)
{
	sim_init(&sim, 3, 1);
	sim.workers[1].fault = fault;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, code, part), "fault %d: %s", fault,
		  run_errors(sim.run) ? error_message(run_errors(sim.run)) : "no error");
	cr_assert_eq(sim_exit_status(&sim), 3);
	cr_assert_eq(sim.started, 0);
	cr_assert_eq(sim.workers[0].received[MSG_START], 0);
	cr_assert_lt(seconds(), limit_s);
	cr_assert_eq(run_status(sim.run), RUN_FAILED);
	check_all_left();
	sim_fini(&sim);
}

Test(run, no_link)
{
	check_refused(SIM_NO_LINK, ERR_UNREACHABLE, "host 'w1'", 10);
}

Test(run, one_worker_under_two_names)
{
	sim_init(&sim, 3, 1);
	sim.workers[2].fault = SIM_TWICE;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_USAGE, "host 'w2': is the same worker as another"));
	cr_assert_eq(sim_exit_status(&sim), 2);
	cr_assert_eq(sim.started, 0);
	cr_assert_lt(seconds(), 1);
	check_all_left();
	sim_fini(&sim);
}

Test(run, busy)
{
	check_refused(SIM_BUSY, ERR_BUSY, "somebody@else", 10);
}

Test(run, other_protocol)
{
	check_refused(SIM_OLD_PROTOCOL, ERR_PROTOCOL, "install the same version", 10);
}

Test(run, mute)
{
	check_refused(SIM_MUTE, ERR_UNREACHABLE, "nothing answers", 10);
}

Test(run, coordinator_messages_from_a_worker)
{
	check_refused(SIM_RUDE, ERR_PROTOCOL, "STOP", 10);
}

Test(run, refused_prepare)
{
	check_refused(SIM_REFUSES, ERR_REFUSED, "host 'w1': target 'b': is swap", 10);
}

Test(run, all_reasons_of_all_hosts_are_told)
{
	sim_init(&sim, 3, 1);
	sim.workers[0].fault = SIM_REFUSES;
	sim.workers[2].fault = SIM_REFUSES;
	sim.workers[2].layout_ns = 3 * NS_PER_S;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_REFUSED, "host 'w0': target 'a'"));
	cr_assert(sim_has_error(&sim, ERR_REFUSED, "host 'w0': target 'b'"));
	cr_assert(sim_has_error(&sim, ERR_REFUSED, "host 'w2': target 'a'"));
	cr_assert(sim_has_error(&sim, ERR_REFUSED, "host 'w2': target 'b'"));
	check_all_left();
	sim_fini(&sim);
}

Test(run, shared_medium_that_is_written_is_refused)
{
	sim_init(&sim, 3, 1);
	sim.workers[0].identity = sim.workers[2].identity = "naa.6001405";
	sim.workers[1].identity = "naa.6001406";
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_REFUSED, "naa.6001405"));
	cr_assert(sim_has_error(&sim, ERR_REFUSED, "'w0'"));
	cr_assert(sim_has_error(&sim, ERR_REFUSED, "'w2'"));
	cr_assert_not(sim_has_error(&sim, ERR_REFUSED, "'w1'"));
	cr_assert_eq(sim.started, 0);
	check_all_left();
	sim_fini(&sim);
}

Test(run, shared_medium_that_is_only_read_is_not)
{
	sim_init(&sim, 2, 1);
	sim.workers[0].identity = sim.workers[1].identity = "naa.6001405";
	for (size_t i = 0; i < 2; i++)
		sim.plan->steps[0].hosts[i]->targets[0].writes = false;
	go(MODE_RUN);
	cr_assert_null(run_errors(sim.run));
	sim_fini(&sim);
}

Test(run, media_without_identity_are_each_hosts_own)
{
	sim_init(&sim, 2, 1);
	sim.workers[0].identity = sim.workers[1].identity = "";
	go(MODE_RUN);
	cr_assert_null(run_errors(sim.run));
	sim_fini(&sim);
}

Test(run, missing_armed_stops_all)
{
	const struct result *r;

	sim_init(&sim, 3, 1);
	sim.workers[1].fault = SIM_NEVER_ARMS;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_LOST, "did not confirm the start"));
	r = collector_result(sim.collector);
	cr_assert_geq(r->nr_warnings, 1);
	cr_assert(r->warnings[0].is_fault);
	cr_assert_str_eq(r->warnings[0].host, "w1");
	cr_assert(str_starts(r->warnings[0].text, "did not confirm the start"));
	cr_assert_eq(sim.workers[0].received[MSG_STOP], 1);
	cr_assert_eq(sim.workers[2].received[MSG_STOP], 1);
	cr_assert_eq(sim_exit_status(&sim), 3);
	sim_fini(&sim);
}

Test(run, late_start_stops_all)
{
	sim_init(&sim, 3, 1);
	sim.workers[1].fault = SIM_LATE;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_LOST, "START came too late"));
	cr_assert_eq(sim.workers[0].received[MSG_STOP], 1);
	cr_assert_lt(seconds(), 2);
	check_all_left();
	sim_fini(&sim);
}

Test(run, lost_host_ends_the_run)
{
	sim_init(&sim, 3, 2);
	sim.workers[1].dies_at_ns = sim.now_ns + 1500 * NS_PER_MS;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_LOST, "host 'w1' was lost"));
	cr_assert_eq(sim_exit_status(&sim), 3);
	cr_assert_eq(run_status(sim.run), RUN_PARTIAL);
	cr_assert_eq(sim.started, 1);
	cr_assert_lt(seconds(), 1.5 + 10 + 5);
	check_all_left();
	const struct result *r = result();

	cr_assert_eq(r->hosts[1].state, HOST_LOST);
	cr_assert_eq(r->hosts[0].state, HOST_COMPLETE);
	sim_fini(&sim);
}

/* Stopped with ^Z, say: the silence is not the hosts'. */
Test(run, a_coordinator_that_stood_still_says_so)
{
	bool said = false;

	sim_init(&sim, 2, 1);
	sim_begin(&sim, MODE_RUN);
	cr_assert_not(sim_go(&sim, 1500 * NS_PER_MS));
	sim.now_ns += 11 * NS_PER_S;
	cr_assert(sim_go(&sim, 60 * NS_PER_S));
	const struct result *r = result();

	for (size_t i = 0; i < r->nr_warnings; i++)
		said |= strstr(r->warnings[i].text, "coordinator itself did not run for 11") !=
			NULL;
	cr_expect(said);
	sim_fini(&sim);
}

Test(run, others_go_on_when_told_so)
{
	sim_init(&sim, 3, 8);
	sim.scenario.fleet.on_loss = ON_LOSS_CONTINUE;
	sim.workers[1].dies_at_ns = sim.now_ns + 1500 * NS_PER_MS;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_LOST, "host 'w1' was lost"));
	cr_assert_eq(sim.started, 8);
	cr_assert_eq(sim.workers[0].received[MSG_STOP], 0);
	cr_assert_eq(sim.workers[1].received[MSG_START], 1);
	cr_assert_eq(sim.workers[2].received[MSG_START], 8);
	cr_assert_eq(run_status(sim.run), RUN_PARTIAL);
	cr_assert_eq(sim_exit_status(&sim), 3);
	check_all_left();
	sim_fini(&sim);
}

Test(run, all_hosts_lost_ends_also_when_told_to_continue)
{
	sim_init(&sim, 2, 3);
	sim.scenario.fleet.on_loss = ON_LOSS_CONTINUE;
	sim.workers[0].dies_at_ns = sim.workers[1].dies_at_ns = sim.now_ns + 1500 * NS_PER_MS;
	go(MODE_RUN);
	cr_assert_eq(sim.started, 1);
	cr_assert_eq(sim_exit_status(&sim), 3);
	sim_fini(&sim);
}

Test(run, successor_of_a_worker_is_not_taken_for_it)
{
	sim_init(&sim, 3, 1);
	sim.workers[1].fault = SIM_RESTARTS;
	sim.workers[1].dies_at_ns = sim.now_ns + 1500 * NS_PER_MS;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_LOST, "no such session"));
	cr_assert_lt(seconds(), 3);
	check_all_left();
	sim_fini(&sim);
}

Test(run, hanging_device_ends_at_grace)
{
	sim_init(&sim, 3, 1);
	sim.workers[1].fault = SIM_HANGS;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_HUNG, "host 'w1' hangs"));
	cr_assert_eq(sim_exit_status(&sim), 3);
	cr_assert_lt(seconds(), 2.7 + 5 + 2 + 1);
	cr_assert_eq(result()->hosts[1].state, HOST_HUNG);
	sim_fini(&sim);
}

Test(run, hanging_device_of_a_step_without_an_end)
{
	sim_init(&sim, 2, 1);
	sim.plan->steps[0].duration_ns = 0;
	sim.workers[1].fault = SIM_HANGS;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_HUNG, "host 'w1' hangs"));
	cr_assert_lt(seconds(), 15);
	sim_fini(&sim);
}

Test(run, stuck_io_is_named)
{
	sim_init(&sim, 2, 2);
	sim.workers[1].fault = SIM_STUCK;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_HUNG,
				"target 'disk' (/dev/sim) hangs: 1 I/Os have not come back, the "
				"oldest, a read of 4096 bytes at offset 8192"));
	cr_assert_eq(sim.started, 1);
	check_all_left();
	cr_assert_eq(result()->hosts[1].state, HOST_HUNG);
	sim_fini(&sim);
}

Test(run, hung_host_is_left_out_when_told_to_continue)
{
	sim_init(&sim, 3, 3);
	sim.scenario.fleet.on_loss = ON_LOSS_CONTINUE;
	sim.workers[1].fault = SIM_STUCK;
	go(MODE_RUN);
	cr_assert_eq(sim.started, 3);
	cr_assert_eq(sim.workers[1].received[MSG_START], 1);
	cr_assert_eq(sim.workers[0].received[MSG_STOP], 0);
	cr_assert_eq(sim_exit_status(&sim), 3);
	check_all_left();
	sim_fini(&sim);
}

Test(run, killed_io_process_is_no_hang)
{
	sim_init(&sim, 2, 1);
	sim.workers[1].fault = SIM_KILLED;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_LOST, "host 'w1': the I/O process was killed"));
	cr_assert_not(sim_has_error(&sim, ERR_HUNG, ""));
	cr_assert_eq(run_status(sim.run), RUN_PARTIAL);
	check_all_left();
	cr_assert_eq(result()->hosts[1].state, HOST_LOST);
	sim_fini(&sim);
}

Test(run, io_errors_are_exit_1_and_not_partial)
{
	sim_init(&sim, 2, 2);
	sim.workers[1].fault = SIM_IO_ERRORS;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_IO, "host 'w1': 3 I/O errors"));
	cr_assert_eq(sim_exit_status(&sim), 1);
	cr_assert_eq(sim.started, 2);
	cr_assert_eq(run_status(sim.run), RUN_COMPLETE);
	sim_fini(&sim);
}

Test(run, bad_sample_ends_that_host_only)
{
	sim_init(&sim, 3, 1);
	sim.scenario.fleet.on_loss = ON_LOSS_CONTINUE;
	sim.workers[1].fault = SIM_BAD_SAMPLE;
	go(MODE_RUN);
	cr_assert(sim_has_error(&sim, ERR_PROTOCOL, "w1"), "%s",
		  run_errors(sim.run) ? error_message(run_errors(sim.run)) : "no error");
	cr_assert_eq(sim.workers[0].received[MSG_STOP], 0);
	cr_assert(sim.workers[1].closed);
	check_all_left();
	sim_fini(&sim);
}

Test(run, idle_host_gets_no_work_and_keeps_its_lease)
{
	sim_init(&sim, 2, 6);
	for (size_t i = 0; i < 6; i++) {
		schema_fini(&assignment_schema, sim.plan->steps[i].hosts[1]);
		freep(&sim.plan->steps[i].hosts[1]);
	}
	go(MODE_RUN);
	cr_assert_null(run_errors(sim.run));
	cr_assert_eq(sim.workers[1].received[MSG_PREPARE], 0);
	cr_assert_gt(sim.workers[1].received[MSG_PING], 40);
	sim_fini(&sim);
}

Test(run, interrupt_stops_in_order)
{
	sim_init(&sim, 2, 2);
	sim_begin(&sim, MODE_RUN);
	sim_go(&sim, 1500 * NS_PER_MS);
	run_interrupt(sim.run, sim.now_ns);
	cr_assert(sim_go(&sim, MINUTE_NS));
	cr_assert_eq(sim_exit_status(&sim), 130);
	cr_assert_eq(run_status(sim.run), RUN_PARTIAL);
	cr_assert_eq(sim.workers[0].received[MSG_STOP], 1);
	cr_assert_lt(seconds(), 2);
	check_all_left();
	cr_assert_eq(result()->nr_steps, 1);
	sim_fini(&sim);
}

Test(run, second_interrupt_leaves_at_once)
{
	sim_init(&sim, 2, 1);
	sim.workers[1].fault = SIM_HANGS;
	sim_begin(&sim, MODE_RUN);
	sim_go(&sim, 1500 * NS_PER_MS);
	run_interrupt(sim.run, sim.now_ns);
	cr_assert_not(run_is_finished(sim.run));
	run_interrupt(sim.run, sim.now_ns);
	cr_assert(run_is_finished(sim.run));
	cr_assert_eq(sim_exit_status(&sim), 130);
	sim_fini(&sim);
}

/* How many messages a sound run brings to the coordinator. */
static size_t count_deliveries(void)
{
	size_t n;

	sim_init(&sim, 3, 2);
	go(MODE_RUN);
	n = sim.deliveries;
	sim_fini(&sim);
	return n;
}

Test(run, death_at_any_moment_ends_in_time)
{
	size_t n = count_deliveries();

	for (size_t at = 1; at <= n; at++) {
		for (size_t host = 0; host < 3; host++) {
			sim_init(&sim, 3, 2);
			sim.die_at = at;
			sim.die_host = host;
			go(MODE_RUN);
			/* Two steps of two seconds, the lease, grace for the others. */
			cr_assert_lt(seconds(), 7 + 10 + 7, "w%zu at %zu", host, at);
			check_all_left();
			if (run_errors(sim.run))
				cr_assert_eq(sim_exit_status(&sim), 3);
			else
				cr_assert_gt(sim.workers[host].received[MSG_BYE] + at, n - 8);
			sim_fini(&sim);
		}
	}
}

Test(run, interrupt_at_any_moment_ends_in_time)
{
	size_t n = count_deliveries();

	for (size_t at = 1; at < n; at++) {
		sim_init(&sim, 3, 2);
		sim.interrupt_at = at;
		go(MODE_RUN);
		cr_assert_eq(sim_exit_status(&sim), 130, "at %zu", at);
		check_all_left();
		sim_fini(&sim);
	}
}

Test(run, interrupt_while_a_host_is_dead)
{
	size_t n = count_deliveries();

	for (size_t at = 2; at < n; at += 3) {
		sim_init(&sim, 3, 2);
		sim.die_at = at - 1;
		sim.die_host = at % 3;
		sim.interrupt_at = at;
		go(MODE_RUN);
		cr_assert_eq(sim_exit_status(&sim), 130);
		cr_assert_lt(seconds(), 7 + 10 + 7);
		check_all_left();
		sim_fini(&sim);
	}
}

Test(run, probe_asks_everybody_and_starts_nothing)
{
	sim_init(&sim, 3, 2);
	sim.workers[1].fault = SIM_REFUSES;
	go(MODE_PROBE);
	cr_assert_eq(sim.probed, 4);
	cr_assert_eq(sim.workers[0].received[MSG_START], 0);
	cr_assert_eq(sim_exit_status(&sim), 3);
	/* Asked twice, told once. */
	cr_assert_null(error_next(error_next(run_errors(sim.run))));
	check_all_left();
	sim_fini(&sim);
}

Test(run, observer_takes_nothing)
{
	struct peer_view v;

	sim_init(&sim, 3, 1);
	sim.workers[1].fault = SIM_NO_LINK;
	sim.workers[2].fault = SIM_BUSY;
	go(MODE_OBSERVE);
	cr_assert_eq(sim_exit_status(&sim), 3);
	run_peer_view(sim.run, 2, &v);
	cr_assert_not_null(v.welcome);
	cr_assert(v.has_clock);
	cr_assert_lt(llabs(v.offset_ns - sim.workers[2].offset_ns), (int64_t)v.error_ns + 1);
	run_peer_view(sim.run, 1, &v);
	cr_assert_null(v.welcome);
	cr_assert_eq(v.failure_code, ERR_UNREACHABLE);
	cr_assert_eq(sim.workers[0].received[MSG_BYE], 0);
	sim_fini(&sim);
}
