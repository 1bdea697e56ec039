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
 * Everything that is not a full, successful transfer leaves the fast path into trouble.c. Jobs that are
 * not plain have a loop of their own (loop_any.c).
 */
#include "worker/io/loop.h"

enum mix { MIX_READ, MIX_WRITE, MIX_BOTH };

/* Constants of a variant of the loop. */
struct variant {
	enum mix mix;
	bool split; /* the engine has clat and slat */
	bool one;   /* the depth is 1: slot 0 and no other */
};

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
		loop_engine_failed(th, ret);
		return false;
	}
	if (v.split)
		split_latency(th, nr, nr_writes, v);
	count_submit(th, nr, thread_in_flight(th), v.one);
	th->budget -= nr;
	if (v.mix != MIX_READ)
		th->writes_to_sync -= nr_writes;
	return true;
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
			loop_account_one(th, *done);
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
			loop_note_depth(th, in_flight);
		/* Waiting for more than there is would sleep for ever. */
		min = th->reap_min < in_flight ? th->reap_min : in_flight;
		ret = th->reap(th->engine, th->done, v.one ? 1 : min, &th->now_ns);
		if (unlikely(ret < 0)) {
			loop_engine_failed(th, ret);
			return LOOP_ERROR;
		}
		if (unlikely(loop_is_due(th))) {
			th->nr_done = (unsigned)ret;
			return LOOP_EDGE;
		}
		if (ret == 0)
			continue;
		if (!v.one)
			cell_add(&th->batches->completes.bucket[pow2_bucket((unsigned)ret)], 1);
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
