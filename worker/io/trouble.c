/* SPDX-License-Identifier: Apache-2.0 */
/* What is not a full, successful transfer, and what happens one at a time: errors, retries, syncs, drains. */
#include "worker/io/loop.h"

#include <errno.h>

enum { MAX_RETRIES = 1000 }; /* of EAGAIN and EINTR in a row, before they count as errors */
#define RETRY_PAUSE_NS (1 * NS_PER_MS)
/* I/Os that fail one after the other, as those of a device that is gone do at once, must not spin. */
enum { MAX_FAILURES = 16 };
#define CALM_MIN_NS  (1 * NS_PER_MS)
#define CALM_MAX_NS  (100 * NS_PER_MS)
#define CALM_STEP_NS (5 * NS_PER_MS) /* of sleep, between two looks at stop */

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

void loop_engine_failed(struct io_thread *th, int error)
{
	const struct io_slot *s = th->slots;

	while (s < th->slots + th->depth - 1 && !s->submitted_ns)
		s++;
	count_error(th, s, error);
	th->error = error;
	th->must_leave = true;
	th->engine_broken = true;
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
		loop_engine_failed(th, ret);
	return true;
}

void loop_account_one(struct io_thread *th, struct io_done done)
{
	struct io_slot *s = &th->slots[done.slot];
	enum direction dir = (enum direction)s->direction;
	struct account *a = &th->account[dir];
	struct counts *counts = &th->stats->dir[dir].counts;
	uint64_t begin_ns = th->due && dir != DIR_SYNC ? th->due[done.slot] : s->submitted_ns;
	uint64_t lat = th->now_ns - begin_ns;
	int error = done.result;

	if (error == 0 && dir == DIR_TRIM)
		done.result = error = (int)s->bytes;
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
	if (dir != DIR_SYNC && (uint32_t)done.result < s->bytes)
		cell_add(&counts->short_ios, 1);
	cell_add(a->ios, 1);
	cell_add(a->bytes, (uint64_t)done.result);
	if (th->segment != SEGMENT_DRAIN)
		cell_set(&a->cells->end_ns, th->now_ns);
	hist_cells_record(&a->cells->lat, lat, 1);
	if (th->due && dir != DIR_SYNC)
		hist_cells_record(&a->cells->service, th->now_ns - s->submitted_ns, 1);
	if (dir != DIR_SYNC && th->ops->caps & ENGINE_SPLIT)
		hist_cells_record(&a->cells->clat, th->now_ns - th->after_submit[done.slot], 1);
	if (th->segment == SEGMENT_DRAIN && lat > counts->drain_lat_max_ns)
		cell_set(&counts->drain_lat_max_ns, lat);
	slot_release(th, done.slot);
}

void loop_account(struct io_thread *th)
{
	if (th->depth > 1 && th->nr_done && th->slots[th->done[0].slot].direction != DIR_SYNC)
		cell_add(&th->batches->completes.bucket[pow2_bucket(th->nr_done)], 1);
	for (unsigned i = 0; i < th->nr_done; i++)
		loop_account_one(th, th->done[i]);
	th->nr_done = 0;
}

void loop_note_depth(struct io_thread *th, unsigned in_flight)
{
	th->depth_max = in_flight;
	cell_set(&th->stats->depth_max, in_flight);
}

bool loop_reap(struct io_thread *th)
{
	int ret = th->ops->reap(th->engine, th->done, 1, &th->now_ns);

	if (ret < 0)
		loop_engine_failed(th, ret);
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
		loop_engine_failed(th, ret);
	return ret;
}
