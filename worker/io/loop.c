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
/* A thread that is preempted between its reading of the clock and its submission must not submit after
 * the lease's end: it stops so long before. */
#define LEASE_GUARD_NS (20 * NS_PER_MS)
#define RETRY_PAUSE_NS (1 * NS_PER_MS)
/* I/Os that fail one after the other, as those of a device that is gone do at once, must not spin. */
enum { MAX_FAILURES = 16 };
#define CALM_MIN_NS  (1 * NS_PER_MS)
#define CALM_MAX_NS  (100 * NS_PER_MS)
#define CALM_STEP_NS (5 * NS_PER_MS) /* of sleep, between two looks at stop */

enum mix { MIX_READ, MIX_WRITE, MIX_BOTH };

/* Constants of a variant of the loop. */
struct variant {
	enum mix mix;
	bool split; /* the engine has clat and slat */
	bool one;   /* the depth is 1: slot 0 and no other */
};

bool loop_is_halted(const struct io_thread *th)
{
	return th->error || th->now_ns + LEASE_GUARD_NS >= cell_get(&th->block->deadline_ns) ||
	       cell_get(&th->block->stop);
}

bool loop_is_due(const struct io_thread *th)
{
	return th->now_ns >= th->edge_ns ||
	       th->now_ns + LEASE_GUARD_NS >= cell_get(&th->block->deadline_ns) ||
	       cell_get(&th->block->stop);
}

/* I/Os that the segment has counted. */
static uint64_t successes(const struct io_thread *th)
{
	uint64_t sum = 0;

	for (int dir = 0; dir < DIR_COUNT; dir++)
		sum += *th->account[dir].ios;
	return sum;
}

/* Has anything succeeded since the last failure? */
static bool has_succeeded(struct io_thread *th)
{
	uint64_t now = successes(th);
	bool changed = now != th->successes;

	th->successes = now;
	return changed;
}

static void count_error(struct io_thread *th, const struct io_slot *s, int error)
{
	stats_note_error(th->stats, (enum direction)s->direction, -error, s->offset, th->now_ns);
	if (th->spec.job->on_error == ON_ERROR_CONTINUE) {
		if (has_succeeded(th)) {
			th->failures = 0;
			th->pause_ns = 0;
		}
		if (++th->failures >= MAX_FAILURES)
			th->must_leave = true;
		return;
	}
	if (th->spec.job->on_error == ON_ERROR_STOP_ALL)
		cell_set(&th->block->stop, 1);
	th->error = error;
	th->must_leave = true;
}

/* Cold: the engine takes no more; what is in flight stays in the slots. */
static __attribute__((noinline)) void engine_failed(struct io_thread *th, int error)
{
	const struct io_slot *s = th->slots;

	while (s < th->slots + th->depth - 1 && !s->submitted_ns)
		s++;
	count_error(th, s, error);
	th->error = error;
	th->must_leave = true;
	th->engine_broken = true;
}

/* Draws a direction: a linear congruential generator, of which the high bits decide. */
hot_inline bool draw_write(uint64_t *state, uint64_t reads)
{
	/* Factor and addend fit into an instruction. */
	*state = *state * 0x5851f42d + 0x14057b7f;
	return *state > reads;
}

/* Fills cmds[0..nr) and the slots that they take; returns how many of them write. */
hot_inline unsigned prepare(struct io_thread *th, unsigned nr, const struct variant v)
{
	const uint32_t *free_slots = th->free_slots + th->nr_free - nr;
	const uint64_t now_ns = th->now_ns, mix_reads = th->mix_reads;
	const unsigned nr_stamps = th->buffers.nr_stamps;
	struct stamp *const *stamps = th->buffers.stamps;
	uint64_t sequence = th->sequence, mix_random = th->mix_random;
	struct io_slot *slots = th->slots;
	struct io_cmd *cmds = th->cmds;
	unsigned nr_writes = v.mix == MIX_WRITE ? nr : 0;

	for (unsigned i = 0; i < nr; i++) {
		uint32_t slot = v.one ? 0 : free_slots[i], write = v.mix == MIX_WRITE;
		struct io_slot *s = &slots[slot];

		if (v.mix == MIX_BOTH) {
			write = draw_write(&mix_random, mix_reads);
			nr_writes += write;
			__atomic_store_n(&s->direction, write, __ATOMIC_RELAXED);
		}
		/* In a mixed job always: cheaper than a branch that nobody can predict. */
		if (v.mix != MIX_READ)
			sequence = stamp_write(stamps[slot], nr_stamps, sequence);
		cmds[i].command = io_command(slot, write);
		cell_set(&s->offset, cmds[i].offset);
		cell_set(&s->submitted_ns, now_ns);
	}
	if (v.mix != MIX_READ)
		th->sequence = sequence;
	if (v.mix == MIX_BOTH)
		th->mix_random = mix_random;
	th->nr_free = v.one ? 0 : th->nr_free - nr;
	return nr_writes;
}

