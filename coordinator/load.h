/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - from a command line to a plan: what `salvo run` and `salvo check` have in common. */
#ifndef SALVO_COORDINATOR_LOAD_H
#define SALVO_COORDINATOR_LOAD_H

#include "common/model/inventory.h"
#include "coordinator/options.h"
#include "coordinator/run/plan.h"

/* Loads opts->args[0] with --set, --repeat, --label, --on-loss, --hosts and --inventory applied, and makes the
 * plan. The plan borrows from the scenario: destroy it first. All
 * mistakes at once. */
struct error *load_plan(const struct options *opts, const char *run_id, uint64_t seed,
			struct scenario **ret_scenario, struct plan **ret_plan) _must_check_;
/* The hosts that --hosts and --inventory name, without a scenario: those of --hosts, else all of the inventory.
 * They borrow from the inventory, which is NULL when none was given. */
struct error *load_hosts(const struct options *opts, struct inventory **ret_inventory,
			 struct hostlist *ret) _must_check_;

#endif
