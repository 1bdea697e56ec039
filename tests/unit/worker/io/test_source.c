/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/source.h"

#include <criterion/criterion.h>
#include <math.h>

enum { BATCH = 7, KIB = 1024 };

static struct job job;
static struct source s;
static struct range range = { 1 << 20, 1 << 20 };

static void setup(void)
{
	schema_init(&job_schema, &job);
	job.randseed = 3;
	job.rw = RW_RANDREAD;
}

static void teardown(void)
{
	source_fini(&s);
	schema_fini(&job_schema, &job);
}

TestSuite(source, .init = setup, .fini = teardown);

static void set(const char *key, const char *text)
{
	cr_assert_null(schema_set(&job_schema, &job, key, text));
}

static void make(bool bounded)
{
	cr_assert(source_needed(&job));
	cr_assert_eq(source_init(&s, &job, range, 11, 3), 0);
	source_begin(&s, &job, bounded);
}

/* All I/Os until the source is used up, or `most`; each is within the range. Owned by the caller. */
static struct io_cmd *take(size_t most, size_t *ret_nr)
{
	struct io_cmd *all = xcalloc(most + BATCH, sizeof(*all));
	size_t nr = 0;
	unsigned got = BATCH;

	while (nr < most && got == BATCH) {
		got = source_fill(&s, all + nr, BATCH);
		nr += got;
	}
	for (size_t i = 0; i < nr; i++) {
		cr_assert_gt(all[i].bytes, 0);
		cr_assert_geq(all[i].offset, range.start);
		cr_assert_leq(all[i].offset + all[i].bytes, range.start + range.bytes);
	}
	*ret_nr = nr;
	return all;
}

static bool near(double count, double n, double share)
{
	return fabs(count - n * share) <= 5 * sqrt(n * share * (1 - share)) + 1;
}

Test(source, plain_jobs_need_none)
{
	cr_assert_not(source_needed(&job));
	set("norandommap", "true");
	set("random_distribution", "random");
	set("blockalign", "4k");
	cr_assert_not(source_needed(&job));
	set("blockalign", "8k");
	cr_assert(source_needed(&job));
}

Test(source, split_has_its_shares_of_the_ios)
{
	size_t nr, small = 0, middle = 0;
	struct io_cmd *all;

	set("bssplit", "4k/10:64k/50:32k");
	set("norandommap", "true");
	make(false);
	all = take(200000, &nr);
	for (size_t i = 0; i < nr; i++) {
		small += all[i].bytes == 4 * KIB;
		middle += all[i].bytes == 32 * KIB;
		cr_assert(all[i].bytes == 4 * KIB || all[i].bytes == 32 * KIB ||
			  all[i].bytes == 64 * KIB);
		cr_assert_eq(all[i].offset % (4 * KIB), 0);
		cr_assert_eq(all[i].command, DIR_READ);
	}
	cr_expect(near((double)small, (double)nr, 0.1));
	cr_expect(near((double)middle, (double)nr, 0.4));
	free(all);
}

Test(source, a_pass_moves_the_ranges_bytes_and_the_last_is_cut)
{
	uint64_t sum = 0;
	size_t nr;
	struct io_cmd *all;

	set("bssplit", "4k/10:64k/50:32k/40");
	set("loops", "3");
	make(true);
	all = take(10000, &nr);
	for (size_t i = 0; i < nr; i++)
		sum += all[i].bytes;
	cr_assert_eq(sum, 3 * range.bytes);
	cr_assert_eq(source_fill(&s, all, 1), 0, "and nothing more");
	free(all);
}

Test(source, range_of_sizes_is_even_over_multiples_of_the_smallest)
{
	size_t nr, counts[16] = { 0 };
	struct io_cmd *all;

	set("bsrange", "4k-64k");
	make(false);
	all = take(100000, &nr);
	for (size_t i = 0; i < nr; i++) {
		cr_assert_eq(all[i].bytes % (4 * KIB), 0);
		counts[all[i].bytes / (4 * KIB) - 1]++;
	}
	for (unsigned i = 0; i < 16; i++)
		cr_expect(near((double)counts[i], (double)nr, 1.0 / 16));
	free(all);
}