/* The reading after a submission: the end of slat and the start of clat of its I/Os. */
hot_inline void split_latency(struct io_thread *th, unsigned nr, unsigned nr_writes,
			      const struct variant v)
{
	uint64_t after = clock_mono_ns(), *after_submit = th->after_submit;
	const uint32_t *free_slots = th->free_slots + th->nr_free;

#pragma GCC unroll 4
	for (unsigned i = 0; i < nr; i++)
		after_submit[v.one ? 0 : free_slots[i]] = after;
	if (v.one) {
		hist_cells_record(&th->account[nr_writes].cells->slat, after - th->now_ns, 1);
		return;
	}
	if (v.mix == MIX_READ || (v.mix == MIX_BOTH && nr > nr_writes))
		hist_cells_record(&th->account[DIR_READ].cells->slat, after - th->now_ns,
				  nr - nr_writes);
	if (v.mix == MIX_WRITE || (v.mix == MIX_BOTH && nr_writes))
		hist_cells_record(&th->account[DIR_WRITE].cells->slat, after - th->now_ns,
				  nr_writes);
}

/* One submission of `nr`, after which in_flight are in the engine. */
hot_inline void count_submit(struct io_thread *th, unsigned nr, unsigned in_flight,
			     const struct variant v)
{
	struct batch_cells *b = th->batches;

	cell_add(&b->depths.bucket[v.one ? 0 : pow2_bucket(in_flight)], nr);
	cell_add(&b->submits.bucket[v.one ? 0 : pow2_bucket(nr)], 1);
}

/* Submits as much as slots, budget and the next fsync allow; false when the engine broke. */
hot_inline bool submit(struct io_thread *th, const struct variant v)
{
	unsigned nr = v.one ? th->nr_free & 1 : th->nr_free, nr_writes;
	int ret;

	if (nr > th->budget)
		nr = (unsigned)th->budget;
	if (v.mix != MIX_READ && nr > th->writes_to_sync)
		nr = (unsigned)th->writes_to_sync;
	if (!nr)
		return true;
	if (v.one)
		nr = 1;
	th->offsets.fill(&th->offsets, th->cmds, nr);
	nr_writes = prepare(th, nr, v);
	ret = th->submit(th->engine, th->cmds, nr, th->now_ns);
	if (unlikely(ret < 0)) {
		engine_failed(th, ret);
		return false;
	}
	if (v.split)
		split_latency(th, nr, nr_writes, v);
	count_submit(th, nr, thread_in_flight(th), v);
	th->budget -= nr;
	if (v.mix != MIX_READ)
		th->writes_to_sync -= nr_writes;
	return true;
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
			      .command = io_command(slot, s->direction),
			      .bytes = s->bytes };
	int ret;

	if (error != -EAGAIN && error != -EINTR)
		return false;
	if (th->segment == SEGMENT_DRAIN || loop_is_due(th) || th->retries++ >= MAX_RETRIES)
		return false;
	if (error == -EAGAIN)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	ret = s->direction == DIR_SYNC
		      ? th->ops->sync(th->engine, th->sync_is_data_only, th->now_ns)
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
	if (th->segment != SEGMENT_DRAIN)
		cell_set(&a->cells->end_ns, th->now_ns);
	hist_cells_record(&a->cells->lat, lat, 1);
	if (dir != DIR_SYNC && th->ops->caps & ENGINE_SPLIT)
		hist_cells_record(&a->cells->clat, th->now_ns - th->after_submit[done.slot], 1);
	if (th->segment == SEGMENT_DRAIN && lat > counts->drain_lat_max_ns)
		cell_set(&counts->drain_lat_max_ns, lat);
	slot_release(th, done.slot);
}

