/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/hist.h"
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

/* The engine again, with what a test has changed in env. */
static void restart(void)
{
	engine_simulated.fini(state);
	memset(state, 0, engine_simulated.state_size);
	cr_assert_null(engine_simulated.init(state, &env));
}

/* Percentiles as they are reported, of device time that lies behind the clock, so that nothing sleeps. False when the
 * machine was so busy that the engine moved its time up, which shows as latency. */
static bool run_quantiles(struct hist *ret)
{
	enum { IOS = 100000, MANY = 64 };
	uint64_t now = clock_mono_ns() - 60 * NS_PER_MS, submitted[MANY];
	struct io_done done[MANY];
	unsigned nr_free = MANY;
	uint32_t free_slots[MANY];

	for (uint32_t i = 0; i < MANY; i++)
		free_slots[i] = i;
	for (int nr = 0; nr < IOS;) {
		int got;

		while (nr_free > 0) {
			uint32_t slot = free_slots[--nr_free];

			submitted[slot] = now;
			submit(slot, now);
		}
		got = engine_simulated.reap(state, done, 1, &now);
		cr_assert_gt(got, 0);
		for (int i = 0; i < got; i++) {
			hist_add(ret, now - submitted[done[i].slot], 1);
			free_slots[nr_free++] = done[i].slot;
		}
		nr += got;
		if (clock_mono_ns() > now + 240 * NS_PER_MS)
			return false;
	}
	return true;
}

Test(engine_simulated, percentiles_are_the_quantiles)
{
	struct quantile quantiles[] = {
		{ .percent = (char *)"10", .latency_ns = 20 * NS_PER_US },
		{ .percent = (char *)"50", .latency_ns = 30 * NS_PER_US },
		{ .percent = (char *)"90", .latency_ns = 40 * NS_PER_US },
		{ .percent = (char *)"99", .latency_ns = 60 * NS_PER_US },
		{ .percent = (char *)"99.9", .latency_ns = 80 * NS_PER_US },
	};
	struct hist hist = { 0 };

	env.depth = 64;
	env.quantiles = quantiles;
	env.nr_quantiles = array_size(quantiles);
	for (env.seed = 1; env.seed < 4; env.seed++) {
		restart();
		for (int try = 0; !run_quantiles(&hist); try++) {
			cr_assert_lt(try, 50, "the machine is too busy");
			hist_fini(&hist);
			restart();
		}
		for (size_t i = 0; i < array_size(quantiles); i++) {
			double want = (double)quantiles[i].latency_ns;
			double got =
				(double)hist_percentile(&hist, strtod(quantiles[i].percent, NULL));

			cr_expect_float_eq(got, want, want * 0.004, "p%s: %.0f",
					   quantiles[i].percent, got);
		}
		cr_expect_eq(hist.min, 20 * NS_PER_US);
		cr_expect_eq(hist.max, 80 * NS_PER_US);
		hist_fini(&hist);
	}
}

/* Later ones overtake: they come in the order of their completion, each at its own instant. */
Test(engine_simulated, completes_in_the_order_of_instants)
{
	struct quantile quantiles[] = {
		{ .percent = (char *)"0", .latency_ns = 0 },
		{ .percent = (char *)"100", .latency_ns = 10 * NS_PER_MS },
	};
	uint64_t start = clock_mono_ns() - 20 * NS_PER_MS, now = 0, last = 0;
	struct io_done done[DEPTH];

	env.quantiles = quantiles;
	env.nr_quantiles = array_size(quantiles);
	restart();
	for (uint32_t i = 0; i < DEPTH; i++)
		submit(i, start);
	for (uint32_t i = 0; i < DEPTH; i++) {
		cr_assert_eq(engine_simulated.reap(state, done, 1, &now), 1);
		cr_assert_gt(now, last);
		last = now;
	}
	cr_assert_leq(last, start + 10 * NS_PER_MS);
}

Test(engine_simulated, stands_still_once)
{
	uint64_t start = clock_mono_ns() - 50 * NS_PER_MS, now = 0;
	struct io_done done[DEPTH];

	env.stall = (struct stall) { .at_ns = NS_PER_MS, .for_ns = 10 * NS_PER_MS };
	restart();
	submit(0, start);
	cr_assert_eq(engine_simulated.reap(state, done, 1, &now), 1);
	cr_assert_eq(now, start + LATENCY);
	submit(0, start + NS_PER_MS - LATENCY / 2); /* in flight */
	submit(1, start + 5 * NS_PER_MS);           /* comes meanwhile */
	cr_assert_eq(engine_simulated.reap(state, done, 1, &now), 1);
	cr_assert_eq(done[0].slot, 0);
	cr_assert_eq(now, start + 11 * NS_PER_MS + LATENCY / 2);
	cr_assert_eq(engine_simulated.reap(state, done, 1, &now), 1);
	cr_assert_eq(now, start + 11 * NS_PER_MS + LATENCY);
	submit(0, now);
	cr_assert_eq(engine_simulated.reap(state, done, 1, &now), 1);
	cr_assert_eq(now, start + 11 * NS_PER_MS + 2 * LATENCY, "once, not again");
}

Test(engine_simulated, refuses_quantiles_that_are_none)
{
	struct quantile wrong = { .percent = (char *)"x" };
	_cleanup_(error_destroy) struct error *err = NULL;

	engine_simulated.fini(state);
	env.quantiles = &wrong;
	env.nr_quantiles = 1;
	err = engine_simulated.init(state, &env);
	cr_assert_not_null(err);
	cr_assert_str_eq(error_message(err),
			 "quantiles: 'x' is no percentile; write 50, 99 or 99.9");
}
