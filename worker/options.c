/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/options.h"

#include <getopt.h>

enum option_id {
	OPT_CONFIG = 1000,
	OPT_LISTEN,
	OPT_STATE,
	OPT_KEYS,
	OPT_ALLOW_READ,
	OPT_ALLOW_WRITE,
	OPT_INSECURE,
	OPT_LOG_LEVEL,
	OPT_HELP,
	OPT_VERSION,
	OPT_EMBEDDED,
	OPT_IO_PROCESS,
};

/* Options without help are internal: `salvo` and the worker itself use them. */
static const struct worker_option {
	const char *name, *value, *help;
	enum option_id id;
	const char *key; /* of worker.yaml, where the option is one of its keys */
} options[] = {
	{ "config", "FILE", "configuration (worker.yaml)", OPT_CONFIG, NULL },
	{ "listen", "ENDPOINT", "tcp://ADDRESS:PORT or ipc://PATH", OPT_LISTEN, "listen" },
	{ "state", "DIR", "folder of the socket and of what outlives the worker", OPT_STATE,
	  "state" },
	{ "keys", "DIR", "folder with worker.key_secret and coordinators/*.key", OPT_KEYS, "keys" },
	{ "allow-read", "PATTERN", "one more device or file that may be read", OPT_ALLOW_READ,
	  NULL },
	{ "allow-write", "PATTERN", "one more device or file that may be written", OPT_ALLOW_WRITE,
	  NULL },
	{ "insecure", NULL, "allow TCP without keys", OPT_INSECURE, NULL },
	{ "log-level", "LEVEL", "error, warning, info (default) or debug", OPT_LOG_LEVEL, NULL },
	{ "help", NULL, "print this", OPT_HELP, NULL },
	{ "version", NULL, "print the version", OPT_VERSION, NULL },
	{ "embedded", NULL, NULL, OPT_EMBEDDED, NULL },
	{ "io-process", NULL, NULL, OPT_IO_PROCESS, NULL },
};

void worker_options_print_help(FILE *out)
{
	fputs("Usage: salvo-worker [--config FILE] [OPTION]...\n\n"
	      "Serves coordinators (see 'salvo help'): runs their I/O on this host's devices and "
	      "files,\n"
	      "as far as worker.yaml allows. What the command line says goes before the file.\n\n",
	      out);
	for (size_t i = 0; i < array_size(options); i++) {
		const struct worker_option *o = &options[i];

		if (o->help)
			fprintf(out, "  --%s %-*s %s\n", o->name, (int)(22 - strlen(o->name)),
				o->value ? o->value : "", o->help);
	}
}

static struct error *parse_log_level(const char *text, enum log_level *ret)
{
	static const char *const names[] = { "error", "warning", "info", "debug" };

	for (size_t i = 0; i < array_size(names); i++) {
		if (streq(text, names[i])) {
			*ret = (enum log_level)i;
			return NULL;
		}
	}
	return error_new(ERR_USAGE, "--log-level: '%s' is not error, warning, info or debug", text);
}

static void list_add(char ***list, size_t *nr, const char *text)
{
	*list = xrealloc(*list, *nr + 1, sizeof(**list));
	(*list)[(*nr)++] = xstrdup(text);
}

static struct error *apply(const struct worker_option *o, const char *value,
			   struct worker_options *to)
{
	struct worker_config *c = &to->config;

	if (o->key) {
		struct error *err = schema_set_path(&worker_config_schema, c, o->key, value);

		return error_context(err, "--%s", o->name);
	}
	switch (o->id) {
	case OPT_ALLOW_READ:
		list_add(&c->allow.read, &c->allow.nr_read, value);
		break;
	case OPT_ALLOW_WRITE:
		list_add(&c->allow.write, &c->allow.nr_write, value);
		break;
	case OPT_INSECURE:
		c->insecure = true;
		break;
	case OPT_LOG_LEVEL:
		return parse_log_level(value, &to->log_level);
	case OPT_HELP:
		to->mode = WORKER_MODE_HELP;
		break;
	case OPT_VERSION:
		to->mode = WORKER_MODE_VERSION;
		break;
	case OPT_IO_PROCESS:
		to->mode = WORKER_MODE_IO_PROCESS;
		break;
	case OPT_CONFIG: /* the first pass had it */
	case OPT_EMBEDDED:
	case OPT_LISTEN:
	case OPT_STATE:
	case OPT_KEYS:
		break;
	}
	return NULL;
}

static int next_option(int argc, char **argv)
{
	struct option longs[array_size(options) + 1] = { 0 };

	for (size_t i = 0; i < array_size(options); i++)
		longs[i] = (struct option) { options[i].name,
					     options[i].value ? required_argument : no_argument,
					     NULL, (int)options[i].id };
	return getopt_long(argc, argv, ":", longs, NULL);
}

static const struct worker_option *option_by_id(int id)
{
	for (size_t i = 0; i < array_size(options); i++)
		if ((int)options[i].id == id)
			return &options[i];
	return NULL;
}

/* The first pass looks at the words and loads the file; the second lets the other options go over it. */
static struct error *first_pass(int argc, char **argv, struct worker_options *to)
{
	const char *file = NULL;
	int id;

	optind = 0;
	opterr = 0;
	while ((id = next_option(argc, argv)) != -1) {
		if (id == ':')
			return error_new(ERR_USAGE, "option '%s' needs a value", argv[optind - 1]);
		if (id == '?')
			return error_new(ERR_USAGE,
					 "unknown option '%s'; see 'salvo-worker --help'",
					 argv[optind - 1]);
		if (id == OPT_CONFIG)
			file = optarg;
		if (id == OPT_EMBEDDED) {
			to->config.embedded = true;
			to->log_level = LOG_LEVEL_WARN;
		}
	}
	if (optind < argc)
		return error_new(ERR_USAGE,
				 "'%s': salvo-worker takes options only; see 'salvo-worker --help'",
				 argv[optind]);
	return file ? worker_config_load(&to->config, file) : NULL;
}

struct error *worker_options_parse(int argc, char **argv, struct worker_options *ret)
{
	struct worker_options o = { .log_level = LOG_LEVEL_INFO };
	struct error *err;
	int id;

	worker_config_init(&o.config);
	err = first_pass(argc, argv, &o);
	optind = 0;
	while (!err && (id = next_option(argc, argv)) != -1)
		err = apply(option_by_id(id), optarg, &o);
	if (!err && o.mode == WORKER_MODE_SERVE)
		err = worker_config_finish(&o.config);
	if (err) {
		worker_options_fini(&o);
		return err;
	}
	*ret = o;
	return NULL;
}

void worker_options_fini(struct worker_options *o)
{
	worker_config_fini(&o->config);
}
