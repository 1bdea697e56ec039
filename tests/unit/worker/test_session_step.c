/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/session_fixture.h"

TestSuite(session_step, .init = setup, .fini = teardown);

/* --- a step --------------------------------------------------------------------------------------- */

Test(session_step, whole_step_and_the_next_one_with_the_same_io_process)
{
	reach_running();
	keep_lease(9000);
	keep_lease(13000);
	tick(13500);
	cr_assert_eq(session_state(s), SESSION_DRAINING);
	child(13510, simple(MSG_DONE));
	cr_assert_not_null(action(ACTION_FINISH));
	cr_assert_eq(session_state(s), SESSION_OWNED);
	from_prepare(&anna, 13600, prepare());
	cr_assert_not_null(action(ACTION_TO_CHILD));
	cr_assert_eq(session_state(s), SESSION_PREPARING);
}

Test(session_step, io_process_knows_the_lease_from_prepare_on)
{
	reach_preparing();
	cr_assert_eq(acts.items[acts.nr - 1].type, ACTION_DEADLINE, "behind PREPARE itself");
	cr_assert_eq(action(ACTION_DEADLINE)->ns, MS(LEASE_MS));
	keep_lease(1000);
	cr_assert_eq(action(ACTION_DEADLINE)->ns, MS(1000 + LEASE_MS));
}

Test(session_step, ready_maps_the_block_before_anything_else)
{
	reach_ready();
	cr_assert_eq(acts.items[0].type, ACTION_MAP);
	cr_assert_not_null(action(ACTION_TO_OWNER));
	cr_assert_str_eq(session_target_path(s, 0), "/dev/disk7");
	cr_assert_null(session_target_path(s, 1));
}

Test(session_step, probe_answers_and_is_over)
{
	struct message m = prepare();

	m.prepare.probe = true;
	reach_owned();
	from_prepare(&anna, 10, m);
	child(20, simple(MSG_READY));
	cr_assert_not_null(action(ACTION_TO_OWNER));
	cr_assert_null(action(ACTION_MAP));
	cr_assert_eq(session_state(s), SESSION_OWNED);
}

Test(session_step, failed_prepare_and_late_start_are_told_and_another_try_is_possible)
{
	reach_preparing();
	child(20, simple(MSG_FAILED));
	cr_assert_not_null(action(ACTION_TO_OWNER));
	cr_assert_eq(session_state(s), SESSION_OWNED);
	restart();
	reach_ready();
	from(&anna, 30, start(31));
	child(40, simple(MSG_FAILED));
	cr_assert_not_null(action(ACTION_TO_OWNER));
	cr_assert_eq(session_state(s), SESSION_OWNED);
	from_prepare(&anna, 50, prepare());
	cr_assert_eq(session_state(s), SESSION_PREPARING);
}

Test(session_step, message_out_of_place_ends_the_session_with_an_error)
{
	static const struct {
		enum session_state state;
		enum message_type type;
	} wrong[] = {
		{ SESSION_OWNED, MSG_START },       { SESSION_PREPARING, MSG_START },
		{ SESSION_PREPARING, MSG_PREPARE }, { SESSION_READY, MSG_PREPARE },
		{ SESSION_RUNNING, MSG_START },     { SESSION_RUNNING, MSG_PREPARE },
		{ SESSION_OWNED, MSG_DONE },        { SESSION_OWNED, MSG_WELCOME },
	};

	for (size_t i = 0; i < array_size(wrong); i++) {
		restart();
		reach(wrong[i].state);
		from(&anna, 1100, simple(wrong[i].type));
		cr_assert_str_eq(sent(MSG_ERROR)->error.code, "PROTOCOL", "%zu", i);
		child_gone(1200);
		cr_assert_eq(session_state(s), SESSION_FREE, "%zu", i);
	}
}

Test(session_step, second_start_is_out_of_place)
{
	reach_ready();
	from(&anna, 30, start(1000));
	from(&anna, 31, start(2000));
	cr_assert_not_null(sent(MSG_ERROR));
}

/* --- samples -------------------------------------------------------------------------------------- */

