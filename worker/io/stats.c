/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/stats.h"

static_assert(sizeof(struct io_slot) % 8 == 0, "slots stay aligned");

/* Where the slots begin: after the threads, on a cache line of their own. */
static uint64_t threads_offset(void)
{
	return (sizeof(struct stats_block) + CACHELINE - 1) / CACHELINE * CACHELINE;
}

static uint64_t slots_offset(uint64_t nr_threads)
{
	return threads_offset() + nr_threads * sizeof(struct thread_stats);
}

size_t stats_block_bytes(uint64_t nr_threads, uint64_t nr_slots)
{
	return slots_offset(nr_threads) + nr_slots * sizeof(struct io_slot);
}

void stats_block_init(struct stats_block *b, uint64_t nr_threads, uint64_t nr_slots)
{
	b->bytes = stats_block_bytes(nr_threads, nr_slots);
	b->nr_threads = nr_threads;
	b->nr_slots = nr_slots;
	b->threads_offset = threads_offset();
	b->slots_offset = slots_offset(nr_threads);
	b->start_ns = UINT64_MAX;
	b->deadline_ns = UINT64_MAX;
	for (uint64_t i = 0; i < nr_threads; i++) {
		struct thread_stats *t = stats_thread(b, i);

		for (int dir = 0; dir < DIR_COUNT; dir++) {
			t->dir[dir].lat.min = UINT64_MAX;
			t->dir[dir].clat.min = UINT64_MAX;
			t->dir[dir].slat.min = UINT64_MAX;
			t->dir[dir].service.min = UINT64_MAX;
			t->dir[dir].late.min = UINT64_MAX;
		}
	}
}

bool stats_block_valid(const struct stats_block *b, size_t bytes)
{
	uint64_t most;

	if (bytes < sizeof(*b) || b->bytes > bytes)
		return false;
	/* Bounds first, so that the products below cannot wrap. */
	most = bytes / sizeof(struct io_slot);
	if (b->nr_threads > bytes / sizeof(struct thread_stats) || b->nr_slots > most)
		return false;
	if (b->threads_offset != threads_offset() || b->slots_offset != slots_offset(b->nr_threads))
		return false;
	if (b->bytes != stats_block_bytes(b->nr_threads, b->nr_slots))
		return false;
	for (uint64_t i = 0; i < b->nr_threads; i++) {
		uint64_t first = cell_get(&stats_thread(b, i)->first_slot);
		uint64_t nr = cell_get(&stats_thread(b, i)->nr_slots);

		if (first > b->nr_slots || nr > b->nr_slots - first)
			return false;
	}
	return true;
}

void stats_note_error(struct thread_stats *t, enum direction dir, int number, uint64_t offset,
		      uint64_t now_ns)
{
	struct errno_cell *cell = t->errnos[dir], *others = cell + STATS_ERRNOS;

	while (cell < others && cell->number && cell->number != (uint64_t)number)
		cell++;
	if (!cell->number) {
		cell_set(&cell->first_offset, dir == DIR_SYNC ? UINT64_MAX : offset);
		cell_set(&cell->first_ns, now_ns);
		cell_set(&cell->number, cell == others ? ERRNO_OTHERS : (uint64_t)number);
	}
	cell_add(&cell->count, 1);
	cell_add(&t->dir[dir].counts.errors, 1);
}

void stats_sum_direction(const struct thread_stats *t, enum direction dir, struct direction_sum *to)
{
	const struct direction_cells *from = &t->dir[dir];

	counts_merge_cells(&to->counts, &from->counts);
	hist_add_cells(&to->lat, &from->lat);
	hist_add_cells(&to->clat, &from->clat);
	hist_add_cells(&to->slat, &from->slat);
	hist_add_cells(&to->service, &from->service);
	hist_add_cells(&to->late, &from->late);
}
