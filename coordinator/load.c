/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/load.h"

struct error *load_hosts(const struct options *opts, const struct scenario *sc,
			 struct hostlist *ret)
{
	struct error *err;

	if (sc && !opts->nr_hosts)
		return error_context(hostlist_expand(sc->hosts, sc->nr_hosts, ret), "hosts");
	err = hostlist_expand(opts->hosts, opts->nr_hosts, ret);
	return error_context(err, "--hosts");
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
	};
	_cleanup_(scenario_destroy) struct scenario *sc = NULL;
	_cleanup_(hostlist_fini) struct hostlist hosts = { 0 };
	struct error *err = scenario_load_changed(opts->args[0], &changes, &sc);

	if (!err)
		err = load_hosts(opts, sc, &hosts);
	if (!err)
		err = error_context(plan_new(sc, &hosts, run_id, seed, ret_plan), "%s",
				    opts->args[0]);
	if (err)
		return err;
	*ret_scenario = take_ptr(sc);
	return NULL;
}
