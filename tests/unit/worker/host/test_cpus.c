/* SPDX-License-Identifier: Apache-2.0 */
/* Which processors a job may be bound to, on a made-up host. */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/cpus.h"

static struct fixture f;

static void make(void)
{
	fixture_init(&f);
	fixture_text(f.sys, "devices/system/cpu/present", "0-31\n");
	fixture_text(f.sys, "devices/system/cpu/online", "0-5,7-31\n");
	fixture_text(f.proc, "self/status",
		     "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-15\nMems_allowed:\t1\n");
}

static void unmake(void)
{
	fixture_fini(&f);
}

TestSuite(cpus, .init = make, .fini = unmake);

static void refused(const char *list, const char *text)
{
	cpu_set_t set;
	struct error *err = cpus_allowed(&f.root, list, &set);

	cr_assert_not_null(err, "%s", list);
	cr_expect_eq(error_code(err), ERR_REFUSED);
	cr_expect(strstr(error_message(err), text), "%s: %s", list, error_message(err));
	error_destroy(&err);
}

Test(cpus, those_that_are_there)
{
	cpu_set_t set;
	struct error *err = cpus_allowed(&f.root, "0-3,8", &set);

	cr_assert_null(err);
	cr_expect_eq(CPU_COUNT(&set), 5);
	cr_expect(CPU_ISSET(8, &set));
}

Test(cpus, refusals_name_the_processor_and_what_there_is)
{
	refused("64", "CPU 64: not on this host, which has 0-31; name others");
	refused("0,40-41", "CPUs 40, 41: not on this host, which has 0-31");
	refused("6", "CPU 6: offline; online are 0-5,7-31; bring it online");
	refused("15-16", "CPU 16: not among those that the worker may use, 0-15; widen its cpuset");
}

/* A kernel that tells nothing lets the threads find out. */
Test(cpus, unknown_host)
{
	struct host_root nowhere = { .sys = "/nowhere", .proc = "/nowhere", .dev = "/nowhere" };
	cpu_set_t set;

	cr_expect_null(cpus_allowed(&nowhere, "64", &set));
}

Test(cpus, live)
{
	_cleanup_free_ char *here = xasprintf("%d", sched_getcpu());
	cpu_set_t set;

	cr_expect_null(cpus_allowed(&host_root_live, here, &set));
	cr_expect_eq(CPU_COUNT(&set), 1);
}
