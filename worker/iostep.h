/* SPDX-License-Identifier: Apache-2.0 */
/* iostep.h - one step in the I/O process: its targets are opened and checked, its threads made, started,
 * watched and counted.
 *
 * Supervisor thread of the I/O process only. Every call may block for as long as a device likes, except
 * iostep_stop, iostep_tick and the questions.
 */
#ifndef SALVO_WORKER_IOSTEP_H
#define SALVO_WORKER_IOSTEP_H

#include "common/net/message.h"
#include "worker/child.h"
#include "worker/held.h"
#include "worker/host/target.h"
#include "worker/settle.h"

struct io_env {
	struct io_setup setup;
	struct access_rules rules; /* those of the setup; open targets keep a pointer to them */
	int stats_fd;
	struct stats_block *block;
	size_t block_bytes;
	struct held_targets held;
	/* Called while PREPARE takes its time; see settle.h. */
	settle_progress progress;
	void *progress_arg;
};
/* Takes the setup over. The environment must not be moved from then on. */
void io_env_setup(struct io_env *env, const struct io_setup *setup);
/* Closes the targets and lets the memory go. */
void io_env_fini(struct io_env *env);

struct iostep;

/* Opens, checks and lays out; then, unless it is a probe, makes the threads, which stand at the gate. The
 * assignment is borrowed for the step's life. All reasons at once. */
struct error *iostep_new(struct io_env *env, const struct assignment *a,
			 struct iostep **ret) _must_check_;
/* Joins the threads (they must have been stopped or have ended) and frees the step; targets stay open. */
void iostep_destroy(struct iostep **self_p);

/* READY: its devices are an array of the caller's (free), the texts in it are borrowed from the step. */
void iostep_ready(const struct iostep *s, struct msg_ready *ret);
/* Asks all targets again whether they may be written, and starts the threads at the instant; an error when that
 * is too near or too far. */
struct error *iostep_start(struct iostep *s, uint64_t start_ns) _must_check_;
void iostep_stop(struct iostep *s);
/* Readable when the last thread has ended; -1: the step has no threads. */
int iostep_done_fd(const struct iostep *s);
bool iostep_is_done(const struct iostep *s);
/* When iostep_tick is due next; UINT64_MAX: never. */
uint64_t iostep_next_ns(const struct iostep *s);
void iostep_tick(struct iostep *s, uint64_t now_ns);
/* The name of the target to which an fsync, and nothing else, has been writing back for long, and more than at the last
 * look; NULL: there is no such thing, or no progress, or it is not yet time for a look. */
const char *iostep_sync_progress(struct iostep *s, uint64_t now_ns);
/* Joins the threads and makes DONE (`samples` is left to the control process). */
void iostep_finish(struct iostep *s, struct msg_done *ret);
/* Closes the targets of which no thread is at work any more; for a step that hangs in others. */
void iostep_release_idle(struct iostep *s);

#endif
