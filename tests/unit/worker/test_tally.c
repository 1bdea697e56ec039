/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/tally.h"

#include <criterion/criterion.h>
#include <errno.h>

enum { THREADS = 2, START = 1000 };

static struct stats_block *b;
static struct work_member members[1];
static struct assignment a = { .members = members, .nr_members = 1 };
static struct member_done *done;
static size_t nr_done;

static void setup(void)
{
	b = aligned_alloc(CACHELINE,
			  (stats_block_bytes(THREADS, 0) + CACHELINE - 1) / CACHELINE * CACHELINE);
	memset(b, 0, stats_block_bytes(THREADS, 0));
	stats_block_init(b, THREADS, 0);
}

static void teardown(void)
{
	struct message m = { .type = MSG_DONE, .done = { .members = done, .nr_members = nr_done } };

	message_fini(&m);
	free(b);
}

TestSuite(tally, .init = setup, .fini = teardown);

static void thread(size_t i, uint64_t first_io, uint64_t begin, uint64_t end)
{
	stats_thread(b, i)->first_io_ns = first_io;
	stats_thread(b, i)->begin_ns = begin;
	stats_thread(b, i)->end_ns = end;
}

static const struct member_done *add_up(uint64_t now)
{
	tally_members(b, &a, START, now, &done, &nr_done);
	cr_assert_eq(nr_done, 1);
	return done;
}

Test(tally, window_is_from_the_first_begin_to_the_last_end)
{
	thread(0, START + 3, START + 10, START + 90);
	thread(1, START + 5, START + 12, START + 80);
	const struct member_done *m = add_up(START + 1000);

	cr_assert_eq(m->threads, 2);
	cr_assert_eq(m->first_io_ns, 3);
	cr_assert_eq(m->last_first_io_ns, 5);
	cr_assert_eq(m->begin_ns, 10);
	cr_assert_eq(m->end_ns, 90);
	cr_assert_eq(m->all_begin_ns, 5);
	cr_assert_eq(m->all_end_ns, 80);
}

Test(tally, thread_that_never_ran_leaves_no_time_in_which_all_did)
{
	thread(0, START + 3, START + 10, START + 90);
	const struct member_done *m = add_up(START + 1000);

	cr_assert_eq(m->first_io_ns, 3);
	cr_assert_eq(m->begin_ns, 10);
	cr_assert_eq(m->all_begin_ns, 0);
	cr_assert_eq(m->all_end_ns, 0);
}

Test(tally, thread_that_hangs_ends_with_its_jobs_time)
{
	members[0].job.runtime_ns = 50;
	thread(0, START + 3, START + 10, START + 60);
	thread(1, START + 3, START + 10, 0);
	cr_assert_eq(add_up(START + 1000)->all_end_ns, 60);
}

Test(tally, thread_that_died_before_its_time_ends_now)
{
	members[0].job.runtime_ns = 50;
	thread(0, START + 3, START + 10, 0);
	thread(1, START + 3, START + 10, 0);
	cr_assert_eq(add_up(START + 30)->end_ns, 30);
}

Test(tally, figures_of_threads_add_up_and_the_largest_depth_counts)
{
	stats_thread(b, 0)->cpu_usr_ns = 5;
	stats_thread(b, 1)->cpu_usr_ns = 7;
	stats_thread(b, 0)->depth_max = 3;
	stats_thread(b, 1)->depth_max = 2;
	stats_thread(b, 1)->dir[DIR_WRITE].end_ns = START + 44;
	const struct member_done *m = add_up(START + 30);

	cr_assert_eq(m->cpu_usr_ns, 12);
	cr_assert_eq(m->effective_depth, 3);
	cr_assert_eq(m->write_end_ns, 44);
	cr_assert_eq(m->read_end_ns, 0);
	cr_assert_eq(m->nr_errors, 0);
}

Test(tally, errors_are_named_once_per_kind_with_their_number)
{
	struct errno_cell(*first)[STATS_ERRNOS + 1] = stats_thread(b, 0)->errnos;
	struct errno_cell(*second)[STATS_ERRNOS + 1] = stats_thread(b, 1)->errnos;
	const struct member_done *m;

	first[DIR_READ][0] = (struct errno_cell) { EIO, 2, 4096, START + 20 };
	first[DIR_WRITE][0] = (struct errno_cell) { ENOSPC, 1, 0, START + 7 };
	second[DIR_READ][0] = (struct errno_cell) { EIO, 3, 8192, START + 10 };
	second[DIR_SYNC][0] = (struct errno_cell) { EIO, 1, UINT64_MAX, START + 11 };
	second[DIR_WRITE][STATS_ERRNOS] = (struct errno_cell) { ERRNO_OTHERS, 4, 512, START + 12 };
	m = add_up(START + 30);
	cr_assert_eq(m->nr_errors, 4);
	cr_assert_eq(m->errors[0].direction, DIR_READ);
	cr_assert_eq(m->errors[0].number, EIO);
	cr_assert_str_eq(m->errors[0].name, "EIO");
	cr_assert_eq(m->errors[0].count, 5);
	cr_assert_eq(m->errors[0].first_ns, 10, "of the earlier thread");
	cr_assert_eq(m->errors[0].first_offset, 8192);
	cr_assert_eq(m->errors[1].direction, DIR_WRITE);
	cr_assert_eq(m->errors[1].first_offset, 0);
	cr_assert_str_eq(m->errors[2].name, "others");
	cr_assert_eq(m->errors[3].direction, DIR_SYNC);
	cr_assert_eq(m->errors[3].first_offset, UINT64_MAX);
}

Test(tally, distributions_are_added_up_and_empty_buckets_left_out)
{
	const struct member_done *m;

	stats_thread(b, 0)->batches.depths.bucket[5] = 40;
	stats_thread(b, 1)->batches.depths.bucket[5] = 2;
	stats_thread(b, 1)->batches.depths.bucket[0] = 1;
	stats_thread(b, 1)->batches.completes.bucket[12] = 7;
	m = add_up(START + 30);
	cr_assert_eq(m->nr_depths, 2);
	cr_assert_eq(m->depths[0].from, 1);
	cr_assert_eq(m->depths[0].count, 1);
	cr_assert_eq(m->depths[1].from, 32);
	cr_assert_eq(m->depths[1].count, 42);
	cr_assert_eq(m->nr_submits, 0);
	cr_assert_eq(m->nr_completes, 1);
	cr_assert_eq(m->completes[0].from, 4096);
}
