/* SPDX-License-Identifier: Apache-2.0 */
/* stop_signals.h - SIGINT, SIGTERM and SIGHUP around a run.
 *
 * While the workers run, signals are the coordinator's (coordinator.c). Before that and between that and the last file
 * that is kept, the first signal is noted here and the second one ends the program with status 130. SIGPIPE is ignored:
 * a reader of stdout that goes away is an error of writing, not a silent death. One thread; not reentrant.
 */
#ifndef SALVO_STOP_SIGNALS_H
#define SALVO_STOP_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

enum { NR_STOP_SIGNALS = 3 };

struct stop_signals {
	struct sigaction before[NR_STOP_SIGNALS], pipe_before;
	bool held;
};

void stop_signals_hold(struct stop_signals *s);
/* From now on they end the program as they did before: what is left to do may wait for a reader for ever. True: one
 * has come meanwhile. */
bool stop_signals_release(struct stop_signals *s);
/* Puts SIGPIPE back as well; may be called twice. */
void stop_signals_fini(struct stop_signals *s);

#endif