Test(session_step, samples_stand_on_the_grid_from_the_end_of_the_ramp)
{
	static const struct {
		uint64_t ms;
		int64_t interval;
	} grid[] = {
		{ 2000, -1 }, { 3000, -1 }, { 3500, -1 }, { 4500, 0 },   { 5500, 1 },
		{ 6500, 2 },  { 7500, 3 },  { 8500, 4 },  { 9500, 5 },   { 10500, 6 },
		{ 11500, 7 }, { 12500, 8 }, { 13500, 9 }, { 14500, -1 },
	};

	reach_running();
	for (size_t i = 0; i < array_size(grid); i++) {
		keep_lease(grid[i].ms - 1);
		cr_assert_eq(session_next_ns(s), MS(grid[i].ms), "%zu", i);
		tick(grid[i].ms);
		cr_assert_not_null(action(ACTION_SAMPLE));
		cr_assert_eq(action(ACTION_SAMPLE)->interval, grid[i].interval, "%zu", i);
	}
}

Test(session_step, late_sample_takes_the_last_interval_and_makes_up_for_nothing)
{
	reach_running();
	keep_lease(7000);
	tick(7700);
	cr_assert_eq(action(ACTION_SAMPLE)->interval, 3);
	cr_assert_eq(session_next_ns(s), MS(8500));
}

Test(session_step, done_at_the_end_of_an_interval_does_not_swallow_it)
{
	reach_running();
	keep_lease(9000);
	keep_lease(13000);
	tick(13000);
	child(13501, simple(MSG_DONE));
	cr_assert_eq(acts.items[0].type, ACTION_SAMPLE);
	cr_assert_eq(acts.items[0].interval, 9);
	cr_assert_eq(acts.items[1].type, ACTION_FINISH);
}

Test(session_step, no_samples_without_a_step)
{
	reach_running();
	child(1700, simple(MSG_DONE));
	cr_assert_eq(session_next_ns(s), MS(LEASE_MS));
}

/* --- an fsync that takes long ---------------------------------------------------------------------- */

static void drain_until(uint64_t ms)
{
	reach_running();
	for (uint64_t t = 5000; t < ms; t += 4000)
		keep_lease(t);
	tick(13500);
	cr_assert_eq(session_state(s), SESSION_DRAINING);
}

Test(session_step, fsync_that_writes_back_is_waited_for)
{
	drain_until(16400);
	child(16400, simple(MSG_PONG));
	keep_lease(16450);
	tick(16500 + GRACE_MS - 200);
	cr_assert_null(action(ACTION_ABANDON));
	tick(16400 + GRACE_MS);
	cr_assert_not_null(action(ACTION_ABANDON), "once it writes no more");
}

Test(session_step, fsync_that_is_to_stop_has_its_grace_only)
{
	drain_until(14000);
	from(&anna, 14000, simple(MSG_STOP));
	child(16400, simple(MSG_PONG));
	tick(16500);
	cr_assert_not_null(action(ACTION_ABANDON));
}

/* --- stop, bye, shutdown -------------------------------------------------------------------------- */

Test(session_step, stop_drains_and_leaves_the_session)
{
	for (int state = SESSION_PREPARING; state <= SESSION_RUNNING; state++) {
		restart();
		reach(state);
		from(&anna, 1500, simple(MSG_STOP));
		cr_assert_not_null(action(ACTION_STOP_CHILD), "%d", state);
		cr_assert_eq(session_state(s), SESSION_DRAINING);
		from(&anna, 1510, simple(MSG_STOP));
		cr_assert_null(action(ACTION_STOP_CHILD), "once is enough");
		child(1600, simple(MSG_DONE));
		cr_assert_not_null(action(ACTION_FINISH));
		cr_assert_eq(session_state(s), SESSION_OWNED, "%d", state);
	}
}

Test(session_step, stop_that_crosses_an_answer_ends_in_one_done)
{
	reach_preparing();
	from(&anna, 20, simple(MSG_STOP));
	child(21, simple(MSG_READY));
	cr_assert(nothing_happened());
	child(22, simple(MSG_DONE));
	cr_assert_not_null(action(ACTION_FINISH));
	restart();
	reach_preparing();
	from(&anna, 20, simple(MSG_STOP));
	child(21, simple(MSG_FAILED));
	cr_assert(sent(MSG_DONE)->done.stopped);
	cr_assert_eq(session_state(s), SESSION_OWNED);
	restart();
	reach_running();
	child(1600, simple(MSG_DONE));
	from(&anna, 1601, simple(MSG_STOP));
	cr_assert(nothing_happened());
}

