/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h - a distribution over `nr` places as intervals with weights, for draw.h. Cold. */
#ifndef SALVO_IO_SPREAD_H
#define SALVO_IO_SPREAD_H

#include "common/model/workload.h"
#include "worker/io/draw.h"

/* Place 0 is the most wanted one of zipf and pareto. The intervals have their exact weights; within one, all places
 * are alike, which puts no place off by more than one percent (normal: up to five deviations from the middle).
 * Owned by the caller; NULL: out of memory. nr >= 1. */
struct interval *spread_intervals(const struct distribution *dist, uint64_t nr, size_t *ret_nr);

/* Are the places of the distribution ranks, which are to lie all over the range? */
static inline bool spread_is_ranked(const struct distribution *dist)
{
	return dist->kind == DIST_ZIPF || dist->kind == DIST_PARETO;
}

#endif
