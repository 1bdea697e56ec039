/* SPDX-License-Identifier: Apache-2.0 */
/* deadman.h - the lease, kept by the kernel: a process that was stopped (SIGSTOP, a frozen cgroup) never submits after
 * the lease's end, not even the I/O that one of its threads was just about to submit.
 *
 * Design notes. The threads compare each reading of the clock with the lease's end, but a thread that is stopped
 * between its reading and its submission would submit when it goes on, however much later. So a timer of the kernel
 * ends the process shortly before the lease does, also while it is stopped. The supervisor moves the timer along with
 * the lease, long before it fires, and takes it back at the last moment of a lease that nobody renewed: it runs, so the
 * threads run as well and have stopped by themselves, and what is in flight may drain in peace.
 *
 * Supervisor thread of the I/O process only.
 */
#ifndef SALVO_WORKER_DEADMAN_H
#define SALVO_WORKER_DEADMAN_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct deadman {
	timer_t timer;
	bool is_made;
	uint64_t lease_end_ns; /* that the timer is set for; 0: it is not set */
	uint64_t next_ns;      /* when deadman_tick is due; UINT64_MAX: never */
};

/* Without a timer (there may be a limit of them) the threads' own look at the clock must do. */
void deadman_init(struct deadman *d);
void deadman_fini(struct deadman *d);
/* From a step's start on, when it is due and whenever convenient. */
void deadman_tick(struct deadman *d, uint64_t lease_end_ns, uint64_t now_ns);
/* Nothing will be submitted any more. */
void deadman_rest(struct deadman *d);

#endif
