/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/clock.h"
#include "worker/session_internal.h"

/* What a HELLO may ask for. */
#define LEASE_MIN_NS (100 * NS_PER_MS)
#define LEASE_MAX_NS (3600 * NS_PER_S)

static uint64_t owned_for_ns(const struct session *s, uint64_t now)
{
	return s->state == SESSION_FREE || now < s->since_ns ? 0 : now - s->since_ns;
}

static void send_welcome(const struct session *s, const struct session_event *e,
			 struct session_actions *out)
{
	struct message m = { .type = MSG_WELCOME, .session = e->message->session };

	schema_copy(message_schema(MSG_WELCOME), &m.welcome, s->welcome);
	if (s->state != SESSION_FREE) {
		m.welcome.owner = xstrdup(s->owner_text);
		m.welcome.owned_for_ns = owned_for_ns(s, e->now_ns);
	}
	actions_send(out, e->peer, m);
}

static bool is_owner(const struct session *s, const struct session_event *e)
{
	return s->state != SESSION_FREE && e->message->session == s->id &&
	       streq(e->key, s->owner_key);
}

static bool same_peer(const struct peer *a, const struct peer *b)
{
	return a->len == b->len && memcmp(a->id, b->id, a->len) == 0;
}

/* Its link was made anew: what went over the old one last may be lost, and is waited for. */
static void follow_owner(struct session *s, const struct session_event *e,
			 struct session_actions *out)
{
	if (!same_peer(e->peer, &s->owner))
		actions_add(out, ACTION_RESEND, e->peer);
	s->owner = *e->peer;
}

static void take_ownership(struct session *s, const struct session_event *e,
			   struct session_actions *out)
{
	const struct msg_hello *hello = &e->message->hello;

	session_drop_step(s);
	session_drop_owner(s);
	s->state = SESSION_OWNED;
	s->ending = ENDING_NOT;
	s->id = e->message->session;
	s->owner = *e->peer;
	s->owner_key = xstrdup(e->key);
	s->owner_text = xstrdup(hello->owner);
	s->since_ns = e->now_ns;
	s->lease_ns = hello->lease_ns;
	s->grace_ns = hello->grace_ns;
	s->lease_end_ns = e->now_ns + s->lease_ns;
	s->progress = 0;
	actions_log(out, "session %016llx: owned by %s%s%s", (unsigned long long)s->id,
		    s->owner_text, e->key_name && *e->key_name ? ", key " : "",
		    e->key_name ? e->key_name : "");
}

/* NULL when the HELLO may have a session. */
static char *refuse_hello(const struct session *s, const struct message *m)
{
	const struct msg_hello *hello = &m->hello;

	if (hello->protocol != PROTOCOL_MAJOR)
		return xasprintf("the worker speaks protocol %d (version %s), the coordinator %llu "
				 "(version %s); install the same version on both",
				 PROTOCOL_MAJOR, s->welcome->version,
				 (unsigned long long)hello->protocol, hello->version);
	if (hello->observe)
		return NULL;
	if (m->session == 0)
		return xstrdup("HELLO without a session number");
	if (hello->lease_ns < LEASE_MIN_NS || hello->lease_ns > LEASE_MAX_NS)
		return xstrdup("HELLO with a lease outside 100ms..1h");
	if (hello->grace_ns > LEASE_MAX_NS)
		return xstrdup("HELLO with a grace of over 1h");
	return NULL;
}

static void on_hello(struct session *s, const struct session_event *e, struct session_actions *out)
{
	char *refusal = refuse_hello(s, e->message);

	if (refusal) {
		actions_error(out, e->peer, e->message->session, ERR_PROTOCOL, refusal);
	} else if (e->message->hello.observe) {
		send_welcome(s, e, out);
	} else if (s->shutdown) {
		actions_error(out, e->peer, e->message->session, ERR_REFUSED,
			      xstrdup("the worker is about to end"));
	} else if (s->state == SESSION_FREE || (is_owner(s, e) && !s->ending)) {
		if (s->state == SESSION_FREE)
			take_ownership(s, e, out);
		else
			follow_owner(s, e, out);
		send_welcome(s, e, out);
	} else {
		actions_send(out, e->peer,
			     (struct message) {
				     .type = MSG_BUSY,
				     .session = e->message->session,
				     .busy = { .owner = xstrdup(s->owner_text),
					       .owned_for_ns = owned_for_ns(s, e->now_ns) },
			     });
	}
}

static void on_ping(struct session *s, const struct session_event *e, struct session_actions *out)
{
	const struct msg_ping *ping = &e->message->ping;
	bool owner = is_owner(s, e);
	struct message m = {
		.type = MSG_PONG,
		.session = e->message->session,
		.pong = { .sequence = ping->sequence,
			  .sent_ns = ping->sent_ns,
			  .received_ns = e->now_ns,
			  .state = xstrdup(session_state_name(s->state)),
			  .doing = owner && s->doing ? xstrdup(s->doing) : NULL,
			  .progress = owner ? s->progress : 0 },
	};

	actions_send(out, e->peer, m);
	if (!owner || s->ending || !ping->last_pong_ns)
		return;
	uint64_t end = min_ns(ping->last_pong_ns, e->now_ns) + s->lease_ns;

	if (end <= s->lease_end_ns)
		return; /* a delayed packet renews nothing */
	s->lease_end_ns = end;
	if (s->child)
		actions_add(out, ACTION_DEADLINE, NULL)->ns = end;
}

