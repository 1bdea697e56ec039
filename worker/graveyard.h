/* SPDX-License-Identifier: Apache-2.0 */
/* graveyard.h - I/O processes that the worker has left alone, or that died with I/O in flight, and the targets
 * that are stuck with them. Control process only. */
#ifndef SALVO_WORKER_GRAVEYARD_H
#define SALVO_WORKER_GRAVEYARD_H

#include "worker/session.h"
#include "worker/stuck.h"

struct child;

struct corpse {
	pid_t pid;
	int pidfd;      /* to reap it; only of one that is our own child and not reaped */
	bool abandoned; /* it still runs */
	struct stuck_record record;
};

struct graveyard {
	const char *state; /* folder; borrowed */
	struct corpse *items;
	size_t nr;
};

/* Tells the session of what an earlier worker has left in the state folder. */
void graveyard_init(struct graveyard *g, const char *state, struct session *s);
void graveyard_fini(struct graveyard *g);
/* Removes what it has written to the state folder. */
void graveyard_forget(const struct graveyard *g);
/* Writes down what the session's step uses while its I/O process is at work, so that a worker that is started after
 * this one was killed knows it. */
void graveyard_note(const struct graveyard *g, pid_t pid, const struct session *s);
/* It has ended, and holds nothing. */
void graveyard_strike_out(const struct graveyard *g, pid_t pid);
/* What of the session's step the I/O process leaves in flight becomes stuck. `abandoned`: it is still there, and its
 * pidfd is taken; where nothing is known to be in flight it hangs in opening or closing, and then all targets of the
 * step are meant. */
void graveyard_bury(struct graveyard *g, struct child *child, bool abandoned, struct session *s);
/* Releases what has come back. */
void graveyard_look(struct graveyard *g, struct session *s);

#endif
