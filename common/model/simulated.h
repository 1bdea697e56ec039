/* SPDX-License-Identifier: Apache-2.0 */
/* simulated.h - how a target without a device behaves: what the scenario says of it, and the latencies that
 * follow from it. Data and arithmetic only.
 */
#ifndef SALVO_MODEL_SIMULATED_H
#define SALVO_MODEL_SIMULATED_H

#include "common/schema/schema.h"

/* quantiles: {"50": 100us}: so many percent of the I/Os take at most so long. */
struct quantile {
	char *percent; /* as written */
	uint64_t latency_ns;
	struct fieldset set;
};

/* The device stands still once: what is in flight or comes then is that much later. */
struct stall {
	uint64_t at_ns;  /* after a thread's first I/O */
	uint64_t for_ns; /* 0: it does not */
	struct fieldset set;
};

struct simulated {
	uint64_t size;       /* bytes */
	uint64_t latency_ns; /* of each I/O, where there are no quantiles */
	struct quantile *quantiles;
	size_t nr_quantiles;
	struct stall stall;
	struct fieldset set;
};

extern const struct schema simulated_schema, quantile_schema, stall_schema;

enum { QUANTILES_MAX = 64 };

/* The latency by the share of I/Os that take no longer: linear between the quantiles, flat beyond the outermost. */
struct latency_curve {
	struct {
		double share; /* 0..1, ascending */
		uint64_t latency_ns;
	} points[QUANTILES_MAX];
	size_t nr_points;
};

/* The error names the quantile: "99: ...". At least one, at most QUANTILES_MAX, both columns ascending. */
struct error *latency_curve_init(struct latency_curve *curve, const struct quantile *quantiles,
				 size_t nr) _must_check_;
/* The latency at share position / 2^64. */
uint64_t latency_curve_at(const struct latency_curve *curve, uint64_t position);
/* When an I/O is done that the device would need until done_ns for, were there no stall; begin_ns: the thread's first
 * I/O. */
uint64_t stall_delay(const struct stall *stall, uint64_t begin_ns, uint64_t submit_ns,
		     uint64_t done_ns);

#endif
