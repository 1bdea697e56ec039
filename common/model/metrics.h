/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - counters per direction, from the one list in metrics.def. Data only. */
#ifndef SALVO_MODEL_METRICS_H
#define SALVO_MODEL_METRICS_H

#include "common/base/hist.h"

enum direction { DIR_READ, DIR_WRITE, DIR_TRIM, DIR_SYNC, DIR_COUNT };
extern const char *const direction_names[DIR_COUNT]; /* "read", "write", "trim", "sync" */

enum metric_unit { METRIC_COUNT, METRIC_BYTES, METRIC_NS };
enum metric_merge { METRIC_SUM, METRIC_MAX };

struct counts {
#define X(name, unit, merge, help) uint64_t name;
#include "common/model/metrics.def"
#undef X
};

struct metric {
	const char *name;
	enum metric_unit unit;
	enum metric_merge merge;
	const char *help;
	size_t offset; /* in struct counts */
};
enum {
#define X(name, unit, merge, help) METRIC_ID_##name,
#include "common/model/metrics.def"
#undef X
	NR_METRICS,
};
extern const struct metric metrics[NR_METRICS];

static inline uint64_t *metric_cell(struct counts *c, const struct metric *m)
{
	return (uint64_t *)((char *)c + m->offset);
}

static inline uint64_t metric_value(const struct counts *c, const struct metric *m)
{
	return *(const uint64_t *)((const char *)c + m->offset);
}

/* to += from, each metric by its own rule. */
void counts_merge(struct counts *to, const struct counts *from);
/* to += a reading of cells that another thread or process is writing. */
void counts_merge_cells(struct counts *to, const struct counts *cells);
bool counts_is_zero(const struct counts *c);

/* How often a number was seen, by powers of two: bucket i counts 2^i .. 2^(i+1) - 1, the last one everything
 * from 2^12 on (depths end at 4096). */
enum { POW2_BUCKETS = 13 };
struct pow2_counts {
	uint64_t bucket[POW2_BUCKETS];
};

/* The bucket of n; n >= 1. */
static inline unsigned pow2_bucket(uint64_t n)
{
	unsigned bit = 63u ^ (unsigned)__builtin_clzll(n | 1);

	return bit < POW2_BUCKETS ? bit : POW2_BUCKETS - 1;
}
void pow2_counts_merge(struct pow2_counts *to, const struct pow2_counts *from);

/* One direction with its latency distributions, for adding up on either side. Zero-initialise. */
struct direction_sum {
	struct counts counts;
	struct hist lat, clat, slat; /* clat and slat stay empty where lat is all there is */
	/* Of a job with a rate: since its submission, where lat is since it was due; what the thread was late. */
	struct hist service, late;
};
void direction_sum_fini(struct direction_sum *d);
void direction_sum_merge(struct direction_sum *to, const struct direction_sum *from);

#endif
