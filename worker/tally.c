/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/tally.h"

#include <stdio.h>

/* --- readings ------------------------------------------------------------------------------------- */

/* The slots of a thread as far as they lie in the block. */
static size_t thread_slots(const struct stats_block *b, const struct thread_stats *t)
{
	if (t->first_slot > b->nr_slots)
		return 0;
	uint64_t left = b->nr_slots - t->first_slot;

	return t->nr_slots < left ? t->nr_slots : left;
}

static uint64_t slot_age_ns(const struct io_slot *slot, uint64_t now_ns)
{
	uint64_t submitted = cell_get(&slot->submitted_ns);

	return submitted && submitted < now_ns ? now_ns - submitted : 0;
}

static bool has_counted(const struct direction_cells *cells)
{
	for (unsigned i = 0; i < NR_METRICS; i++)
		if (cell_get((const uint64_t *)((const char *)&cells->counts + metrics[i].offset)))
			return true;
	return false;
}

static void read_direction(const struct thread_stats *t, enum direction dir, unsigned flags,
			   struct direction_sum *to)
{
	if (!has_counted(&t->dir[dir]))
		return;
	if (!(flags & TALLY_LAT_ONLY)) {
		stats_sum_direction(t, dir, to);
		return;
	}
	counts_merge_cells(&to->counts, &t->dir[dir].counts);
	hist_add_cells(&to->lat, &t->dir[dir].lat);
}

static void read_slots(const struct stats_block *b, const struct thread_stats *t, uint64_t now_ns,
		       bool unfinished, struct member_sums *to, struct tally *all)
{
	size_t nr = thread_slots(b, t);

	for (size_t i = 0; i < nr; i++) {
		const struct io_slot *slot = stats_slot(b, t->first_slot + i);
		uint64_t age = slot_age_ns(slot, now_ns);

		if (!age)
			continue;
		if (age > all->oldest_ns)
			all->oldest_ns = age;
		if (unfinished && slot->direction < DIR_COUNT) {
			struct counts c = { .unfinished_ios = 1, .unfinished_age_ns = age };

			counts_merge(&to->dir[slot->direction].counts, &c);
		}
	}
}

void tally_read(const struct stats_block *b, size_t nr_members, uint64_t now_ns, unsigned flags,
		struct tally *ret)
{
	*ret = (struct tally) {
		.members = xcalloc(nr_members ? nr_members : 1, sizeof(*ret->members)),
		.nr_members = nr_members,
	};
	for (uint64_t i = 0; i < b->nr_threads; i++) {
		const struct thread_stats *t = stats_thread(b, i);
		uint64_t state = cell_get(&t->state);

		if (t->member >= nr_members)
			continue;
		struct member_sums *to = &ret->members[t->member];

		ret->running += state == THREAD_RUNNING || state == THREAD_DRAINING;
		for (int dir = 0; dir < DIR_COUNT; dir++)
			read_direction(t, dir, flags, &to->dir[dir]);
		read_slots(b, t, now_ns, flags & TALLY_UNFINISHED, to, ret);
	}
}

void tally_fini(struct tally *t)
{
	for (size_t i = 0; i < t->nr_members; i++)
		for (int dir = 0; dir < DIR_COUNT; dir++)
			direction_sum_fini(&t->members[i].dir[dir]);
	free(t->members);
	*t = (struct tally) { 0 };
}

/* --- rows ----------------------------------------------------------------------------------------- */

/* What came between the two; false when nothing did. */
static bool difference(const struct direction_sum *now, const struct direction_sum *before,
		       struct counts *ret)
{
	bool any = now->lat.count != before->lat.count;

	for (unsigned i = 0; i < NR_METRICS; i++) {
		const struct metric *m = &metrics[i];
		uint64_t value = metric_value(&now->counts, m);
		uint64_t was = metric_value(&before->counts, m);

		any = any || value != was;
		*metric_cell(ret, m) = m->merge == METRIC_SUM ? value - was : value;
	}
	return any;
}

static void encode(const struct hist *now, const struct hist *before, uint8_t **ret,
		   size_t *ret_len)
{
	struct buf out = { 0 };

	hist_encode(now, before, &out);
	*ret = out.data;
	*ret_len = out.len;
}

