/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/options.h"

enum { HELP_COLUMN = 31 };

/* One option: which commands take it, what it is called, what it fills. */
struct option {
	const char *name; /* without the dashes */
	const char *arg;  /* "LIST"; NULL: a switch */
	unsigned commands;
	struct error *(*parse)(struct options *opts,
			       const char *text); /* text: NULL for a switch */
	const char *help;
};

static struct error *add_hosts(struct options *opts, const char *text)
{
	if (!*text)
		return error_new(ERR_USAGE, "the list of hosts is empty");
	opts->hosts = xrealloc(opts->hosts, opts->nr_hosts + 1, sizeof(*opts->hosts));
	opts->hosts[opts->nr_hosts++] = xstrdup(text);
	return NULL;
}

static struct error *add_pair(struct setting **list, size_t *nr, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return error_new(ERR_USAGE, "'%s' is not of the form KEY=VALUE", text);
	*list = xrealloc(*list, *nr + 1, sizeof(**list));
	(*list)[(*nr)++] = (struct setting) {
		.key = xstrndup(text, (size_t)(equals - text)),
		.value = xstrdup(equals + 1),
	};
	return NULL;
}

static struct error *add_setting(struct options *opts, const char *text)
{
	return add_pair(&opts->settings, &opts->nr_settings, text);
}

static struct error *add_label(struct options *opts, const char *text)
{
	return add_pair(&opts->labels, &opts->nr_labels, text);
}

static struct error *set_inventory(struct options *opts, const char *text)
{
	if (!*text)
		return error_new(ERR_USAGE, "the name of the file is empty");
	opts->inventory = text;
	return NULL;
}

static struct error *set_repeat(struct options *opts, const char *text)
{
	opts->repeat = text;
	return NULL;
}

static struct error *set_on_loss(struct options *opts, const char *text)
{
	opts->on_loss = text;
	return NULL;
}

static struct error *set_output(struct options *opts, const char *text)
{
	if (!*text)
		return error_new(ERR_USAGE, "the name of the folder is empty");
	opts->output = text;
	return NULL;
}

static struct error *set_keys(struct options *opts, const char *text)
{
	if (!*text)
		return error_new(ERR_USAGE, "the name of the folder is empty");
	opts->keys = text;
	return NULL;
}

static struct error *set_format(struct options *opts, const char *text)
{
	if (streq(text, "text"))
		opts->format = FORMAT_TEXT;
	else if (streq(text, "json"))
		opts->format = FORMAT_JSON;
	else
		return error_new(ERR_USAGE, "'%s' is not one of text, json", text);
	return NULL;
}

static struct error *set_quiet(struct options *opts, _unused_ const char *text)
{
	opts->quiet = true;
	return NULL;
}

static struct error *set_insecure(struct options *opts, _unused_ const char *text)
{
	opts->insecure = true;
	return NULL;
}

static struct error *set_offline(struct options *opts, _unused_ const char *text)
{
	opts->offline = true;
	return NULL;
}

static struct error *set_help(struct options *opts, _unused_ const char *text)
{
	opts->help = true;
	return NULL;
}

