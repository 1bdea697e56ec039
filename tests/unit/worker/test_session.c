/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/session_fixture.h"

TestSuite(session, .init = setup, .fini = teardown);

/* --- ownership ------------------------------------------------------------------------------------ */

Test(session, hello_takes_a_free_worker)
{
	from(&anna, 0, hello(ID, "anna@here"));
	const struct message *w = sent(MSG_WELCOME);

	cr_assert_not_null(w);
	cr_assert_str_eq(w->welcome.hostname, "node1");
	cr_assert_str_eq(w->welcome.owner, "anna@here");
	cr_assert_eq(w->session, ID);
}

Test(session, second_coordinator_is_told_who_owns_it_and_since_when)
{
	reach_owned();
	from(&bert, 5000, hello(7, "bert@there"));
	const struct message *b = sent(MSG_BUSY);

	cr_assert_not_null(b);
	cr_assert_str_eq(b->busy.owner, "anna@here");
	cr_assert_eq(b->busy.owned_for_ns, 5000 * NS_PER_MS);
	cr_assert_eq(b->session, 7);
	cr_assert_eq(session_id(s), ID);
}

Test(session, observer_is_welcome_and_takes_nothing)
{
	struct message m = hello(0, "looker");

	m.hello.observe = true;
	m.hello.lease_ns = 0;
	from(&bert, 0, m);
	cr_assert_null(sent(MSG_WELCOME)->welcome.owner);
	cr_assert_eq(session_state(s), SESSION_FREE);
	reach_owned();
	from(&bert, 100, m);
	cr_assert_str_eq(sent(MSG_WELCOME)->welcome.owner, "anna@here");
	cr_assert_eq(sent(MSG_WELCOME)->welcome.owned_for_ns, 100 * NS_PER_MS);
	cr_assert_eq(session_id(s), ID);
}

Test(session, other_protocol_is_refused_with_both_versions)
{
	struct message m = hello(ID, "anna@here");

	m.hello.protocol = PROTOCOL_MAJOR + 1;
	m.hello.version = (char[]) { "9.9" };
	from(&anna, 0, m);
	const struct message *e = sent(MSG_ERROR);

	cr_assert_not_null(strstr(e->error.text, "1.2"));
	cr_assert_not_null(strstr(e->error.text, "9.9"));
	cr_assert_str_eq(e->error.code, "PROTOCOL");
	cr_assert_eq(session_state(s), SESSION_FREE);
}

Test(session, hello_with_impossible_figures_is_refused)
{
	struct message bad[] = { hello(0, "x"), hello(ID, "x"), hello(ID, "x"), hello(ID, "x") };

	bad[1].hello.lease_ns = 1;
	bad[2].hello.lease_ns = UINT64_MAX;
	bad[3].hello.grace_ns = UINT64_MAX;
	for (size_t i = 0; i < array_size(bad); i++) {
		from(&anna, 0, bad[i]);
		cr_assert_not_null(sent(MSG_ERROR), "%zu", i);
		cr_assert_eq(session_state(s), SESSION_FREE, "%zu", i);
	}
}

Test(session, owner_comes_back_over_another_link_and_goes_on)
{
	reach_running();
	from(&bert, 1200, hello(ID, "anna@here"));
	cr_assert_not_null(sent(MSG_WELCOME));
	cr_assert_eq(session_state(s), SESSION_RUNNING);
	tick(2000);
	cr_assert_eq(action(ACTION_SAMPLE)->peer.id[0], 'b', "samples follow the owner");
}

Test(session, what_the_owner_waits_for_is_sent_again_over_a_new_link)
{
	struct message m = ping(1000);

	reach_armed();
	from(&anna, 1000, m);
	cr_assert_null(action(ACTION_RESEND), "the link is the same");
	m = ping(1000);
	from(&bert, 1100, m);
	cr_assert_eq(acts.items[0].type, ACTION_RESEND, "before anything else");
	cr_assert_eq(acts.items[0].peer.id[0], 'b');
	m = ping(1100);
	from(&bert, 1200, m);
	cr_assert_null(action(ACTION_RESEND));
}

