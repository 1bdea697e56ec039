/* SPDX-License-Identifier: Apache-2.0 */
/* settle.h - quiet before a step: what the step before wrote is on its device, nothing is in flight, and the page
 * cache is as the jobs want it.
 *
 * Supervisor thread of the I/O process, in PREPARE, never inside measured time. A device that takes nothing any
 * more ends the wait after SETTLE_STALL_NS with an error that names it.
 */
#ifndef SALVO_WORKER_SETTLE_H
#define SALVO_WORKER_SETTLE_H

#include "worker/held.h"

/* So long without any sign of progress is too long. */
#define SETTLE_STALL_NS (30 * NS_PER_S)

/* Told what is waited for whenever that advances, `doing` NULL: only asked whether to go on. False: stop. */
typedef bool (*settle_progress)(void *arg, const char *doing, uint64_t done);

struct settle {
	const struct host_root *root;
	settle_progress progress;
	void *arg;
	struct error *warnings; /* what could not be had; owned by the caller */
};

/* Syncs all targets that were written since the last time, and waits until nothing is in flight on those that are
 * held alone. */
struct error *settle_written(struct settle *s, struct held_targets *held) _must_check_;

/* Could the caches be dropped as the members want it? Touches nothing. */
struct error *settle_check(const struct settle *s, const struct assignment *a) _must_check_;
/* Drops the targets' part of the page cache (`invalidate`), or all of the host's (`drop_caches`); then reads into it
 * what jobs want there (`pre_read`). `targets`: per target of the assignment. */
struct error *settle_caches(struct settle *s, const struct assignment *a,
			    struct open_target *const *targets) _must_check_;

#endif
