/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - where the threads of a pool wait until all are set up, and from which they start at one instant.
 *
 * The supervisor waits for all to arrive, then opens the gate with the instant or shuts it. A thread that
 * passes has slept, and spun the last microseconds where CPUs are left for that, until the instant.
 */
#ifndef SALVO_IO_GATE_H
#define SALVO_IO_GATE_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* on the monotonic clock */
	unsigned nr_arrived;
	bool is_open, is_shut;
	uint64_t start_ns;
};

void gate_init(struct gate *g);
void gate_fini(struct gate *g);
/* Supervisor: waits until `nr` threads have arrived; opens; sends all home that have not passed yet. */
void gate_wait_arrived(struct gate *g, unsigned nr);
void gate_open(struct gate *g, uint64_t start_ns);
void gate_shut(struct gate *g);

/* How a thread passed, and what it must put back. */
struct passage {
	uint64_t start_ns;
	uint64_t now_ns; /* read after waking; >= start_ns */
	bool is_realtime;
	int policy; /* before the gate */
	struct sched_param param;
};

/* I/O thread: says that it is set up, or that it could not be (and then does not wait). */
void gate_arrive(struct gate *g);
/* I/O thread: waits for the instant, woken at real-time priority where that is allowed. May spin shortly
 * when `may_spin`. False when the gate is shut. */
bool gate_pass(struct gate *g, bool may_spin, struct passage *ret);
/* I/O thread, after its first submission: back to the priority from before the gate. */
void gate_drop_priority(const struct passage *p);

#endif