void tally_rows(const struct tally *now, const struct tally *before, struct member_row **ret,
		size_t *ret_nr)
{
	static const struct direction_sum nothing;
	struct member_row *rows = xcalloc(now->nr_members * DIR_COUNT + 1, sizeof(*rows));
	size_t nr = 0;

	for (size_t i = 0; i < now->nr_members * DIR_COUNT; i++) {
		size_t member = i / DIR_COUNT;
		int dir = (int)(i % DIR_COUNT);
		const struct direction_sum *n = &now->members[member].dir[dir];
		const struct direction_sum *b =
			before ? &before->members[member].dir[dir] : &nothing;
		struct member_row row = { .member = member, .direction = dir };

		if (!difference(n, b, &row.counts))
			continue;
		encode(&n->lat, before ? &b->lat : NULL, &row.lat, &row.lat_len);
		if (!before && n->clat.count)
			encode(&n->clat, NULL, &row.clat, &row.clat_len);
		if (!before && n->slat.count)
			encode(&n->slat, NULL, &row.slat, &row.slat_len);
		if (!before && n->service.count)
			encode(&n->service, NULL, &row.service, &row.service_len);
		if (!before && n->late.count)
			encode(&n->late, NULL, &row.late, &row.late_len);
		rows[nr++] = row;
	}
	*ret = rows;
	*ret_nr = nr;
}

/* --- members -------------------------------------------------------------------------------------- */

static uint64_t since(uint64_t start_ns, uint64_t instant_ns)
{
	return instant_ns > start_ns ? instant_ns - start_ns : 0;
}

static void keep_min(uint64_t *to, uint64_t value)
{
	if (value < *to)
		*to = value;
}

static void keep_max(uint64_t *to, uint64_t value)
{
	if (value > *to)
		*to = value;
}

/* The end of a thread's window. One that has not come to it is ended by its job's time, or by now. */
static uint64_t window_end(const struct thread_stats *t, const struct job *job, uint64_t now_ns)
{
	uint64_t end = cell_get(&t->end_ns), begin = cell_get(&t->begin_ns);

	if (end || !begin)
		return end;
	return job->runtime_ns && begin + job->runtime_ns < now_ns ? begin + job->runtime_ns
								   : now_ns;
}

/* The instants of one thread; minima start at UINT64_MAX and are put right in the end. */
static void add_instants(struct member_done *m, const struct thread_stats *t, uint64_t start_ns,
			 uint64_t end)
{
	uint64_t first = cell_get(&t->first_io_ns), begin = cell_get(&t->begin_ns);
	uint64_t *const ends[DIR_COUNT] = {
		[DIR_READ] = &m->read_end_ns,
		[DIR_WRITE] = &m->write_end_ns,
		[DIR_SYNC] = &m->sync_end_ns,
	};

	if (first) {
		keep_min(&m->first_io_ns, since(start_ns, first));
		keep_max(&m->last_first_io_ns, since(start_ns, first));
	}
	if (begin)
		keep_min(&m->begin_ns, since(start_ns, begin));
	keep_max(&m->end_ns, since(start_ns, end));
	/* A thread that never ran makes "every thread was running" empty. */
	keep_max(&m->all_begin_ns, first ? since(start_ns, first) : UINT64_MAX);
	keep_min(&m->all_end_ns, since(start_ns, end));
	for (int dir = 0; dir < DIR_COUNT; dir++)
		if (ends[dir])
			keep_max(ends[dir], since(start_ns, cell_get(&t->dir[dir].end_ns)));
}

static void add_thread(struct member_done *m, const struct thread_stats *t, uint64_t start_ns,
		       uint64_t end_ns)
{
	m->threads++;
	add_instants(m, t, start_ns, end_ns);
	m->cpu_usr_ns += cell_get(&t->cpu_usr_ns);
	m->cpu_sys_ns += cell_get(&t->cpu_sys_ns);
	m->ctx += cell_get(&t->ctx);
	m->majf += cell_get(&t->majf);
	m->minf += cell_get(&t->minf);
	keep_max(&m->effective_depth, cell_get(&t->depth_max));
}

static void put_minima_right(struct member_done *m)
{
	if (m->first_io_ns == UINT64_MAX)
		m->first_io_ns = 0;
	if (m->begin_ns == UINT64_MAX)
		m->begin_ns = 0;
	if (m->all_begin_ns >= m->all_end_ns || m->all_end_ns == UINT64_MAX)
		m->all_begin_ns = m->all_end_ns = 0;
}

