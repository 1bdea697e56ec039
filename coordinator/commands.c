/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/commands.h"

/* clang-format off */
const struct command commands[] = {
	{ .name = "run", .args = "SCENARIO", .bit = COMMAND_RUN, .min_args = 1, .max_args = 1, .run = cmd_run,
	  .help = "Run a scenario; the report goes to stdout, everything is kept in a folder",
	  .more = "Without hosts the workload runs on a worker that is started for it on this machine.\n"
		  "Ctrl-C stops in order and reports what was measured; a second one leaves at once." },
	{ .name = "check", .args = "SCENARIO", .bit = COMMAND_CHECK, .min_args = 1, .max_args = 1, .run = cmd_check,
	  .help = "Check a scenario and print what running it would do",
	  .more = "Prints the points, phases, jobs, hosts and targets, how much can be written where, and\n"
		  "how long it takes. Writes nothing and opens no device; workers are asked what they see." },
	{ .name = "hosts", .args = "", .bit = COMMAND_HOSTS, .run = cmd_hosts,
	  .help = "Say of each worker whether it can be reached, what it runs and who uses it",
	  .more = "Name the workers with --hosts. Takes nothing from anybody: a busy worker only answers." },
	{ .name = "report", .args = "RESULT", .bit = COMMAND_REPORT, .min_args = 1, .max_args = 1, .run = cmd_report,
	  .help = "Print the report of a run again",
	  .more = "RESULT is a run's folder, or its result.json. Of a run that was killed, or that is still going on,\n"
		  "it tells what had been measured until then." },
	{ .name = "keygen", .args = "worker|coordinator DIR", .bit = COMMAND_KEYGEN, .min_args = 2, .max_args = 2,
	  .run = cmd_keygen,
	  .help = "Make a pair of CURVE keys in DIR and say what to do with each file" },
	{ .name = "help", .args = "[COMMAND or KEY]", .bit = COMMAND_HELP, .max_args = 1, .run = cmd_help,
	  .help = "Explain a command or a key of the scenario" },
	{ .name = "version", .args = "", .bit = COMMAND_VERSION, .run = cmd_version,
	  .help = "Print the version" },
	{ NULL }
};
/* clang-format on */
