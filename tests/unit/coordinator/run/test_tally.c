/* SPDX-License-Identifier: Apache-2.0 */
/* How a group adds up what has no histogram: errors by errno, distributions, CPU time. */
#include "coordinator/run/tally.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>

static const uint64_t MS = 1000000, S = 1000000000;

static const struct job reader = { .name = (char *)"r", .rw = RW_RANDREAD, .iodepth = 4 };

static struct member_totals member(const char *host)
{
	return (struct member_totals) {
		.host = host,
		.target = "disk",
		.job = &reader,
		.threads = 1,
		.end_ns = 2 * S,
		.all_end_ns = 2 * S,
		.has_cpu = true,
		.has_depths = true,
	};
}

static struct error_row row(int direction, uint64_t number, const char *name, uint64_t count,
			    uint64_t first_ns)
{
	return (struct error_row) {
		.direction = direction,
		.number = number,
		.name = (char *)name,
		.count = count,
		.first_offset = 4096 * count,
		.first_ns = first_ns,
	};
}

static void add_errors(struct tally *t, const char *host, const struct error_row *rows, size_t nr)
{
	struct member_totals m = member(host);

	m.errors = rows;
	m.nr_errors = nr;
	tally_add(t, &m);
}

/* One entry per direction and errno; the first one is told by its instant, whichever host comes first. */
Test(tally, errors_add_up_by_direction_and_errno)
{
	const struct error_row a[] = { row(DIR_WRITE, ENOSPC, "ENOSPC", 1, 70 * MS),
				       row(DIR_READ, EIO, "EIO", 3, 50 * MS) };
	const struct error_row b[] = { row(DIR_READ, EIO, "EIO", 2, 40 * MS),
				       row(DIR_WRITE, EIO, "EIO", 5, 0) };
	struct tally t = { .name = "all" };
	struct result_group g;

	add_errors(&t, "h0", a, 2);
	add_errors(&t, "h1", b, 2);
	tally_finish(&t, &g);
	cr_assert_eq(g.nr_errors, 3);
	cr_expect_eq(g.errors[0].direction, DIR_READ);
	cr_expect_str_eq(g.errors[0].name, "EIO");
	cr_expect_eq(g.errors[0].count, 5);
	cr_expect_str_eq(g.errors[0].first_host, "h1");
	cr_expect_str_eq(g.errors[0].first_target, "disk");
	cr_expect_eq(g.errors[0].first_ns, 40 * MS);
	cr_expect_eq(g.errors[0].first_offset, 8192);
	cr_expect_eq(g.errors[1].direction, DIR_WRITE);
	cr_expect_eq(g.errors[1].number, EIO);
	cr_expect_eq(g.errors[1].count, 5);
	cr_expect_eq(g.errors[2].number, ENOSPC);
	result_group_fini(&g);
	tally_fini(&t);
}

/* An instant that is not known never beats one that is. */
Test(tally, the_first_error_is_the_earliest_known)
{
	const struct error_row unknown = row(DIR_READ, EIO, "EIO", 1, 0);
	const struct error_row known = row(DIR_READ, EIO, "EIO", 1, 900 * MS);
	struct tally t = { .name = "all" };
	struct result_group g;

	add_errors(&t, "h0", &unknown, 1);
	add_errors(&t, "h1", &known, 1);
	add_errors(&t, "h2", &unknown, 1);
	tally_finish(&t, &g);
	cr_assert_eq(g.nr_errors, 1);
	cr_expect_eq(g.errors[0].count, 3);
	cr_expect_str_eq(g.errors[0].first_host, "h1");
	result_group_fini(&g);
	tally_fini(&t);
}

/* EREMOTEIO is 121 on one architecture and 140 on another. */
Test(tally, names_of_errors_decide_before_numbers)
{
	const struct error_row a[] = { row(DIR_READ, 121, "EREMOTEIO", 1, MS),
				       row(DIR_READ, 5, NULL, 1, MS) };
	const struct error_row b[] = { row(DIR_READ, 140, "EREMOTEIO", 1, 2 * MS),
				       row(DIR_READ, 5, "EIO", 1, 2 * MS) };
	struct tally t = { .name = "all" };
	struct result_group g;

	add_errors(&t, "h0", a, 2);
	add_errors(&t, "h1", b, 2);
	tally_finish(&t, &g);
	cr_expect_eq(g.nr_errors, 2);
	cr_expect_eq(g.errors[0].count, 2);
	cr_expect_eq(g.errors[1].count, 2);
	result_group_fini(&g);
	tally_fini(&t);
}

