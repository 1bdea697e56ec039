/* SPDX-License-Identifier: Apache-2.0 */
/* How numbers of hosts, jobs and targets become one: sums, pooled distributions, total / runtime. */
#include "tests/unit/coordinator/fleet.h"

#include <criterion/criterion.h>
#include <math.h>

static const uint64_t MS = 1000000, US = 1000, S = 1000000000;
static const double MIB = 1024.0 * 1024.0;

static const struct result_group *all_of(const struct result *r)
{
	cr_assert_eq(r->nr_steps, 1);
	return &r->steps[0].groups[0];
}

static bool near(double value, double want, double relative)
{
	return fabs(value - want) <= relative * want;
}

/* Two hosts write 100 MiB each in 133 and 136 ms: all bytes over the longest runtime. */
Test(pooling, two_hosts_total_over_the_longest_runtime)
{
	struct job job = fleet_job("w", RW_WRITE);
	struct load a = { .dir = DIR_WRITE }, b = { .dir = DIR_WRITE };
	const struct result_direction *d;
	const struct result_group *all;
	struct test_fleet f;

	fleet_init(&f, 2, &job, 1);
	collector_begin(f.collector, 0, 1000);
	load_add(&a, 800, 131072, 160 * US);
	load_add(&b, 800, 131072, 160 * US);
	fleet_done_one(&f, 0, a, 0, 133 * MS);
	fleet_done_one(&f, 1, b, 0, 136 * MS);
	all = all_of(fleet_finish(&f));
	d = &all->dir[DIR_WRITE];
	cr_expect_eq(d->sum.counts.ios, 1600);
	cr_expect_eq(d->sum.counts.bytes, 209715200);
	cr_expect_eq(d->runtime_ns, 136 * MS);
	cr_expect(near(d->bw_bytes / MIB, 1470.6, 1e-4));
	cr_expect(near(d->iops, 11764.7, 1e-5));
	cr_expect_float_eq(d->iops, 1600 / 0.136, 1e-9);
	cr_expect(near(all->hosts[0].dir[DIR_WRITE].bw_bytes / MIB, 751.88, 1e-5));
	cr_expect_eq(all->runtime_ns, 136 * MS);
	cr_expect_str_eq(all->name, "all");
	cr_expect_eq(d->sum.lat.count, 1600);
	fleet_fini(&f);
}

/* Four jobs of 1 GiB with different runtimes: 4 GiB over the longest, not the sum of the rates. */
Test(pooling, four_jobs_are_not_the_sum_of_their_rates)
{
	static const double seconds[] = { 117.752, 75.107, 75.150, 77.397 };
	struct job jobs[4] = { fleet_job("a", RW_READ), fleet_job("b", RW_READ),
			       fleet_job("c", RW_READ), fleet_job("d", RW_READ) };
	struct member_done members[4];
	struct load loads[4] = { 0 };
	const struct result_group *all;
	double sum = 0;
	struct test_fleet f;

	fleet_init(&f, 1, jobs, 4);
	collector_begin(f.collector, 0, 0);
	for (unsigned i = 0; i < 4; i++) {
		loads[i].member = i;
		load_add(&loads[i], 1024, 1 << 20, MS);
		members[i] = fleet_member(i, 1, 0, (uint64_t)(seconds[i] * 1e9));
	}
	fleet_done(&f, 0, (struct msg_done) { .members = members, .nr_members = 4 }, loads, 4);
	all = all_of(fleet_finish(&f));
	for (unsigned i = 0; i < 4; i++)
		sum += all->jobs[i].dir[DIR_READ].bw_bytes / 1024;
	cr_expect_eq((uint64_t)(all->dir[DIR_READ].bw_bytes / 1024), 35619);
	cr_expect(near(sum, 50366, 1e-4));
	fleet_fini(&f);
}

