/* SPDX-License-Identifier: Apache-2.0 */
/* throttle.h - was the host slowed down during a step: by heat, by its control group, by its hypervisor? */
#ifndef SALVO_HOST_THROTTLE_H
#define SALVO_HOST_THROTTLE_H

#include "common/base/error.h"
#include "worker/host/sysfs.h"

/* Counters since boot, 0 where the host has none. */
struct throttle {
	uint64_t cores, packages; /* times that one was throttled for heat, all of them together */
	uint64_t group, group_ns; /* times and time that the process's control groups had to wait */
	uint64_t steal, all; /* processor time that the hypervisor took, and all of it; ticks */
};

struct throttle throttle_read(const struct host_root *root);
/* What happened between two readings and is worth saying: a list, NULL when there is nothing. */
struct error *throttle_warnings(const struct throttle *before, const struct throttle *after);

/* "2.00 of 3.60 GHz on 4 of 8 CPUs": processors that may not run as fast as they could; NULL: none, or unknown.
 * Owned by the caller. */
char *throttle_cap(const struct host_root *root);

#endif
