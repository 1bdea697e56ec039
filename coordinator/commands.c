/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/commands.h"

/* clang-format off */
const struct command commands[] = {
	{ .name = "check", .args = "SCENARIO", .bit = COMMAND_CHECK, .min_args = 1, .max_args = 1, .run = cmd_check,
	  .help = "Check a scenario and print what running it would do",
	  .more = "Prints the points, phases, jobs, hosts and targets, how much can be written where, and\n"
		  "how long it takes. Writes nothing and opens no device; workers are asked what they see." },
	{ .name = "help", .args = "[COMMAND or KEY]", .bit = COMMAND_HELP, .max_args = 1, .run = cmd_help,
	  .help = "Explain a command or a key of the scenario" },
	{ .name = "version", .args = "", .bit = COMMAND_VERSION, .run = cmd_version,
	  .help = "Print the version" },
	{ NULL }
};
/* clang-format on */
