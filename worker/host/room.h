/* SPDX-License-Identifier: Apache-2.0 */
/* room.h - what the system still lets this process have: threads, memory, open files. */
#ifndef SALVO_HOST_ROOM_H
#define SALVO_HOST_ROOM_H

#include "common/base/error.h"
#include "worker/host/sysfs.h"

/* What a step takes beyond what the process has now. */
struct room_need {
	uint64_t threads;
	uint64_t bytes; /* of memory */
	uint64_t files; /* descriptors */
};

/* Every limit that is too low (ERR_REFUSED, a list): its name, its value, what is left of it and how to raise it.
 * Resource limits of the process, its user's tasks, its control groups. */
struct error *room_check(const struct host_root *root, const struct room_need *need) _must_check_;

#endif
