/* SPDX-License-Identifier: Apache-2.0 */
/* iocheck.h - arithmetic of an assignment: limits, ranges of threads, what may be written. Pure, but for
 * iocheck_not_stuck. Whether a member fits its target is target_check_member's question; the ranges below are of
 * members that do. */
#ifndef SALVO_WORKER_IOCHECK_H
#define SALVO_WORKER_IOCHECK_H

#include "common/model/split.h"
#include "common/net/message.h"
#include "worker/child.h"
#include "worker/host/room.h"

/* Threads and memory against the limits of worker.yaml. */
struct error *iocheck_limits(const struct assignment *a, const struct io_setup *setup) _must_check_;
/* What the step takes of the host; room.h has the limits. */
struct room_need iocheck_need(const struct assignment *a);
/* The part of the target that thread `index` of the member has. */
struct range iocheck_thread_range(const struct work_member *m, const struct work_target *t,
				  const struct device_info *info, uint64_t index);
/* Slots of the statistics block that the step's threads may need. */
uint64_t iocheck_slots(const struct assignment *a);
/* Fills max_write_bytes: the union of what the members may write. */
void iocheck_max_write(const struct assignment *a, struct device_info *info);
/* How a new file gets its room (enum job_fallocate): the members agree. */
int iocheck_fallocate(const struct assignment *a, size_t target);
/* How far a file must be real before its members may use it; 0: nothing to do. */
uint64_t iocheck_layout_bytes(const struct assignment *a, size_t target,
			      const struct device_info *info);
/* Is the target, whatever its name, one that an earlier I/O process still holds? */
struct error *iocheck_not_stuck(const char *state, const struct work_target *t) _must_check_;

#endif
