/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h - what the kernel counts about a block device, disk or partition. */
#ifndef SALVO_HOST_COUNTERS_H
#define SALVO_HOST_COUNTERS_H

#include "common/net/message.h"
#include "worker/host/sysfs.h"

/* Since boot; `target` and `elapsed_ns` stay 0. False where the device has no counters. */
bool counters_read(const struct host_root *root, dev_t rdev, struct device_stat *ret);
/* I/Os in flight; 0 also where the driver does not count them. */
uint64_t counters_inflight(const struct host_root *root, dev_t rdev);

#endif