Test(pooling, jobs_keep_their_own_rates)
{
	struct job jobs[2] = { fleet_job("a", RW_READ), fleet_job("b", RW_READ) };
	struct member_done members[2] = { fleet_member(0, 1, 0, 1 * S),
					  fleet_member(1, 1, 0, 3 * S) };
	struct load loads[2] = { { .member = 0 }, { .member = 1 } };
	const struct result_group *all;
	struct test_fleet f;

	fleet_init(&f, 1, jobs, 2);
	collector_begin(f.collector, 0, 0);
	load_add(&loads[0], 1000, 4096, MS);
	load_add(&loads[1], 3000, 4096, MS);
	fleet_done(&f, 0, (struct msg_done) { .members = members, .nr_members = 2 }, loads, 2);
	all = all_of(fleet_finish(&f));
	cr_expect_float_eq(all->dir[DIR_READ].bw_bytes / 1024, 16000 / 3.0, 1e-9);
	cr_expect_float_eq(all->jobs[0].dir[DIR_READ].bw_bytes / 1024, 4000, 1e-9);
	cr_expect_float_eq(all->jobs[1].dir[DIR_READ].bw_bytes / 1024, 4000, 1e-9);
	cr_expect_str_eq(all->jobs[1].name, "b");
	fleet_fini(&f);
}

Test(pooling, rates_of_hosts_add)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct load a = { 0 }, b = { 0 };
	const struct result_group *all;
	struct test_fleet f;

	fleet_init(&f, 2, &job, 1);
	collector_begin(f.collector, 0, 0);
	load_add(&a, 700, 4096, MS);
	load_add(&b, 300, 4096, MS);
	fleet_done_one(&f, 0, a, 0, S);
	fleet_done_one(&f, 1, b, 0, S);
	all = all_of(fleet_finish(&f));
	cr_expect_float_eq(all->dir[DIR_READ].iops, 1000, 1e-9);
	cr_expect_eq(all->nr_hosts, 2);
	cr_expect_eq(all->threads, 2);
	fleet_fini(&f);
}

/* 90 I/Os of 100 us and 10 of 10 ms here, 10 000 of 100 us there: the percentiles are those of the pool. */
Test(pooling, percentiles_are_those_of_the_pool)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct load a = { 0 }, b = { 0 };
	const struct hist *lat;
	double mean, variance;
	struct test_fleet f;

	fleet_init(&f, 2, &job, 1);
	collector_begin(f.collector, 0, 0);
	load_add(&a, 90, 4096, 100 * US);
	load_add(&a, 10, 4096, 10 * MS);
	load_add(&b, 10000, 4096, 100 * US);
	fleet_done_one(&f, 0, a, 0, S);
	fleet_done_one(&f, 1, b, 0, S);
	lat = &all_of(fleet_finish(&f))->dir[DIR_READ].sum.lat;
	mean = (10090 * 100e3 + 10 * 10e6) / 10100;
	variance = (10090 * pow(100e3 - mean, 2) + 10 * pow(10e6 - mean, 2)) / 10100;
	cr_expect_eq(lat->count, 10100);
	cr_expect(near((double)hist_percentile(lat, 99), 100e3, 0.004));
	cr_expect(near((double)hist_percentile(lat, 99.9), 100e3, 0.004));
	cr_expect(near((double)hist_percentile(lat, 99.95), 10e6, 0.004));
	cr_expect_float_eq(hist_mean(lat), mean, 1e-6);
	cr_expect(near(hist_stddev(lat), sqrt(variance), 0.004));
	fleet_fini(&f);
}

Test(pooling, percentiles_stay_within_the_largest_value)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct load a = { 0 };
	const struct hist *lat;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	load_add(&a, 1, 4096, 54776876);
	fleet_done_one(&f, 0, a, 0, S);
	lat = &all_of(fleet_finish(&f))->dir[DIR_READ].sum.lat;
	cr_expect_eq(hist_percentile(lat, 1), 54776876);
	cr_expect_eq(hist_percentile(lat, 99.9999), 54776876);
	fleet_fini(&f);
}

