/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/series.h"

#include <criterion/criterion.h>
#include <math.h>

static const uint64_t S = 1000000000;

static void arrive(struct series *s, uint64_t index, double iops, bool whole)
{
	series_add(s, index, DIR_READ, iops, iops * 4096);
	series_arrive(s, index, whole);
}

Test(series, moments_are_those_of_a_sample)
{
	static const double values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct moments m = { 0 };

	cr_expect(isnan(moments_stddev(&m)));
	for (size_t i = 0; i < array_size(values); i++)
		moments_add(&m, values[i]);
	cr_expect_float_eq(m.mean, 5, 1e-12);
	cr_expect_float_eq(moments_stddev(&m), sqrt(32.0 / 7), 1e-12);
	cr_expect_float_eq(m.min, 2, 0);
	cr_expect_float_eq(m.max, 9, 0);
}

Test(series, an_interval_that_is_whole_is_not_kept)
{
	struct series s = { .nr_hosts = 2, .interval_ns = S };
	struct result_direction d = { 0 };

	for (uint64_t k = 0; k < 1000; k++) {
		arrive(&s, k, 10, true);
		cr_assert_eq(s.nr_pending, 1);
		arrive(&s, k, 20, true);
		cr_assert_eq(s.nr_pending, 0);
	}
	series_finish(&s, 0, 1000 * S);
	series_fill(&s, DIR_READ, &d);
	cr_expect_eq(d.iops_samples.n, 1000);
	cr_expect_float_eq(d.iops_samples.mean, 30, 1e-9);
	cr_expect_float_eq(d.bw_samples.mean, 30 * 4096, 1e-6);
	cr_expect_eq(d.common_end_ns, 1000 * S);
	series_fini(&s);
}

/* What is not certain waits for the instants: here the threads ran from 0.99995 to 5.2 s. */
Test(series, the_rest_waits_for_the_end)
{
	struct series s = { .nr_hosts = 1, .interval_ns = S };
	struct result_direction d = { 0 };

	for (uint64_t k = 0; k < 8; k++)
		arrive(&s, k, 100 + (double)k, false);
	cr_expect_eq(s.nr_pending, 8);
	series_finish(&s, S - 50000, 5 * S + S / 5);
	series_fill(&s, SERIES_TOTAL, &d);
	cr_expect_eq(d.iops_samples.n, 4);
	cr_expect_float_eq(d.iops_samples.min, 101, 1e-9);
	cr_expect_float_eq(d.iops_samples.max, 104, 1e-9);
	cr_expect_eq(d.common_start_ns, S);
	cr_expect_eq(d.common_end_ns, 5 * S);
	series_fini(&s);
}

/* Threads do not start in the same nanosecond: a hundredth of an interval is let pass, more is not. */
Test(series, edges_may_stick_out_a_little)
{
	struct series s = { .nr_hosts = 1, .interval_ns = S }, t = s;

	arrive(&s, 0, 1, false);
	series_finish(&s, S / 100, S - S / 100);
	cr_expect_eq(s.iops[DIR_READ].n, 1);
	arrive(&t, 0, 1, false);
	series_finish(&t, S / 100 + 1, S);
	cr_expect_eq(t.iops[DIR_READ].n, 0);
	series_fini(&s);
	series_fini(&t);
}

Test(series, an_interval_that_a_host_lacks_does_not_count)
{
	struct series s = { .nr_hosts = 2, .interval_ns = S };

	arrive(&s, 0, 1, true);
	arrive(&s, 1, 1, true);
	arrive(&s, 1, 1, true);
	series_finish(&s, 0, 10 * S);
	cr_expect_eq(s.iops[DIR_READ].n, 1);
	series_fini(&s);
}

Test(series, hosts_may_come_in_any_order)
{
	static const uint64_t order[] = { 3, 1, 2, 0, 5, 4 };
	struct series s = { .nr_hosts = 2, .interval_ns = S };

	for (uint64_t k = 0; k < 6; k++)
		arrive(&s, k, 1, true);
	for (size_t k = 0; k < 6; k++)
		arrive(&s, order[k], (double)order[k], true);
	cr_expect_eq(s.nr_pending, 0);
	cr_expect_eq(s.iops[DIR_READ].n, 6);
	cr_expect_float_eq(s.iops[DIR_READ].max, 6, 1e-9);
	series_fini(&s);
}

Test(series, flushes_are_not_in_the_total)
{
	struct series s = { .nr_hosts = 1, .interval_ns = S };

	series_add(&s, 0, DIR_SYNC, 7, 0);
	series_add(&s, 0, DIR_WRITE, 100, 1);
	series_add(&s, 0, DIR_READ, 50, 1);
	series_arrive(&s, 0, true);
	cr_expect_float_eq(s.iops[SERIES_TOTAL].mean, 150, 1e-9);
	cr_expect_float_eq(s.iops[DIR_SYNC].mean, 7, 1e-9);
	series_fini(&s);
}

/* Memory stays bounded whatever a host sends; what is counted is still right. */
Test(series, waiting_intervals_have_an_end)
{
	struct series s = { .nr_hosts = 2, .interval_ns = S };

	for (uint64_t k = 0; k < 3 * SERIES_PENDING_MAX; k++)
		arrive(&s, k, 1, true);
	cr_expect_eq(s.nr_pending, SERIES_PENDING_MAX);
	arrive(&s, 0, 1, true);
	cr_expect_eq(s.iops[DIR_READ].n, 1);
	series_finish(&s, 0, UINT64_MAX / 2);
	cr_expect_eq(s.iops[DIR_READ].n, 1);
	series_fini(&s);
}
