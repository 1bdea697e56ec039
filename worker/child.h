/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - the I/O process of a session as the control process sees it: start it, talk to it, learn that it
 * has ended. Nothing here waits for it.
 *
 * It is this very program again (posix_spawn of /proc/self/exe, never a bare fork), in a session of its own, with
 * an empty stdin, its end of the control pair, the statistics memfd, and a memfd for stdout and stderr: one that hangs in
 * a device keeps nobody's pipe open.
 * The first frame on the pair is a struct io_setup; messages follow in both directions. When the pair is
 * closed, it stops its threads, drains and ends.
 */
#ifndef SALVO_WORKER_CHILD_H
#define SALVO_WORKER_CHILD_H

#include "common/schema/schema.h"
#include "worker/config.h"
#include "worker/control_pair.h"
#include "worker/io/stats.h"

#include <sys/types.h>

enum { CHILD_PAIR_FD = 3, CHILD_STATS_FD = 4 };

/* What the I/O process must know of worker.yaml. */
struct io_setup {
	char **read, **write; /* patterns of `allow` */
	size_t nr_read, nr_write;
	char *below;              /* struct access_rules; NULL: a daemon */
	char *state;              /* folder of the worker's state */
	uint64_t threads, memory; /* limits of one step */
};
extern const struct schema io_setup_schema;
/* Lists and texts are borrowed from the configuration, but for `below`, which is the caller's to free. */
struct error *io_setup_make(const struct worker_config *c, struct io_setup *ret) _must_check_;

struct child {
	pid_t pid;
	int pidfd; /* readable when it has ended */
	struct control_pair pair;
	int stats_fd, words_fd;
	struct stats_block *block; /* NULL until child_map */
	size_t block_bytes;
};

struct error *child_start(const struct io_setup *setup, struct child **ret) _must_check_;
/* Closes the descriptors of one that has ended; its statistics can still be read. */
void child_close(struct child *c);
/* Forgets it, without waiting: reap it first, or keep the pidfd (take it out by setting it to -1). */
void child_destroy(struct child **self_p);

/* Maps the statistics block that the I/O process has laid out; the one mapped before is let go. */
struct error *child_map(struct child *c) _must_check_;
void child_unmap(struct child *c);
/* When the lease ends: into the block, where the threads look, or, while there is none, as a PING: the I/O process
 * may be laying a file out, and is to leave off then even if the control process is stopped. True: that PING waits
 * on the pair. */
bool child_set_deadline(struct child *c, uint64_t ns);
/* What it has written to stdout and stderr, the beginning of it; owned by the caller. Nothing, unless it was about to
 * die of a defect. */
char *child_words(const struct child *c);
void child_log_words(const struct child *c);
/* NULL while the process of this pidfd runs; else it is reaped, and how it ended is told: "was killed by signal 9
 * (Killed)". Owned by the caller. */
char *child_reap(int pidfd);

#endif
