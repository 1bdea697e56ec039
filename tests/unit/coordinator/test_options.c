/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/options.h"

#include <criterion/criterion.h>

enum { MAX_ARGS = 32 };

/* Parses "salvo TEXT...", split at blanks; the texts live as long as the test. */
static struct error *parse(const char *text, struct options *ret)
{
	static char copy[1024];
	static char *argv[MAX_ARGS + 1];
	char *rest = copy;
	int argc = 0;

	snprintf(copy, sizeof(copy), "salvo %s", text);
	for (char *one; argc < MAX_ARGS && (one = strsep(&rest, " "));)
		if (*one)
			argv[argc++] = one;
	return options_parse(argc, argv, ret);
}

static void expect_mistake(const char *text, const char *want)
{
	struct options opts;
	struct error *err = parse(text, &opts);

	cr_assert_not_null(err, "%s", text);
	cr_assert_str_eq(error_message(err), want, "%s: %s", text, error_message(err));
	cr_assert_eq(error_exit_status(err), 2);
	error_destroy(&err);
	options_fini(&opts);
}

Test(options, everything_of_run)
{
	_cleanup_(options_fini) struct options o;
	struct error *err =
		parse("run --hosts n1,n2 x.yaml --hosts=n3 --set jobs[0].bs=8k --set a=b=c "
		      "--repeat 3 --label rack=a --output=out --format json --quiet",
		      &o);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	cr_assert_str_eq(o.command->name, "run");
	cr_assert_eq(o.nr_args, 1);
	cr_assert_str_eq(o.args[0], "x.yaml");
	cr_assert_eq(o.nr_hosts, 2);
	cr_assert_str_eq(o.hosts[1], "n3");
	cr_assert_eq(o.nr_settings, 2);
	cr_assert_str_eq(o.settings[0].key, "jobs[0].bs");
	cr_assert_str_eq(o.settings[0].value, "8k");
	cr_assert_str_eq(o.settings[1].key, "a");
	cr_assert_str_eq(o.settings[1].value, "b=c");
	cr_assert_str_eq(o.repeat, "3");
	cr_assert_str_eq(o.labels[0].key, "rack");
	cr_assert_str_eq(o.output, "out");
	cr_assert_eq(o.format, FORMAT_JSON);
	cr_assert(o.quiet && !o.insecure && !o.offline && !o.help);
}

Test(options, two_dashes_end_them)
{
	_cleanup_(options_fini) struct options o;
	struct error *err = parse("check --offline -- --odd.yaml", &o);

	cr_assert_null(err);
	cr_assert(o.offline);
	cr_assert_str_eq(o.args[0], "--odd.yaml");
}

Test(options, help_needs_nothing_else)
{
	static const char *const texts[] = { "run --help", "run -h", "check --help x y z" };

	for (size_t i = 0; i < array_size(texts); i++) {
		_cleanup_(options_fini) struct options o;
		struct error *err = parse(texts[i], &o);

		cr_assert_null(err);
		cr_assert(o.help);
	}
}

Test(options, help_and_version_as_everybody_writes_them)
{
	_cleanup_(options_fini) struct options help, version;
	struct error *err = parse("--help", &help);

	cr_assert_null(err);
	cr_assert_str_eq(help.command->name, "help");
	err = parse("--version", &version);
	cr_assert_null(err);
	cr_assert_str_eq(version.command->name, "version");
}

Test(options, mistakes_are_named)
{
	expect_mistake("", "no command given; 'salvo help' lists them");
	expect_mistake("rum x", "unknown command 'rum'; did you mean 'run'?");
	expect_mistake("frobnicate", "unknown command 'frobnicate'; 'salvo help' lists them");
	expect_mistake("run", "salvo run: SCENARIO is missing; see 'salvo help run'");
	expect_mistake("run a b", "salvo run: 'b' is one argument too many; see 'salvo help run'");
	expect_mistake("run a --host b", "unknown option '--host'; did you mean '--hosts'?");
	expect_mistake("run a --offline",
		       "unknown option '--offline' of 'salvo run'; see 'salvo help run'");
	expect_mistake("run a --set", "--set needs a value: --set KEY=VALUE");
	expect_mistake("run a --set b", "--set: 'b' is not of the form KEY=VALUE");
	expect_mistake("run a --set =b", "--set: '=b' is not of the form KEY=VALUE");
	expect_mistake("run a --quiet=1", "--quiet takes no value");
	expect_mistake("run a --format xml", "--format: 'xml' is not one of text, json");
	expect_mistake("run a --output=", "--output: the name of the folder is empty");
	expect_mistake("run a --hosts=", "--hosts: the list of hosts is empty");
	expect_mistake("run a -q", "unknown option '-q'; options begin with two dashes");
}

Test(options, all_mistakes_at_once)
{
	struct options o;
	struct error *err = parse("run a --quite --format xml", &o);

	cr_assert_str_eq(error_message(err), "unknown option '--quite'; did you mean '--quiet'?");
	cr_assert_not_null(error_next(err));
	cr_assert_str_eq(error_message(error_next(err)),
			 "--format: 'xml' is not one of text, json");
	error_destroy(&err);
	options_fini(&o);
}

Test(options, every_command_explains_itself)
{
	for (const struct command *c = commands; c->name; c++) {
		_cleanup_free_ char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		options_print_command_help(c, out);
		fclose(out);
		cr_assert(str_starts(text, "Usage: salvo "), "%s", c->name);
		cr_assert_not_null(strstr(text, "--help"), "%s", c->name);
		cr_assert_not_null(c->run, "%s", c->name);
	}
}