Test(session, same_number_with_another_key_is_another_coordinator)
{
	struct message m = hello(ID, "anna@here");

	from_key(&anna, "key-a", "anna", 0, &m);
	m = hello(ID, "anna@here");
	from_key(&bert, "key-b", "bert", 10, &m);
	cr_assert_not_null(sent(MSG_BUSY));
	m = simple(MSG_BYE);
	from_key(&bert, "key-b", "bert", 20, &m);
	cr_assert_not_null(sent(MSG_ERROR));
	cr_assert_eq(session_state(s), SESSION_OWNED);
}

Test(session, unknown_key_is_refused_and_a_withdrawn_one_ends_the_session)
{
	struct message m = hello(ID, "anna@here");

	from_key(&anna, "key-a", NULL, 0, &m);
	cr_assert_str_eq(sent(MSG_ERROR)->error.code, "AUTH");
	cr_assert_eq(session_state(s), SESSION_FREE);
	m = hello(ID, "anna@here");
	from_key(&anna, "key-a", "anna", 0, &m);
	m = ping(0);
	from_key(&anna, "key-a", NULL, 100, &m);
	cr_assert_str_eq(sent(MSG_ERROR)->error.code, "AUTH");
	cr_assert_eq(session_state(s), SESSION_FREE);
}

Test(session, message_of_a_session_that_is_not_here_is_answered_and_changes_nothing)
{
	static const enum message_type types[] = { MSG_PREPARE, MSG_START, MSG_STOP, MSG_BYE };

	for (size_t i = 0; i < array_size(types); i++) {
		from(&bert, 0, (struct message) { .type = types[i], .session = 99 });
		cr_assert_eq(sent(MSG_ERROR)->session, 99);
		cr_assert_eq(session_state(s), SESSION_FREE);
	}
	reach_running();
	for (size_t i = 0; i < array_size(types); i++) {
		from(&bert, 1100, (struct message) { .type = types[i], .session = 99 });
		cr_assert_str_eq(sent(MSG_ERROR)->error.code, "LOST");
		cr_assert_eq(session_state(s), SESSION_RUNNING);
	}
}

Test(session, ping_that_would_renew_a_lease_that_is_not_here_is_told_so)
{
	from(&anna, 1000, ping(900)); /* of a session with the worker that ran here before */
	cr_assert_str_eq(sent(MSG_ERROR)->error.code, "LOST");
	cr_assert_null(sent(MSG_PONG));
	from(&anna, 1000, ping(0)); /* an observer's */
	cr_assert_null(sent(MSG_ERROR));
	cr_assert_not_null(sent(MSG_PONG));
}

Test(session, an_error_is_never_answered_with_an_error)
{
	from(&bert, 0, (struct message) { .type = MSG_ERROR, .session = 99 });
	cr_assert_eq(acts.nr, 0);
}

Test(session, bytes_that_are_no_message_end_the_session_of_their_sender_only)
{
	struct session_event e = {
		.type = EVENT_GARBAGE, .now_ns = MS(5), .peer = &bert, .text = "not msgpack"
	};

	reach_owned();
	event(e);
	cr_assert_str_eq(sent(MSG_ERROR)->error.text, "not msgpack");
	cr_assert_eq(session_state(s), SESSION_OWNED);
	e.peer = &anna;
	event(e);
	cr_assert_eq(sent(MSG_ERROR)->session, ID);
	cr_assert_eq(session_state(s), SESSION_FREE);
}

/* --- lease ---------------------------------------------------------------------------------------- */

