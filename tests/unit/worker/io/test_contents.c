/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/contents.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BYTES = 64 << 10 };

static struct job job;
static struct contents c;
static char at[BYTES], before[BYTES];

static void setup(void)
{
	schema_init(&job_schema, &job);
	job.rw = RW_WRITE;
}

static void teardown(void)
{
	schema_fini(&job_schema, &job);
}

TestSuite(contents, .init = setup, .fini = teardown);

static void set(const char *key, const char *text)
{
	cr_assert_null(schema_set(&job_schema, &job, key, text));
}

static void fill(size_t bytes)
{
	contents_init(&c, &job, 7);
	contents_fill(&c, at, bytes);
}

/* How many bytes of each chunk, counted from its end, are the pattern's at their place. */
static void expect_chunks(size_t chunk, size_t nr_random, const char *pattern, size_t nr_pattern)
{
	size_t equal = 0;

	for (size_t i = 0; i < BYTES; i++) {
		if (i % chunk >= nr_random)
			cr_assert_eq(at[i], pattern[i % nr_pattern], "byte %zu", i);
		else
			equal += at[i] == pattern[i % nr_pattern];
	}
	/* One in 256 by chance. */
	cr_assert_leq(equal, BYTES / chunk * nr_random / 128 + 4);
}

Test(contents, are_random_and_stamped_by_default)
{
	fill(BYTES);
	expect_chunks(BYTES, BYTES, "", 1);
	cr_assert(c.stamps);
	cr_assert_not(c.refills);
}

Test(contents, of_zero_buffers_are_zeros_without_stamps)
{
	set("zero_buffers", "true");
	set("refill_buffers", "true");
	fill(BYTES);
	expect_chunks(BYTES, 0, "", 1);
	cr_assert_not(c.stamps);
	cr_assert_not(c.refills);
}

Test(contents, of_a_pattern_are_nothing_else)
{
	set("buffer_pattern", "0xdeadbeef42");
	set("refill_buffers", "true");
	fill(BYTES);
	expect_chunks(BYTES, 0, "\xde\xad\xbe\xef\x42", 5);
	cr_assert_not(c.stamps);
	cr_assert_not(c.refills);
}

Test(contents, compress_by_zeros_behind_random_bytes)
{
	set("buffer_compress_percentage", "75");
	fill(BYTES);
	expect_chunks(512, 128, "", 1);
	cr_assert(c.stamps);
	cr_assert(c.refills);
	set("buffer_compress_chunk", "4k");
	fill(BYTES);
	expect_chunks(4096, 1024, "", 1);
}

Test(contents, compress_by_the_pattern)
{
	set("buffer_compress_percentage", "25");
	set("buffer_pattern", "text");
	fill(BYTES);
	expect_chunks(512, 384, "text", 4);
	cr_assert(c.refills);
}

Test(contents, of_a_hundred_percent_have_nothing_to_refill)
{
	set("buffer_compress_percentage", "100");
	fill(BYTES);
	expect_chunks(512, 0, "", 1);
	cr_assert_not(c.refills);
	cr_assert(c.stamps);
}

Test(contents, refill_draws_new_random_bytes_and_leaves_the_rest)
{
	size_t equal = 0;

	set("buffer_compress_percentage", "50");
	fill(BYTES);
	memcpy(before, at, BYTES);
	contents_refill(&c, at, BYTES / 2);
	expect_chunks(512, 256, "", 1);
	cr_assert_eq(memcmp(before + BYTES / 2, at + BYTES / 2, BYTES / 2), 0);
	for (size_t i = 0; i < BYTES / 2; i++)
		equal += i % 512 < 256 && at[i] == before[i];
	cr_assert_leq(equal, BYTES / 4 / 128);
}

Test(contents, stay_within_sizes_that_are_no_multiples)
{
	set("buffer_compress_percentage", "50");
	set("buffer_compress_chunk", "1000");
	for (size_t bytes = 1; bytes < 2100; bytes += 13) {
		memset(at, 'x', sizeof(at));
		fill(bytes);
		contents_refill(&c, at, bytes);
		for (size_t i = bytes; i < bytes + 16; i++)
			cr_assert_eq(at[i], 'x');
		cr_assert_eq(at[bytes - 1], bytes == 1 ? at[0] : 0, "%zu", bytes);
	}
}

Test(contents, of_a_job_that_writes_nothing_are_not_refilled)
{
	set("refill_buffers", "true");
	cr_assert(contents_refills(&job));
	job.rw = RW_RANDREAD;
	cr_assert_not(contents_refills(&job));
	job.rw = RW_RANDTRIM;
	cr_assert_not(contents_refills(&job));
	job.rw = RW_TRIMWRITE;
	cr_assert(contents_refills(&job));
}
