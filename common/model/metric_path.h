/* SPDX-License-Identifier: Apache-2.0 */
/* metric_path.h - what can be asked of a result by a name: "read.iops", "lat.p99", "errors", "cpu.usr".
 *
 * A path is [DIRECTION.]METRIC; a metric of directions that is asked for without one is that of read, write and
 * trim together. The one table of them is in metric_path.c: checks, summaries, their units and
 * docs/reference/metrics.md are read from it. Pure; any thread.
 */
#ifndef SALVO_MODEL_METRIC_PATH_H
#define SALVO_MODEL_METRIC_PATH_H

#include "common/base/str.h"
#include "common/model/result.h"

#include <stdio.h>

enum path_unit { PATH_NUMBER, PATH_BYTES, PATH_BYTES_PER_S, PATH_NS, PATH_PERCENT };

struct path_metric {
	const char *name; /* "iops"; of a distribution "lat", behind which its statistic stands */
	enum path_unit unit;
	const char *help;
	/* Exactly one of these is set: whose number it is. NAN: not measured. */
	double (*of_direction)(const struct result_direction *d);
	const struct hist *(*distribution)(const struct result_direction *d);
	double (*of_group)(const struct result_group *g);
	double (*of_step)(const struct result_step *s);
};
extern const struct path_metric path_metrics[]; /* ends with { NULL } */

enum path_stat { STAT_NONE, STAT_MEAN, STAT_STDDEV, STAT_MIN, STAT_MAX, STAT_PERCENTILE };

struct metric_path {
	const struct path_metric *metric;
	int direction; /* enum direction; -1: none given */
	enum path_stat stat;
	double percentile; /* with STAT_PERCENTILE: 0 < p <= 100 */
};

/* False: there is no such metric. */
bool metric_path_parse(const char *text, struct metric_path *ret);
/* The nearest path, with percentiles as people ask for them; NULL: none is near enough. Owned by the caller. */
char *metric_path_nearest(const char *text);
/* The number in a group of a step; `step` may be NULL where it is not at hand. NAN: not measured. */
double metric_path_value(const struct metric_path *m, const struct result_step *step,
			 const struct result_group *g);
/* The table as markdown, and for a terminal. */
void metric_path_print_markdown(FILE *out);
void metric_path_print_text(FILE *out);

#endif
