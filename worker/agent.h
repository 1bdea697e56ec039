/* SPDX-License-Identifier: Apache-2.0 */
/* agent.h - the control process: the loop around session.c. */
#ifndef SALVO_WORKER_AGENT_H
#define SALVO_WORKER_AGENT_H

#include "worker/config.h"

/* Serves until it is told to end by SIGTERM or SIGINT, which must be blocked already. An error: it could not
 * begin. */
struct error *agent_run(const struct worker_config *c) _must_check_;

#endif
