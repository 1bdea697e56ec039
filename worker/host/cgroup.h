/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h - the control groups that this process is in, version 2 or 1. */
#ifndef SALVO_HOST_CGROUP_H
#define SALVO_HOST_CGROUP_H

#include "worker/host/sysfs.h"

/* The folders of the process's group and of all above it, nearest first, in which the controller ("pids", "memory",
 * "cpu") has its files; none where there is no such controller. */
struct names cgroup_folders(const struct host_root *root, const char *controller);

#endif
