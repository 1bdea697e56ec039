/* SPDX-License-Identifier: Apache-2.0 */
/* The hot loop.
 *
 * Design notes. One turn: prepare and submit as many I/Os as slots are free, read the clock, wait for the
 * first completions, read the clock, account them. The reading after the reap is also the instant of
 * submission of the I/Os prepared right after it, so a slot is never idle on paper and
 * IOPS x latency = depth holds exactly.
 *
 * Nothing here locks, allocates, formats or calls the kernel other than through the engine. What depends
 * on the job (direction, engine) is a constant of one of the variants below, chosen before the start;
 * what depends on the time (ramp, window, drain) is where `account` points. One call per batch, not per
 * I/O, goes through a pointer: offsets, submit, reap.
 *
 * Everything that is not a full, successful transfer leaves the fast path into account_one.
 */
#include "worker/io/thread.h"

#include <errno.h>

#define hot_inline static inline __attribute__((always_inline))

enum { MAX_RETRIES = 1000 }; /* of EAGAIN and EINTR in a row, before they count as errors */
#define RETRY_PAUSE_NS (1 * NS_PER_MS)

enum mix { MIX_READ, MIX_WRITE, MIX_BOTH };

/* Sum, minimum and maximum of a batch, in registers. */
struct tally {
	uint64_t sum, min, max;
};

hot_inline void tally_add(struct tally *t, struct hist_cells *cells, uint64_t value)
{
	cell_add(&cells->bucket[hist_index(value)], 1);
	t->sum += value;
	if (value < t->min)
		t->min = value;
	if (value > t->max)
		t->max = value;
}

hot_inline void tally_store(const struct tally *t, struct hist_cells *cells)
{
	cell_add(&cells->sum, t->sum);
	if (t->min < cells->min)
		cell_set(&cells->min, t->min);
	if (t->max > cells->max)
		cell_set(&cells->max, t->max);
}

bool loop_is_due(const struct io_thread *th)
{
	return th->now_ns >= th->edge_ns || th->now_ns >= cell_get(&th->block->deadline_ns) ||
	       cell_get(&th->block->stop);
}

static void count_error(struct io_thread *th, const struct io_slot *s, int error)
{
	struct errno_cell *cell = th->stats->errnos;
	const struct errno_cell *last = cell + STATS_ERRNOS - 1;

	while (cell < last && cell->number && cell->number != (uint64_t)-error)
		cell++;
	if (!cell->number) {
		cell_set(&cell->first_offset, s->offset);
		cell_set(&cell->direction, s->direction);
		cell_set(&cell->number, (uint64_t)-error);
	}
	cell_add(&cell->count, 1);
	cell_add(&th->stats->dir[s->direction].counts.errors, 1);
	th->error = error;
}

/* Cold: the engine takes no more; what is in flight stays in the slots. */
static __attribute__((noinline)) void engine_failed(struct io_thread *th, int error)
{
	const struct io_slot *s = th->slots;

	while (s < th->slots + th->depth - 1 && !s->submitted_ns)
		s++;
	count_error(th, s, error);
	th->engine_broken = true;
}

/* Fills cmds[0..nr) and the slots that they take; returns how many of them write. */
hot_inline unsigned prepare(struct io_thread *th, unsigned nr, const enum mix mix)
{
	const uint32_t *free_slots = th->free_slots + th->nr_free - nr;
	const struct buffers buffers = th->buffers;
	const uint64_t now_ns = th->now_ns, mix_share = th->mix_share;
	const uint32_t depth = th->depth;
	uint64_t sequence = th->sequence, mix_random = th->mix_random;
	struct io_slot *slots = th->slots;
	struct io_cmd *cmds = th->cmds;
	unsigned nr_writes = mix == MIX_WRITE ? nr : 0;

	for (unsigned i = 0; i < nr; i++) {
		uint32_t slot = free_slots[i];
		struct io_slot *s = &slots[slot];
		bool is_write = mix == MIX_WRITE;

		if (mix == MIX_BOTH) {
			is_write = random_next(&mix_random) >> 32 >= mix_share;
			nr_writes += is_write;
			__atomic_store_n(&s->direction, is_write, __ATOMIC_RELAXED);
		}
		if (is_write)
			buffers_stamp(&buffers, slot, &sequence);
		cmds[i].command = is_write ? slot + depth : slot;
		cell_set(&s->offset, cmds[i].offset);
		cell_set(&s->submitted_ns, now_ns);
	}
	th->sequence = sequence;
	th->mix_random = mix_random;
	th->nr_free -= nr;
	return nr_writes;
}

