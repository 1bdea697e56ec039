/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/config.h"

#include <criterion/criterion.h>

static struct worker_config c;

static void setup(void)
{
	worker_config_init(&c);
}

static void teardown(void)
{
	worker_config_fini(&c);
}

TestSuite(config, .init = setup, .fini = teardown);

static void listen_on(const char *endpoint)
{
	free(c.listen);
	c.listen = xstrdup(endpoint);
}

static void expect_error(const char *part)
{
	_cleanup_(error_destroy) struct error *err = worker_config_finish(&c);

	cr_assert_not_null(err, "%s", c.listen);
	cr_assert_eq(error_exit_status(err), 2);
	cr_assert_not_null(strstr(error_message(err), part), "%s", error_message(err));
}

static void expect_fine(void)
{
	_cleanup_(error_destroy) struct error *err = worker_config_finish(&c);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
}

Test(config, defaults_are_those_of_the_manual)
{
	expect_fine();
	cr_assert_str_eq(c.listen, "ipc:///run/salvo/worker.sock");
	cr_assert_str_eq(c.state, "/run/salvo");
	cr_assert_eq(c.limits.threads, 256);
	cr_assert_eq(c.limits.memory, 8ull << 30);
	cr_assert_eq(c.allow.nr_read, 0);
	cr_assert_eq(c.allow.nr_write, 0);
	cr_assert_not(c.insecure);
}

Test(config, tcp_needs_keys_or_the_spelled_out_word)
{
	static const char *const all[] = { "tcp://0.0.0.0:7600", "tcp://127.0.0.1:1",
					   "tcp://[::1]" };

	for (size_t i = 0; i < array_size(all); i++) {
		listen_on(all[i]);
		c.insecure = false;
		expect_error("insecure: true");
		c.insecure = true;
		expect_fine();
	}
	c.insecure = false;
	c.keys = xstrdup("/etc/salvo/keys");
	expect_fine();
}

Test(config, port_is_added_where_there_is_none)
{
	static const char *const pairs[][2] = {
		{ "tcp://10.0.0.1", "tcp://10.0.0.1:7600" },
		{ "tcp://10.0.0.1:99", "tcp://10.0.0.1:99" },
		{ "tcp://[fe80::1]", "tcp://[fe80::1]:7600" },
		{ "tcp://[fe80::1]:99", "tcp://[fe80::1]:99" },
		{ "tcp://eth0", "tcp://eth0:7600" },
	};

	c.insecure = true;
	for (size_t i = 0; i < array_size(pairs); i++) {
		listen_on(pairs[i][0]);
		expect_fine();
		cr_assert_str_eq(c.listen, pairs[i][1]);
	}
}

Test(config, other_endpoints_are_refused)
{
	_cleanup_free_ char *deep = xcalloc(200, 1);

	memset(deep, 'x', 199);
	memcpy(deep, "ipc:///", 7);
	c.insecure = true;
	listen_on("inproc://x");
	expect_error("neither tcp");
	listen_on("tcp://");
	expect_error("neither tcp");
	listen_on("7600");
	expect_error("neither tcp");
	listen_on("ipc://relative.sock");
	expect_error("absolute path");
	listen_on(deep);
	expect_error("too long");
}

Test(config, embedded_worker_takes_no_tcp)
{
	c.embedded = c.insecure = true;
	listen_on("tcp://127.0.0.1:7600");
	expect_error("ipc:// only");
}

Test(config, example_for_deployment_is_valid)
{
	_cleanup_(error_destroy) struct error *err = worker_config_load(&c, "deploy/worker.yaml");

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	expect_fine();
	cr_assert_eq(c.allow.nr_write, 0, "the example allows nothing");
}
