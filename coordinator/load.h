/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - from a command line to a plan: what `salvo run` and `salvo check` have in common. */
#ifndef SALVO_COORDINATOR_LOAD_H
#define SALVO_COORDINATOR_LOAD_H

#include "coordinator/options.h"
#include "coordinator/run/plan.h"

/* Loads opts->args[0] with --set, --repeat, --label and --on-loss applied, takes the hosts of --hosts or
 * else of the scenario, and makes the plan. The plan borrows from the scenario: destroy it first. All
 * mistakes at once. */
struct error *load_plan(const struct options *opts, const char *run_id, uint64_t seed,
			struct scenario **ret_scenario, struct plan **ret_plan) _must_check_;
/* The hosts of --hosts alone, or of the scenario when that is not NULL and --hosts is not given. */
struct error *load_hosts(const struct options *opts, const struct scenario *sc,
			 struct hostlist *ret) _must_check_;

#endif
