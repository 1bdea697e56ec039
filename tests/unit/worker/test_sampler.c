/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sampler.h"

#include "common/base/clock.h"

#include <criterion/criterion.h>

enum { THREADS = 3, SLOTS = 6, MEMBERS = 2, START = 1000000 };

static struct stats_block *b;
static struct sampler s;
static struct work_member members[MEMBERS];
static struct assignment a = { .members = members, .nr_members = MEMBERS };

/* Threads 0 and 1 are of member 0, thread 2 of member 1. */
static void setup(void)
{
	b = aligned_alloc(CACHELINE, (stats_block_bytes(THREADS, SLOTS) + CACHELINE - 1) /
					     CACHELINE * CACHELINE);
	memset(b, 0, stats_block_bytes(THREADS, SLOTS));
	stats_block_init(b, THREADS, SLOTS);
	for (size_t i = 0; i < THREADS; i++) {
		stats_thread(b, i)->member = i / 2ull;
		stats_thread(b, i)->first_slot = 2ull * i;
		stats_thread(b, i)->nr_slots = 2;
		stats_thread(b, i)->state = THREAD_RUNNING;
	}
	members[1].target = 5;
	sampler_begin(&s, b, MEMBERS, START);
}

static void teardown(void)
{
	sampler_fini(&s);
	free(b);
}

TestSuite(sampler, .init = setup, .fini = teardown);

static void count(size_t thread, int dir, uint64_t latency_ns)
{
	struct direction_cells *cells = &stats_thread(b, thread)->dir[dir];

	cell_add(&cells->counts.ios, 1);
	cell_add(&cells->counts.bytes, 4096);
	hist_cells_record(&cells->lat, latency_ns, 1);
}

static void rows_free(struct member_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(rows[i].lat);
		free(rows[i].clat);
		free(rows[i].slat);
	}
	free(rows);
}

static void done_free(struct msg_done *d)
{
	struct message m = { .type = MSG_DONE, .done = *d };

	message_fini(&m);
}

Test(sampler, sample_is_what_came_since_the_last_one)
{
	struct msg_sample m;

	count(0, DIR_READ, 1000);
	count(1, DIR_READ, 3000);
	count(2, DIR_WRITE, 500);
	sampler_take(&s, START + 10, 0, &m);
	cr_assert_eq(m.nr_rows, 2);
	cr_assert_eq(m.from_ns, START);
	cr_assert_eq(m.to_ns, START + 10);
	cr_assert_eq(m.running, THREADS);
	cr_assert_eq(m.rows[0].counts.ios, 2, "threads of a member are added up");
	cr_assert_eq(m.rows[1].member, 1);
	cr_assert_eq(m.rows[1].direction, DIR_WRITE);
	rows_free(m.rows, m.nr_rows);
	count(2, DIR_WRITE, 700);
	sampler_take(&s, START + 20, 1, &m);
	cr_assert_eq(m.sequence, 1);
	cr_assert_eq(m.from_ns, START + 10);
	cr_assert_eq(m.nr_rows, 1, "rows without anything new are left out");
	cr_assert_eq(m.rows[0].counts.ios, 1);
	rows_free(m.rows, m.nr_rows);
}

Test(sampler, maxima_are_told_as_they_stand)
{
	struct msg_sample m;

	cell_set(&stats_thread(b, 0)->dir[DIR_READ].counts.drain_lat_max_ns, 70);
	cell_set(&stats_thread(b, 1)->dir[DIR_READ].counts.drain_lat_max_ns, 90);
	sampler_take(&s, START + 10, 0, &m);
	cr_assert_eq(m.rows[0].counts.drain_lat_max_ns, 90);
	rows_free(m.rows, m.nr_rows);
	count(0, DIR_READ, 5);
	sampler_take(&s, START + 20, 1, &m);
	cr_assert_eq(m.rows[0].counts.drain_lat_max_ns, 90);
	rows_free(m.rows, m.nr_rows);
}

Test(sampler, rest_is_told_only_when_there_is_one)
{
	struct msg_sample m;

	cr_assert_not(sampler_take_rest(&s, START + 5, &m));
	count(0, DIR_SYNC, 9);
	cr_assert(sampler_take_rest(&s, START + 6, &m));
	cr_assert_eq(m.sequence, 0, "a rest that was not told has no number");
	cr_assert_eq(m.interval, -1);
	rows_free(m.rows, m.nr_rows);
	cr_assert_not(sampler_take_rest(&s, START + 7, &m));
	cr_assert_eq(s.sequence, 1);
}

