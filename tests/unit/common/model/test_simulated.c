/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/simulated.h"

#include <criterion/criterion.h>

#define US 1000ull

static struct quantile curve_points[] = {
	{ .percent = (char *)"0", .latency_ns = 50 * US },
	{ .percent = (char *)"50", .latency_ns = 100 * US },
	{ .percent = (char *)"99.9", .latency_ns = 1098 * US },
};

static uint64_t at(const struct latency_curve *curve, double share)
{
	return latency_curve_at(curve, (uint64_t)(share * 0x1p63) * 2);
}

Test(simulated, curve_is_linear_between_its_points_and_flat_beyond)
{
	struct latency_curve curve;

	cr_assert_null(latency_curve_init(&curve, curve_points, array_size(curve_points)));
	cr_expect_eq(at(&curve, 0), 50 * US);
	cr_expect_eq(at(&curve, 0.25), 75 * US);
	cr_expect_eq(at(&curve, 0.5), 100 * US);
	cr_expect_float_eq((double)at(&curve, 0.6), 300.0 * US, 10);
	cr_expect_eq(latency_curve_at(&curve, UINT64_MAX), 1098 * US);
	cr_assert_null(latency_curve_init(&curve, &curve_points[1], 1));
	cr_expect_eq(at(&curve, 0), 100 * US);
	cr_expect_eq(at(&curve, 0.9), 100 * US);
}

static void expect_wrong(const char *percent, uint64_t latency_ns, const char *message)
{
	struct quantile q[] = { curve_points[1],
				{ .percent = (char *)percent, .latency_ns = latency_ns } };
	_cleanup_(error_destroy) struct error *err = NULL;
	struct latency_curve curve;

	err = latency_curve_init(&curve, q, 2);
	cr_assert_not_null(err, "%s", percent);
	cr_expect_str_eq(error_message(err), message);
}

/* A worker gets them from a peer, so nothing may be taken for granted. */
Test(simulated, curve_of_nonsense_is_refused)
{
	struct latency_curve curve;
	_cleanup_(error_destroy) struct error *none = NULL;

	expect_wrong("101", 1000 * US, "'101' is no percentile; write 50, 99 or 99.9");
	expect_wrong("-1", 1000 * US, "'-1' is no percentile; write 50, 99 or 99.9");
	expect_wrong("nan", 1000 * US, "'nan' is no percentile; write 50, 99 or 99.9");
	expect_wrong("1e1", 1000 * US, "'1e1' is no percentile; write 50, 99 or 99.9");
	expect_wrong("9.9.9", 1000 * US, "'9.9.9' is no percentile; write 50, 99 or 99.9");
	expect_wrong("", 1000 * US, "'' is no percentile; write 50, 99 or 99.9");
	expect_wrong("50", 1000 * US,
		     "'50' comes after the same or a larger percentile; sort them");
	expect_wrong("10", 1000 * US,
		     "'10' comes after the same or a larger percentile; sort them");
	expect_wrong("99", 99 * US, "'99' has a smaller latency than the percentile before it");
	none = latency_curve_init(&curve, curve_points, 0);
	cr_assert_not_null(none);
}

Test(simulated, a_stall_delays_what_it_meets)
{
	const struct stall stall = { .at_ns = 1000, .for_ns = 500 };
	const uint64_t begin = 10000;

	cr_expect_eq(stall_delay(&stall, begin, 10000, 10300), 10300, "done before");
	cr_expect_eq(stall_delay(&stall, begin, 10900, 11000), 11000, "done just before");
	cr_expect_eq(stall_delay(&stall, begin, 10900, 11100), 11600, "in flight at its begin");
	cr_expect_eq(stall_delay(&stall, begin, 11200, 11300), 11600, "submitted in it");
	cr_expect_eq(stall_delay(&stall, begin, 11500, 11600), 11600, "submitted at its end");
	cr_expect_eq(stall_delay(&(struct stall) { 0 }, begin, 10000, 10300), 10300, "none");
	cr_expect_eq(stall_delay(&(struct stall) { 0 }, begin, begin, begin + 1), begin + 1,
		     "none");
}
