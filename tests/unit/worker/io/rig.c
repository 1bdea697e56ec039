/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/io/rig.h"

#include "common/base/clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define START_AHEAD_NS (10 * NS_PER_MS)

void rig_init(struct rig *rig)
{
	*rig = (struct rig) {
		.job = { .name = (char *)"job",
			 .rw = RW_RANDREAD,
			 .rwmixread = 50,
			 .bs = 4096,
			 .iodepth = 1,
			 .numjobs = 1,
			 .randseed = 7,
			 .percentage_random = 100,
			 .sequence = 1,
			 .loops = 1,
			 .scramble_buffers = true,
			 .buffer_compress_chunk = 512 },
		.nr_threads = 1,
		.fd = -1,
	};
	rig->specs[0] = (struct io_thread_spec) {
		.target = "target",
		.fd = -1,
		.simulated = true,
		.latency_ns = 100 * NS_PER_US,
		.job = &rig->job,
		.range = { 0, 1 << 20 },
		.block_bytes = 512,
		.seed = 7,
	};
}

void rig_fini(struct rig *rig)
{
	pool_destroy(&rig->pool);
	free(rig->stats);
	rig->stats = NULL;
	closep(&rig->fd);
}

void rig_use_file(struct rig *rig, uint64_t bytes)
{
	char path[] = "rig-XXXXXX";

	closep(&rig->fd);
	rig->fd = mkstemp(path);
	cr_assert(rig->fd >= 0, "a scratch file: %s", strerror(errno));
	unlink(path);
	cr_assert_eq(ftruncate(rig->fd, (off_t)bytes), 0);
	for (size_t i = 0; i < rig->nr_threads; i++) {
		rig->specs[i].simulated = false;
		rig->specs[i].fd = rig->fd;
		rig->specs[i].range = (struct range) { 0, bytes };
	}
}

void rig_split(struct rig *rig, size_t nr_threads)
{
	struct io_thread_spec first = rig->specs[0];

	rig->nr_threads = nr_threads;
	for (size_t i = 0; i < nr_threads; i++) {
		rig->specs[i] = first;
		rig->specs[i].thread = i;
		rig->specs[i].range.bytes = first.range.bytes / nr_threads;
		rig->specs[i].range.start = first.range.start + i * rig->specs[i].range.bytes;
	}
}

struct error *rig_new(struct rig *rig)
{
	size_t bytes, nr_slots = 0;

	for (size_t i = 0; i < rig->nr_threads; i++)
		nr_slots += rig->specs[i].job->iodepth;
	bytes = (stats_block_bytes(rig->nr_threads, nr_slots) + CACHELINE - 1) / CACHELINE *
		CACHELINE;
	rig->stats = aligned_alloc(CACHELINE, bytes);
	memset(rig->stats, 0, bytes);
	stats_block_init(rig->stats, rig->nr_threads, nr_slots);
	return pool_new(rig->specs, rig->nr_threads, rig->stats, &rig->pool);
}

void rig_start(struct rig *rig)
{
	rig->start_ns = clock_mono_ns() + START_AHEAD_NS;
	pool_start(rig->pool, rig->start_ns);
}

void rig_wait(struct rig *rig)
{
	struct pollfd done = { .fd = pool_done_fd(rig->pool), .events = POLLIN };

	while (poll(&done, 1, -1) < 0)
		cr_assert_eq(errno, EINTR);
	cr_assert(pool_is_done(rig->pool));
}

bool rig_run(struct rig *rig)
{
	_cleanup_(error_destroy) struct error *err = rig_new(rig);

	if (err && error_code(err) == ERR_REFUSED)
		return false;
	cr_assert_null(err, "%s", err ? error_message(err) : "");
	rig_start(rig);
	rig_wait(rig);
	return true;
}

struct counts rig_counts(const struct rig *rig, enum direction dir)
{
	struct counts sum = { 0 };

	for (size_t i = 0; i < rig->nr_threads; i++)
		counts_merge_cells(&sum, &stats_thread(rig->stats, i)->dir[dir].counts);
	return sum;
}

struct direction_sum rig_sum(const struct rig *rig, enum direction dir)
{
	struct direction_sum sum = { 0 };

	for (size_t i = 0; i < rig->nr_threads; i++)
		stats_sum_direction(stats_thread(rig->stats, i), dir, &sum);
	return sum;
}

void rig_assert_littles_law(const struct rig *rig, enum direction dir, unsigned in_flight)
{
	struct direction_sum sum = rig_sum(rig, dir);
	double seconds = (double)rig->job.runtime_ns / 1e9;
	double busy = (double)sum.lat.sum / 1e9 / seconds;
	double edges = 2 * in_flight * (double)sum.lat.max / 1e9 / seconds;

	cr_assert_gt(sum.counts.ios, 0);
	cr_assert_geq(busy, in_flight * 0.9999);
	cr_assert_leq(busy, in_flight * 1.0001 + edges);
	direction_sum_fini(&sum);
}
