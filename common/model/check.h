/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - one line of a scenario's `checks`: "[GROUP:]METRIC OP VALUE", for example "lat.p99 < 2ms".
 *
 * The value has the unit of the metric: a duration for latencies, a size (with or without "/s") for bandwidth and
 * bytes, a number with k or M for counts and rates, a percentage for the processor and overlap. Pure; any thread.
 */
#ifndef SALVO_MODEL_CHECK_H
#define SALVO_MODEL_CHECK_H

#include "common/base/error.h"
#include "common/model/metric_path.h"

enum check_op {
	CHECK_LESS,
	CHECK_LESS_EQUAL,
	CHECK_GREATER,
	CHECK_GREATER_EQUAL,
	CHECK_EQUAL,
	CHECK_NOT_EQUAL
};

struct check {
	char *group;  /* NULL: all */
	char *metric; /* the path as written */
	struct metric_path path;
	enum check_op op;
	double limit; /* in the metric's unit: ns, bytes, percent, ... */
};

/* Of what is wrong with the text, all that can be told. */
struct error *check_parse(const char *text, struct check *ret) _must_check_;
void check_fini(struct check *c);
bool check_holds(const struct check *c, double value);
/* "2.31 ms": with as many digits as it takes to see on which side of the limit it lies; owned by the caller. */
char *check_value_text(const struct check *c, double value) _returns_nonnull_;

#endif