/* clang-format off */
static const struct option option_table[] = {
	{ "hosts",    "LIST",      COMMAND_RUN | COMMAND_CHECK | COMMAND_HOSTS, add_hosts,
	  "run on these hosts instead of the scenario's: node[01-16,20]:7600,db1 or ^FILE" },
	{ "inventory", "FILE",     COMMAND_RUN | COMMAND_CHECK | COMMAND_HOSTS, set_inventory,
	  "hosts, groups of them and observers by name; 'salvo help inventory' explains it" },
	{ "set",      "KEY=VALUE", COMMAND_RUN | COMMAND_CHECK, add_setting,
	  "set any key of the scenario: jobs[0].iodepth=64, targets.disk.device=/dev/sdx" },
	{ "repeat",   "N",         COMMAND_RUN | COMMAND_CHECK, set_repeat,
	  "measure every point N times" },
	{ "label",    "KEY=VALUE", COMMAND_RUN | COMMAND_CHECK, add_label,
	  "note this in the result, to find and compare it by" },
	{ "output",   "DIR",       COMMAND_RUN, set_output,
	  "the result's folder, new or empty; default ./salvo-results/NAME-TIME" },
	{ "format",   "FORMAT",    COMMAND_RUN | COMMAND_HOSTS | COMMAND_REPORT, set_format,
	  "what is printed: text or json" },
	{ "on-loss",  "WHAT",      COMMAND_RUN | COMMAND_CHECK, set_on_loss,
	  "when a worker is lost: abort or continue with the others" },
	{ "quiet",    NULL,        COMMAND_RUN, set_quiet,
	  "no progress on stderr" },
	{ "keys",     "DIR",       COMMAND_RUN | COMMAND_CHECK | COMMAND_HOSTS, set_keys,
	  "the coordinator's keys; default ~/.config/salvo/keys" },
	{ "insecure", NULL,        COMMAND_RUN | COMMAND_CHECK | COMMAND_HOSTS, set_insecure,
	  "talk to workers without keys: no encryption, no proof of who is who" },
	{ "offline",  NULL,        COMMAND_CHECK, set_offline,
	  "look at the file only, ask no worker" },
	{ "help",     NULL,        ~0u, set_help,
	  "print this" },
	{ NULL }
};
/* clang-format on */

static const struct option *option_find(const struct command *cmd, const char *name, size_t len)
{
	for (const struct option *o = option_table; o->name; o++)
		if ((o->commands & cmd->bit) && strlen(o->name) == len &&
		    strncmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

static struct error *unknown_option(const struct command *cmd, const char *name)
{
	struct guess guess = { .wanted = name };

	for (const struct option *o = option_table; o->name; o++)
		if (o->commands & cmd->bit)
			guess_try(&guess, o->name);
	if (guess.found)
		return error_new(ERR_USAGE, "unknown option '--%s'; did you mean '--%s'?", name,
				 guess.found);
	return error_new(ERR_USAGE, "unknown option '--%s' of 'salvo %s'; see 'salvo help %s'",
			 name, cmd->name, cmd->name);
}

const struct command *command_find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (streq(c->name, name))
			return c;
	return NULL;
}

static struct error *unknown_command(const char *name)
{
	struct guess guess = { .wanted = name };

	for (const struct command *c = commands; c->name; c++)
		guess_try(&guess, c->name);
	if (guess.found)
		return error_new(ERR_USAGE, "unknown command '%s'; did you mean '%s'?", name,
				 guess.found);
	return error_new(ERR_USAGE, "unknown command '%s'; 'salvo help' lists them", name);
}

/* Parses the option at argv[*i], which begins with two dashes, and its argument. */
static struct error *parse_option(int argc, char **argv, int *i, struct options *opts)
{
	const char *name = argv[*i] + 2, *equals = strchr(name, '='), *text = NULL;
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct option *o = option_find(opts->command, name, len);
	_cleanup_free_ char *bare = xstrndup(name, len);

	if (!o)
		return unknown_option(opts->command, bare);
	if (!o->arg && equals)
		return error_new(ERR_USAGE, "--%s takes no value", o->name);
	if (o->arg && equals)
		text = equals + 1;
	else if (o->arg && *i + 1 < argc)
		text = argv[++*i];
	else if (o->arg)
		return error_new(ERR_USAGE, "--%s needs a value: --%s %s", o->name, o->name,
				 o->arg);
	return error_context(o->parse(opts, text), "--%s", o->name);
}

static struct error *check_args(const struct options *opts)
{
	const struct command *cmd = opts->command;

	if (opts->nr_args < cmd->min_args)
		return error_new(ERR_USAGE, "salvo %s: %s is missing; see 'salvo help %s'",
				 cmd->name, cmd->args, cmd->name);
	if (opts->nr_args > cmd->max_args)
		return error_new(ERR_USAGE,
				 "salvo %s: '%s' is one argument too many; see 'salvo help %s'",
				 cmd->name, opts->args[cmd->max_args], cmd->name);
	return NULL;
}

/* The command's name, or how people ask every program for help and its version. */
static const char *command_name(const char *text)
{
	if (streq(text, "--help") || streq(text, "-h"))
		return "help";
	if (streq(text, "--version") || streq(text, "-V"))
		return "version";
	return text;
}

struct error *options_parse(int argc, char **argv, struct options *ret)
{
	struct error *errors = NULL;
	bool only_args = false;

	*ret = (struct options) { 0 };
	if (argc < 2)
		return error_new(ERR_USAGE, "no command given; 'salvo help' lists them");
	ret->command = command_find(command_name(argv[1]));
	if (!ret->command)
		return unknown_command(argv[1]);
	ret->args = xcalloc((size_t)argc, sizeof(*ret->args));
	for (int i = 2; i < argc; i++) {
		if (only_args || argv[i][0] != '-' || streq(argv[i], "-"))
			ret->args[ret->nr_args++] = argv[i];
		else if (streq(argv[i], "--"))
			only_args = true;
		else if (streq(argv[i], "-h"))
			ret->help = true;
		else if (argv[i][1] != '-')
			error_append(&errors,
				     error_new(ERR_USAGE,
					       "unknown option '%s'; options begin with two dashes",
					       argv[i]));
		else
			error_append(&errors, parse_option(argc, argv, &i, ret));
	}
	if (!errors && !ret->help)
		errors = check_args(ret);
	return errors;
}

static void free_pairs(struct setting *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free((char *)list[i].key);
		free((char *)list[i].value);
	}
	free(list);
}

