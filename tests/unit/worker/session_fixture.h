/* SPDX-License-Identifier: Apache-2.0 */
/* session_fixture.h - a session with two peers, and ways into each of its states. */
#ifndef SALVO_TESTS_SESSION_FIXTURE_H
#define SALVO_TESTS_SESSION_FIXTURE_H

#include "worker/session.h"

#include "common/base/clock.h"

#include <criterion/criterion.h>

/* Times of the tests, in ms since some instant. */
#define MS(n) (1000000000000ull + (n)*NS_PER_MS)

enum { LEASE_MS = 10000, GRACE_MS = 3000, ID = 0xabcd };

extern struct session *s;
extern struct session_actions acts; /* of the last event */
extern const struct peer anna, bert;

void setup(void);
void teardown(void);
void event(struct session_event e);
void from_key(const struct peer *peer, const char *key, const char *key_name, uint64_t ms,
	      struct message *m);
void from(const struct peer *peer, uint64_t ms, struct message m);
void child(uint64_t ms, struct message m);
void tick(uint64_t ms);
void child_gone(uint64_t ms);
void shut_down(uint64_t ms);
/* The only action of that type, or NULL. */
const struct session_action *action(enum action_type type);
/* The message that the only ACTION_SEND of it carries, or NULL. */
const struct message *sent(enum message_type type);
/* Nothing but lines of the log. */
bool nothing_happened(void);
struct message hello(uint64_t id, const char *owner);
struct message simple(enum message_type type);
struct message ping(uint64_t last_pong_ms);
/* One target /dev/x, one member: ramp 2.5 s, runtime 10 s, interval 1 s. */
struct message prepare(void);
/* An assignment that is not taken stays with the shell, which finishes it. */
void from_prepare(const struct peer *peer, uint64_t ms, struct message m);
struct message start(uint64_t ms);
void reach_owned(void);
void reach_preparing(void);
void reach_ready(void);
/* The instant is 1000 ms: the grid begins at 3500, the window ends at 13500. */
void reach_armed(void);
void keep_lease(uint64_t ms);
void reach_running(void);
void reach(enum session_state state);
void restart(void);

#endif