static void out_of_place(struct session *s, const struct session_event *e,
			 struct session_actions *out)
{
	actions_error(out, e->peer, s->id, ERR_PROTOCOL,
		      xasprintf("%s has no place while the worker is %s",
				message_name(e->message->type), session_state_name(s->state)));
	session_end(s, ENDING_ERROR, e->now_ns, out);
}

static void on_prepare(struct session *s, const struct session_event *e,
		       struct session_actions *out)
{
	struct error *stuck;

	if (s->state != SESSION_OWNED) {
		out_of_place(s, e, out);
		return;
	}
	stuck = session_refuse_stuck(s, &e->message->prepare);
	if (stuck) {
		actions_log(out, "run %s was refused: %s", e->message->prepare.run,
			    error_message(stuck));
		session_send_failed(s, out, stuck);
		return;
	}
	session_drop_step(s);
	s->step = *e->message;
	e->message->type = MSG_COUNT; /* moved */
	s->nr_paths = s->step.prepare.nr_targets;
	s->paths = xcalloc(s->nr_paths ? s->nr_paths : 1, sizeof(*s->paths));
	s->state = SESSION_PREPARING;
	s->step_active = s->child = true;
	actions_log(out, "run %s, step %llu: %zu targets, %llu threads%s", s->step.prepare.run,
		    (unsigned long long)s->step.prepare.step, s->step.prepare.nr_targets,
		    (unsigned long long)assignment_threads(&s->step.prepare),
		    s->step.prepare.probe ? " (only looked at)" : "");
	actions_add(out, ACTION_TO_CHILD, NULL);
	actions_add(out, ACTION_DEADLINE, NULL)->ns = s->lease_end_ns;
}

static void on_start(struct session *s, const struct session_event *e, struct session_actions *out)
{
	if (s->state != SESSION_READY || s->start_sent) {
		out_of_place(s, e, out);
		return;
	}
	s->start_ns = e->message->start.start_ns;
	s->start_sent = true;
	actions_add(out, ACTION_TO_CHILD, NULL);
}

static void on_stop(struct session *s, const struct session_event *e, struct session_actions *out)
{
	/* Without a step this STOP has crossed the DONE or FAILED that ended it. */
	if (!s->step_active || s->ending)
		return;
	actions_log(out, "stopped by the coordinator: %s",
		    e->message->stop.why ? e->message->stop.why : "no reason given");
	if (!s->stopped)
		session_stop_step(s, e->now_ns, out);
}

static void on_owner_message(struct session *s, const struct session_event *e,
			     struct session_actions *out)
{
	follow_owner(s, e, out);
	switch (e->message->type) {
	case MSG_PREPARE:
		on_prepare(s, e, out);
		break;
	case MSG_START:
		on_start(s, e, out);
		break;
	case MSG_STOP:
		on_stop(s, e, out);
		break;
	case MSG_BYE:
		session_end(s, ENDING_BYE, e->now_ns, out);
		break;
	case MSG_ERROR:
		actions_log(out, "the coordinator ends the session: %s", e->message->error.text);
		session_end(s, ENDING_ERROR, e->now_ns, out);
		break;
	case MSG_HELLO:
	case MSG_WELCOME:
	case MSG_BUSY:
	case MSG_PING:
	case MSG_PONG:
	case MSG_READY:
	case MSG_FAILED:
	case MSG_ARMED:
	case MSG_SAMPLE:
	case MSG_DONE:
	case MSG_COUNT:
		out_of_place(s, e, out);
		break;
	}
}

void session_on_message(struct session *s, const struct session_event *e,
			struct session_actions *out)
{
	enum message_type type = e->message->type;
	bool owner = is_owner(s, e);

	if (!e->key_name) {
		actions_error(
			out, e->peer, e->message->session, ERR_AUTH,
			xstrdup("this key is not among the coordinators that the worker obeys "
				"(any more)"));
		if (owner)
			session_end(s, ENDING_ERROR, e->now_ns, out);
	} else if (type == MSG_HELLO) {
		on_hello(s, e, out);
	} else if (type == MSG_PING && (owner || !e->message->ping.last_pong_ns)) {
		/* One that would renew a lease which is not here is answered below: its sender would
		 * believe in a session that ended with the worker before this one. */
		if (owner)
			follow_owner(s, e, out);
		on_ping(s, e, out);
	} else if (owner && !s->ending) {
		on_owner_message(s, e, out);
	} else if (!owner && type != MSG_ERROR) {
		/* Meant for another session, or for the worker that ran here before. */
		actions_error(
			out, e->peer, e->message->session, ERR_LOST,
			xasprintf("there is no session %016llx on this worker (any more); was it "
				  "restarted?",
				  (unsigned long long)e->message->session));
	}
}

void session_on_garbage(struct session *s, const struct session_event *e,
			struct session_actions *out)
{
	bool owner = s->state != SESSION_FREE && same_peer(e->peer, &s->owner);

	actions_error(out, e->peer, owner ? s->id : 0, ERR_PROTOCOL, xstrdup(e->text));
	if (owner)
		session_end(s, ENDING_ERROR, e->now_ns, out);
}