Test(tally, distributions_add)
{
	struct member_totals a = member("h0"), b = member("h1");
	struct tally t = { .name = "all" };
	struct result_group g;

	a.depths.bucket[pow2_bucket(32)] = 1000;
	a.submits.bucket[pow2_bucket(1)] = 10;
	b.depths.bucket[pow2_bucket(32)] = 500;
	b.depths.bucket[pow2_bucket(17)] = 7;
	b.completes.bucket[pow2_bucket(4096)] = 3;
	tally_add(&t, &a);
	tally_add(&t, &b);
	tally_finish(&t, &g);
	cr_expect(g.has_depths);
	cr_expect_eq(g.depths.bucket[5], 1500);
	cr_expect_eq(g.depths.bucket[4], 7, "16 to 31");
	cr_expect_eq(g.submits.bucket[0], 10);
	cr_expect_eq(g.completes.bucket[12], 3);
	result_group_fini(&g);
	tally_fini(&t);
}

/* Of a lost host nobody knows: then a distribution of the others would pass for the group's. */
Test(tally, distributions_need_every_member)
{
	struct member_totals a = member("h0"), b = member("h1");
	struct tally t = { .name = "all" };
	struct result_group g;

	a.depths.bucket[0] = 1000;
	b.has_depths = false;
	tally_add(&t, &a);
	tally_add(&t, &b);
	tally_finish(&t, &g);
	cr_expect_not(g.has_depths);
	result_group_fini(&g);
	tally_fini(&t);
}

Test(tally, io_wq_is_a_part_of_the_cpu_time)
{
	struct member_totals a = member("h0"), b = member("h1");
	struct tally t = { .name = "all" };
	struct result_group g;

	a.cpu_usr_ns = 200 * MS;
	a.cpu_sys_ns = 1000 * MS;
	a.iowq_ns = 600 * MS;
	b.iowq_ns = 200 * MS;
	tally_add(&t, &a);
	tally_add(&t, &b);
	tally_finish(&t, &g);
	cr_expect_float_eq(g.cpu_usr, 10, 1e-9);
	cr_expect_float_eq(g.cpu_sys, 50, 1e-9);
	cr_expect_float_eq(g.cpu_iowq, 40, 1e-9);
	result_group_fini(&g);
	tally_fini(&t);
}

Test(tally, io_wq_is_unknown_where_the_cpu_time_is)
{
	struct member_totals a = member("h0"), b = member("h1");
	struct tally t = { .name = "all" };
	struct result_group g;

	b.has_cpu = false;
	tally_add(&t, &a);
	tally_add(&t, &b);
	tally_finish(&t, &g);
	cr_expect_not(g.has_cpu);
	cr_expect(isnan(g.cpu_iowq));
	result_group_fini(&g);
	tally_fini(&t);
}

/* A sample that was taken late has a rate of its own; over the whole window the counts know better. */
Test(tally, the_whole_window_as_common_window_has_the_exact_rates)
{
	const double rates[] = { 900, 800, 850 };
	struct tally t = { .name = "all" };
	struct member_totals m = member("h0");
	struct result_group g;

	t.series = (struct series) { .nr_hosts = 1, .interval_ns = S, .start_ns = S };
	for (uint64_t i = 0; i < 3; i++) {
		series_add(&t.series, i, DIR_READ, rates[i], rates[i] * 4096);
		series_arrive(&t.series, i, true);
	}
	m.begin_ns = m.all_begin_ns = S;
	m.end_ns = m.all_end_ns = m.dir_end_ns[DIR_READ] = 4 * S;
	m.dir[DIR_READ].counts = (struct counts) { .ios = 3000, .bytes = 3000 * 4096 };
	tally_add(&t, &m);
	tally_finish(&t, &g);
	cr_assert(g.dir[DIR_READ].has_common);
	cr_expect_float_eq(g.dir[DIR_READ].iops_samples.mean, 850, 1e-9);
	cr_expect_float_eq(g.dir[DIR_READ].common_iops, 1000, 1e-9);
	cr_expect_float_eq(g.total.common_bw_bytes, 4096000, 1e-6);
	result_group_fini(&g);
	tally_fini(&t);
}

/* Its begin is before the others' windows and must not make them longer. */
Test(tally, a_member_that_ended_within_its_ramp_widens_no_window)
{
	struct member_totals a = member("h0"), b = member("h1");
	struct tally t = { .name = "all" };
	struct result_group g;

	a.begin_ns = a.end_ns = a.dir_end_ns[DIR_READ] = 1 * MS;
	a.dir[DIR_READ].counts = (struct counts) { .errors = 1 };
	b.begin_ns = S;
	b.dir_end_ns[DIR_READ] = 2 * S;
	b.dir[DIR_READ].counts = (struct counts) { .ios = 500, .bytes = 500 * 4096 };
	tally_add(&t, &a);
	tally_add(&t, &b);
	tally_finish(&t, &g);
	cr_expect_eq(g.runtime_ns, S);
	cr_expect_float_eq(g.dir[DIR_READ].iops, 500, 1e-9);
	cr_expect_float_eq(g.total.iops, 500, 1e-9);
	cr_expect_eq(g.total.sum.counts.errors, 1);
	result_group_fini(&g);
	tally_fini(&t);
}