Test(session_step, bye_is_answered_when_everything_is_gone)
{
	for (int state = SESSION_OWNED; state <= SESSION_DRAINING; state++) {
		restart();
		reach(state);
		from(&anna, 1600, simple(MSG_BYE));
		if (state != SESSION_OWNED) {
			cr_assert_not_null(action(ACTION_DISMISS), "%d", state);
			cr_assert_null(sent(MSG_BYE), "the I/O process is still there");
			child_gone(1700);
		}
		cr_assert_not_null(sent(MSG_BYE), "%d", state);
		cr_assert_eq(session_state(s), SESSION_FREE);
	}
}

Test(session_step, shutdown_lets_the_result_out_first)
{
	shut_down(0);
	cr_assert_not_null(action(ACTION_EXIT), "a free worker ends at once");
	restart();
	reach_running();
	shut_down(1500);
	cr_assert_not_null(action(ACTION_STOP_CHILD));
	cr_assert_null(action(ACTION_EXIT));
	from(&bert, 1550, hello(7, "bert@there"));
	cr_assert_not_null(sent(MSG_ERROR));
	child(1600, simple(MSG_DONE));
	cr_assert_eq(acts.items[0].type, ACTION_FINISH);
	cr_assert_not_null(action(ACTION_DISMISS));
	child_gone(1700);
	cr_assert_str_eq(sent(MSG_ERROR)->error.code, "LOST");
	cr_assert_not_null(action(ACTION_EXIT));
}

Test(session_step, second_shutdown_does_not_wait)
{
	reach_running();
	shut_down(1500);
	shut_down(1501);
	cr_assert_not_null(action(ACTION_ABANDON));
	cr_assert_not_null(action(ACTION_EXIT));
}

/* --- an I/O process that dies or hangs ------------------------------------------------------------ */

Test(session_step, death_before_the_start_is_a_failure_and_after_it_a_salvaged_result)
{
	static const enum session_state before[] = { SESSION_PREPARING, SESSION_READY,
						     SESSION_ARMED };

	for (size_t i = 0; i < array_size(before); i++) {
		restart();
		reach(before[i]);
		child_gone(100);
		cr_assert_not_null(strstr(sent(MSG_FAILED)->failed.reasons[0].text, "signal 9"));
		cr_assert_str_eq(sent(MSG_FAILED)->failed.reasons[0].code, "LOST");
		cr_assert_eq(session_state(s), SESSION_OWNED);
	}
	restart();
	reach_running();
	child_gone(1500);
	cr_assert_not_null(strstr(action(ACTION_SALVAGE)->text, "signal 9"));
	cr_assert_eq(action(ACTION_SALVAGE)->ns, 0);
	cr_assert_eq(session_state(s), SESSION_OWNED);
	from_prepare(&anna, 1600, prepare());
	cr_assert_not_null(action(ACTION_TO_CHILD), "the next step gets another process");
}

Test(session_step, death_of_an_idle_io_process_is_no_event)
{
	reach_running();
	child(1600, simple(MSG_DONE));
	child_gone(1700);
	cr_assert(nothing_happened());
	cr_assert_eq(session_state(s), SESSION_OWNED);
}

Test(session_step, hung_device_is_given_up_grace_after_the_window)
{
	reach_running();
	keep_lease(9000);
	keep_lease(13000);
	tick(13500);
	keep_lease(16000);
	tick(13500 + GRACE_MS - 1);
	cr_assert_null(action(ACTION_ABANDON));
	tick(13500 + GRACE_MS);
	cr_assert_not_null(action(ACTION_SALVAGE));
	cr_assert_not_null(action(ACTION_ABANDON));
	cr_assert_eq(session_state(s), SESSION_OWNED);
	cr_assert_not_null(session_step(s), "the shell must still see what hangs");
}

Test(session_step, step_without_a_time_is_never_given_up_by_itself)
{
	struct message m = prepare();

	m.prepare.members[0].job.runtime_ns = 0;
	reach_owned();
	from_prepare(&anna, 10, m);
	child(20, simple(MSG_READY));
	from(&anna, 30, start(1000));
	child(40, simple(MSG_ARMED));
	for (uint64_t ms = 1000; ms < 100000; ms += 500) {
		keep_lease(ms);
		cr_assert_null(action(ACTION_ABANDON));
	}
	cr_assert_eq(session_state(s), SESSION_RUNNING);
}

