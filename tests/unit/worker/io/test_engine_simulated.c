/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/engine.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { DEPTH = 5, LATENCY = 200 * 1000 };

static void *state;
static struct engine_env env = { .target = "sim", .fd = -1, .depth = DEPTH, .io_bytes = 512 };

static void setup(void)
{
	state = calloc(1, engine_simulated.state_size);
	env.latency_ns = LATENCY;
	cr_assert_null(engine_simulated.init(state, &env));
}

static void teardown(void)
{
	engine_simulated.fini(state);
	free(state);
}

TestSuite(engine_simulated, .init = setup, .fini = teardown, .timeout = 20);

static void submit(uint32_t slot, uint64_t now_ns)
{
	struct io_cmd cmd = { .command = io_command(slot, slot % 2), .bytes = 512 };

	cr_assert_eq(engine_simulated.submit(state, &cmd, 1, now_ns), 0);
}

Test(engine_simulated, completes_exactly_its_latency_later)
{
	struct io_done done[DEPTH];
	uint64_t start = clock_mono_ns(), now = 0;

	submit(3, start);
	cr_assert_eq(engine_simulated.reap(state, done, 1, &now), 1);
	cr_assert_eq(done[0].slot, 3);
	cr_assert_eq(done[0].result, 512);
	cr_assert_eq(now, start + LATENCY);
	cr_assert_geq(clock_mono_ns(), now);
}

Test(engine_simulated, gives_each_instant_its_own_reap)
{
	struct io_done done[DEPTH];
	uint64_t start = clock_mono_ns(), now = 0;

	submit(0, start);
	submit(1, start);
	submit(2, start + 10);
	cr_assert_eq(engine_simulated.reap(state, done, 1, &now), 2);
	cr_assert_eq(now, start + LATENCY);
	cr_assert_eq(engine_simulated.reap(state, done, 1, &now), 1);
	cr_assert_eq(done[0].slot, 2);
	cr_assert_eq(now, start + LATENCY + 10);
}

Test(engine_simulated, a_wait_ends_when_time_runs_out)
{
	struct io_done done[DEPTH];
	uint64_t start = clock_mono_ns(), now = 0;

	submit(0, start + 3600 * NS_PER_S);
	cr_assert_eq(engine_simulated.reap(state, done, 1, &now), 0);
	cr_assert_geq(now, start + ENGINE_WAIT_NS);
	cr_assert_lt(now, start + 3600 * NS_PER_S);
}

Test(engine_simulated, catches_up_when_it_lags_too_far)
{
	struct io_done done[DEPTH];
	uint64_t real = clock_mono_ns(), now = 0;

	submit(0, real - 10 * NS_PER_S);
	cr_assert_eq(engine_simulated.reap(state, done, 1, &now), 1);
	cr_assert_geq(now, real - NS_PER_S);
	/* And never goes back. */
	submit(1, real - 10 * NS_PER_S);
	real = now;
	cr_assert_eq(engine_simulated.reap(state, done, 1, &now), 1);
	cr_assert_geq(now, real);
}

Test(engine_simulated, sync_takes_as_long_as_an_io)
{
	struct io_done done[DEPTH];
	uint64_t start = clock_mono_ns(), now = 0;

	cr_assert_eq(engine_simulated.sync(state, false, start), 0);
	cr_assert_eq(engine_simulated.reap(state, done, 1, &now), 1);
	cr_assert_eq(done[0].result, 0);
	cr_assert_eq(now, start + LATENCY);
}

Test(engine_simulated, waits_no_longer_than_until)
{
	struct io_done done[DEPTH];
	uint64_t start = clock_mono_ns(), now = 0;

	submit(0, start);
	cr_assert_eq(engine_simulated.reap_until(state, done, start + LATENCY / 2, &now), 0);
	cr_assert_eq(now, start + LATENCY / 2);
	cr_assert_geq(clock_mono_ns(), now);
	cr_assert_eq(engine_simulated.reap_until(state, done, start + LATENCY, &now), 1);
	cr_assert_eq(now, start + LATENCY);
	/* With nothing in flight it is a pause. */
	cr_assert_eq(engine_simulated.reap_until(state, done, start + 2 * LATENCY, &now), 0);
	cr_assert_eq(now, start + 2 * LATENCY);
}
