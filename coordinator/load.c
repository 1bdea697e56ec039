/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/load.h"

struct error *load_hosts(const struct options *opts, struct inventory **ret_inventory,
			 struct hostlist *ret)
{
	_cleanup_(inventory_destroy) struct inventory *inv = NULL;
	struct error *err = NULL;

	if (opts->inventory)
		err = inventory_load(opts->inventory, &inv);
	if (err)
		return err;
	if (inv && !opts->nr_hosts)
		inventory_all(inv, ret);
	else
		err = inventory_expand(inv, opts->hosts, opts->nr_hosts, ret);
	if (err)
		return error_context(err, "--hosts");
	*ret_inventory = take_ptr(inv);
	return NULL;
}

struct error *load_plan(const struct options *opts, const char *run_id, uint64_t seed,
			struct scenario **ret_scenario, struct plan **ret_plan)
{
	const struct scenario_changes changes = {
		.settings = opts->settings,
		.nr_settings = opts->nr_settings,
		.labels = opts->labels,
		.nr_labels = opts->nr_labels,
		.repeat = opts->repeat,
		.on_loss = opts->on_loss,
		.hosts = opts->hosts,
		.nr_hosts = opts->nr_hosts,
		.inventory = opts->inventory,
	};
	_cleanup_(scenario_destroy) struct scenario *sc = NULL;
	_cleanup_(hostlist_fini) struct hostlist hosts = { 0 };
	struct error *err = scenario_load_changed(opts->args[0], &changes, &sc);

	if (!err)
		err = scenario_hosts(sc, &hosts);
	if (!err)
		err = error_context(plan_new(sc, &hosts, run_id, seed, ret_plan), "%s",
				    opts->args[0]);
	if (err)
		return err;
	*ret_scenario = take_ptr(sc);
	return NULL;
}
