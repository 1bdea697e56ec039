/* SPDX-License-Identifier: Apache-2.0 */
/* cpus.h - the processors of this host that a job may be bound to. */
#ifndef SALVO_HOST_CPUS_H
#define SALVO_HOST_CPUS_H

#include "common/base/cpulist.h"
#include "worker/host/sysfs.h"

/* `list` ("0-3,8") as a set. The error (ERR_REFUSED) names each processor that is not here, is offline, or is outside
 * of what this process may use. */
struct error *cpus_allowed(const struct host_root *root, const char *list,
			   cpu_set_t *ret) _must_check_;

#endif
