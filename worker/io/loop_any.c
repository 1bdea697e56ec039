/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of jobs that are not plain: any directions, any sizes, as the source gives them.
 *
 * Design notes. The same turn as in loop.c, at a higher price: direction and bytes of each I/O are read and written in
 * its slot, and each batch is counted per direction. What the job is about lies in the source; here only engine and
 * depth make variants, and whether the job has a rate.
 *
 * With a rate (an open loop) an I/O is submitted when it is due and a slot is free, and waits for the next one end when
 * it is due. Its latency counts from the instant at which it was due: what had to wait because the target
 * stalled shows as what a user would have seen. `late` is what no target is to blame for: the time between that
 * instant and the submission for an I/O that had a free slot all the while.
 */
#include "worker/io/loop.h"

/* Constants of a variant of the loop. */
struct variant {
	bool split; /* the engine has clat and slat */
	bool one;   /* the depth is 1: slot 0 and no other */
	bool paced; /* the job has a rate */
};

/* What a batch has of each direction. */
struct batch {
	unsigned nr[DIR_SYNC];
	uint64_t bytes[DIR_SYNC];
};

/* What the slot's write moves; the number of its last stamp. */
hot_inline uint64_t make_data(struct io_thread *th, uint32_t slot, uint32_t bytes,
			      uint64_t sequence)
{
	if (unlikely(th->contents.refills))
		contents_refill(&th->contents, buffers_write(&th->buffers, slot), bytes);
	return stamp_write(th->buffers.stamps[slot], buffers_stamps(&th->buffers, bytes), sequence);
}

/* Gives the commands their slots. */
hot_inline void prepare(struct io_thread *th, unsigned nr, struct batch *b, const struct variant v)
{
	const uint32_t *free_slots = th->free_slots + th->nr_free - nr;
	const uint64_t now_ns = th->now_ns;
	uint64_t sequence = th->sequence;
	struct io_cmd *cmds = th->cmds;

	for (unsigned i = 0; i < nr; i++) {
		uint32_t slot = v.one ? 0 : free_slots[i], dir = cmds[i].command;
		struct io_slot *s = &th->slots[slot];

		b->nr[dir]++;
		if (dir == DIR_WRITE)
			sequence = make_data(th, slot, cmds[i].bytes, sequence);
		cmds[i].command = io_command(slot, dir);
		slot_describe(s, cmds[i].bytes, dir);
		cell_set(&s->offset, cmds[i].offset);
		cell_set(&s->submitted_ns, now_ns);
		if (v.paced)
			th->due[slot] = th->batch_due[i];
	}
	th->sequence = sequence;
	th->nr_free -= nr;
}

/* The reading after a submission: the end of slat and the start of clat of its I/Os. */
hot_inline void split_latency(struct io_thread *th, unsigned nr, const struct batch *b,
			      const struct variant v)
{
	uint64_t after = clock_mono_ns(), *after_submit = th->after_submit;
	const uint32_t *free_slots = th->free_slots + th->nr_free;

	for (unsigned i = 0; i < nr; i++)
		after_submit[v.one ? 0 : free_slots[i]] = after;
	for (unsigned dir = 0; dir < DIR_SYNC; dir++)
		if (b->nr[dir])
			hist_cells_record(&th->account[dir].cells->slat, after - th->now_ns,
					  b->nr[dir]);
}

/* The I/Os that are due by now, at most `most`, in the order of their instants. */
static unsigned take_due(struct io_thread *th, unsigned most)
{
	unsigned nr = 0;

	while (nr < most) {
		enum direction dir = pace_next(&th->pace);
		uint64_t due_ns = pace_due_ns(&th->pace, dir);

		if (due_ns > th->now_ns || due_ns >= th->window_end_ns)
			break;
		th->source.direction = dir;
		if (!source_fill(&th->source, &th->cmds[nr], 1)) {
			th->budget = 0;
			break;
		}
		th->batch_due[nr] = due_ns;
		pace_advance(&th->pace, dir, th->cmds[nr].bytes);
		nr++;
	}
	return nr;
}

/* Of a batch, the first `idle` had a slot that was free before they were due. */
hot_inline void record_late(struct io_thread *th, unsigned nr, unsigned idle)
{
	for (unsigned i = 0; i < nr; i++)
		hist_cells_record(&th->account[th->cmds[i].command].cells->late,
				  i < idle ? th->now_ns - th->batch_due[i] : 0, 1);
}

/* Submits as much as slots, budget, source and the next sync allow; false when the engine broke. */
hot_inline bool submit(struct io_thread *th, const struct variant v)
{
	struct batch b = { 0 };
	unsigned nr = th->nr_free;
	int ret;

	if (nr > th->budget)
		nr = (unsigned)th->budget;
	if (nr > th->writes_to_sync)
		nr = (unsigned)th->writes_to_sync;
	if (nr)
		nr = v.paced ? take_due(th, nr) : source_fill(&th->source, th->cmds, nr);
	if (v.paced && nr)
		record_late(th, nr, th->idle_slots);
	if (!nr) {
		th->idle_slots = th->nr_free;
		return true;
	}
	prepare(th, nr, &b, v);
	ret = th->submit(th->engine, th->cmds, nr, th->now_ns);
	if (unlikely(ret < 0)) {
		loop_engine_failed(th, ret);
		return false;
	}
	if (v.split)
		split_latency(th, nr, &b, v);
	count_submit(th, nr, thread_in_flight(th), v.one);
	th->budget -= nr;
	th->writes_to_sync -= b.nr[DIR_WRITE];
	th->idle_slots = th->nr_free;
	return true;
}