Test(session_step, stop_and_bye_and_lease_do_not_wait_longer_than_grace)
{
	reach_running();
	from(&anna, 1500, simple(MSG_STOP));
	tick(1500 + GRACE_MS);
	cr_assert_eq(action(ACTION_SALVAGE)->ns, 1, "it was stopped");
	cr_assert_not_null(action(ACTION_ABANDON));
	cr_assert_eq(session_state(s), SESSION_OWNED);
	restart();
	reach_running();
	from(&anna, 1500, simple(MSG_BYE));
	tick(1500 + GRACE_MS);
	cr_assert_null(action(ACTION_SALVAGE));
	cr_assert_not_null(action(ACTION_ABANDON));
	cr_assert_not_null(sent(MSG_BYE));
	cr_assert_eq(session_state(s), SESSION_FREE);
	restart();
	reach_running();
	tick(LEASE_MS);
	tick(LEASE_MS + GRACE_MS);
	cr_assert_not_null(action(ACTION_ABANDON));
	cr_assert_eq(session_state(s), SESSION_FREE);
}

Test(session_step, prepare_may_take_its_time)
{
	reach_preparing();
	for (uint64_t ms = 1000; ms < 600000; ms += 1000)
		keep_lease(ms);
	cr_assert_eq(session_state(s), SESSION_PREPARING);
}

Test(session_step, stuck_target_is_refused_by_both_its_names_until_it_is_released)
{
	reach_owned();
	session_add_stuck(s, "/dev/alias", "/dev/x", "since yesterday");
	session_add_stuck(s, "/dev/other", NULL, "since today");
	from_prepare(&anna, 10, prepare());
	cr_assert_str_eq(sent(MSG_FAILED)->failed.reasons[0].code, "HUNG");
	cr_assert_not_null(strstr(sent(MSG_FAILED)->failed.reasons[0].text, "since yesterday"));
	cr_assert_null(action(ACTION_TO_CHILD));
	cr_assert_eq(session_state(s), SESSION_OWNED);
	session_release_stuck(s, "/dev/alias");
	from_prepare(&anna, 20, prepare());
	cr_assert_not_null(action(ACTION_TO_CHILD), "the other one does not matter");
}

/* --- everything at any time ----------------------------------------------------------------------- */

static void random_event(unsigned long long *seed, uint64_t ms)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	unsigned r = (unsigned)(*seed >> 33);
	const struct peer *peer = r & 1 ? &anna : &bert;
	uint64_t id = r & 2 ? ID : 7;

	switch ((r >> 2) % 16) {
	case 0:
	case 1:
		from(peer, ms, hello(id, "someone"));
		break;
	case 2:
	case 3: {
		struct message m = prepare();

		m.session = id;
		from_prepare(peer, ms, m);
		break;
	}
	case 4: {
		struct message m = start(ms + r % 2000);

		m.session = id;
		from(peer, ms, m);
		break;
	}
	case 5:
		from(peer, ms, (struct message) { .type = MSG_STOP, .session = id });
		break;
	case 6:
		if (r % 5 == 0)
			from(peer, ms, (struct message) { .type = MSG_BYE, .session = id });
		break;
	case 7:
		child(ms, simple(MSG_READY));
		break;
	case 8:
		child(ms, simple(MSG_ARMED));
		break;
	case 9:
		child(ms, simple(r & 4096 ? MSG_DONE : MSG_FAILED));
		break;
	case 10:
		if (r % 7 == 0)
			child_gone(ms);
		break;
	case 11:
	case 12:
		keep_lease(ms);
		break;
	default:
		tick(ms);
	}
}

/* Whatever comes, in whatever order: time moves on, one instant is always due when somebody owns the worker, and
 * nobody owns it for ever. */
Test(session_step, no_order_of_events_breaks_it)
{
	unsigned long long seed = 1;
	unsigned visited = 0;

	for (int round = 0; round < 300; round++) {
		uint64_t ms = 1000;

		restart();
		for (int i = 0; i < 200; i++) {
			random_event(&seed, ms);
			visited |= 1u << session_state(s);
			if (session_state(s) != SESSION_FREE)
				cr_assert_neq(session_next_ns(s), UINT64_MAX);
			ms += seed >> 40 & 511;
		}
		tick(ms + LEASE_MS);
		tick(ms + LEASE_MS + GRACE_MS);
		cr_assert_eq(session_state(s), SESSION_FREE);
	}
	cr_assert_eq(visited, (1u << (SESSION_DRAINING + 1)) - 1, "every state was there");
}
