/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/statedir.h"

#include <criterion/criterion.h>
#include <unistd.h>

static char folder[] = "/tmp/salvo-test-statedir-XXXXXX";
static struct worker_config c;

static void use(const char *state, const char *socket)
{
	worker_config_fini(&c);
	worker_config_init(&c);
	free(c.listen);
	free(c.state);
	c.listen = xasprintf("ipc://%s/%s", folder, socket);
	c.state = xasprintf("%s/%s", folder, state);
}

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
	worker_config_init(&c);
}

static void teardown(void)
{
	_cleanup_free_ char *command = xasprintf("rm -rf '%s'", folder);

	worker_config_fini(&c);
	cr_assert_eq(system(command), 0);
}

TestSuite(statedir, .init = setup, .fini = teardown);

static void expect_refusal(const char *part)
{
	struct statedir s;
	_cleanup_(error_destroy) struct error *err = statedir_lock(&c, &s);

	cr_assert_not_null(err);
	cr_assert_eq(error_exit_status(err), 2);
	cr_assert_not_null(strstr(error_message(err), part), "%s", error_message(err));
}

Test(statedir, folder_and_socket_are_each_locked_by_one)
{
	struct statedir first, second;
	_cleanup_free_ char *pid = xasprintf("pid %d", getpid());

	use("one", "sock");
	cr_assert_null(statedir_lock(&c, &first));
	use("one", "other");
	expect_refusal(pid);
	use("two", "sock");
	expect_refusal("another worker holds it");
	use("two", "other");
	cr_assert_null(statedir_lock(&c, &second), "a refusal keeps no lock");
	statedir_unlock(&first);
	statedir_unlock(&second);
	use("one", "sock");
	cr_assert_null(statedir_lock(&c, &first));
	statedir_unlock(&first);
}

Test(statedir, unlocking_leaves_no_file)
{
	_cleanup_free_ char *command = xasprintf("test -z \"$(find '%s' -type f)\"", folder);
	struct statedir s;

	use("one", "sock");
	cr_assert_null(statedir_lock(&c, &s));
	cr_assert_neq(system(command), 0);
	statedir_unlock(&s);
	cr_assert_eq(system(command), 0);
}

Test(statedir, folder_that_cannot_be_made_is_an_error)
{
	use("no/such", "sock");
	expect_refusal("cannot be made");
}
