/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the coordinator's mind: what is said to which worker when, and when a run is over.
 *
 * Design notes. PURE: events with the time in, messages and closings out through the outlet; no socket, no
 * clock, no file, so a fleet with faults is a unit test. The shell (coordinator.c) calls run_tick every few
 * milliseconds and everything else as it happens; all times are the coordinator's CLOCK_MONOTONIC.
 *
 * One machine serves three commands, since their beginnings are the same: `salvo run` measures, `salvo check`
 * probes (PREPARE without consequences), `salvo hosts` only looks.
 *
 * Every wait has an end: for the link and WELCOME START_LIMIT, for PONG the lease, for PREPARE a limit that
 * starts anew whenever its progress advances, for ARMED the instant itself, for DONE the step's time plus
 * grace (a step that ends by size alone: no I/O for that long), for BYE a few seconds.
 */
#ifndef SALVO_RUN_RUN_H
#define SALVO_RUN_RUN_H

#include "common/net/clocksync.h"
#include "coordinator/run/collector.h"

enum run_mode { MODE_RUN, MODE_PROBE, MODE_OBSERVE };

enum run_phase {
	PHASE_CONNECTING, /* links, HELLO, WELCOME, clocks */
	PHASE_RESTING,    /* the scenario's pause: all hosts idle, their leases renewed */
	PHASE_PREPARING,  /* PREPARE sent, READY or FAILED awaited from all */
	PHASE_SYNCING,    /* fresh clock exchanges right before the start */
	PHASE_STARTING,   /* START sent, ARMED awaited from all */
	PHASE_RUNNING,
	PHASE_STOPPING, /* STOP sent, DONE awaited */
	PHASE_LEAVING,  /* BYE sent, its answer awaited */
	PHASE_FINISHED,
};

enum peer_state {
	PEER_CONNECTING,
	PEER_GREETING, /* HELLO sent */
	PEER_OWNED,    /* nothing asked of it but PONG */
	PEER_PREPARING,
	PEER_READY,
	PEER_ARMING, /* START sent */
	PEER_ARMED,  /* until DONE */
	PEER_LEAVING,
	PEER_GONE, /* left, lost or never there */
};

/* What the machine does. All pointers are borrowed for the length of the call. */
struct run_outlet {
	void *arg;
	/* The shell puts the time of sending into a PING (sent_ns), as late as it can. */
	void (*send)(void *arg, size_t host, const struct message *m);
	/* Nothing more is sent to the host or taken from it. */
	void (*close)(void *arg, size_t host);
	/* The next ones may be NULL. A step has got its instant: */
	void (*started)(void *arg, size_t step, uint64_t start_ns);
	/* The message at hand was a SAMPLE and has been counted. */
	void (*sampled)(void *arg, size_t step, size_t host, int64_t offset_ns);
	/* The same of its totals. May be NULL. */
	void (*totalled)(void *arg, size_t step, size_t host);
	/* MODE_PROBE: what a host found; texts may be moved out of it. */
	void (*probed)(void *arg, size_t host, size_t step, struct msg_ready *ready);
};

struct run_options {
	enum run_mode mode;
	const struct hostlist *hosts;
	const struct plan *plan;     /* NULL with MODE_OBSERVE */
	struct collector *collector; /* MODE_RUN only */
	const struct fleet *fleet;
	uint64_t session; /* random, in 1..INT64_MAX: of the first host; the others' follow */
	const char *version, *owner;
};

struct run;

/* The options' pointers are borrowed for the run's life. */
struct run *run_new(const struct run_options *options, const struct run_outlet *outlet,
		    uint64_t now_ns) _returns_nonnull_;
void run_destroy(struct run **self_p);

void run_link_up(struct run *r, size_t host, uint64_t now_ns);
/* The link cannot be made, its bytes are no messages, its process ended: takes the error. */
void run_host_failed(struct run *r, size_t host, struct error *err, uint64_t now_ns);
/* The machine may move content out of the message; the caller finishes what is left. */
void run_message(struct run *r, size_t host, struct message *m, uint64_t now_ns);
void run_tick(struct run *r, uint64_t now_ns);
/* The first one stops in order, the second one at once. */
void run_interrupt(struct run *r, uint64_t now_ns);

bool run_is_finished(const struct run *r);
/* Has any host received a START? */
bool run_has_started(const struct run *r);
enum run_status run_status(const struct run *r);
/* Everything that went wrong, in the order in which it did, I/O errors that workers counted and the user's
 * stop among them; NULL: nothing. */
const struct error *run_errors(const struct run *r);
/* The same, and the caller owns it from now on. */
struct error *run_take_errors(struct run *r) _must_check_;

struct run_view {
	enum run_phase phase;
	size_t step, nr_steps;
	uint64_t start_ns; /* of the step; 0: not yet agreed */
	uint64_t end_ns;   /* expected; 0: unknown. Of a rest: when it ends */
	size_t hosts, hosts_ready;
	const char *doing_host, *doing; /* of a host that is preparing; NULL: none says */
};
void run_view(const struct run *r, struct run_view *ret);

/* A host as `salvo hosts` shows it. */
struct peer_view {
	enum peer_state state;
	const struct msg_welcome *welcome; /* NULL: none came */
	bool has_clock;
	int64_t offset_ns;
	uint64_t error_ns, round_trip_ns;
	const char *failure; /* NULL: none */
	enum error_code failure_code;
};
void run_peer_view(const struct run *r, size_t host, struct peer_view *ret);

#endif