Test(sampler, oldest_io_in_flight_is_told)
{
	struct msg_sample m;

	stats_slot(b, 3)->submitted_ns = START + 40;
	stats_slot(b, 4)->submitted_ns = START + 60;
	sampler_take(&s, START + 100, 0, &m);
	cr_assert_eq(m.oldest_ns, 60);
	rows_free(m.rows, m.nr_rows);
}

/* The samples of any run add up to its DONE, whenever they were taken. */
Test(sampler, sum_of_samples_is_done_to_the_last_io)
{
	struct direction_sum sums[MEMBERS][DIR_COUNT] = { 0 };
	struct tally all;
	unsigned long long seed = 7;

	for (int i = 0; i < 2000; i++) {
		struct msg_sample m;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		count((seed >> 33) % THREADS, (int)((seed >> 40) % DIR_COUNT), seed >> 44);
		if (i % 37 && i != 1999)
			continue;
		sampler_take(&s, START + 1 + (uint64_t)i, i, &m);
		for (size_t k = 0; k < m.nr_rows; k++) {
			struct direction_sum *to = &sums[m.rows[k].member][m.rows[k].direction];

			counts_merge(&to->counts, &m.rows[k].counts);
			cr_assert(hist_decode_add(&to->lat, m.rows[k].lat, m.rows[k].lat_len));
		}
		rows_free(m.rows, m.nr_rows);
	}
	tally_read(b, MEMBERS, START + 5000, 0, &all);
	for (size_t i = 0; i < MEMBERS * DIR_COUNT; i++) {
		struct direction_sum *sum = &sums[i / DIR_COUNT][i % DIR_COUNT];
		const struct direction_sum *total = &all.members[i / DIR_COUNT].dir[i % DIR_COUNT];

		cr_assert_eq(memcmp(&sum->counts, &total->counts, sizeof(sum->counts)), 0);
		cr_assert(hist_equal(&sum->lat, &total->lat));
		direction_sum_fini(sum);
	}
	tally_fini(&all);
}

Test(sampler, salvaged_done_counts_what_never_came_back)
{
	struct msg_sample rest;
	struct msg_done done;

	count(2, DIR_WRITE, 100);
	*stats_slot(b, 4) = (struct io_slot) { START + 10, 4096, 512, DIR_WRITE };
	*stats_slot(b, 5) = (struct io_slot) { START + 30, 8192, 512, DIR_WRITE };
	sampler_salvage(&s, &a, START, START + 100, &rest, &done);
	cr_assert_eq(done.samples, 1);
	cr_assert_eq(done.nr_stuck, 2);
	cr_assert_eq(done.stuck[0].target, 5);
	cr_assert_eq(done.stuck[0].offset, 4096);
	cr_assert_eq(done.stuck[0].age_ns, 90);
	cr_assert_eq(done.nr_rows, 1);
	cr_assert_eq(done.rows[0].counts.unfinished_ios, 2);
	cr_assert_eq(done.rows[0].counts.unfinished_age_ns, 90);
	cr_assert_eq(rest.rows[0].counts.unfinished_ios, 2, "the sum of samples still holds");
	rows_free(rest.rows, rest.nr_rows);
	done_free(&done);
}

Test(sampler, places_outside_the_block_are_not_followed)
{
	struct msg_sample m;
	struct msg_done done;

	stats_thread(b, 0)->first_slot = UINT64_MAX;
	stats_thread(b, 1)->first_slot = SLOTS - 1;
	stats_thread(b, 1)->nr_slots = UINT64_MAX;
	stats_thread(b, 2)->member = MEMBERS;
	stats_slot(b, SLOTS - 1)->submitted_ns = START;
	stats_slot(b, SLOTS - 1)->direction = DIR_COUNT;
	sampler_salvage(&s, &a, START, START + 100, &m, &done);
	cr_assert_eq(m.oldest_ns, 100);
	cr_assert_eq(done.nr_rows, 0);
	cr_assert_eq(done.members[1].threads, 0);
	rows_free(m.rows, m.nr_rows);
	done_free(&done);
}
