/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/commands.h"
#include "coordinator/load.h"
#include "coordinator/report/hosts.h"
#include "coordinator/run/coordinator.h"

static struct error *look(const struct options *opts, const struct hostlist *hosts,
			  const struct channel_keys *keys, FILE *out)
{
	_cleanup_(run_destroy) struct run *run = NULL;
	struct scenario defaults;
	struct error *errors;

	schema_init(&scenario_schema, &defaults);
	run = coordinator_run(&(struct coordinator_options) {
		.mode = MODE_OBSERVE,
		.hosts = hosts,
		.fleet = &defaults.fleet,
		.keys = keys,
	});
	errors = run_take_errors(run);
	error_append(&errors, opts->format == FORMAT_JSON ? hosts_write_json(hosts, run, out)
							  : hosts_write_text(hosts, run, out));
	schema_fini(&scenario_schema, &defaults);
	return errors;
}

struct error *cmd_hosts(const struct options *opts, FILE *out)
{
	_cleanup_free_ char *keys_dir = coordinator_keys_dir(opts->keys);
	_cleanup_(channel_keys_fini) struct channel_keys keys = { 0 };
	_cleanup_(inventory_destroy) struct inventory *inventory = NULL;
	_cleanup_(hostlist_fini) struct hostlist hosts = { 0 };
	struct error *err = load_hosts(opts, &inventory, &hosts);

	if (!err && hosts.nr_hosts == 0)
		err = error_new(
			ERR_USAGE,
			"no hosts; name the workers: salvo hosts --hosts node[01-04], or give "
			"an --inventory");
	if (err)
		return err;
	coordinator_init();
	err = channel_keys_load(keys_dir, opts->insecure, &hosts, &keys);
	if (err)
		return err;
	return look(opts, &hosts, &keys, out);
}