hot_inline void count_batch(struct io_thread *th, const struct batch *b)
{
	for (unsigned dir = 0; dir < DIR_SYNC; dir++) {
		const struct account *a = &th->account[dir];

		if (!b->nr[dir])
			continue;
		cell_add(a->ios, b->nr[dir]);
		cell_add(a->bytes, b->bytes[dir]);
		cell_set(&a->cells->end_ns, th->now_ns);
	}
}

hot_inline void account(struct io_thread *th, unsigned nr, const struct variant v)
{
	const uint64_t now_ns = th->now_ns, *after_submit = th->after_submit;
	const struct io_done *done = th->done, *end = done + nr;
	struct batch b = { 0 };

	for (; done != end; done++) {
		const uint32_t slot = v.one ? 0 : done->slot;
		struct io_slot *s = &th->slots[slot];
		struct direction_cells *to = th->account[s->direction].cells;

		if (unlikely(done->result != (int32_t)s->bytes)) {
			loop_account_one(th, *done);
			continue;
		}
		if (v.paced) {
			hist_cells_record(&to->lat, now_ns - th->due[slot], 1);
			hist_cells_record(&to->service, now_ns - s->submitted_ns, 1);
		} else {
			hist_cells_record(&to->lat, now_ns - s->submitted_ns, 1);
		}
		if (v.split)
			hist_cells_record(&to->clat, now_ns - after_submit[slot], 1);
		b.nr[s->direction]++;
		b.bytes[s->direction] += s->bytes;
		slot_release(th, slot);
	}
	count_batch(th, &b);
}

/* May more be submitted, once it is due? */
static inline bool has_more(const struct io_thread *th)
{
	return th->budget && th->writes_to_sync;
}

/* Nothing is in flight and the engine cannot wait: until the instant, but never longer than it would. */
static int pause_until(struct io_thread *th, uint64_t until_ns)
{
	uint64_t most = clock_mono_ns() + ENGINE_WAIT_NS;
	struct timespec until = clock_timespec(until_ns < most ? until_ns : most);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	th->now_ns = clock_mono_ns();
	return 0;
}

/* Waits for a completion, or until the next I/O is due and has a slot; the last bit of that awake. */
static int reap_paced(struct io_thread *th, unsigned in_flight)
{
	uint64_t until_ns;

	if (!th->nr_free || !has_more(th))
		return th->reap(th->engine, th->done, 1, &th->now_ns);
	until_ns = pace_due_ns(&th->pace, pace_next(&th->pace));
	if (until_ns > th->edge_ns)
		until_ns = th->edge_ns;
	if (until_ns - th->now_ns > th->spin_ns && until_ns > th->now_ns)
		until_ns -= th->spin_ns;
	else if (th->spin_ns)
		until_ns = th->now_ns;
	if (th->ops->reap_until)
		return th->ops->reap_until(th->engine, th->done, until_ns, &th->now_ns);
	return in_flight ? th->reap(th->engine, th->done, 1, &th->now_ns)
			 : pause_until(th, until_ns);
}

hot_inline enum loop_exit loop(struct io_thread *th, const struct variant v)
{
	for (;;) {
		unsigned in_flight, min;
		int ret;

		if (unlikely(!submit(th, v)))
			return LOOP_ERROR;
		in_flight = thread_in_flight(th);
		if (!in_flight && !(v.paced && has_more(th)))
			return LOOP_IDLE;
		if (unlikely(in_flight > th->depth_max))
			loop_note_depth(th, in_flight);
		/* Waiting for more than there is would sleep for ever. */
		min = th->reap_min < in_flight ? th->reap_min : in_flight;
		ret = v.paced ? reap_paced(th, in_flight)
			      : th->reap(th->engine, th->done, v.one ? 1 : min, &th->now_ns);
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

/* X(name, split, one, paced): in the order of variant_index. */
#define VARIANTS(X)                       \
	X(any, false, false, false)       \
	X(any_one, false, true, false)    \
	X(split, true, false, false)      \
	X(split_one, true, true, false)   \
	X(paced, false, false, true)      \
	X(paced_one, false, true, true)   \
	X(paced_split, true, false, true) \
	X(paced_split_one, true, true, true)

#define X(name, split, one, paced)                                         \
	static _hot_ enum loop_exit loop_##name(struct io_thread *th)      \
	{                                                                  \
		return loop(th, (struct variant) { split, one, paced });   \
	}                                                                  \
	static bool submit_##name(struct io_thread *th)                    \
	{                                                                  \
		return submit(th, (struct variant) { split, one, paced }); \
	}
VARIANTS(X)
#undef X

static const struct loop_ops variants[] = {
#define X(name, split, one, paced) { loop_##name, submit_##name },
	VARIANTS(X)
#undef X
};

const struct loop_ops *loop_any_choose(const struct engine_ops *engine, unsigned depth, bool paced)
{
	bool split = engine->caps & ENGINE_SPLIT, one = depth == 1;

	return &variants[4 * paced + 2 * split + one];
}
