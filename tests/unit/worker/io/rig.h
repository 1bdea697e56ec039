/* SPDX-License-Identifier: Apache-2.0 */
/* rig.h - a pool with its statistics block and its file, for the tests of worker/io. */
#ifndef SALVO_TEST_IO_RIG_H
#define SALVO_TEST_IO_RIG_H

#include "worker/io/pool.h"

enum { RIG_THREADS = 8 };

struct rig {
	struct job job; /* shared by the threads; to be set before rig_new */
	struct io_thread_spec specs[RIG_THREADS];
	size_t nr_threads;
	struct stats_block *stats;
	struct pool *pool;
	uint64_t start_ns;
	int fd;
};

/* One thread on a simulated target of 100 us, 4 KiB random reads over 1 MiB. Change rig.job and specs. */
void rig_init(struct rig *rig);
void rig_fini(struct rig *rig);
/* Instead of the simulated target, an unlinked file of so many zeros in the current folder. */
void rig_use_file(struct rig *rig, uint64_t bytes);
/* So many threads; each gets its part of the first one's range. */
void rig_split(struct rig *rig, size_t nr_threads);
/* Makes the statistics block and the pool; the error is the pool's. */
struct error *rig_new(struct rig *rig);
void rig_start(struct rig *rig); /* some ms ahead */
void rig_wait(struct rig *rig);  /* until the last thread has ended */
/* All of it; false when the engine is not allowed here and the test must be skipped. */
bool rig_run(struct rig *rig);
/* Counters of all threads. */
struct counts rig_counts(const struct rig *rig, enum direction dir);
/* Distributions of all threads; owned by the caller. */
struct direction_sum rig_sum(const struct rig *rig, enum direction dir);

/* Little's law over a time-based run of `dir` alone: no slot is idle from W0 to W1, on paper. What reaches
 * over the edges comes on top, which is much only where the machine was busy with something else just
 * then; so the bounds are those, and no tolerance that a busy machine would break. */
void rig_assert_littles_law(const struct rig *rig, enum direction dir, unsigned in_flight);

#endif
