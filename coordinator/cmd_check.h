/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_check.h - the part of `salvo check` that asks the workers. */
#ifndef SALVO_COORDINATOR_CMD_CHECK_H
#define SALVO_COORDINATOR_CMD_CHECK_H

#include "coordinator/options.h"
#include "coordinator/run/plan.h"

/* Asks every host of the plan about its targets without opening anything for writing, and prints a line for
 * each device: model, serial, size, use. Missing hosts and refusals come back as errors, all at once. */
struct error *check_online(const struct plan *plan, const struct options *opts,
			   FILE *out) _must_check_;

#endif
