/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of `salvo`: one table of commands, one of options.
 *
 * Parsing, `salvo help COMMAND` and "did you mean" all read those tables. A new option is a row and the
 * member that it fills; a new command is a row in commands.c and its function.
 */
#ifndef SALVO_COORDINATOR_OPTIONS_H
#define SALVO_COORDINATOR_OPTIONS_H

#include "common/model/scenario.h"

enum output_format { FORMAT_TEXT, FORMAT_JSON };

/* Who takes which option. */
enum command_bit {
	COMMAND_RUN = 1 << 0,
	COMMAND_CHECK = 1 << 1,
	COMMAND_HOSTS = 1 << 2,
	COMMAND_KEYGEN = 1 << 3,
	COMMAND_HELP = 1 << 4,
	COMMAND_VERSION = 1 << 5,
	COMMAND_REPORT = 1 << 6,
};

/* Texts are borrowed from argv; the arrays are owned. What was not given is NULL, 0 or false. */
struct options {
	const struct command *command;
	const char **args; /* what is no option: scenario files, names */
	size_t nr_args;
	char **hosts; /* --hosts, once per use; the expressions are not expanded yet */
	size_t nr_hosts;
	struct setting *settings; /* --set, in order */
	size_t nr_settings;
	struct setting *labels; /* --label, in order */
	size_t nr_labels;
	const char *inventory; /* path of a file */
	const char *repeat;    /* --repeat, as written; see load.h */
	const char *on_loss;
	const char *output;
	const char *keys; /* folder; NULL: the default one */
	int format;       /* enum output_format */
	bool quiet, insecure, offline, help;
};

struct command {
	const char *name;
	const char *args; /* "SCENARIO", for help */
	const char *help; /* one sentence */
	const char *more; /* further lines of its --help; NULL: none */
	unsigned bit;     /* enum command_bit */
	size_t min_args, max_args;
	/* Does it. Results go to `out`; a list of errors becomes the exit status. */
	struct error *(*run)(const struct options *opts, FILE *out);
};

extern const struct command commands[]; /* ends with { NULL } */

/* NULL when there is none of that name. */
const struct command *command_find(const char *name);
/* Parses argv (argv[0] is the program). Every mistake at once, each ERR_USAGE. */
struct error *options_parse(int argc, char **argv, struct options *ret) _must_check_;
void options_fini(struct options *opts);
/* What `salvo help` and `salvo help COMMAND` print. */
void options_print_help(FILE *out);
void options_print_command_help(const struct command *cmd, FILE *out);

#endif
