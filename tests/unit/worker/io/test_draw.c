/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/spread.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { DRAWS = 1000000 };

static uint64_t state;

static void setup(void)
{
	state = 88172645463325252;
}

TestSuite(draw, .init = setup);

/* Is a count of `n` draws what its share says? Within five standard deviations. */
static bool near(double count, double n, double share)
{
	return fabs(count - n * share) <= 5 * sqrt(n * share * (1 - share)) + 1;
}

Test(draw, intervals_come_by_their_weight_and_numbers_within_them_alike)
{
	const struct interval intervals[] = {
		{ 10, 1, 60 }, { 20, 4, 30 }, { 40, 1, 10 }, { 50, 9, 0 }
	};
	uint64_t counts[60] = { 0 };
	struct draw d;

	cr_assert_eq(draw_init(&d, intervals, array_size(intervals)), 0);
	for (unsigned i = 0; i < DRAWS; i++)
		counts[draw_next(&d, &state)]++;
	cr_expect(near((double)counts[10], DRAWS, 0.6));
	for (unsigned i = 20; i < 24; i++)
		cr_expect(near((double)counts[i], DRAWS, 0.075));
	cr_expect(near((double)counts[40], DRAWS, 0.1));
	for (unsigned i = 50; i < 59; i++)
		cr_expect_eq(counts[i], 0);
	draw_fini(&d);
}

Test(draw, one_interval_is_enough)
{
	const struct interval one = { 7, 1, 0.001 };
	struct draw d;

	cr_assert_eq(draw_init(&d, &one, 1), 0);
	for (unsigned i = 0; i < 100; i++)
		cr_assert_eq(draw_next(&d, &state), 7);
	draw_fini(&d);
}

/* The intervals must follow each other and cover the places; their weights are the shares that `share` says of the
 * places below a limit. */
static void expect_spread(const struct distribution *dist, uint64_t nr,
			  double (*below)(const struct distribution *dist, double x, double nr))
{
	size_t n;
	struct interval *intervals = spread_intervals(dist, nr, &n);
	double sum = 0, until = 0;

	cr_assert_not_null(intervals);
	cr_assert_gt(n, 0);
	for (size_t i = 0; i < n; i++) {
		cr_assert_geq(intervals[i].span, 1);
		cr_assert(!i || intervals[i].low == intervals[i - 1].low + intervals[i - 1].span);
		sum += intervals[i].weight;
	}
	cr_assert_leq(intervals[n - 1].low + intervals[n - 1].span, nr);
	for (size_t i = 0; i < n; i++) {
		double end = (double)(intervals[i].low + intervals[i].span);
		double want = below(dist, end, (double)nr);

		until += intervals[i].weight / sum;
		cr_assert_float_eq(until, want, 1e-4, "%zu of %zu: %g, not %g", i, n, until, want);
	}
	free(intervals);
}

static double zipf_share(const struct distribution *dist, double x, double nr)
{
	double sum = 0, below = 0;

	for (double k = 1; k <= nr; k++) {
		sum += pow(k, -dist->parameter);
		if (k <= x)
			below = sum;
	}
	return below / sum;
}

static double pareto_share(const struct distribution *dist, double x, double nr)
{
	return pow(x / nr, log(1 - dist->parameter) / log(dist->parameter));
}

static double normal_share(const struct distribution *dist, double x, double nr)
{
	double deviation = dist->parameter / 100 * nr;
	double low = erf(-nr / 2 / deviation / M_SQRT2);

	return (erf((x - nr / 2) / deviation / M_SQRT2) - low) / (-2 * low);
}

Test(draw, zipf_has_each_ranks_share)
{
	const double thetas[] = { 0.5, 0.99, 1.0, 1.1, 2.5 };

	for (size_t i = 0; i < array_size(thetas); i++) {
		struct distribution dist = { .kind = DIST_ZIPF, .parameter = thetas[i] };

		expect_spread(&dist, 1, zipf_share);
		expect_spread(&dist, 3000, zipf_share);
	}
}

Test(draw, pareto_has_its_share)
{
	const double hs[] = { 0.05, 0.2, 0.5, 0.9 };

	for (size_t i = 0; i < array_size(hs); i++) {
		struct distribution dist = { .kind = DIST_PARETO, .parameter = hs[i] };

		expect_spread(&dist, 5, pareto_share);
		expect_spread(&dist, 1ull << 40, pareto_share);
	}
	/* What it is known by: 80 % of the I/Os in 20 % of the places. */
	cr_assert_float_eq(pareto_share(&(struct distribution) { .parameter = 0.2 }, 20, 100), 0.8,
			   1e-9);
}

Test(draw, normal_is_a_bell_in_the_middle)
{
	const double deviations[] = { 0.01, 10, 30 };

	for (size_t i = 0; i < array_size(deviations); i++) {
		struct distribution dist = { .kind = DIST_NORMAL, .parameter = deviations[i] };

		expect_spread(&dist, 1 << 20, normal_share);
	}
}

Test(draw, no_place_is_far_from_its_own_share)
{
	const struct distribution dists[] = { { .kind = DIST_ZIPF, .parameter = 1.2 },
					      { .kind = DIST_PARETO, .parameter = 0.2 } };

	for (size_t k = 0; k < array_size(dists); k++) {
		size_t n;
		struct interval *all = spread_intervals(&dists[k], 1ull << 32, &n);

		cr_assert_lt(n, 10000, "the table stays small");
		/* Density falls by no more than two percent from one interval to the next. */
		for (size_t i = 520; i + 2 < n; i++) {
			double here = all[i].weight / (double)all[i].span;
			double next = all[i + 1].weight / (double)all[i + 1].span;

			cr_assert(next <= here * 1.0001 && next > here * 0.975, "%zu: %g %g", i,
				  here, next);
		}
		free(all);
	}
}

Test(draw, zones_are_cut_where_the_percents_say)
{
	const struct distribution dist = {
		.kind = DIST_ZONED,
		.zones = { { 60, 10 }, { 0, 30 }, { 40, 60 } },
		.nr_zones = 3,
	};
	size_t n;
	struct interval *all = spread_intervals(&dist, 1000, &n);

	cr_assert_eq(n, 3);
	cr_assert_eq(all[0].span, 100);
	cr_assert_eq(all[1].low, 100);
	cr_assert_eq(all[1].span, 300);
	cr_assert_eq(all[2].span, 600);
	cr_assert_eq(all[2].weight, 40);
	free(all);
	/* Of a single place, the first zone that has any I/O gets it. */
	all = spread_intervals(&dist, 1, &n);
	cr_assert_eq(n, 1);
	cr_assert_eq(all[0].span, 1);
	free(all);
}