Test(source, directions_have_sizes_of_their_own)
{
	size_t nr, reads = 0;
	struct io_cmd *all;

	job.rw = RW_RANDRW;
	job.rwmixread = 70;
	set("bssplit", "4k/100,8k/50:16k/50");
	make(false);
	all = take(50000, &nr);
	for (size_t i = 0; i < nr; i++) {
		reads += all[i].command == DIR_READ;
		cr_assert(all[i].command == DIR_READ
				  ? all[i].bytes == 4 * KIB
				  : all[i].bytes == 8 * KIB || all[i].bytes == 16 * KIB);
	}
	cr_expect(near((double)reads, (double)nr, 0.7));
	free(all);
}

Test(source, sequence_is_without_a_gap_and_covers_the_range)
{
	uint64_t next = range.start;
	size_t nr;
	struct io_cmd *all;

	job.rw = RW_READ;
	set("bsrange", "4k-20k");
	set("loops", "2");
	make(true);
	all = take(10000, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (next == range.start + range.bytes)
			next = range.start;
		cr_assert_eq(all[i].offset, next);
		next += all[i].bytes;
	}
	cr_assert_eq(next, range.start + range.bytes);
	free(all);
}

Test(source, skip_leaves_bytes_out)
{
	size_t nr;
	struct io_cmd *all;

	range.bytes = 128 << 20;
	job.rw = RW_READ;
	set("bs", "1m");
	set("skip", "512k");
	make(true);
	all = take(1000, &nr);
	cr_assert_eq(nr, 85);
	for (size_t i = 0; i < nr; i++)
		cr_assert_eq(all[i].offset, range.start + i * 3 * (512 * KIB));
	free(all);
	range.bytes = 1 << 20;
}

Test(source, blocks_begin_at_each_aligned_place_once_per_pass)
{
	uint64_t places[64] = { 0 };
	size_t nr;
	struct io_cmd *all;

	set("blockalign", "16k");
	make(false);
	all = take(63 + BATCH, &nr);
	for (size_t i = 0; i < 64; i++)
		places[(all[i].offset - range.start) / (16 * KIB)]++;
	for (size_t i = 0; i < 64; i++)
		cr_assert_eq(places[i], 1);
	free(all);
}

Test(source, what_would_reach_over_the_end_begins_earlier)
{
	size_t nr;
	struct io_cmd *all;

	set("bssplit", "4k/50:1m/50");
	make(false);
	all = take(1000, &nr);
	for (size_t i = 0; i < nr; i++)
		cr_assert(all[i].bytes == 4 * KIB || all[i].offset == range.start);
	free(all);
}

Test(source, sequences_of_a_random_job)
{
	size_t nr, follow = 0;
	struct io_cmd *all;

	range.bytes = 1ull << 30;
	set("sequence", "8");
	make(false);
	all = take(8000, &nr);
	for (size_t i = 1; i < nr; i++)
		follow += all[i].offset == all[i - 1].offset + all[i - 1].bytes;
	/* Seven of eight, but where a random place is the range's last. */
	cr_assert(follow >= nr * 7 / 8 - 8 && follow <= nr * 7 / 8 + 8, "%zu", follow);
	free(all);
	range.bytes = 1 << 20;
}

Test(source, percentage_random_is_the_share_of_new_places)
{
	size_t nr, follow = 0;
	struct io_cmd *all;

	range.bytes = 1ull << 40;
	set("percentage_random", "30");
	make(false);
	all = take(50000, &nr);
	for (size_t i = 1; i < nr; i++)
		follow += all[i].offset == all[i - 1].offset + all[i - 1].bytes;
	cr_expect(near((double)follow, (double)nr, 0.7), "%zu of %zu", follow, nr);
	free(all);
	range.bytes = 1 << 20;
}

