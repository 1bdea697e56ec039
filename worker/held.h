/* SPDX-License-Identifier: Apache-2.0 */
/* held.h - the targets that an I/O process has open, with their guards, from step to step while they are the same. */
#ifndef SALVO_WORKER_HELD_H
#define SALVO_WORKER_HELD_H

#include "worker/host/target.h"

struct held_target {
	struct work_target spec; /* owned copy of what it was opened for */
	struct open_target *open;
	bool is_written; /* a step has written it, and nobody has synced it since */
};

struct held_targets {
	struct held_target *items;
	size_t nr;
};
void held_targets_fini(struct held_targets *all);

/* Takes the open target. */
void held_targets_add(struct held_targets *all, const struct work_target *spec,
		      struct open_target *open);
/* The one that was opened for the very same thing, whatever its name; NULL: none. */
struct open_target *held_targets_find(const struct held_targets *all,
				      const struct work_target *spec);
/* Closes all that the assignment does not want; before anything is opened for it, since the same device may be wanted
 * in another way. */
void held_targets_keep(struct held_targets *all, const struct assignment *a);
void held_targets_mark_written(struct held_targets *all, const struct open_target *open);
void held_targets_close(struct held_targets *all, const struct open_target *open);

#endif
