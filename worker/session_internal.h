/* SPDX-License-Identifier: Apache-2.0 */
/* session_internal.h - what session.c (time, I/O process, ends) and session_peer.c (messages of peers) share. */
#ifndef SALVO_WORKER_SESSION_INTERNAL_H
#define SALVO_WORKER_SESSION_INTERNAL_H

#include "worker/session.h"

struct session {
	const struct msg_welcome *welcome;

	enum session_state state;
	enum session_ending ending;
	bool shutdown; /* the worker ends when this session has */

	uint64_t id;
	struct peer owner;
	char *owner_key, *owner_text;
	uint64_t since_ns, lease_ns, grace_ns, lease_end_ns;

	bool child;       /* there is an I/O process that is ours */
	bool step_active; /* from PREPARE to DONE or FAILED */
	bool start_sent, stopped;
	struct message step; /* PREPARE of the last step; kept until the next one */
	char **paths;        /* canonical, per target of it; NULL while unknown */
	size_t nr_paths;
	uint64_t start_ns, grid_ns, window_end_ns; /* window_end_ns UINT64_MAX: ends by itself */
	uint64_t next_sample_ns, give_up_ns;       /* UINT64_MAX: none */
	char *doing;
	uint64_t progress;

	struct stuck_target *stuck;
	size_t nr_stuck;
};

static inline uint64_t min_ns(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t add_sat(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* An action of that type at the end of the list, to be filled. */
struct session_action *actions_add(struct session_actions *out, enum action_type type,
				   const struct peer *peer);
/* The message's content is moved. */
void actions_send(struct session_actions *out, const struct peer *peer, struct message m);
void actions_log(struct session_actions *out, const char *fmt, ...) _printf_(2, 3);
/* Takes the text. */
void actions_error(struct session_actions *out, const struct peer *peer, uint64_t id,
		   enum error_code code, char *text);
/* Takes the error. */
void session_send_failed(const struct session *s, struct session_actions *out, struct error *err);

void session_drop_step(struct session *s);
void session_drop_owner(struct session *s);
/* The reasons why targets of the assignment are refused; NULL: none is stuck. */
struct error *session_refuse_stuck(const struct session *s, const struct assignment *a);
void session_stop_step(struct session *s, uint64_t now, struct session_actions *out);
void session_end(struct session *s, enum session_ending ending, uint64_t now,
		 struct session_actions *out);

/* session_peer.c */
void session_on_message(struct session *s, const struct session_event *e,
			struct session_actions *out);
void session_on_garbage(struct session *s, const struct session_event *e,
			struct session_actions *out);

#endif
