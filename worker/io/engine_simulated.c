/* SPDX-License-Identifier: Apache-2.0 */
/* A device that is nothing but a latency: each I/O completes exactly latency_ns after its submission.
 *
 * Design notes. The device keeps device time: a completion's instant is by definition submission +
 * latency, and reap gives that instant as "now", not the reading after the wake-up, which is late by
 * whatever the scheduler makes of it. The thread submits its next I/Os at that instant, so latencies and
 * rates are those of the device, exactly, while real time only paces the thread (no completion is given
 * out before its instant). A thread that cannot keep up falls behind real time; beyond MAX_LAG
 * latencies (or MAX_LAG_NS) device time is moved up to it, and the excess shows as latency, so that
 * IOPS x latency = depth x threads holds all the same.
 *
 * The latency is constant, hence completions come in the order of submission: a ring is all it takes.
 */
#include "worker/io/engine.h"

#include <errno.h>
#include <stdlib.h>

enum { MAX_LAG = 10000 };
#define MAX_LAG_NS (250 * NS_PER_MS)

struct flight {
	uint64_t due_ns;
	uint32_t slot;
	int32_t result;
};

struct simulated {
	uint64_t latency_ns, max_lag_ns, last_ns;
	uint32_t mask, head, tail; /* of the ring; free-running */
	struct flight *ring;
};

static struct error *simulated_init(void *state, const struct engine_env *env)
{
	struct simulated *sim = state;
	uint32_t size = 1;

	while (size < env->depth)
		size *= 2;
	sim->ring = calloc(size, sizeof(*sim->ring));
	if (!sim->ring)
		return error_new(ERR_NOMEM, "out of memory for %u I/Os in flight", env->depth);
	sim->mask = size - 1;
	sim->latency_ns = env->latency_ns;
	sim->max_lag_ns =
		env->latency_ns < MAX_LAG_NS / MAX_LAG ? env->latency_ns * MAX_LAG : MAX_LAG_NS;
	return NULL;
}

static void enqueue(struct simulated *sim, uint32_t slot, int32_t result, uint64_t now_ns)
{
	sim->ring[sim->tail++ & sim->mask] = (struct flight) {
		.due_ns = now_ns + sim->latency_ns,
		.slot = slot,
		.result = result,
	};
}

static int simulated_submit(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns)
{
	struct simulated *sim = state;

	for (unsigned i = 0; i < nr; i++)
		enqueue(sim, io_command_slot(cmds[i].command), (int32_t)cmds[i].bytes, now_ns);
	return 0;
}

static int simulated_sync(void *state, bool data_only, uint64_t now_ns)
{
	(void)data_only;
	enqueue(state, 0, 0, now_ns);
	return 0;
}

/* Sleeps until `until`; returns the time after it. */
static uint64_t sleep_until(uint64_t until, uint64_t real_ns)
{
	struct timespec ts = clock_timespec(until);

	while (real_ns < until) {
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		real_ns = clock_mono_ns();
	}
	return real_ns;
}

/* An instant of device time that real time has reached, not too far behind it. */
static uint64_t keep_up(struct simulated *sim, uint64_t device_ns, uint64_t real_ns)
{
	if (device_ns + sim->max_lag_ns < real_ns)
		device_ns = real_ns - sim->max_lag_ns;
	if (device_ns < sim->last_ns) /* it was moved up after these were submitted */
		device_ns = sim->last_ns;
	sim->last_ns = device_ns;
	return device_ns;
}

/* Gives out the oldest I/Os that share one instant; none that comes after `until_ns`, of device time. */
static int simulated_reap_until(void *state, struct io_done *done, uint64_t until_ns,
				uint64_t *now_ns)
{
	struct simulated *sim = state;
	uint64_t real_ns = clock_mono_ns(), due_ns;
	int nr = 0;

	due_ns = sim->head == sim->tail ? UINT64_MAX : sim->ring[sim->head & sim->mask].due_ns;
	real_ns = sleep_until(due_ns < until_ns ? due_ns : until_ns, real_ns);
	if (due_ns > until_ns) {
		*now_ns = keep_up(sim, until_ns, real_ns);
		return 0;
	}
	while (sim->head != sim->tail && sim->ring[sim->head & sim->mask].due_ns == due_ns) {
		const struct flight *f = &sim->ring[sim->head++ & sim->mask];

		done[nr++] = (struct io_done) { .slot = f->slot, .result = f->result };
	}
	*now_ns = keep_up(sim, due_ns, real_ns);
	return nr;
}

static int simulated_reap(void *state, struct io_done *done, unsigned min, uint64_t *now_ns)
{
	(void)min;
	return simulated_reap_until(state, done, clock_mono_ns() + ENGINE_WAIT_NS, now_ns);
}

static void simulated_fini(void *state)
{
	struct simulated *sim = state;

	free(sim->ring);
	sim->ring = NULL;
}

const struct engine_ops engine_simulated = {
	.name = "simulated",
	.caps = ENGINE_ASYNC,
	.state_size = sizeof(struct simulated),
	.init = simulated_init,
	.submit = simulated_submit,
	.sync = simulated_sync,
	.reap = simulated_reap,
	.reap_until = simulated_reap_until,
	.fini = simulated_fini,
};
