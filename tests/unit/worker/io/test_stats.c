/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/stats.h"

#include <criterion/criterion.h>

static struct stats_block *make(uint64_t nr_threads, uint64_t nr_slots)
{
	size_t bytes =
		(stats_block_bytes(nr_threads, nr_slots) + CACHELINE - 1) / CACHELINE * CACHELINE;
	struct stats_block *b = aligned_alloc(CACHELINE, bytes);

	memset(b, 0, bytes);
	stats_block_init(b, nr_threads, nr_slots);
	return b;
}

Test(stats, parts_do_not_overlap)
{
	_cleanup_free_ struct stats_block *b = make(2, 5);

	cr_assert_eq((uintptr_t)stats_thread(b, 1) % CACHELINE, 0);
	cr_assert_geq((char *)stats_thread(b, 0), (char *)(b + 1));
	cr_assert_geq((char *)stats_slot(b, 0), (char *)(stats_thread(b, 1) + 1));
	cr_assert_eq((char *)(stats_slot(b, 4) + 1), (char *)b + stats_block_bytes(2, 5));
	cr_assert_eq(b->start_ns, UINT64_MAX);
	cr_assert_eq(b->deadline_ns, UINT64_MAX);
}

Test(stats, a_block_that_lies_about_its_size_is_refused)
{
	size_t bytes = stats_block_bytes(2, 5);
	_cleanup_free_ struct stats_block *b = make(2, 5);
	struct stats_block good = *b;

	cr_assert(stats_block_valid(b, bytes));
	cr_assert_not(stats_block_valid(b, bytes - 1));
	b->nr_threads = UINT64_MAX / sizeof(struct thread_stats) + 2;
	cr_assert_not(stats_block_valid(b, bytes));
	*b = good;
	b->nr_slots = UINT64_MAX;
	cr_assert_not(stats_block_valid(b, bytes));
	*b = good;
	b->slots_offset = 1;
	cr_assert_not(stats_block_valid(b, bytes));
	*b = good;
	stats_thread(b, 1)->first_slot = 5;
	stats_thread(b, 1)->nr_slots = 1;
	cr_assert_not(stats_block_valid(b, bytes));
}

Test(stats, directions_add_up)
{
	_cleanup_free_ struct stats_block *b = make(2, 1);
	_cleanup_(direction_sum_fini) struct direction_sum sum = { 0 };

	for (uint64_t i = 0; i < 2; i++) {
		struct direction_cells *d = &stats_thread(b, i)->dir[DIR_WRITE];

		cell_add(&d->counts.ios, 3);
		cell_set(&d->counts.drain_lat_max_ns, 100 * (i + 1));
		hist_cells_record(&d->lat, 1000 * (i + 1), 3);
		hist_cells_record(&d->slat, 50, 3);
		stats_sum_direction(stats_thread(b, i), DIR_WRITE, &sum);
	}
	cr_assert_eq(sum.counts.ios, 6);
	cr_assert_eq(sum.counts.drain_lat_max_ns, 200);
	cr_assert_eq(sum.lat.count, 6);
	cr_assert_eq(sum.lat.min, 1000);
	cr_assert_eq(sum.lat.max, 2000);
	cr_assert_eq(sum.slat.sum, 300);
	cr_assert_eq(sum.clat.count, 0);
}
