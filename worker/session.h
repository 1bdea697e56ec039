/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - the control process's mind: who owns the worker, until when, and what its step is doing.
 *
 * Pure: events with the time go in, actions come out; sockets, processes, timers and files belong to the shell
 * (agent.c), which carries the actions out in order before it brings the next event. All instants are
 * CLOCK_MONOTONIC ns of this host.
 *
 *     FREE -HELLO-> OWNED -PREPARE-> PREPARING -READY-> READY -START-> ARMED -(instant)-> RUNNING -(window over)-> DRAINING -DONE-> OWNED
 *
 * STOP leads from any of them to DRAINING and back to OWNED; BYE, the lease's end and a shutdown lead through
 * DRAINING to FREE. An I/O process that does not end within `grace` is abandoned: its targets are stuck, and
 * refused until they are released. The owner is whoever knows the session's number and has its key: links may
 * break and come back.
 */
#ifndef SALVO_WORKER_SESSION_H
#define SALVO_WORKER_SESSION_H

#include "common/net/message.h"
#include "worker/stuck.h"

enum session_state {
	SESSION_FREE,
	SESSION_OWNED,
	SESSION_PREPARING,
	SESSION_READY,
	SESSION_ARMED,
	SESSION_RUNNING,
	SESSION_DRAINING,
};

/* Why a session that drains will not go on. */
enum session_ending {
	ENDING_NOT,
	ENDING_BYE,
	ENDING_ERROR, /* a message that has no place, a key that was withdrawn */
	ENDING_LEASE,
	ENDING_SHUTDOWN,
};

enum { PEER_ID_MAX = 255 };
struct peer {
	uint8_t len, id[PEER_ID_MAX]; /* routing id */
};

enum event_type {
	EVENT_MESSAGE,    /* from a peer: peer, key, key_name, message */
	EVENT_GARBAGE,    /* bytes from a peer that are no message: peer, text */
	EVENT_FROM_CHILD, /* message */
	EVENT_CHILD_GONE, /* the I/O process has ended: text says how */
	EVENT_TICK,       /* time has passed */
	EVENT_SHUTDOWN,   /* the worker is asked to end */
};

struct session_event {
	enum event_type type;
	uint64_t now_ns;
	const struct peer *peer;
	const char *key; /* the peer's public key; "" where there are no keys */
	const char *
		key_name; /* the name under which that key is allowed; NULL: it is not (any more) */
	struct message *message; /* an assignment may be moved out of it */
	const char *text;
};

enum action_type {
	ACTION_SEND, /* message -> peer */
	ACTION_TO_CHILD, /* the event's message, as it came -> I/O process (started when there is none) */
	ACTION_STOP_CHILD, /* STOP -> I/O process */
	ACTION_TO_OWNER,   /* the event's message, as it came -> owner */
	ACTION_RESEND, /* the last READY, ARMED, FAILED or DONE of the session once more -> peer */
	ACTION_MAP, /* READY came: the statistics block is laid out; map it, before anything else */
	ACTION_DEADLINE, /* ns: no I/O is to be submitted at or after it */
	ACTION_SAMPLE,   /* read the counters: interval -> owner */
	/* The event's DONE -> owner, after a last sample of what is left. text: why the worker stopped it; NULL: it did not */
	ACTION_FINISH,
	ACTION_SALVAGE, /* text: make DONE from the statistics block -> owner: the I/O process cannot */
	ACTION_DISMISS, /* close the control pair: the I/O process stops, drains, ends */
	ACTION_ABANDON, /* it does not end: let it be; session_add_stuck for what it holds */
	ACTION_LOG,     /* text: one line about the session */
	ACTION_COMPLAIN, /* text: one line about a message that has no place; a peer may send any number of them */
	ACTION_EXIT, /* the worker may end */
};

struct session_action {
	enum action_type type;
	struct peer peer;
	struct message message; /* owned */
	uint64_t ns;
	int64_t interval;
	bool hangs; /* ACTION_SALVAGE: the I/O process is still there, and waits for its I/O */
	char *text; /* owned */
};

struct session_actions {
	struct session_action *items;
	size_t nr, cap;
};
void session_actions_fini(struct session_actions *a);

struct session;

/* `welcome`: what WELCOME says of this host (owner excepted); borrowed for the session's life. */
struct session *session_new(const struct msg_welcome *welcome) _returns_nonnull_;
void session_destroy(struct session **self_p);

void session_handle(struct session *s, const struct session_event *event,
		    struct session_actions *ret);
/* When EVENT_TICK is due; UINT64_MAX: not before another event. */
uint64_t session_next_ns(const struct session *s);

enum session_state session_state(const struct session *s);
const char *session_state_name(enum session_state state);
uint64_t session_id(const struct session *s);
const struct peer *session_owner(const struct session *s);
/* The step in work, with the canonical path of each target once they are known; NULL: none. */
const struct assignment *session_step(const struct session *s);
const char *session_target_path(const struct session *s, size_t target);
uint64_t session_start_ns(const struct session *s);

void session_add_stuck(struct session *s, const char *path, const char *canonical,
		       const char *text);
/* Nothing of it is in flight any more. */
void session_release_stuck(struct session *s, const char *path);

#endif