/* Named groups come after `all`, in file order, and hold their own jobs only. */
Test(pooling, named_groups_in_file_order)
{
	struct job jobs[3] = { fleet_job("x", RW_READ), fleet_job("y", RW_WRITE),
			       fleet_job("z", RW_READ) };
	struct member_done members[3];
	struct load loads[3] = { 0 };
	const struct result *r;
	struct test_fleet f;

	jobs[0].group = (char *)"late";
	jobs[1].group = (char *)"early";
	jobs[2].group = (char *)"late";
	fleet_init(&f, 1, jobs, 3);
	collector_begin(f.collector, 0, 0);
	for (unsigned i = 0; i < 3; i++) {
		loads[i].member = i;
		loads[i].dir = i == 1 ? DIR_WRITE : DIR_READ;
		load_add(&loads[i], 10 * (i + 1), 4096, MS);
		members[i] = fleet_member(i, 1, 0, S);
	}
	fleet_done(&f, 0, (struct msg_done) { .members = members, .nr_members = 3 }, loads, 3);
	r = fleet_finish(&f);
	cr_assert_eq(r->steps[0].nr_groups, 3);
	cr_expect_str_eq(r->steps[0].groups[1].name, "late");
	cr_expect_str_eq(r->steps[0].groups[2].name, "early");
	cr_expect_eq(r->steps[0].groups[1].dir[DIR_READ].sum.counts.ios, 40);
	cr_expect_not(r->steps[0].groups[1].dir[DIR_WRITE].used);
	cr_expect_eq(r->steps[0].groups[1].nr_jobs, 2);
	cr_expect_eq(r->steps[0].groups[2].total.sum.counts.ios, 20);
	cr_expect_eq(r->steps[0].groups[0].total.sum.counts.ios, 60);
	fleet_fini(&f);
}

/* Two hosts, two jobs each: four pairs of host and job, one row each of host and job, and a total of all. */
Test(pooling, two_hosts_with_two_jobs_have_one_total)
{
	struct job jobs[2] = { fleet_job("t1", RW_WRITE), fleet_job("t2", RW_WRITE) };
	const struct result_group *all;
	struct test_fleet f;

	fleet_init(&f, 2, jobs, 2);
	collector_begin(f.collector, 0, 0);
	for (size_t h = 0; h < 2; h++) {
		struct member_done members[2] = { fleet_member(0, 1, 0, 2 * S),
						  fleet_member(1, 1, 0, 2 * S) };
		struct load loads[2] = { { .member = 0, .dir = DIR_WRITE },
					 { .member = 1, .dir = DIR_WRITE } };

		load_add(&loads[0], 1000, 4096, MS);
		load_add(&loads[1], 1000, 4096, 2 * MS);
		fleet_done(&f, h, (struct msg_done) { .members = members, .nr_members = 2 }, loads,
			   2);
	}
	all = all_of(fleet_finish(&f));
	cr_expect_eq(all->total.sum.counts.ios, 4000);
	cr_expect_eq(all->runtime_ns, 2 * S, "the longest, not the sum");
	cr_expect_eq(all->threads, 4);
	cr_expect(near((double)hist_percentile(&all->total.sum.lat, 50), 1e6, 0.004));
	cr_expect(near((double)hist_percentile(&all->total.sum.lat, 99), 2e6, 0.004));
	cr_assert_eq(all->nr_hosts, 2);
	cr_assert_eq(all->nr_jobs, 2);
	cr_expect_str_eq(all->hosts[0].name, "h0");
	cr_expect_str_eq(all->hosts[1].name, "h1");
	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(all->hosts[i].total.sum.counts.ios, 2000);
		cr_expect_eq(all->jobs[i].total.sum.counts.ios, 2000);
	}
	fleet_fini(&f);
}

