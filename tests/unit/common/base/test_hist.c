/* SPDX-License-Identifier: Apache-2.0 */
/* The histogram against sorted arrays: error, bounds, merging, and bytes from peers. */
#include "common/base/hist.h"

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

/* In (0, 1]. */
static double next_unit(void)
{
	return ((double)(next_random() >> 11) + 1) / 9007199254740992.0;
}

/* --- five distributions of latencies, ns -------------------------------------------------------------- */

static uint64_t uniform(void)
{
	return next_random() % 1000000;
}

static uint64_t exponential(void)
{
	return (uint64_t)(-log(next_unit()) * 120000);
}

static uint64_t lognormal(void)
{
	double z = sqrt(-2 * log(next_unit())) * cos(2 * M_PI * next_unit());

	return (uint64_t)exp(11.5 + 1.2 * z);
}

/* A cache: most I/Os fast, some at the speed of the medium. */
static uint64_t bimodal(void)
{
	return next_random() % 100 < 97 ? 800 + next_random() % 400
					: 4000000 + next_random() % 3000000;
}

/* A tail without end: some values are above what buckets hold. */
static uint64_t pareto(void)
{
	double v = 20000 / pow(next_unit(), 1 / 1.1);

	return v < 2e12 ? (uint64_t)v : 2000000000000ull;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

enum { VALUES = 10 * 1000 * 1000 };

static void expect_like_sorted(uint64_t (*draw)(void))
{
	static const double points[] = { 0.001, 1,  5,  10, 20,   30,   40,    50,    60,     70,
					 80,    90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.999, 100 };
	uint64_t *values = xcalloc(VALUES, sizeof(*values));
	struct hist_cells *cells = xcalloc(1, sizeof(*cells));
	struct hist h = { 0 };
	double sum = 0, squares = 0, mean;

	state = 0x9e3779b97f4a7c15ull;
	hist_cells_init(cells);
	for (size_t i = 0; i < VALUES; i++) {
		values[i] = draw();
		sum += (double)values[i];
		hist_cells_record(cells, values[i], 1);
	}
	hist_add_cells(&h, cells);
	qsort(values, VALUES, sizeof(*values), compare);
	cr_assert_eq(h.count, VALUES);
	cr_expect_eq(h.min, values[0]);
	cr_expect_eq(h.max, values[VALUES - 1]);
	for (size_t i = 0; i < array_size(points); i++) {
		double rank = ceil(points[i] / 100 * VALUES - 1e-6);
		uint64_t want = values[(size_t)(rank < 1 ? 1 : rank) - 1];
		uint64_t got = hist_percentile(&h, points[i]);

		cr_expect_leq(fabs((double)got - (double)want), 0.004 * (double)want,
			      "p%g: %llu instead of %llu", points[i], (unsigned long long)got,
			      (unsigned long long)want);
		cr_expect(got >= h.min && got <= h.max);
	}
	mean = sum / VALUES;
	for (size_t i = 0; i < VALUES; i++)
		squares += ((double)values[i] - mean) * ((double)values[i] - mean);
	cr_expect_leq(fabs(hist_mean(&h) - mean), 1e-9 * mean);
	cr_expect_leq(fabs(hist_stddev(&h) - sqrt(squares / VALUES)),
		      0.004 * sqrt(squares / VALUES));
	hist_fini(&h);
	free(cells);
	free(values);
}

Test(hist, uniform_like_a_sorted_array)
{
	expect_like_sorted(uniform);
}

Test(hist, exponential_like_a_sorted_array)
{
	expect_like_sorted(exponential);
}

Test(hist, lognormal_like_a_sorted_array)
{
	expect_like_sorted(lognormal);
}

Test(hist, bimodal_like_a_sorted_array)
{
	expect_like_sorted(bimodal);
}

Test(hist, pareto_like_a_sorted_array)
{
	expect_like_sorted(pareto);
}

/* --- buckets -------------------------------------------------------------------------------------------- */

Test(hist, every_bucket_holds_what_it_says)
{
	for (unsigned i = 0; i < HIST_OVERFLOW; i++) {
		uint64_t lower = hist_lower(i), upper = hist_lower(i + 1);

		cr_assert_lt(lower, upper);
		cr_assert_eq(hist_index(lower), i);
		cr_assert_eq(hist_index(upper - 1), i);
		/* The middle is at most 1/256 away from either end. */
		cr_assert_leq((upper - lower) / 2 * 256, lower + 256);
	}
	cr_expect_eq(hist_lower(HIST_OVERFLOW), HIST_LIMIT);
	cr_expect_eq(hist_index(HIST_LIMIT), HIST_OVERFLOW);
	cr_expect_eq(hist_index(UINT64_MAX), HIST_OVERFLOW);
}

Test(hist, small_values_are_exact)
{
	for (uint64_t v = 0; v < 256; v++) {
		struct hist h = { 0 };

		hist_add(&h, v, 3);
		hist_add(&h, v + 1000000, 3);
		cr_assert_eq(hist_percentile(&h, 50), v);
		hist_fini(&h);
	}
}

Test(hist, one_to_a_hundred_thousand)
{
	struct hist h = { 0 };

	for (uint64_t v = 1; v <= 100000; v++)
		hist_add(&h, v, 1);
	cr_expect_leq(fabs((double)hist_percentile(&h, 50) - 50000), 200);
	cr_expect_leq(fabs((double)hist_percentile(&h, 99) - 99000), 396);
	cr_expect_float_eq(hist_mean(&h), 50000.5, 1e-9);
	hist_fini(&h);
}

/* Nearest rank: of 1000 values the 99.9th percentile is the 999th, although 0.999 * 1000 is a little more
 * than 999 in binary. */
Test(hist, rank_is_exact_in_decimal)
{
	struct hist h = { 0 };

	hist_add(&h, 10, 999);
	hist_add(&h, 200, 1);
	cr_expect_eq(hist_percentile(&h, 99.9), 10);
	cr_expect_eq(hist_percentile(&h, 99.95), 200);
	hist_add(&h, 10, 8991);
	hist_add(&h, 200, 9);
	cr_expect_eq(hist_percentile(&h, 99.9), 10);
	hist_fini(&h);
}

Test(hist, never_outside_of_what_was_seen)
{
	struct hist h = { 0 };

	hist_add(&h, 54776876, 1);
	for (double p = 0.0001; p <= 100; p *= 1.1)
		cr_expect_eq(hist_percentile(&h, p), 54776876);
	hist_add(&h, 54776000, 1000000);
	cr_expect_geq(hist_percentile(&h, 1), 54776000);
	cr_expect_leq(hist_percentile(&h, 99.9999), 54776876);
	hist_fini(&h);
}

Test(hist, empty_has_no_mean)
{
	struct hist h = { 0 };

	cr_expect(isnan(hist_mean(&h)));
	cr_expect(isnan(hist_stddev(&h)));
	cr_expect_eq(h.count, 0);
	hist_add(&h, 5, 0);
	cr_expect_eq(h.count, 0);
	hist_fini(&h);
}

Test(hist, what_is_too_large_is_counted)
{
	struct hist h = { 0 };

	hist_add(&h, 100, 9);
	hist_add(&h, HIST_LIMIT + 12345, 1);
	cr_expect_eq(h.overflow, 1);
	cr_expect_eq(h.count, 10);
	cr_expect_eq(hist_percentile(&h, 99), HIST_LIMIT + 12345);
	cr_expect_eq(hist_bucket(&h, HIST_OVERFLOW), 1);
	hist_fini(&h);
}

/* --- merging and bytes ----------------------------------------------------------------------------------- */

static void fill(struct hist *h, unsigned values, uint64_t (*draw)(void))
{
	for (unsigned i = 0; i < values; i++)
		hist_add(h, draw(), 1 + next_random() % 3);
}

static bool same_bytes(const struct hist *a, const struct hist *b)
{
	struct buf x = { 0 }, y = { 0 };
	bool same;

	hist_encode(a, NULL, &x);
	hist_encode(b, NULL, &y);
	same = x.len == y.len && memcmp(x.data, y.data, x.len) == 0;
	buf_fini(&x);
	buf_fini(&y);
	return same;
}

Test(hist, merging_is_associative)
{
	state = 42;
	for (unsigned round = 0; round < 50; round++) {
		struct hist part[4] = { 0 }, left = { 0 }, right = { 0 }, pair = { 0 };

		fill(&part[0], (unsigned)(next_random() % 500), uniform);
		fill(&part[1], (unsigned)(next_random() % 500), pareto);
		fill(&part[2], (unsigned)(next_random() % 3), bimodal);
		for (unsigned i = 0; i < 4; i++)
			hist_merge(&left, &part[i]);
		hist_merge(&pair, &part[3]);
		hist_merge(&pair, &part[2]);
		hist_merge(&right, &part[1]);
		hist_merge(&right, &pair);
		hist_merge(&right, &part[0]);
		cr_assert(hist_equal(&left, &right));
		cr_assert(same_bytes(&left, &right));
		for (unsigned i = 0; i < 4; i++)
			hist_fini(&part[i]);
		hist_fini(&left);
		hist_fini(&right);
		hist_fini(&pair);
	}
}

/* A series of differences adds up to what was there in the end, bounds included. */
Test(hist, differences_add_up)
{
	struct hist now = { 0 }, sum = { 0 };

	state = 7;
	for (unsigned k = 0; k < 100; k++) {
		struct hist before = { 0 };
		struct buf bytes = { 0 };

		hist_merge(&before, &now);
		fill(&now, (unsigned)(next_random() % 200), pareto);
		hist_encode(&now, &before, &bytes);
		cr_assert(hist_decode_add(&sum, bytes.data, bytes.len));
		cr_assert(hist_equal(&sum, &now));
		buf_fini(&bytes);
		hist_fini(&before);
	}
	hist_fini(&now);
	hist_fini(&sum);
}

static bool accepts(const uint8_t *bytes, size_t len)
{
	struct hist h = { 0 };
	bool ok = hist_decode_add(&h, bytes, len);

	hist_fini(&h);
	return ok;
}

#define accepts_bytes(...) \
	accepts((const uint8_t[]) { __VA_ARGS__ }, sizeof((const uint8_t[]) { __VA_ARGS__ }))

Test(hist, refuses_bytes_of_another_form)
{
	cr_expect(accepts_bytes(0, 0, 0));
	cr_expect(accepts_bytes(9, 9, 9, 9, 1));
	cr_expect_not(accepts(NULL, 0));
	cr_expect_not(accepts_bytes(0, 0));
	cr_expect_not(accepts_bytes(0, 5, 4), "min above max");
	cr_expect_not(accepts_bytes(0, 0, 0, 1), "a gap without a count");
	cr_expect_not(accepts_bytes(0, 0, 0, 1, 0), "a count of nothing");
	cr_expect_not(accepts_bytes(0, 0, 0, 0x80, 0x80, 0x80, 0x01, 1), "beyond the last bucket");
	cr_expect_not(accepts_bytes(0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				    0x01, 1),
		      "a gap that would wrap");
	cr_expect_not(accepts_bytes(0, 0, 0, 0x80), "a varint that does not end");
	cr_expect_not(
		accepts_bytes(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0),
		"a varint of more than 64 bits");
}

/* Whatever the bytes are, what comes out can be asked, merged and freed. */
Test(hist, survives_any_bytes)
{
	struct buf good = { 0 };
	struct hist h = { 0 };

	state = 99;
	fill(&h, 300, lognormal);
	hist_encode(&h, NULL, &good);
	hist_fini(&h);
	for (unsigned round = 0; round < 20000; round++) {
		struct hist out = { 0 };
		size_t len = 1 + next_random() % good.len;
		uint8_t *bytes = xcalloc(len, 1);

		memcpy(bytes, good.data, len);
		for (unsigned k = 0; k < 1 + round % 8; k++)
			bytes[next_random() % len] = (uint8_t)next_random();
		if (hist_decode_add(&out, bytes, len) && out.count) {
			uint64_t p = hist_percentile(&out, 99);

			cr_assert(p >= out.min && p <= out.max);
			cr_assert(!isnan(hist_stddev(&out)));
		}
		hist_fini(&out);
		free(bytes);
	}
	buf_fini(&good);
}

/* --- cells ------------------------------------------------------------------------------------------------- */

Test(hist, cells_and_hist_count_the_same)
{
	struct hist_cells *cells = xcalloc(1, sizeof(*cells));
	struct hist a = { 0 }, b = { 0 };

	state = 5;
	hist_cells_init(cells);
	hist_add_cells(&b, cells);
	cr_expect_eq(b.count, 0);
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t v = pareto(), n = 1 + i % 2;

		hist_cells_record(cells, v, n);
		hist_add(&a, v, n);
	}
	hist_add_cells(&b, cells);
	cr_expect(hist_equal(&a, &b));
	hist_fini(&a);
	hist_fini(&b);
	free(cells);
}
