/* SPDX-License-Identifier: Apache-2.0 */
/* workload.h - what a job's keys ask for, I/O by I/O: sizes and the places of random I/O, as numbers.
 *
 * The texts of bssplit, bsrange and random_distribution have their one meaning here; the coordinator checks and
 * the worker runs it. Pure; any thread.
 */
#ifndef SALVO_MODEL_WORKLOAD_H
#define SALVO_MODEL_WORKLOAD_H

#include "common/model/job.h"
#include "common/model/metrics.h"

/* --- sizes ---------------------------------------------------------------------------------------- */

enum { SIZES_MAX = 64 };

/* `nr` sizes, equally likely: bytes, bytes + step, ... */
struct size_share {
	uint64_t bytes, step, nr;
	double percent; /* of the I/Os */
};

/* The sizes of one direction's I/Os; percents add up to 100. */
struct size_mix {
	struct size_share shares[SIZES_MAX];
	size_t nr;
};

/* What the job's I/Os of that direction move. The error names the key: "bssplit: what is wrong". */
struct error *job_sizes(const struct job *job, enum direction dir,
			struct size_mix *ret) _must_check_;
/* The key that says so: "bssplit", "bsrange" or "bs". */
const char *job_size_key(const struct job *job);
/* Do all I/Os move job->bs bytes? */
bool job_size_is_fixed(const struct job *job);
/* The smallest and the largest I/O of any direction that the job has. With a text that is wrong: bs. */
uint64_t job_min_bytes(const struct job *job);
uint64_t job_max_bytes(const struct job *job);
/* What all sizes and blockalign are multiples of: bs where it is all there is. */
uint64_t job_granule(const struct job *job);
/* The first of the job's sizes and its blockalign that is no multiple of `unit` bytes; 0: all are. */
uint64_t job_odd_size(const struct job *job, uint64_t unit);
/* Where random I/O may begin: multiples of this, from the range's start on. */
uint64_t job_align(const struct job *job);

/* --- rates ---------------------------------------------------------------------------------------- */

struct rate {
	double per_s; /* 0: no rate */
	bool is_bytes;
};

/* At which rate I/O of that direction becomes due in each thread. The error names the key. */
struct error *job_rate(const struct job *job, enum direction dir, struct rate *ret) _must_check_;

static inline bool job_has_rate(const struct job *job)
{
	return job->rate || job->rate_iops;
}

/* --- places --------------------------------------------------------------------------------------- */

enum distribution_kind { DIST_UNIFORM, DIST_ZIPF, DIST_PARETO, DIST_NORMAL, DIST_ZONED };
enum { ZONES_MAX = 64 };

struct zone {
	double access, size; /* percent of the I/Os, percent of the range */
};

struct distribution {
	enum distribution_kind kind;
	double parameter; /* theta, h, or the deviation in percent of the range */
	struct zone zones[ZONES_MAX];
	size_t nr_zones;
};

/* How the job's random offsets spread. The error names the key. */
struct error *job_distribution(const struct job *job, struct distribution *ret) _must_check_;

#endif
