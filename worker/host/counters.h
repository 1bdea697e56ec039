/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h - what the kernel counts about a block device, disk or partition. */
#ifndef SALVO_HOST_COUNTERS_H
#define SALVO_HOST_COUNTERS_H

#include "common/net/message.h"
#include "worker/host/sysfs.h"

/* Since boot; columns that the kernel does not have, `target`, `elapsed_ns` and the texts stay 0. False where the
 * device has no counters, or they are switched off (queue/iostats). A multipath NVMe device that has never counted
 * anything itself is the sum of its paths. */
bool counters_read(const struct host_root *root, dev_t rdev, struct device_stat *ret);
/* What was counted between two readings, `target` and texts left out; a counter that went back is 0. */
struct device_stat counters_between(const struct device_stat *before,
				    const struct device_stat *after);
/* I/Os in flight; 0 also where the driver does not count them. */
uint64_t counters_inflight(const struct host_root *root, dev_t rdev);

#endif