void loop_account(struct io_thread *th)
{
	if (th->nr_done && th->slots[th->done[0].slot].direction != DIR_SYNC)
		cell_add(&th->batches->completes.bucket[pow2_bucket(th->nr_done)], 1);
	for (unsigned i = 0; i < th->nr_done; i++)
		account_one(th, th->done[i]);
	th->nr_done = 0;
}

hot_inline void count_batch(struct io_thread *th, uint64_t ios, enum direction dir, uint64_t now_ns)
{
	const struct account *a = &th->account[dir];

	cell_add(a->ios, ios);
	cell_add(a->bytes, ios * th->io_bytes);
	if (ios)
		cell_set(&a->cells->end_ns, now_ns);
}

hot_inline void account(struct io_thread *th, unsigned nr, const struct variant v)
{
	struct direction_cells *const cells[2] = { th->account[DIR_READ].cells,
						   th->account[DIR_WRITE].cells };
	const uint64_t now_ns = th->now_ns, *after_submit = th->after_submit;
	const struct io_done *done = th->done, *end = done + nr;
	struct io_slot *slots = th->slots;
	uint32_t *free_slots = th->free_slots + (v.one ? 0 : th->nr_free);
	const int32_t io_bytes = (int32_t)th->io_bytes;
	unsigned nr_odd = 0, nr_writes = 0;

	for (; done != end; done++) {
		const uint32_t slot = v.one ? 0 : done->slot;
		struct io_slot *s = &slots[slot];
		unsigned dir = v.mix == MIX_BOTH ? s->direction : v.mix == MIX_WRITE;
		uint64_t lat = now_ns - s->submitted_ns;
		struct direction_cells *to;

		if (unlikely(done->result != io_bytes)) {
			th->nr_free = (unsigned)(free_slots - th->free_slots);
			account_one(th, *done);
			free_slots = th->free_slots + th->nr_free;
			nr_odd++;
			continue;
		}
		to = v.one ? th->account[dir].cells : cells[dir];
		hist_cells_record(&to->lat, lat, 1);
		if (v.split)
			hist_cells_record(&to->clat, now_ns - after_submit[slot], 1);
		cell_set(&s->submitted_ns, 0);
		if (!v.one) /* else it stands there already */
			*free_slots = slot;
		free_slots++;
		nr_writes += dir;
	}
	th->nr_free = v.one && !nr_odd ? 1 : (unsigned)(free_slots - th->free_slots);
	if (v.one && !nr_odd) {
		count_batch(th, 1, (enum direction)nr_writes, now_ns);
		return;
	}
	if (v.mix != MIX_WRITE)
		count_batch(th, nr - nr_odd - nr_writes, DIR_READ, now_ns);
	if (v.mix != MIX_READ)
		count_batch(th, nr_writes, DIR_WRITE, now_ns);
}

/* More in flight than ever. */
static __attribute__((noinline)) void note_depth(struct io_thread *th, unsigned in_flight)
{
	th->depth_max = in_flight;
	cell_set(&th->stats->depth_max, in_flight);
}

hot_inline enum loop_exit loop(struct io_thread *th, const struct variant v)
{
	for (;;) {
		unsigned in_flight, min;
		int ret;

		if (unlikely(!submit(th, v)))
			return LOOP_ERROR;
		in_flight = thread_in_flight(th);
		if (!in_flight)
			return LOOP_IDLE;
		if (unlikely(in_flight > th->depth_max))
			note_depth(th, in_flight);
		/* Waiting for more than there is would sleep for ever. */
		min = th->reap_min < in_flight ? th->reap_min : in_flight;
		ret = th->reap(th->engine, th->done, v.one ? 1 : min, &th->now_ns);
		if (unlikely(ret < 0)) {
			engine_failed(th, ret);
			return LOOP_ERROR;
		}
		if (unlikely(loop_is_due(th))) {
			th->nr_done = (unsigned)ret;
			return LOOP_EDGE;
		}
		if (ret == 0)
			continue;
		cell_add(&th->batches->completes.bucket[v.one ? 0 : pow2_bucket((unsigned)ret)], 1);
		account(th, v.one ? 1 : (unsigned)ret, v);
		if (unlikely(th->must_leave))
			return LOOP_ERROR;
	}
}