/* Adds one errno of a thread to the member's rows. */
static void add_error(struct member_done *m, int dir, const struct errno_cell *from,
		      uint64_t start_ns)
{
	uint64_t number = cell_get(&from->number),
		 first_ns = since(start_ns, cell_get(&from->first_ns));
	struct error_row *row = m->errors, *end = row + m->nr_errors;
	const char *name = strerrorname_np((int)number);

	while (row < end && (row->direction != dir || row->number != number))
		row++;
	if (row == end) {
		m->errors = xrealloc(m->errors, m->nr_errors + 1, sizeof(*m->errors));
		row = &m->errors[m->nr_errors++];
		*row = (struct error_row) { .direction = dir,
					    .number = number,
					    .name = xstrdup(name ? name : "others"),
					    .first_ns = UINT64_MAX };
	}
	row->count += cell_get(&from->count);
	if (first_ns < row->first_ns) {
		row->first_ns = first_ns;
		row->first_offset = cell_get(&from->first_offset);
	}
}

static void add_errors(struct member_done *m, const struct thread_stats *t, uint64_t start_ns)
{
	for (int dir = 0; dir < DIR_COUNT; dir++)
		for (unsigned i = 0; i <= STATS_ERRNOS; i++)
			if (cell_get(&t->errnos[dir][i].number))
				add_error(m, dir, &t->errnos[dir][i], start_ns);
}

/* --- distributions -------------------------------------------------------------------------------- */

static void add_batches(struct batch_cells *to, const struct thread_stats *t)
{
	const uint64_t *from = (const uint64_t *)&t->batches;
	uint64_t *cell = (uint64_t *)to;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*cell); i++)
		cell[i] += cell_get(&from[i]);
}

static void pow2_rows(const struct pow2_counts *from, struct pow2_row **ret, size_t *ret_nr)
{
	struct pow2_row *rows = xcalloc(POW2_BUCKETS, sizeof(*rows));
	size_t nr = 0;

	for (unsigned i = 0; i < POW2_BUCKETS; i++)
		if (from->bucket[i])
			rows[nr++] =
				(struct pow2_row) { .from = 1ull << i, .count = from->bucket[i] };
	*ret = rows;
	*ret_nr = nr;
}

void tally_members(const struct stats_block *b, const struct assignment *a, uint64_t start_ns,
		   uint64_t now_ns, struct member_done **ret, size_t *ret_nr)
{
	struct member_done *members = xcalloc(a->nr_members + 1, sizeof(*members));
	struct batch_cells *batches = xcalloc(a->nr_members + 1, sizeof(*batches));

	for (size_t i = 0; i < a->nr_members; i++) {
		members[i].member = i;
		members[i].first_io_ns = members[i].begin_ns = members[i].all_end_ns = UINT64_MAX;
	}
	for (uint64_t i = 0; i < b->nr_threads; i++) {
		const struct thread_stats *t = stats_thread(b, i);

		if (t->member >= a->nr_members)
			continue;
		add_thread(&members[t->member], t, start_ns,
			   window_end(t, &a->members[t->member].job, now_ns));
		add_errors(&members[t->member], t, start_ns);
		add_batches(&batches[t->member], t);
	}
	for (size_t i = 0; i < a->nr_members; i++) {
		put_minima_right(&members[i]);
		pow2_rows(&batches[i].depths, &members[i].depths, &members[i].nr_depths);
		pow2_rows(&batches[i].submits, &members[i].submits, &members[i].nr_submits);
		pow2_rows(&batches[i].completes, &members[i].completes, &members[i].nr_completes);
	}
	free(batches);
	*ret = members;
	*ret_nr = a->nr_members;
}

void tally_stuck(const struct stats_block *b, const struct assignment *a, uint64_t now_ns,
		 struct stuck_io **ret, size_t *ret_nr)
{
	struct stuck_io *stuck = xcalloc(TALLY_MAX_STUCK, sizeof(*stuck));
	size_t nr = 0;

	for (uint64_t i = 0; i < b->nr_threads; i++) {
		const struct thread_stats *t = stats_thread(b, i);
		size_t nr_slots = t->member < a->nr_members ? thread_slots(b, t) : 0;

		for (size_t k = 0; k < nr_slots && nr < TALLY_MAX_STUCK; k++) {
			const struct io_slot *slot = stats_slot(b, t->first_slot + k);
			uint64_t age = slot_age_ns(slot, now_ns);

			if (!age || slot->direction >= DIR_COUNT)
				continue;
			stuck[nr++] = (struct stuck_io) {
				.target = a->members[t->member].target,
				.offset = slot->offset,
				.bytes = slot->bytes,
				.age_ns = age,
				.direction = (int)slot->direction,
			};
		}
	}
	*ret = stuck;
	*ret_nr = nr;
}