/* As many rows as hosts, in their order, whether or not one has something to show. */
Test(pooling, every_host_has_its_row)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result_group *all;
	struct test_fleet f;

	fleet_init(&f, 8, &job, 1);
	collector_begin(f.collector, 0, 0);
	for (size_t h = 0; h < 8; h++) {
		struct load l = { 0 };

		load_add(&l, 100 * h, 4096, MS);
		fleet_done_one(&f, 7 - h, l, 0, S);
	}
	all = all_of(fleet_finish(&f));
	cr_assert_eq(all->nr_hosts, 8);
	for (size_t h = 0; h < 8; h++) {
		_cleanup_free_ char *name = xasprintf("h%zu", h);

		cr_expect_str_eq(all->hosts[h].name, name);
		cr_expect_eq(all->hosts[h].total.sum.counts.ios, 100 * (7 - h));
	}
	cr_expect_eq(all->total.sum.counts.ios, 2800);
	fleet_fini(&f);
}

/* Bandwidth and IOPS are totals over the runtime, whatever the mean of the intervals says; they agree with each
 * other and with the parts, of which equal ones have equal shares. */
Test(pooling, rates_are_totals_over_the_runtime)
{
	struct job jobs[4] = { fleet_job("a", RW_RANDREAD), fleet_job("b", RW_RANDREAD),
			       fleet_job("c", RW_RANDREAD), fleet_job("d", RW_RANDREAD) };
	struct member_done members[4];
	struct load loads[4] = { 0 };
	const struct result_direction *d;
	const struct result_group *all;
	struct test_fleet f;
	double shares = 0;

	fleet_init(&f, 1, jobs, 4);
	collector_begin(f.collector, 0, 0);
	for (unsigned i = 0; i < 4; i++) {
		members[i] = fleet_member(i, 1, 0, 2 * S);
		loads[i].member = i;
		load_add(&loads[i], 200, 4096, MS);
	}
	fleet_done(&f, 0, (struct msg_done) { .members = members, .nr_members = 4 }, loads, 4);
	all = all_of(fleet_finish(&f));
	d = &all->dir[DIR_READ];
	cr_expect_eq(d->sum.counts.ios, 800);
	cr_expect_float_eq(d->iops, 400, 1e-9);
	cr_expect_float_eq(d->bw_bytes, 1638400, 1e-6);
	cr_expect_float_eq(d->bw_bytes, d->iops * 4096, 1e-6);
	for (unsigned i = 0; i < 4; i++) {
		double share = all->jobs[i].total.bw_bytes / all->total.bw_bytes;

		cr_expect_float_eq(share, 0.25, 1e-9);
		shares += share;
	}
	cr_expect_float_eq(shares, 1, 1e-9);
	fleet_fini(&f);
}

/* I/Os without latencies: there is no percentile, and no mean of 0. */
Test(pooling, without_latencies_there_is_no_latency)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct load l = { .counts = { .ios = 100, .bytes = 409600 } };
	const struct result_direction *d;
	struct test_fleet f;

	fleet_init(&f, 1, &job, 1);
	collector_begin(f.collector, 0, 0);
	fleet_done_one(&f, 0, l, 0, S);
	d = &all_of(fleet_finish(&f))->dir[DIR_READ];
	cr_expect_float_eq(d->iops, 100, 1e-9);
	cr_expect_eq(d->sum.lat.count, 0);
	cr_expect(isnan(hist_mean(&d->sum.lat)));
	cr_expect(isnan(hist_stddev(&d->sum.lat)));
	fleet_fini(&f);
}

/* --- the property: whatever hosts do, every way of cutting the group adds up to it --------------------- */

static uint64_t state;

static uint64_t random_below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

static struct load random_load(uint64_t member, enum direction dir)
{
	struct load l = { .member = member, .dir = dir };

	for (unsigned i = 0; i < 20; i++)
		load_add(&l, 1 + random_below(50), 512 << random_below(8),
			 100 + random_below(100 * MS));
	l.counts.ramp_ios = random_below(100);
	l.counts.ramp_bytes = 4096 * l.counts.ramp_ios;
	l.counts.drain_ios = random_below(20);
	hist_add(&l.lat, 7 * MS, l.counts.drain_ios);
	l.counts.drain_lat_max_ns = random_below(100 * MS);
	l.counts.errors = random_below(3);
	l.counts.short_ios = random_below(3);
	return l;
}

