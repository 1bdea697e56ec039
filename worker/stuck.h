/* SPDX-License-Identifier: Apache-2.0 */
/* stuck.h - targets of I/O processes that could not end, recorded in STATE/stuck.d so that a restarted worker
 * still refuses them.
 *
 * A target is over when its process is gone, or has at least closed it, and the device has nothing in flight. Nothing
 * here opens a target: /proc and /sys/class/block/NAME/inflight answer also for a device that hangs.
 */
#ifndef SALVO_WORKER_STUCK_H
#define SALVO_WORKER_STUCK_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A target that an I/O process which could not end holds. */
struct stuck_target {
	char *path;      /* as it was asked for */
	char *canonical; /* as it was found; NULL when it was never found */
	char *text;      /* since when and why, for people */
};

struct stuck_record {
	uint64_t pid;
	uint64_t
		pid_started; /* field 22 of /proc/PID/stat: tells it from a later process of that number */
	char *boot;          /* boot id: nothing is in flight any more after a reboot */
	struct stuck_target *targets;
	size_t nr_targets;
};

/* A record of this process without targets yet. */
void stuck_record_init(struct stuck_record *r, pid_t pid);
void stuck_record_add(struct stuck_record *r, const char *path, const char *canonical,
		      const char *text);
void stuck_record_fini(struct stuck_record *r);

struct error *stuck_save(const char *state, const struct stuck_record *r) _must_check_;
/* All records of the folder with the targets that are not over, but for that of the calling process. Where nothing
 * is left, or of an earlier boot, they are removed. */
void stuck_load(const char *state, struct stuck_record **ret, size_t *ret_nr);
void stuck_records_free(struct stuck_record **records, size_t *nr);
/* Takes out the targets that are over, telling each; returns how many they were. */
typedef void stuck_released(void *arg, const struct stuck_target *t);
size_t stuck_prune(struct stuck_record *r, stuck_released *released, void *arg);
void stuck_forget(const char *state, const struct stuck_record *r);

#endif