void options_fini(struct options *opts)
{
	for (size_t i = 0; i < opts->nr_hosts; i++)
		free(opts->hosts[i]);
	free(opts->hosts);
	free(opts->args);
	free_pairs(opts->settings, opts->nr_settings);
	free_pairs(opts->labels, opts->nr_labels);
	*opts = (struct options) { 0 };
}

static void print_row(const char *left, const char *right, FILE *out)
{
	fprintf(out, "  %-*s %s\n", HELP_COLUMN, left, right);
}

void options_print_help(FILE *out)
{
	fprintf(out,
		"Usage: salvo COMMAND [OPTIONS] [ARGUMENTS]\n\n"
		"Fires one storage workload from many hosts at the same instant and tells the\n"
		"truth about what came back.\n\nCommands:\n");
	for (const struct command *c = commands; c->name; c++) {
		_cleanup_free_ char *left =
			xasprintf("%s%s%s", c->name, *c->args ? " " : "", c->args);

		print_row(left, c->help, out);
	}
	fprintf(out, "\n'salvo help COMMAND' explains a command, 'salvo help KEY' a key of the "
		     "scenario:\n"
		     "salvo help jobs, salvo help jobs.bs, salvo help targets.share\n\n"
		     "Exit status: 0 done and every check passed; 1 done, with errors; 2 the "
		     "command line or\n"
		     "scenario is wrong, nothing was touched; 3 a worker is missing, was lost or "
		     "refused;\n"
		     "130 stopped by the user.\n");
}

void options_print_command_help(const struct command *cmd, FILE *out)
{
	fprintf(out, "Usage: salvo %s [OPTIONS]%s%s\n\n%s.\n", cmd->name, *cmd->args ? " " : "",
		cmd->args, cmd->help);
	if (cmd->more)
		fprintf(out, "\n%s\n", cmd->more);
	fprintf(out, "\nOptions:\n");
	for (const struct option *o = option_table; o->name; o++) {
		_cleanup_free_ char *left =
			xasprintf("--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");

		if (o->commands & cmd->bit)
			print_row(left, o->help, out);
	}
}