static void expect_sum(const struct result_direction *whole, const struct result_group *parts,
		       size_t nr, enum direction dir)
{
	struct direction_sum sum = { 0 };

	for (size_t i = 0; i < nr; i++)
		if (parts[i].dir[dir].used)
			direction_sum_merge(&sum, &parts[i].dir[dir].sum);
	for (unsigned m = 0; m < NR_METRICS; m++)
		cr_expect_eq(metric_value(&sum.counts, &metrics[m]),
			     metric_value(&whole->sum.counts, &metrics[m]), "%s", metrics[m].name);
	cr_expect(hist_equal(&sum.lat, &whole->sum.lat));
	direction_sum_fini(&sum);
}

Test(pooling, group_is_the_sum_of_its_hosts_targets_and_jobs)
{
	static char *targets[] = { (char *)"t0", (char *)"t1" };
	struct job jobs[2] = { fleet_job("r", RW_RANDREAD), fleet_job("m", RW_RANDRW) };
	struct member_done members[3];
	const struct result_group *all;
	struct test_fleet f;

	state = 88172645463325252ull;
	jobs[1].target = targets;
	jobs[1].nr_target = 2;
	fleet_init(&f, 5, jobs, 2);
	collector_begin(f.collector, 0, 0);
	for (size_t h = 0; h < 5; h++) {
		struct load loads[5] = { random_load(0, DIR_READ), random_load(1, DIR_READ),
					 random_load(1, DIR_WRITE), random_load(2, DIR_READ),
					 random_load(2, DIR_WRITE) };

		for (unsigned i = 0; i < 3; i++)
			members[i] = fleet_member(i, 1, random_below(MS), S + random_below(S));
		fleet_done(&f, h, (struct msg_done) { .members = members, .nr_members = 3 }, loads,
			   5);
	}
	all = all_of(fleet_finish(&f));
	cr_assert_eq(all->nr_hosts, 5);
	cr_assert_eq(all->nr_targets, 2);
	cr_assert_eq(all->nr_jobs, 2);
	for (unsigned dir = DIR_READ; dir <= DIR_WRITE; dir++) {
		expect_sum(&all->dir[dir], all->hosts, 5, dir);
		expect_sum(&all->dir[dir], all->targets, 2, dir);
		expect_sum(&all->dir[dir], all->jobs, 2, dir);
	}
	cr_expect_eq(all->total.sum.counts.ios,
		     all->dir[DIR_READ].sum.counts.ios + all->dir[DIR_WRITE].sum.counts.ios);
	cr_expect_eq(all->total.sum.lat.count,
		     all->total.sum.counts.ios + all->total.sum.counts.drain_ios);
	fleet_fini(&f);
}

/* In a closed loop with nothing but I/O, IOPS x mean latency is what is in flight. */
static double in_flight(const struct result_group *g)
{
	return g->total.iops * hist_mean(&g->total.sum.lat) / 1e9;
}

Test(pooling, littles_law)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result_group *all;
	struct test_fleet f;

	job.iodepth = 16;
	job.numjobs = 2;
	fleet_init(&f, 3, &job, 1);
	collector_begin(f.collector, 0, 0);
	for (size_t h = 0; h < 3; h++) {
		struct member_done m = fleet_member(0, 2, 0, S);
		uint64_t lat_ns = (h + 1) * 80 * US;
		struct load l = { 0 };

		load_add(&l, 32 * (S / lat_ns), 4096, lat_ns);
		fleet_done(&f, h, (struct msg_done) { .members = &m, .nr_members = 1 }, &l, 1);
	}
	all = all_of(fleet_finish(&f));
	cr_expect_eq(all->depth, 96);
	cr_expect(near(in_flight(all), 96, 0.02));
	fleet_fini(&f);
}
