/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/load.h"

#include <criterion/criterion.h>
#include <unistd.h>

static const char text[] = "name: x\n"
			   "hosts: \"n[1-2]\"\n"
			   "targets: {t: {simulated: {size: 1GiB}}}\n"
			   "jobs: [{name: a, target: t, hosts: n2}]\n";

/* Loads the text with these hosts of the command line (NULL: none). */
static struct error *load(char *hosts, struct scenario **sc, struct plan **plan)
{
	char path[] = "/tmp/salvo-test-XXXXXX";
	const char *args[] = { path };
	struct options opts = {
		.args = args, .nr_args = 1, .hosts = &hosts, .nr_hosts = hosts != NULL
	};
	int fd = mkstemp(path);
	struct error *err;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
	close(fd);
	err = load_plan(&opts, "r", 7, sc, plan);
	unlink(path);
	return err;
}

Test(load, takes_the_hosts_of_the_scenario)
{
	_cleanup_(scenario_destroy) struct scenario *sc = NULL;
	_cleanup_(plan_destroy) struct plan *plan = NULL;
	struct error *err = load(NULL, &sc, &plan);

	cr_assert_null(err);
	cr_assert_eq(plan->hosts.nr_hosts, 2);
	cr_assert_eq(plan->seed, 7);
	cr_assert_null(plan->steps[0].hosts[0]);
	cr_assert_not_null(plan->steps[0].hosts[1]);
}

Test(load, or_those_of_the_command_line)
{
	_cleanup_(scenario_destroy) struct scenario *sc = NULL;
	_cleanup_(plan_destroy) struct plan *plan = NULL;
	char hosts[] = "n2:7601,n3";
	struct error *err = load(hosts, &sc, &plan);

	cr_assert_null(err);
	cr_assert_eq(plan->hosts.nr_hosts, 2);
	cr_assert_str_eq(plan->hosts.hosts[0].address, "tcp://n2:7601");
	cr_assert_not_null(plan->steps[0].hosts[0]);
}

Test(load, which_must_have_those_that_the_jobs_name)
{
	struct scenario *sc = NULL;
	struct plan *plan = NULL;
	char hosts[] = "n3";
	struct error *err = load(hosts, &sc, &plan);

	cr_assert_not_null(err);
	cr_assert_not_null(
		strstr(error_message(err), "jobs[0].hosts: no host 'n2'; did you mean 'n3'?"), "%s",
		error_message(err));
	error_destroy(&err);
}

Test(load, a_wrong_list_is_told_as_that_of_the_command_line)
{
	struct scenario *sc = NULL;
	struct plan *plan = NULL;
	char hosts[] = "n[2-1]";
	struct error *err = load(hosts, &sc, &plan);

	cr_assert_not_null(err);
	cr_assert_str_eq(error_message(err), "--hosts: host 'n[2-1]': the range runs backwards");
	error_destroy(&err);
}