/* The reading after a submission: the end of slat and the start of clat of its I/Os. */
hot_inline void split_latency(struct io_thread *th, unsigned nr, unsigned nr_writes,
			      const enum mix mix)
{
	const uint32_t *free_slots = th->free_slots + th->nr_free;
	uint64_t *after_submit = th->after_submit, after = clock_mono_ns();

	for (unsigned i = 0; i < nr; i++)
		after_submit[free_slots[i]] = after;
	if (mix != MIX_WRITE && nr > nr_writes)
		hist_cells_record(th->account[DIR_READ].slat, after - th->now_ns, nr - nr_writes);
	if (mix != MIX_READ && nr_writes)
		hist_cells_record(th->account[DIR_WRITE].slat, after - th->now_ns, nr_writes);
}

/* Submits as much as slots, budget and the next fsync allow; how many, or -1 when the engine broke. */
hot_inline int submit(struct io_thread *th, const enum mix mix, const bool split)
{
	unsigned nr = th->nr_free, nr_writes;
	int ret;

	if (nr > th->budget)
		nr = (unsigned)th->budget;
	if (mix != MIX_READ && nr > th->writes_to_sync)
		nr = (unsigned)th->writes_to_sync;
	if (!nr)
		return 0;
	th->offsets.fill(&th->offsets, th->cmds, nr);
	nr_writes = prepare(th, nr, mix);
	ret = th->ops->submit(th->engine, th->cmds, nr, th->now_ns);
	if (unlikely(ret < 0)) {
		engine_failed(th, ret);
		return -1;
	}
	if (split)
		split_latency(th, nr, nr_writes, mix);
	th->budget -= nr;
	th->writes_to_sync -= nr_writes;
	return (int)nr;
}

hot_inline void slot_release(struct io_thread *th, uint32_t slot)
{
	cell_set(&th->slots[slot].submitted_ns, 0);
	th->free_slots[th->nr_free++] = slot;
}

/* Starts an I/O again that the kernel would not take now; false: it counts as failed. */
static bool retry(struct io_thread *th, uint32_t slot, int error)
{
	const struct io_slot *s = &th->slots[slot];
	struct timespec pause = clock_timespec(RETRY_PAUSE_NS);
	struct io_cmd cmd = { .offset = s->offset,
			      .command = slot + (s->direction == DIR_WRITE ? th->depth : 0) };
	int ret;

	if (error != -EAGAIN && error != -EINTR)
		return false;
	if (th->segment == SEGMENT_DRAIN || loop_is_due(th) || th->retries++ >= MAX_RETRIES)
		return false;
	if (error == -EAGAIN)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	ret = s->direction == DIR_SYNC ? th->ops->sync(th->engine, th->now_ns)
				       : th->ops->submit(th->engine, &cmd, 1, th->now_ns);
	if (ret < 0)
		engine_failed(th, ret);
	return true;
}

/* One completion of any kind, in any segment. */
static __attribute__((noinline)) void account_one(struct io_thread *th, struct io_done done)
{
	struct io_slot *s = &th->slots[done.slot];
	enum direction dir = (enum direction)s->direction;
	struct account *a = &th->account[dir];
	struct counts *counts = &th->stats->dir[dir].counts;
	uint64_t lat = th->now_ns - s->submitted_ns;
	int error = done.result;

	/* Nothing moved: the end of the file, or a write that makes no way. Never tried again. */
	if (error == 0 && dir != DIR_SYNC)
		error = dir == DIR_READ ? -ENODATA : -ENOSPC;
	if (error < 0) {
		if (retry(th, done.slot, error))
			return;
		count_error(th, s, error);
		slot_release(th, done.slot);
		return;
	}
	th->retries = 0;
	if (dir != DIR_SYNC && (uint32_t)done.result < th->io_bytes)
		cell_add(&counts->short_ios, 1);
	cell_add(a->ios, 1);
	cell_add(a->bytes, (uint64_t)done.result);
	cell_set(a->end_ns, th->now_ns);
	hist_cells_record(a->lat, lat, 1);
	if (dir != DIR_SYNC && th->ops->caps & ENGINE_SPLIT)
		hist_cells_record(a->clat, th->now_ns - th->after_submit[done.slot], 1);
	if (th->segment == SEGMENT_DRAIN && lat > counts->drain_lat_max_ns)
		cell_set(&counts->drain_lat_max_ns, lat);
	slot_release(th, done.slot);
}

void loop_account(struct io_thread *th)
{
	for (unsigned i = 0; i < th->nr_done; i++)
		account_one(th, th->done[i]);
	th->nr_done = 0;
}

/* What a batch adds to one direction. */
struct batch {
	struct tally lat, clat;
	uint64_t ios;
};

hot_inline void batch_store(struct io_thread *th, const struct batch *b, enum direction dir,
			    const bool split)
{
	const struct account *a = &th->account[dir];

	if (!b->ios)
		return;
	cell_add(a->ios, b->ios);
	cell_add(a->bytes, b->ios * th->io_bytes);
	cell_set(a->end_ns, th->now_ns);
	tally_store(&b->lat, a->lat);
	if (split)
		tally_store(&b->clat, a->clat);
}

