/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/options.h"

#include <criterion/criterion.h>
#include <unistd.h>

static struct worker_options o;

/* Parses the words, which end with NULL; the message of the error, or NULL. */
static char *parse(const char *const *words)
{
	char *argv[16] = { (char[]) { "salvo-worker" } };
	int argc = 1;
	struct error *err;
	char *text = NULL;

	for (size_t i = 0; words[i]; i++)
		argv[argc++] = (char *)words[i];
	err = worker_options_parse(argc, argv, &o);
	if (err) {
		cr_assert_eq(error_exit_status(err), 2);
		text = xstrdup(error_message(err));
	}
	error_destroy(&err);
	return text;
}

#define parse(...) parse((const char *const[]) { __VA_ARGS__ __VA_OPT__(, ) NULL })

static void expect_error(char *message, const char *part)
{
	cr_assert_not_null(message);
	cr_assert_not_null(strstr(message, part), "%s", message);
	free(message);
}

Test(options, nothing_said_is_a_daemon_with_defaults)
{
	cr_assert_null(parse());
	cr_assert_eq(o.mode, WORKER_MODE_SERVE);
	cr_assert_eq(o.log_level, LOG_LEVEL_INFO);
	cr_assert_str_eq(o.config.state, "/run/salvo");
	worker_options_fini(&o);
}

Test(options, command_line_goes_before_the_file_and_adds_to_its_lists)
{
	char path[] = "/tmp/salvo-test-options-XXXXXX";
	static const char yaml[] = "state: /from/file\n"
				   "keys: /keys/of/file\n"
				   "listen: tcp://10.0.0.1\n"
				   "allow: {read: [/dev/a]}\n";
	int fd = mkstemp(path);

	cr_assert_eq(write(fd, yaml, sizeof(yaml) - 1), (ssize_t)sizeof(yaml) - 1);
	close(fd);
	/* The file is named last: its place does not matter. */
	char *message =
		parse("--state", "/from/line", "--allow-read", "/dev/b", "--allow-write=/dev/c",
		      "--allow-write=/dev/d", "--log-level", "debug", "--config", path);

	unlink(path);
	cr_assert_null(message, "%s", message);
	cr_assert_str_eq(o.config.state, "/from/line");
	cr_assert_str_eq(o.config.keys, "/keys/of/file");
	cr_assert_str_eq(o.config.listen, "tcp://10.0.0.1:7600");
	cr_assert_eq(o.config.allow.nr_read, 2);
	cr_assert_str_eq(o.config.allow.read[1], "/dev/b");
	cr_assert_eq(o.config.allow.nr_write, 2);
	cr_assert_eq(o.log_level, LOG_LEVEL_DEBUG);
	worker_options_fini(&o);
}

Test(options, embedded_worker_says_only_what_matters)
{
	cr_assert_null(parse("--embedded", "--listen", "ipc:///tmp/x", "--state", "/tmp"));
	cr_assert(o.config.embedded);
	cr_assert_eq(o.log_level, LOG_LEVEL_WARN);
	worker_options_fini(&o);
}

Test(options, help_and_version_need_no_valid_configuration)
{
	cr_assert_null(parse("--help", "--listen", "tcp://1.2.3.4"));
	cr_assert_eq(o.mode, WORKER_MODE_HELP);
	worker_options_fini(&o);
	cr_assert_null(parse("--version"));
	cr_assert_eq(o.mode, WORKER_MODE_VERSION);
	worker_options_fini(&o);
}

Test(options, mistakes_are_told_with_what_to_do)
{
	expect_error(parse("--lisen", "x"), "unknown option '--lisen'");
	expect_error(parse("--listen"), "'--listen' needs a value");
	expect_error(parse("here"), "'here'");
	expect_error(parse("--log-level", "loud"), "'loud' is not error, warning");
	expect_error(parse("--config", "/nowhere/worker.yaml"), "/nowhere/worker.yaml");
	expect_error(parse("--listen", "tcp://127.0.0.1"), "TCP without keys");
	expect_error(parse("--state", ""), "--state");
}

Test(options, help_names_every_option_for_people_and_no_internal_one)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	worker_options_print_help(out);
	fclose(out);
	cr_assert_not_null(strstr(text, "--allow-write PATTERN"));
	cr_assert_not_null(strstr(text, "--version"));
	cr_assert_null(strstr(text, "io-process"));
	cr_assert_null(strstr(text, "embedded"));
	free(text);
}
