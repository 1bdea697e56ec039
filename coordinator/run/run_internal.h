/* SPDX-License-Identifier: Apache-2.0 */
/* run_internal.h - what run.c (hosts, clocks, leases) and run_step.c (one step) share. Nobody else. */
#ifndef SALVO_RUN_RUN_INTERNAL_H
#define SALVO_RUN_RUN_INTERNAL_H

#include "common/base/clock.h"
#include "coordinator/run/run.h"

#define START_LIMIT_NS    (10 * NS_PER_S) /* for link, WELCOME and clock of a host */
#define GREETING_LIMIT_NS (4 * NS_PER_S)  /* from HELLO to its answer */
#define OBSERVE_CLOCK_NS  (2 * NS_PER_S)  /* `salvo hosts` waits no longer for clock exchanges */
#define PING_EVERY_NS     (250 * NS_PER_MS)
#define SILENT_NS         (4 * PING_EVERY_NS)
#define SYNC_LIMIT_NS     NS_PER_S
#define PREPARE_STALL_NS  (120 * NS_PER_S) /* PREPARE without any progress */
/* From START to the instant: hosts look at their targets once more and arm, which takes longest where they are busy. */
#define START_AHEAD_NS NS_PER_S
#define ARMED_BY_NS    (100 * NS_PER_MS) /* before the instant */
#define DONE_MARGIN_NS (2 * NS_PER_S)    /* a worker that gives up at grace may still say so */
#define STUCK_AGE_NS   NS_PER_S
#define BYE_LIMIT_NS   (3 * NS_PER_S)
enum { EXCHANGES_WANTED = 8, START_ROUND_TRIPS = 20 };

struct peer {
	enum peer_state state;
	const char *name;  /* of the host list */
	uint64_t since_ns; /* when it came into this state */

	struct clocksync clock;
	uint64_t exchanges_wanted; /* until then every PONG is answered with the next PING */
	uint64_t ping_sequence, next_ping_ns;
	uint64_t pong_ns;      /* when the last PONG came */
	uint64_t last_pong_ns; /* its stamp, worker's clock */

	uint64_t progress, progress_ns; /* of PREPARE, and when it last grew */
	char *doing;
	uint64_t active_ns;            /* when it last counted an I/O */
	struct message welcome, ready; /* type MSG_COUNT: none */
	bool warned_clock, takes_part; /* in the step */
	bool is_observer;              /* never takes part */
	char *failure;
	enum error_code failure_code;
};

struct run {
	struct run_options o;
	struct run_outlet out;
	struct peer *peers;
	size_t nr_peers;
	enum run_phase phase;
	uint64_t begun_ns, phase_ns; /* of the run and of the phase */
	size_t step;
	uint64_t start_ns, deadline_ns; /* of the step (of the rest before it); 0: none */
	uint64_t tick_ns;               /* the last one */
	bool collecting;                /* between collector_begin and collector_end */
	bool started;                   /* a START was sent, ever */
	bool failing;                   /* no further step; leave as soon as this one is settled */
	bool incomplete;                /* some part of what was asked for is missing */
	bool interrupted;
	bool stopped_by_error; /* on_error: stop_all of some job */
	struct error *errors;
};

static inline const struct step *run_step_of(const struct run *r)
{
	return &r->o.plan->steps[r->step];
}

static inline bool peer_is_alive(const struct peer *p)
{
	return p->state != PEER_GONE && p->state != PEER_LEAVING;
}

/* Does a DONE (or the host's end) still have to come before the step is over? */
static inline bool peer_is_busy(const struct peer *p)
{
	return p->takes_part && (p->state == PEER_ARMING || p->state == PEER_ARMED);
}

void peer_enter(struct peer *p, enum peer_state state, uint64_t now_ns);
void run_enter(struct run *r, enum run_phase phase, uint64_t now_ns);
void run_send(struct run *r, size_t host, struct message *m);
void run_send_ping(struct run *r, size_t host, uint64_t now_ns);
/* Drops the host, whatever it was doing: takes the error. */
void run_drop(struct run *r, size_t host, enum host_state how, struct error *err, uint64_t now_ns);
/* BYE to all that are there. */
void run_leave(struct run *r, uint64_t now_ns);

/* --- run_step.c --- */

/* Begins the step at `step` or the next one in which somebody has work; none: leaves. */
void step_begin(struct run *r, size_t step, uint64_t now_ns);
/* A message of PREPARE, START or the run itself. */
void step_message(struct run *r, size_t host, struct message *m, uint64_t now_ns);
/* STOP to all that run; they drain and send DONE. */
void step_stop(struct run *r, const char *why, uint64_t now_ns);
/* Moves on where everything that a phase waits for has come. */
void step_advance(struct run *r, uint64_t now_ns);
/* Limits that have passed. */
void step_tick(struct run *r, uint64_t now_ns);

/* --- run_faults.c --- */

/* A job of the host whose on_error ends the run and that has counted errors in these rows; NULL: none. */
const struct job *run_job_failed(const struct assignment *work, const struct member_row *rows,
				 size_t nr);
/* The same of the totals, with errors in the ramp. */
const struct job *run_job_failed_done(const struct assignment *work, const struct msg_done *d);
/* One error for each target with I/O that never came back; NULL: none. */
struct error *run_hung_targets(const struct run *r, size_t host,
			       const struct msg_done *d) _must_check_;

/* --- run_medium.c --- */

/* Two hosts that see the same LUN and one that writes it: not before their writes are coordinated. */
struct error *run_refuse_shared(const struct run *r) _must_check_;

#endif