hot_inline void account(struct io_thread *th, const enum mix mix, const bool split)
{
	struct batch batch[2] = { [0 ... 1] = { .lat.min = UINT64_MAX, .clat.min = UINT64_MAX } };
	struct hist_cells *lat[2] = { th->account[DIR_READ].lat, th->account[DIR_WRITE].lat };
	struct hist_cells *clat[2] = { th->account[DIR_READ].clat, th->account[DIR_WRITE].clat };
	const uint64_t now_ns = th->now_ns, *after_submit = th->after_submit;
	const struct io_done *done = th->done, *end = done + th->nr_done;
	struct io_slot *slots = th->slots;
	uint32_t *free_top = th->free_slots + th->nr_free;
	const int32_t io_bytes = (int32_t)th->io_bytes;

	for (; done < end; done++) {
		struct io_slot *s = &slots[done->slot];
		unsigned dir = mix == MIX_BOTH ? s->direction : mix == MIX_WRITE;

		if (unlikely(done->result != io_bytes)) {
			th->nr_free = (unsigned)(free_top - th->free_slots);
			account_one(th, *done);
			free_top = th->free_slots + th->nr_free;
			continue;
		}
		tally_add(&batch[dir].lat, lat[dir], now_ns - s->submitted_ns);
		if (split)
			tally_add(&batch[dir].clat, clat[dir], now_ns - after_submit[done->slot]);
		batch[dir].ios++;
		cell_set(&s->submitted_ns, 0);
		*free_top++ = done->slot;
	}
	th->nr_free = (unsigned)(free_top - th->free_slots);
	th->nr_done = 0;
	if (mix != MIX_WRITE)
		batch_store(th, &batch[DIR_READ], DIR_READ, split);
	if (mix != MIX_READ)
		batch_store(th, &batch[DIR_WRITE], DIR_WRITE, split);
}

hot_inline enum loop_exit loop(struct io_thread *th, const enum mix mix, const bool split)
{
	for (;;) {
		unsigned in_flight, min;
		int ret = submit(th, mix, split);

		if (unlikely(ret < 0))
			return LOOP_ERROR;
		in_flight = thread_in_flight(th);
		if (!in_flight)
			return LOOP_IDLE;
		if (unlikely(in_flight > th->stats->depth_max))
			cell_set(&th->stats->depth_max, in_flight);
		/* Waiting for more than there is would sleep for ever. */
		min = th->reap_min < in_flight ? th->reap_min : in_flight;
		ret = th->ops->reap(th->engine, th->done, min, &th->now_ns);
		if (unlikely(ret < 0)) {
			engine_failed(th, ret);
			return LOOP_ERROR;
		}
		th->nr_done = (unsigned)ret;
		if (unlikely(loop_is_due(th)))
			return LOOP_EDGE;
		account(th, mix, split);
		if (unlikely(th->error))
			return LOOP_ERROR;
	}
}

/* X(name, mix, split) */
#define VARIANTS(X)                      \
	X(read_split, MIX_READ, true)    \
	X(write_split, MIX_WRITE, true)  \
	X(both_split, MIX_BOTH, true)    \
	X(read_whole, MIX_READ, false)   \
	X(write_whole, MIX_WRITE, false) \
	X(both_whole, MIX_BOTH, false)

#define X(name, mix, split)                                     \
	static enum loop_exit loop_##name(struct io_thread *th) \
	{                                                       \
		return loop(th, mix, split);                    \
	}                                                       \
	static int submit_##name(struct io_thread *th)          \
	{                                                       \
		return submit(th, mix, split);                  \
	}
VARIANTS(X)
#undef X

static const struct loop_ops variants[] = {
#define X(name, mix, split) { loop_##name, submit_##name },
	VARIANTS(X)
#undef X
};

const struct loop_ops *loop_choose(const struct job *job, const struct engine_ops *engine)
{
	enum mix mix = !job_writes(job) ? MIX_READ : !job_reads(job) ? MIX_WRITE : MIX_BOTH;

	return &variants[mix + (engine->caps & ENGINE_SPLIT ? 0 : 3)];
}

bool loop_reap(struct io_thread *th)
{
	int ret = th->ops->reap(th->engine, th->done, 1, &th->now_ns);

	if (ret < 0)
		engine_failed(th, ret);
	th->nr_done = ret < 0 ? 0 : (unsigned)ret;
	return ret >= 0;
}

/* No fast path: at most one at a time, and never in the way of other I/O. */
int loop_sync(struct io_thread *th)
{
	struct io_slot *s = &th->slots[0];
	int ret;

	for (unsigned i = 0; i < th->depth; i++) /* slot 0 on top */
		th->free_slots[i] = th->depth - 1 - i;
	th->nr_free = th->depth - 1;
	cell_set(&s->offset, 0);
	slot_describe(s, 0, DIR_SYNC);
	cell_set(&s->submitted_ns, th->now_ns);
	ret = th->ops->sync(th->engine, th->now_ns);
	if (ret < 0)
		engine_failed(th, ret);
	return ret;
}
