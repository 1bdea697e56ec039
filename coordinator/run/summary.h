/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - metrics by their path, and their statistics over the repeats of a point. Pure. */
#ifndef SALVO_RUN_SUMMARY_H
#define SALVO_RUN_SUMMARY_H

#include "common/model/result.h"

/* The value of "read.iops", "write.lat.p99.9", "lat.mean", "errors", "cpu.usr", ... in a group; without a
 * direction read, write and trim together. NaN: not measured, or no such metric. */
double group_metric(const struct result_group *g, const char *path);
/* Fills r->summary from r->steps: one entry per point, phase and group, in the order of the steps. Partial
 * steps count as repeats without a value. */
void summary_fill(struct result *r);

#endif
