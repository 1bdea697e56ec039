/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/clocksync.h"

#include <criterion/criterion.h>
#include <math.h>

static uint64_t state;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dull;
}

/* The worker's clock when ours shows `now`. */
struct other_clock {
	int64_t offset_ns; /* at 0 */
	double drift_ppb;
};

static uint64_t read_other(const struct other_clock *clock, uint64_t now)
{
	return now +
	       (uint64_t)(clock->offset_ns + (int64_t)(clock->drift_ppb * 1e-9 * (double)now));
}

/* One exchange at `now` whose two ways take these times; returns when it is over. */
static uint64_t exchange(struct clocksync *c, const struct other_clock *clock, uint64_t now,
			 uint64_t there, uint64_t busy, uint64_t back)
{
	uint64_t end = now + there + busy + back;

	cr_assert(clocksync_add(c, now, read_other(clock, now + there),
				read_other(clock, now + there + busy), end));
	return end;
}

Test(clocksync, not_ready_before_the_first_exchange)
{
	struct clocksync c = { 0 };
	struct other_clock clock = { 0 };

	cr_expect_not(clocksync_ready(&c));
	exchange(&c, &clock, 1000, 10, 5, 10);
	cr_expect(clocksync_ready(&c));
}

Test(clocksync, equal_ways_give_the_exact_offset)
{
	struct clocksync c = { 0 };
	struct other_clock clock = { .offset_ns = -987654321 };

	exchange(&c, &clock, 5000000000, 40000, 7000, 40000);
	cr_expect_eq(clocksync_offset_ns(&c), -987654321);
	cr_expect_eq(clocksync_round_trip_ns(&c), 80000);
	cr_expect_eq(clocksync_to_worker(&c, 2000000000), 2000000000 - 987654321);
	cr_expect_eq(clocksync_to_coordinator(&c, clocksync_to_worker(&c, 123)), 123);
}

Test(clocksync, one_way_delay_is_within_the_error)
{
	struct clocksync c = { 0 };
	struct other_clock clock = { .offset_ns = 1000000 };

	exchange(&c, &clock, 5000, 100000, 0, 0);
	cr_expect_eq(clocksync_offset_ns(&c), 1050000);
	cr_expect_geq(clocksync_error_ns(&c), 50000);
	cr_expect_leq(clocksync_error_ns(&c), 50000 + 10);
}

Test(clocksync, impossible_exchanges_are_dropped)
{
	struct clocksync c = { 0 };

	cr_expect_not(clocksync_add(&c, 100, 5, 6, 99));
	cr_expect_not(clocksync_add(&c, 100, 6, 5, 200));
	cr_expect_not(clocksync_add(&c, 100, 0, 101, 200));
	cr_expect_not(clocksync_ready(&c));
	cr_expect(clocksync_add(&c, 100, 0, 100, 200));
}

Test(clocksync, the_smallest_round_trip_counts)
{
	struct clocksync c = { 0 };
	struct other_clock clock = { .offset_ns = 77 };

	exchange(&c, &clock, 1000000, 900000, 0, 100000);
	exchange(&c, &clock, 3000000, 10000, 0, 10000);
	exchange(&c, &clock, 4000000, 100000, 0, 900000);
	cr_expect_eq(clocksync_offset_ns(&c), 77);
	cr_expect_lt(clocksync_error_ns(&c), 10200);
}

Test(clocksync, an_old_exchange_loses_to_a_new_one)
{
	struct clocksync c = { 0 };
	struct other_clock clock = { .drift_ppb = 40000 };
	uint64_t now;

	exchange(&c, &clock, 0, 1000, 0, 1000);
	now = exchange(&c, &clock, 60000000000, 100000, 0, 100000);
	cr_expect_float_eq((double)clocksync_offset_ns(&c), 40000e-9 * (double)now, 101000);
}

/* Whatever the delays of the two ways, and while the clocks drift: the true offset is within the bound. */
Test(clocksync, the_true_offset_is_within_the_error)
{
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct clocksync c = { 0 };
		struct other_clock clock;
		uint64_t now = 1000000;

		state = seed;
		clock.offset_ns = (int64_t)(next_random() >> 8) - (1ll << 55);
		clock.drift_ppb = (double)(next_random() % 98000) - 49000;
		for (int i = 0; i < 150; i++) {
			uint64_t there = 10000 + next_random() % (1 + next_random() % 5000000);
			uint64_t back = 10000 + next_random() % (1 + next_random() % 5000000);
			int64_t truth, error;

			now = exchange(&c, &clock, now, there, next_random() % 50000, back);
			truth = (int64_t)(read_other(&clock, now) - now);
			error = clocksync_offset_ns(&c) - truth;
			cr_assert_leq((uint64_t)llabs(error), clocksync_error_ns(&c),
				      "seed %lu, exchange %d: off by %ld, bound %lu", seed, i,
				      error, clocksync_error_ns(&c));
			now += next_random() % 1000000000;
		}
	}
}

Test(clocksync, drift_is_found_through_noise)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct clocksync c = { 0 };
		struct other_clock clock = { .offset_ns = 123456789 };
		uint64_t now = 0;

		state = seed;
		clock.drift_ppb = (double)(next_random() % 40000) - 20000;
		for (int i = 0; i < CLOCKSYNC_WINDOW; i++)
			now = exchange(&c, &clock, now, 50000 + next_random() % 20000, 1000,
				       50000 + next_random() % 20000) +
			      1000000000;
		cr_expect_float_eq(clocksync_drift_ppb(&c), clock.drift_ppb, 1000);
	}
}

Test(clocksync, drift_needs_time)
{
	struct clocksync c = { 0 };
	struct other_clock clock = { .drift_ppb = 20000 };
	uint64_t now = 0;

	for (int i = 0; i < 20; i++)
		now = exchange(&c, &clock, now, 1000, 0, 1000);
	cr_expect_float_eq(clocksync_drift_ppb(&c), 0, 0);
}

/* A hostile worker's instants may be anything; under UBSan this would end the process. */
Test(clocksync, any_instants_are_survived)
{
	struct clocksync c = { 0 };

	state = 42;
	for (int i = 0; i < 100000; i++) {
		uint64_t t0 = next_random() >> (next_random() % 64),
			 t3 = t0 + (next_random() >> 40);
		uint64_t t1 = next_random(), t2 = t1 + (next_random() >> 41);

		if (!clocksync_add(&c, t0, t1, t2, t3))
			continue;
		cr_assert(isfinite(clocksync_drift_ppb(&c)));
		(void)clocksync_offset_ns(&c);
		(void)clocksync_error_ns(&c);
	}
	cr_expect_gt(c.exchanges, 1000);
}
