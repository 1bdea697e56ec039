/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/pace.h"

#include "common/base/clock.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static struct job job;
static struct pace p;

static void setup(void)
{
	schema_init(&job_schema, &job);
	job.rw = RW_RANDREAD;
}

static void teardown(void)
{
	schema_fini(&job_schema, &job);
}

TestSuite(pace, .init = setup, .fini = teardown);

static void set(const char *key, const char *text)
{
	cr_assert_null(schema_set(&job_schema, &job, key, text));
}

static void make(uint64_t thread)
{
	pace_init(&p, &job, 5 + thread, thread);
	pace_begin(&p, NS_PER_S);
}

/* How many are due before the instant after the start. */
static uint64_t due_before(uint64_t ns, uint32_t bytes)
{
	uint64_t nr = 0;

	for (enum direction dir = pace_next(&p); pace_due_ns(&p, dir) < NS_PER_S + ns;
	     dir = pace_next(&p)) {
		pace_advance(&p, dir, bytes);
		nr++;
	}
	return nr;
}

Test(pace, linear_is_exact_over_hours)
{
	set("rate_iops", "3");
	make(0);
	cr_assert_eq(pace_due_ns(&p, DIR_READ), NS_PER_S, "the first one at once");
	cr_assert_eq(due_before(100000 * NS_PER_S, 4096), 300000);
	set("rate_iops", "999983");
	make(0);
	cr_assert_eq(due_before(10 * NS_PER_S, 4096), 9999830);
}

Test(pace, bytes_are_paced_by_what_each_moves)
{
	set("rate", "1m");
	make(0);
	cr_assert_eq(due_before(10 * NS_PER_S, 64 << 10), 160);
	make(0);
	pace_advance(&p, DIR_READ, 512 << 10);
	cr_assert_eq(pace_due_ns(&p, DIR_READ), NS_PER_S + NS_PER_S / 2);
	pace_advance(&p, DIR_READ, 256 << 10);
	cr_assert_eq(pace_due_ns(&p, DIR_READ), NS_PER_S + NS_PER_S * 3 / 4);
}

Test(pace, directions_have_schedules_of_their_own)
{
	uint64_t counts[DIR_SYNC] = { 0 };

	job.rw = RW_RANDRW;
	set("rate_iops", "70,30");
	make(0);
	for (uint64_t due, before = 0;; before = due) {
		enum direction dir = pace_next(&p);

		due = pace_due_ns(&p, dir);
		cr_assert_geq(due, before, "in their order");
		if (due >= 11 * NS_PER_S)
			break;
		counts[dir]++;
		pace_advance(&p, dir, 4096);
	}
	cr_assert_eq(counts[DIR_READ], 700);
	cr_assert_eq(counts[DIR_WRITE], 300);
	cr_assert_eq(counts[DIR_TRIM], 0);
}

static int compare_instants(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

Test(pace, threads_do_not_fire_in_step)
{
	enum { THREADS = 50 };
	uint64_t first[THREADS + 1];

	set("rate_iops", "1000");
	for (uint64_t i = 0; i < THREADS; i++) {
		make(i);
		first[i] = pace_due_ns(&p, DIR_READ) - NS_PER_S;
		cr_assert_lt(first[i], NS_PER_MS);
	}
	qsort(first, THREADS, sizeof(*first), compare_instants);
	first[THREADS] = NS_PER_MS;
	/* Even would be 20 us between two. */
	for (unsigned i = 0; i < THREADS; i++)
		cr_assert(first[i + 1] - first[i] >= 7000 && first[i + 1] - first[i] <= 40000);
}

Test(pace, poisson_has_the_rate_and_gaps_like_chance)
{
	double sum = 0, squares = 0;
	uint64_t nr = 0, last = NS_PER_S;

	set("rate_iops", "10000");
	set("rate_process", "poisson");
	make(0);
	while (pace_due_ns(&p, DIR_READ) < 101 * NS_PER_S) {
		double gap = (double)(pace_due_ns(&p, DIR_READ) - last);

		last = pace_due_ns(&p, DIR_READ);
		sum += gap;
		squares += gap * gap;
		nr++;
		pace_advance(&p, DIR_READ, 4096);
	}
	/* A million; three standard deviations of their number are 3000. */
	cr_assert(nr > 997000 && nr < 1003000, "%llu", (unsigned long long)nr);
	/* Of an exponential gap the deviation is the mean. */
	cr_assert_float_eq(sqrt(squares / (double)nr - pow(sum / (double)nr, 2)) /
				   (sum / (double)nr),
			   1, 0.01);
}

Test(pace, poisson_by_bytes_has_the_rate_whatever_the_sizes)
{
	static const uint32_t sizes[] = { 4096, 65536, 512, 1 << 20 };
	uint64_t bytes = 0, nr = 0;

	set("rate", "100m");
	set("rate_process", "poisson");
	make(0);
	while (pace_due_ns(&p, DIR_READ) < 201 * NS_PER_S) {
		uint32_t size = sizes[nr++ % array_size(sizes)];

		pace_advance(&p, DIR_READ, size);
		bytes += size;
	}
	/* Largest gaps weigh most: of some 18700 of 1 MiB the deviation is below a hundredth. */
	cr_assert_float_eq((double)bytes / (200.0 * 100 * (1 << 20)), 1, 0.03);
}