/* X(name, mix, split, one): in the order of variant_index. */
#define VARIANTS(X)                               \
	X(read, MIX_READ, false, false)           \
	X(read_one, MIX_READ, false, true)        \
	X(read_split, MIX_READ, true, false)      \
	X(read_split_one, MIX_READ, true, true)   \
	X(write, MIX_WRITE, false, false)         \
	X(write_one, MIX_WRITE, false, true)      \
	X(write_split, MIX_WRITE, true, false)    \
	X(write_split_one, MIX_WRITE, true, true) \
	X(both, MIX_BOTH, false, false)           \
	X(both_one, MIX_BOTH, false, true)        \
	X(both_split, MIX_BOTH, true, false)      \
	X(both_split_one, MIX_BOTH, true, true)

#define X(name, mix, split, one)                                         \
	static _hot_ enum loop_exit loop_##name(struct io_thread *th)    \
	{                                                                \
		return loop(th, (struct variant) { mix, split, one });   \
	}                                                                \
	static bool submit_##name(struct io_thread *th)                  \
	{                                                                \
		return submit(th, (struct variant) { mix, split, one }); \
	}
VARIANTS(X)
#undef X

static const struct loop_ops variants[] = {
#define X(name, mix, split, one) { loop_##name, submit_##name },
	VARIANTS(X)
#undef X
};

const struct loop_ops *loop_choose(const struct job *job, const struct engine_ops *engine,
				   unsigned depth)
{
	enum mix mix = !job_writes(job) ? MIX_READ : !job_reads(job) ? MIX_WRITE : MIX_BOTH;
	bool split = engine->caps & ENGINE_SPLIT, one = depth == 1;

	return &variants[4 * mix + 2 * split + one];
}

bool loop_reap(struct io_thread *th)
{
	int ret = th->ops->reap(th->engine, th->done, 1, &th->now_ns);

	if (ret < 0)
		engine_failed(th, ret);
	th->nr_done = ret < 0 ? 0 : (unsigned)ret;
	return ret >= 0;
}

static void sleep_ns(struct io_thread *th, uint64_t ns)
{
	struct timespec pause = clock_timespec(ns);
	uint64_t now;

	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	now = clock_mono_ns();
	if (now > th->now_ns) /* a device's own time may be ahead */
		th->now_ns = now;
}

void loop_calm_down(struct io_thread *th)
{
	uint64_t until;

	th->failures = MAX_FAILURES - 1; /* the next one in a row is one too many again */
	if (has_succeeded(th))
		th->pause_ns = 0;
	th->pause_ns = !th->pause_ns                    ? CALM_MIN_NS
		       : th->pause_ns > CALM_MAX_NS / 2 ? CALM_MAX_NS
							: 2 * th->pause_ns;
	until = th->now_ns + th->pause_ns;
	while (th->now_ns < until && !has_succeeded(th) && !loop_is_due(th)) {
		uint64_t left = until - th->now_ns;

		if (!thread_in_flight(th))
			sleep_ns(th, left < CALM_STEP_NS ? left : CALM_STEP_NS);
		else if (!loop_reap(th) || loop_is_due(th))
			return;
		else
			loop_account(th);
	}
	th->must_leave = th->error;
}

/* No fast path: at most one at a time, and never in the way of other I/O. */
int loop_sync(struct io_thread *th, bool data_only)
{
	struct io_slot *s = &th->slots[0];
	int ret;

	for (unsigned i = 0; i < th->depth; i++) /* slot 0 on top */
		th->free_slots[i] = th->depth - 1 - i;
	th->nr_free = th->depth - 1;
	cell_set(&s->offset, 0);
	slot_describe(s, 0, DIR_SYNC);
	cell_set(&s->submitted_ns, th->now_ns);
	th->sync_is_data_only = data_only;
	ret = th->ops->sync(th->engine, data_only, th->now_ns);
	if (ret < 0)
		engine_failed(th, ret);
	return ret;
}
