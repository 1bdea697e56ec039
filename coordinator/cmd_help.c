/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/inventory.h"
#include "common/model/metric_path.h"
#include "coordinator/commands.h"

static struct error *explain_inventory(FILE *out)
{
	fprintf(out, "inventory: %s\n", inventory_schema.help);
	for (const struct field *f = inventory_schema.fields; f->name; f++) {
		struct error *err = schema_explain(&inventory_schema, f->name, out);

		if (err)
			return err;
	}
	return NULL;
}

/* A key of the scenario, or one of the inventory behind that word. */
static struct error *explain_key(const char *key, FILE *out)
{
	struct error *err;

	if (streq(key, "inventory"))
		return explain_inventory(out);
	if (str_starts(key, "inventory."))
		return schema_explain(&inventory_schema, key + strlen("inventory."), out);
	err = schema_explain(&scenario_schema, key, out);
	if (!err && streq(key, "checks"))
		metric_path_print_text(out);
	return err;
}

struct error *cmd_help(const struct options *opts, FILE *out)
{
	const struct command *cmd;

	if (!opts->nr_args) {
		options_print_help(out);
		return NULL;
	}
	cmd = command_find(opts->args[0]);
	if (!cmd)
		return explain_key(opts->args[0], out);
	options_print_command_help(cmd, out);
	return NULL;
}

struct error *cmd_version(_unused_ const struct options *opts, FILE *out)
{
	fprintf(out, "salvo %s\n", SALVO_VERSION);
	return NULL;
}
