/* SPDX-License-Identifier: Apache-2.0 */
/* A device that is nothing but latencies: each I/O completes exactly its latency after its submission.
 *
 * Design notes. The device keeps device time: a completion's instant is by definition submission +
 * latency, and reap gives that instant as "now", not the reading after the wake-up, which is late by
 * whatever the scheduler makes of it. The thread submits its next I/Os at that instant, so latencies and
 * rates are those of the device, exactly, while real time only paces the thread (no completion is given
 * out before its instant). A thread that cannot keep up falls behind real time; beyond MAX_LAG
 * latencies (or MAX_LAG_NS) device time is moved up to it, and the excess shows as latency, so that
 * IOPS x latency = depth x threads holds all the same.
 *
 * The latency is constant, or drawn from the quantiles: positions on the curve advance by the golden ratio,
 * which spreads any number of consecutive I/Os evenly over it. So percentiles are those of the scenario
 * after some hundred I/Os already, where independent draws would need millions.
 */
#include "worker/io/engine.h"

#include <errno.h>
#include <stdlib.h>

enum { MAX_LAG = 10000 };
#define MAX_LAG_NS   (250 * NS_PER_MS)
#define GOLDEN_RATIO 0x9e3779b97f4a7c15 /* of 2^64 */

struct flight {
	uint64_t due_ns;
	uint32_t slot;
	int32_t result;
};

struct sim {
	uint64_t max_lag_ns, last_ns;
	uint64_t begin_ns; /* of the first I/O */
	uint64_t position; /* on the curve */
	bool has_begun;
	struct stall stall;
	struct latency_curve curve;
	struct flight *heap; /* the earliest at 0; the children of i at 2 * i + 1 and + 2 */
	uint32_t nr;
};

static struct error *simulated_init(void *state, const struct engine_env *env)
{
	const struct quantile constant = { .percent = (char *)"0", .latency_ns = env->latency_ns };
	struct sim *sim = state;
	uint64_t typical_ns;
	struct error *err;

	sim->heap = calloc(env->depth, sizeof(*sim->heap));
	if (!sim->heap)
		return error_new(ERR_NOMEM, "out of memory for %u I/Os in flight", env->depth);
	err = latency_curve_init(&sim->curve, env->nr_quantiles ? env->quantiles : &constant,
				 env->nr_quantiles ? env->nr_quantiles : 1);
	if (err)
		return error_context(err, "quantiles");
	sim->position = env->seed;
	sim->stall = env->stall;
	typical_ns = latency_curve_at(&sim->curve, UINT64_MAX / 2);
	sim->max_lag_ns = typical_ns < MAX_LAG_NS / MAX_LAG ? typical_ns * MAX_LAG : MAX_LAG_NS;
	return NULL;
}

static uint64_t due_of(struct sim *sim, uint64_t now_ns)
{
	if (!sim->has_begun)
		sim->begin_ns = now_ns;
	sim->has_begun = true;
	sim->position += GOLDEN_RATIO;
	return stall_delay(&sim->stall, sim->begin_ns, now_ns,
			   now_ns + latency_curve_at(&sim->curve, sim->position));
}

static void push(struct sim *sim, uint32_t slot, int32_t result, uint64_t now_ns)
{
	struct flight f = { .due_ns = due_of(sim, now_ns), .slot = slot, .result = result };
	uint32_t i = sim->nr++;

	while (i > 0 && sim->heap[(i - 1) / 2].due_ns > f.due_ns) {
		sim->heap[i] = sim->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	sim->heap[i] = f;
}

/* Takes the earliest; there is one. */
static struct io_done pop(struct sim *sim)
{
	struct io_done done = { .slot = sim->heap[0].slot, .result = sim->heap[0].result };
	struct flight last = sim->heap[--sim->nr];
	uint32_t i = 0, child = 1;

	while (child < sim->nr) {
		if (child + 1 < sim->nr && sim->heap[child + 1].due_ns < sim->heap[child].due_ns)
			child++;
		if (sim->heap[child].due_ns >= last.due_ns)
			break;
		sim->heap[i] = sim->heap[child];
		i = child;
		child = 2 * i + 1;
	}
	sim->heap[i] = last;
	return done;
}

static int simulated_submit(void *state, const struct io_cmd *cmds, unsigned nr, uint64_t now_ns)
{
	for (unsigned i = 0; i < nr; i++)
		push(state, io_command_slot(cmds[i].command), (int32_t)cmds[i].bytes, now_ns);
	return 0;
}

static int simulated_sync(void *state, bool data_only, uint64_t now_ns)
{
	(void)data_only;
	push(state, 0, 0, now_ns);
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
static uint64_t keep_up(struct sim *sim, uint64_t device_ns, uint64_t real_ns)
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
	struct sim *sim = state;
	uint64_t real_ns = clock_mono_ns(), due_ns;
	int nr = 0;

	due_ns = sim->nr ? sim->heap[0].due_ns : UINT64_MAX;
	real_ns = sleep_until(due_ns < until_ns ? due_ns : until_ns, real_ns);
	if (due_ns > until_ns) {
		*now_ns = keep_up(sim, until_ns, real_ns);
		return 0;
	}
	while (sim->nr && sim->heap[0].due_ns == due_ns)
		done[nr++] = pop(sim);
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
	struct sim *sim = state;

	free(sim->heap);
	sim->heap = NULL;
}

const struct engine_ops engine_simulated = {
	.name = "simulated",
	.caps = ENGINE_ASYNC | ENGINE_TRIM,
	.state_size = sizeof(struct sim),
	.init = simulated_init,
	.submit = simulated_submit,
	.sync = simulated_sync,
	.reap = simulated_reap,
	.reap_until = simulated_reap_until,
	.fini = simulated_fini,
};
