/* SPDX-License-Identifier: Apache-2.0 */
/* Pools come, run and go while another thread reads their statistics all the time, as the control
 * process does. For ThreadSanitizer. */
#include "worker/io/pool.h"

#include "common/base/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 4, DEPTH = 8, ROUNDS = 12, FILE_BYTES = 1 << 20 };

struct reader {
	pthread_t pthread;
	struct stats_block *stats;
	bool ends;    /* atomic */
	uint64_t ios; /* of the last reading; valid after the join */
};

/* Reads all that the control process reads; counters of one thread never go back. */
static void *read_all_the_time(void *arg)
{
	struct reader *r = arg;
	uint64_t last = 0;

	while (!__atomic_load_n(&r->ends, __ATOMIC_ACQUIRE)) {
		uint64_t ios = 0;

		for (uint64_t i = 0; i < r->stats->nr_threads; i++) {
			const struct thread_stats *t = stats_thread(r->stats, i);
			struct direction_sum sum = { 0 };

			for (int dir = 0; dir < DIR_COUNT; dir++)
				stats_sum_direction(t, (enum direction)dir, &sum);
			ios += sum.counts.ios + sum.counts.ramp_ios + sum.counts.drain_ios;
			direction_sum_fini(&sum);
			ios += 0 * (cell_get(&t->state) + cell_get(&t->first_io_ns));
		}
		for (uint64_t i = 0; i < r->stats->nr_slots; i++)
			ios += 0 * cell_get(&stats_slot(r->stats, i)->submitted_ns);
		if (ios < last) {
			fprintf(stderr, "stress.pool: a counter went back\n");
			_exit(1);
		}
		last = ios;
	}
	r->ios = last;
	return NULL;
}

static struct stats_block *make_stats(void)
{
	size_t bytes = stats_block_bytes(THREADS, THREADS * DEPTH);
	struct stats_block *b =
		aligned_alloc(CACHELINE, (bytes + CACHELINE - 1) / CACHELINE * CACHELINE);

	if (!b)
		_exit(1);
	memset(b, 0, bytes);
	stats_block_init(b, THREADS, THREADS * DEPTH);
	return b;
}

/* One pool; stopped while it runs in every other round, at its own end otherwise. */
static bool run_round(const struct job *job, int fd, int round)
{
	_cleanup_free_ struct stats_block *stats = make_stats();
	_cleanup_(pool_destroy) struct pool *pool = NULL;
	_cleanup_(error_destroy) struct error *err = NULL;
	struct timespec pause = clock_timespec(15 * NS_PER_MS);
	struct io_thread_spec specs[THREADS];
	struct reader reader = { .stats = stats };
	struct pollfd done = { .events = POLLIN };

	for (uint64_t i = 0; i < THREADS; i++)
		specs[i] = (struct io_thread_spec) {
			.target = "target",
			.fd = fd,
			.simulated = fd < 0,
			.latency_ns = 50 * NS_PER_US,
			.job = job,
			.range = { i * FILE_BYTES / THREADS, FILE_BYTES / THREADS },
			.block_bytes = 512,
			.thread = i,
			.seed = 1,
		};
	err = pool_new(specs, THREADS, stats, &pool);
	if (err) {
		fprintf(stderr, "stress.pool: %s\n", error_message(err));
		return false;
	}
	if (pthread_create(&reader.pthread, NULL, read_all_the_time, &reader))
		return false;
	pool_start(pool, clock_mono_ns() + 5 * NS_PER_MS);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	if (round % 2)
		pool_stop(pool);
	done.fd = pool_done_fd(pool);
	poll(&done, 1, 10000);
	if (!pool_is_done(pool)) {
		fprintf(stderr, "stress.pool: round %d does not end\n", round);
		_exit(1);
	}
	__atomic_store_n(&reader.ends, true, __ATOMIC_RELEASE);
	pthread_join(reader.pthread, NULL);
	return reader.ios > 0;
}

int main(void)
{
	struct job job = {
		.name = (char *)"stress",
		.rw = RW_RANDRW,
		.rwmixread = 50,
		.bs = 4096,
		.sequence = 1,
		.loops = 1,
		.scramble_buffers = true,
		.buffer_compress_chunk = 512,
		.iodepth = DEPTH,
		.engine = ENGINE_PSYNC,
		.numjobs = THREADS,
		.time_based = true,
		.fsync = 64,
		.ramp_time_ns = 5 * NS_PER_MS,
		.runtime_ns = 40 * NS_PER_MS,
	};
	char path[] = "stress-pool-XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);

	if (fd < 0 || unlink(path) || ftruncate(fd, FILE_BYTES)) {
		perror("stress.pool: scratch file");
		return 1;
	}
	for (int round = 0; round < ROUNDS; round++)
		if (!run_round(&job, round < ROUNDS / 2 ? -1 : fd, round)) {
			fprintf(stderr, "stress.pool: round %d is wrong\n", round);
			return 1;
		}
	return 0;
}
