/* SPDX-License-Identifier: Apache-2.0 */
/* agent.h - the control process: the loop around session.c. */
#ifndef SALVO_WORKER_AGENT_H
#define SALVO_WORKER_AGENT_H

#include "worker/config.h"

#include <signal.h>

/* To an embedded worker: its coordinator has died. Comes once for each of its threads. */
enum { AGENT_ORPHANED = SIGHUP };

/* The signals that agent_run takes by a descriptor; they must be blocked before. */
void agent_signals(const struct worker_config *c, sigset_t *ret);
/* Serves until it is told to end by a signal. An error: it could not begin. */
struct error *agent_run(const struct worker_config *c) _must_check_;

#endif
