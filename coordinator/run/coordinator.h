/* SPDX-License-Identifier: Apache-2.0 */
/* coordinator.h - the hands of run.h: sockets, timers and signals around the pure machine.
 *
 * One thread, one zloop. SIGINT, SIGTERM and SIGHUP are taken by signalfd for the length of the call.
 */
#ifndef SALVO_RUN_COORDINATOR_H
#define SALVO_RUN_COORDINATOR_H

#include "common/net/channel.h"
#include "coordinator/run/progress.h"
#include "coordinator/run/run.h"

/* What the caller keeps of a run. Every function may be NULL. */
struct coordinator_hooks {
	void *arg;
	void (*started)(void *arg, size_t step, uint64_t start_ns);
	/* A SAMPLE, as the bytes that came; offset_ns: the host's clock minus ours. */
	void (*sampled)(void *arg, size_t step, size_t host, int64_t offset_ns,
			const uint8_t *bytes, size_t len);
	/* A DONE, the same way. */
	void (*totalled)(void *arg, size_t step, size_t host, const uint8_t *bytes, size_t len);
	void (*probed)(void *arg, size_t host, size_t step, struct msg_ready *ready);
};

struct coordinator_options {
	enum run_mode mode;
	const struct hostlist *hosts;
	const struct plan *plan;
	struct collector *collector;
	const struct fleet *fleet;
	const struct channel_keys *keys;
	bool embedded; /* the only host is a worker that is started for the length of the call */
	struct progress *progress; /* NULL: none */
	struct coordinator_hooks hooks;
};

/* Must be called before anything else that uses ZeroMQ. */
void coordinator_init(void);
/* Runs to the end, which always comes; what came of it is in the run. */
struct run *coordinator_run(const struct coordinator_options *options) _returns_nonnull_;
/* --keys, or $XDG_CONFIG_HOME/salvo/keys, or ~/.config/salvo/keys; owned by the caller. */
char *coordinator_keys_dir(const char *option) _returns_nonnull_;

#endif
