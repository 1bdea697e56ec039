/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/commands.h"

struct error *cmd_help(const struct options *opts, FILE *out)
{
	const struct command *cmd;

	if (!opts->nr_args) {
		options_print_help(out);
		return NULL;
	}
	cmd = command_find(opts->args[0]);
	if (!cmd)
		return schema_explain(&scenario_schema, opts->args[0], out);
	options_print_command_help(cmd, out);
	return NULL;
}

struct error *cmd_version(_unused_ const struct options *opts, FILE *out)
{
	fprintf(out, "salvo %s\n", SALVO_VERSION);
	return NULL;
}