Test(session, ping_is_answered_for_everybody_and_shows_progress_to_the_owner_only)
{
	struct message m = ping(0);

	reach_preparing();
	child(15, (struct message) { .type = MSG_PONG,
				     .pong = { .doing = (char[]) { "laying out x" } } });
	m.ping.sequence = 3;
	m.ping.sent_ns = 77;
	from(&anna, 20, m);
	const struct msg_pong *p = &sent(MSG_PONG)->pong;

	cr_assert_eq(p->sequence, 3);
	cr_assert_eq(p->sent_ns, 77);
	cr_assert_eq(p->received_ns, MS(20));
	cr_assert_str_eq(p->state, "preparing");
	cr_assert_str_eq(p->doing, "laying out x");
	cr_assert_eq(p->progress, 1);
	m.session = 5;
	from(&bert, 30, m);
	p = &sent(MSG_PONG)->pong;
	cr_assert_str_eq(p->state, "preparing");
	cr_assert_null(p->doing);
	cr_assert_eq(sent(MSG_PONG)->session, 5);
}

Test(session, lease_runs_from_hello_and_then_from_the_last_pong_that_arrived)
{
	reach_owned();
	cr_assert_eq(session_next_ns(s), MS(LEASE_MS));
	from(&anna, 4000, ping(0));
	cr_assert_eq(session_next_ns(s), MS(LEASE_MS), "0: none arrived yet");
	from(&anna, 5000, ping(4000));
	cr_assert_eq(session_next_ns(s), MS(4000 + LEASE_MS));
	from(&anna, 6000, ping(2000));
	cr_assert_eq(session_next_ns(s), MS(4000 + LEASE_MS), "a delayed packet renews nothing");
	from(&anna, 7000, ping(99000));
	cr_assert_eq(session_next_ns(s), MS(7000 + LEASE_MS), "a pong of the future is one of now");
}

Test(session, only_the_owner_renews_the_lease)
{
	struct message m = ping(5000);

	reach_owned();
	m.session = 6;
	from(&bert, 5000, m);
	cr_assert_eq(session_next_ns(s), MS(LEASE_MS));
}

Test(session, renewal_reaches_the_threads)
{
	reach_ready();
	cr_assert_eq(action(ACTION_DEADLINE)->ns, MS(LEASE_MS), "set when the block is mapped");
	from(&anna, 3000, ping(2900));
	cr_assert_eq(action(ACTION_DEADLINE)->ns, MS(2900 + LEASE_MS));
	from(&anna, 3100, ping(2900));
	cr_assert_null(action(ACTION_DEADLINE));
}

Test(session, lease_that_ends_frees_the_worker_from_every_state)
{
	for (int state = SESSION_OWNED; state <= SESSION_DRAINING; state++) {
		restart();
		reach(state);
		tick(LEASE_MS - 1);
		cr_assert_neq(session_state(s), SESSION_FREE);
		tick(LEASE_MS);
		if (state != SESSION_OWNED && state != SESSION_DRAINING) {
			cr_assert_not_null(action(ACTION_DISMISS), "%d", state);
			cr_assert_eq(session_state(s), SESSION_DRAINING);
			from(&bert, LEASE_MS + 5, hello(7, "bert@there"));
			cr_assert_not_null(sent(MSG_BUSY), "not before it has drained");
			child_gone(LEASE_MS + 10);
			cr_assert_null(action(ACTION_SALVAGE), "nobody wants DONE");
		}
		if (state == SESSION_DRAINING) /* its grace was over before its lease */
			cr_assert_eq(session_state(s), SESSION_FREE);
		cr_assert_eq(session_state(s), SESSION_FREE, "%d", state);
		cr_assert_eq(session_next_ns(s), UINT64_MAX);
		from(&bert, LEASE_MS + 20, hello(7, "bert@there"));
		cr_assert_not_null(sent(MSG_WELCOME), "%d", state);
	}
}

Test(session, ping_after_the_end_of_the_lease_brings_nothing_back)
{
	reach_running();
	from(&anna, LEASE_MS + 1, ping(9000));
	cr_assert_not_null(action(ACTION_DISMISS));
	cr_assert_not_null(sent(MSG_PONG));
	cr_assert_eq(session_state(s), SESSION_DRAINING);
	from(&anna, LEASE_MS + 2, start(60000));
	cr_assert(nothing_happened());
}
