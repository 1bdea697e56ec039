/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/metric_path.h"
#include "coordinator/commands.h"

struct error *cmd_help(const struct options *opts, FILE *out)
{
	const struct command *cmd;

	if (!opts->nr_args) {
		options_print_help(out);
		return NULL;
	}
	cmd = command_find(opts->args[0]);
	if (!cmd) {
		struct error *err = schema_explain(&scenario_schema, opts->args[0], out);

		if (!err && streq(opts->args[0], "checks"))
			metric_path_print_text(out);
		return err;
	}
	options_print_command_help(cmd, out);
	return NULL;
}

struct error *cmd_version(_unused_ const struct options *opts, FILE *out)
{
	fprintf(out, "salvo %s\n", SALVO_VERSION);
	return NULL;
}
