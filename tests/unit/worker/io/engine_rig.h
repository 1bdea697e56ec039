/* SPDX-License-Identifier: Apache-2.0 */
/* engine_rig.h - one engine on a scratch file, without thread and loop, and what every engine must do. */
#ifndef SALVO_TEST_IO_ENGINE_RIG_H
#define SALVO_TEST_IO_ENGINE_RIG_H

#include "worker/io/engine.h"

enum { ENGINE_RIG_BYTES = 4096, ENGINE_RIG_BLOCKS = 64 };

struct engine_rig {
	const struct engine_ops *ops;
	struct engine_env env;
	struct buffers buffers;
	void *state;
	struct error *warnings;
};

/* A file of ENGINE_RIG_BLOCKS blocks of zeros in the current folder, unlinked; opened with O_RDWR and
 * `flags`. The engine is not initialised yet: env may still be changed. */
void engine_rig_open(struct engine_rig *rig, const struct engine_ops *ops, unsigned depth,
		     int flags);
/* Skips the test when the engine is not allowed here. */
void engine_rig_start(struct engine_rig *rig);
void engine_rig_fini(struct engine_rig *rig);

/* One I/O on slot 0 from submission to completion: its result. */
int32_t engine_rig_run(struct engine_rig *rig, bool write, uint64_t offset);
/* The whole depth at once, slot i at offsets[i]. Each slot must complete once, with `result`. */
void engine_rig_run_all(struct engine_rig *rig, bool write, const uint64_t *offsets,
			int32_t result);

/* Every slot writes its own block and reads another's; all of it arrives. */
void engine_moves_the_right_bytes(struct engine_rig *rig);
/* Nothing behind the end, less over it, -EBADF of a descriptor that is closed (the last thing to try). */
void engine_gives_short_reads(struct engine_rig *rig);
/* As many as the command says, which is less than a buffer holds. Slot depth - 1. */
void engine_moves_as_many_bytes_as_it_is_told(struct engine_rig *rig);
/* fsync and fdatasync each complete as slot 0 with result 0. */
void engine_syncs(struct engine_rig *rig);
/* A wait ends after about ENGINE_WAIT_NS though nothing completes, and sooner when it was told so. Of an
 * engine with a queue. */
void engine_waits_not_for_ever(struct engine_rig *rig);

#endif