static int compare_counts(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return *x > *y ? -1 : *x < *y;
}

Test(source, zipf_is_as_steep_as_asked_and_lies_all_over_the_range)
{
	size_t nr, counts[256] = { 0 }, left = 0;
	double sum = 0;
	struct io_cmd *all;

	set("random_distribution", "zipf:1.2");
	make(false);
	all = take(400000, &nr);
	for (size_t i = 0; i < nr; i++)
		counts[(all[i].offset - range.start) / 4096]++;
	for (size_t i = 0; i < 128; i++)
		left += counts[i];
	cr_expect(left > nr / 20 && left < nr - nr / 20, "ranks are not places: %zu", left);
	qsort(counts, 256, sizeof(*counts), compare_counts);
	for (unsigned k = 1; k <= 256; k++)
		sum += pow(k, -1.2);
	for (unsigned k = 1; k <= 20; k++)
		cr_expect(near((double)counts[k - 1], (double)nr, pow(k, -1.2) / sum), "rank %u",
			  k);
	free(all);
}

Test(source, hot_places_are_common_to_all_threads_of_a_job)
{
	struct source other;
	size_t nr, mine[256] = { 0 }, theirs[256] = { 0 }, hot = 0;
	struct io_cmd *all, cmd;

	set("random_distribution", "pareto:0.05");
	make(false);
	cr_assert_eq(source_init(&other, &job, range, 12, 3), 0);
	all = take(20000, &nr);
	for (size_t i = 0; i < nr; i++) {
		mine[(all[i].offset - range.start) / 4096]++;
		cr_assert_eq(source_fill(&other, &cmd, 1), 1);
		theirs[(cmd.offset - range.start) / 4096]++;
	}
	for (size_t i = 1; i < 256; i++)
		hot = mine[i] > mine[hot] ? i : hot;
	for (size_t i = 0; i < 256; i++)
		cr_assert_leq(theirs[i], theirs[hot]);
	free(all);
	source_fini(&other);
}

Test(source, zones_get_their_ios)
{
	size_t nr, first = 0;
	struct io_cmd *all;

	set("random_distribution", "zoned:90/25:10/75");
	make(false);
	all = take(50000, &nr);
	for (size_t i = 0; i < nr; i++)
		first += all[i].offset < range.start + range.bytes / 4;
	cr_expect(near((double)first, (double)nr, 0.9));
	free(all);
}

Test(source, trimwrite_writes_each_block_that_it_trimmed)
{
	size_t nr;
	struct io_cmd *all;

	job.rw = RW_TRIMWRITE;
	set("bssplit", "4k/50:12k/50");
	make(true);
	all = take(1000, &nr);
	cr_assert_eq(nr % 2, 0);
	for (size_t i = 0; i < nr; i += 2) {
		cr_assert_eq(all[i].command, DIR_TRIM);
		cr_assert_eq(all[i + 1].command, DIR_WRITE);
		cr_assert_eq(all[i].offset, all[i + 1].offset);
		cr_assert_eq(all[i].bytes, all[i + 1].bytes);
		cr_assert(i == 0 || all[i].offset == all[i - 1].offset + all[i - 1].bytes);
	}
	cr_assert_eq(all[nr - 1].offset + all[nr - 1].bytes, range.start + range.bytes);
	free(all);
}

Test(source, the_same_seed_gives_the_same_ios)
{
	struct source again;
	struct io_cmd *all;
	size_t nr;

	set("bssplit", "4k/10:64k/90");
	job.rw = RW_RANDRW;
	make(false);
	cr_assert_eq(source_init(&again, &job, range, 11, 3), 0);
	source_begin(&again, &job, false);
	all = take(1000, &nr);
	for (size_t i = 0; i < nr; i += BATCH) {
		struct io_cmd batch[BATCH];

		cr_assert_eq(source_fill(&again, batch, BATCH), BATCH);
		cr_assert_eq(memcmp(batch, &all[i], sizeof(batch)), 0);
	}
	free(all);
	source_fini(&again);
}
