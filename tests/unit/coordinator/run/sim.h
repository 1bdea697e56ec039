/* SPDX-License-Identifier: Apache-2.0 */
/* sim.h - a fleet of simulated workers around the coordinator's state machine, on a virtual clock. */
#ifndef SALVO_TEST_SIM_H
#define SALVO_TEST_SIM_H

#include "coordinator/run/run.h"

enum { SIM_MAX_HOSTS = 4, SIM_ERRORS = 3 };

enum sim_fault {
	SIM_SOUND,
	SIM_NO_LINK,      /* the link fails after a second */
	SIM_BUSY,         /* belongs to somebody else */
	SIM_TWICE,        /* belongs to this very run: another host of it is the same worker */
	SIM_OLD_PROTOCOL, /* another major version */
	SIM_MUTE,         /* the link is up, nothing answers */
	SIM_REFUSES,      /* FAILED at PREPARE, two reasons */
	SIM_STALLS,       /* never READY, no progress */
	SIM_LATE,         /* FAILED at START */
	SIM_NEVER_ARMS,   /* START goes unanswered */
	SIM_HANGS,        /* never DONE, also not after STOP */
	SIM_STUCK,        /* DONE with an I/O that never came back */
	SIM_KILLED,       /* DONE of what an I/O process left that was killed */
	SIM_IO_ERRORS,    /* SIM_ERRORS of them in the first second */
	SIM_RAMP_ERRORS,  /* one, before the window: only DONE's table by errno has it */
	SIM_BAD_SAMPLE,   /* numbers of a member that it does not have */
	SIM_RUDE,         /* sends what only a coordinator may */
	SIM_RESTARTS,     /* at dies_at_ns a new process without a session takes its place */
};

struct sim_worker {
	enum sim_fault fault;
	int64_t offset_ns;    /* its clock minus the coordinator's */
	uint64_t latency_ns;  /* one way */
	uint64_t dies_at_ns;  /* silent from then on; 0: never */
	uint64_t layout_ns;   /* how long PREPARE takes, with progress all the way */
	const char *identity; /* of its target */

	/* What became of it. */
	bool owned, running, closed;
	uint64_t start_ns; /* of the last START, on the coordinator's real time line */
	unsigned received[MSG_COUNT];
	unsigned generation;
	uint64_t prepare_ns; /* when PREPARE came; 0: not preparing */
	uint64_t samples;
};

struct sim {
	struct sim_worker workers[SIM_MAX_HOSTS];
	struct scenario scenario;
	struct plan *plan;
	struct collector *collector;
	struct run *run;
	uint64_t now_ns, begun_ns;
	size_t deliveries;   /* of messages to the coordinator */
	size_t interrupt_at; /* after that many of them; 0: never */
	size_t again_at;     /* the second one */
	size_t die_at;       /* host die_host falls silent then; 0: never */
	size_t die_host;
	size_t probed, started, sampled;
	struct sim_event *events;
	size_t nr_events, cap_events;
};

/* A plan of `nr_steps` steps of two seconds on all hosts; all sound, with clocks of their own. */
void sim_init(struct sim *s, size_t nr_hosts, size_t nr_steps);
void sim_fini(struct sim *s);
/* Begins: after the test has set faults and options. */
void sim_begin(struct sim *s, enum run_mode mode);
/* Until the run is finished, or the virtual time is over: false. */
bool sim_go(struct sim *s, uint64_t limit_ns);
bool sim_has_error(const struct sim *s, enum error_code code, const char *part);
int sim_exit_status(const struct sim *s);

#endif
