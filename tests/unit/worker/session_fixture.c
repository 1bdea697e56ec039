/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/session_fixture.h"

struct session *s;
struct session_actions acts;
static struct msg_welcome host = { .protocol = PROTOCOL_MAJOR,
				   .version = (char[]) { "1.2" },
				   .hostname = (char[]) { "node1" } };
const struct peer anna = { .len = 4, .id = "anna" }, bert = { .len = 4, .id = "bert" };

void setup(void)
{
	s = session_new(&host);
}

void teardown(void)
{
	session_actions_fini(&acts);
	session_destroy(&s);
}

void event(struct session_event e)
{
	session_actions_fini(&acts);
	session_handle(s, &e, &acts);
}

void from_key(const struct peer *peer, const char *key, const char *key_name, uint64_t ms,
	      struct message *m)
{
	event((struct session_event) { .type = EVENT_MESSAGE,
				       .now_ns = MS(ms),
				       .peer = peer,
				       .key = key,
				       .key_name = key_name,
				       .message = m });
}

void from(const struct peer *peer, uint64_t ms, struct message m)
{
	from_key(peer, "", "", ms, &m);
}

void child(uint64_t ms, struct message m)
{
	event((struct session_event) { .type = EVENT_FROM_CHILD, .now_ns = MS(ms), .message = &m });
}

void tick(uint64_t ms)
{
	event((struct session_event) { .type = EVENT_TICK, .now_ns = MS(ms) });
}

void child_gone(uint64_t ms)
{
	event((struct session_event) {
		.type = EVENT_CHILD_GONE, .now_ns = MS(ms), .text = "was killed by signal 9" });
}

void shut_down(uint64_t ms)
{
	event((struct session_event) { .type = EVENT_SHUTDOWN, .now_ns = MS(ms) });
}

const struct session_action *action(enum action_type type)
{
	const struct session_action *found = NULL;

	for (size_t i = 0; i < acts.nr; i++) {
		if (acts.items[i].type != type)
			continue;
		cr_assert_null(found, "action %d twice", type);
		found = &acts.items[i];
	}
	return found;
}

const struct message *sent(enum message_type type)
{
	const struct message *found = NULL;

	for (size_t i = 0; i < acts.nr; i++) {
		if (acts.items[i].type != ACTION_SEND || acts.items[i].message.type != type)
			continue;
		cr_assert_null(found, "%s twice", message_name(type));
		found = &acts.items[i].message;
	}
	return found;
}

bool nothing_happened(void)
{
	for (size_t i = 0; i < acts.nr; i++)
		if (acts.items[i].type != ACTION_LOG)
			return false;
	return true;
}

struct message hello(uint64_t id, const char *owner)
{
	return (struct message) {
		.type = MSG_HELLO,
		.session = id,
		.hello = { .protocol = PROTOCOL_MAJOR,
			   .version = (char[]) { "1.2" },
			   .owner = (char *)owner,
			   .lease_ns = LEASE_MS * NS_PER_MS,
			   .grace_ns = GRACE_MS * NS_PER_MS },
	};
}

struct message simple(enum message_type type)
{
	return (struct message) { .type = type, .session = ID };
}

struct message ping(uint64_t last_pong_ms)
{
	return (struct message) { .type = MSG_PING,
				  .session = ID,
				  .ping = { .last_pong_ns = last_pong_ms ? MS(last_pong_ms) : 0 } };
}

struct message prepare(void)
{
	struct message m = { .type = MSG_PREPARE, .session = ID };
	struct assignment *a = &m.prepare;

	a->run = xstrdup("run");
	a->interval_ns = NS_PER_S;
	a->nr_targets = a->nr_members = 1;
	a->targets = xcalloc(1, sizeof(*a->targets));
	a->targets[0].name = xstrdup("lun0");
	a->targets[0].path = xstrdup("/dev/x");
	a->members = xcalloc(1, sizeof(*a->members));
	schema_init(&job_schema, &a->members[0].job);
	a->members[0].job.ramp_time_ns = 2500 * NS_PER_MS;
	a->members[0].job.runtime_ns = 10 * NS_PER_S;
	return m;
}

void from_prepare(const struct peer *peer, uint64_t ms, struct message m)
{
	from_key(peer, "", "", ms, &m);
	if (m.type == MSG_PREPARE)
		message_fini(&m);
}

struct message start(uint64_t ms)
{
	return (struct message) { .type = MSG_START,
				  .session = ID,
				  .start = { .start_ns = MS(ms) } };
}

void reach_owned(void)
{
	from(&anna, 0, hello(ID, "anna@here"));
	cr_assert_eq(session_state(s), SESSION_OWNED);
}

void reach_preparing(void)
{
	reach_owned();
	from_prepare(&anna, 10, prepare());
	cr_assert_eq(session_state(s), SESSION_PREPARING);
}

void reach_ready(void)
{
	struct device_info device = { .path = (char[]) { "/dev/disk7" } };

	reach_preparing();
	child(20, (struct message) { .type = MSG_READY,
				     .session = ID,
				     .ready = { .devices = &device, .nr_devices = 1 } });
	cr_assert_eq(session_state(s), SESSION_READY);
}

void reach_armed(void)
{
	reach_ready();
	from(&anna, 30, start(1000));
	cr_assert_eq(session_state(s), SESSION_READY);
	child(40, simple(MSG_ARMED));
	cr_assert_eq(session_state(s), SESSION_ARMED);
}

void keep_lease(uint64_t ms)
{
	from(&anna, ms, ping(ms));
}

void reach_running(void)
{
	reach_armed();
	tick(1000);
	cr_assert_eq(session_state(s), SESSION_RUNNING);
}

void reach(enum session_state state)
{
	static void (*const ways[])(void) = {
		[SESSION_OWNED] = reach_owned,     [SESSION_PREPARING] = reach_preparing,
		[SESSION_READY] = reach_ready,     [SESSION_ARMED] = reach_armed,
		[SESSION_RUNNING] = reach_running,
	};

	if (state == SESSION_DRAINING) {
		reach_running();
		from(&anna, 1500, simple(MSG_STOP));
		cr_assert_eq(session_state(s), SESSION_DRAINING);
	} else if (state != SESSION_FREE) {
		ways[state]();
	}
}

void restart(void)
{
	teardown();
	setup();
}
