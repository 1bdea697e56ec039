/* SPDX-License-Identifier: Apache-2.0 */
/* What slowed a host down, on made-up ones. */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/throttle.h"

static struct fixture f;

static void make(void)
{
	fixture_init(&f);
}

static void unmake(void)
{
	fixture_fini(&f);
}

TestSuite(throttle, .init = make, .fini = unmake);

/* The warnings of what changes between two states; one text at most. */
static void expect_warning(const struct throttle *before, const char *text)
{
	struct throttle after = throttle_read(&f.root);
	struct error *list = throttle_warnings(before, &after);

	if (text) {
		cr_assert_not_null(list);
		cr_expect(strstr(error_message(list), text), "%s", error_message(list));
		cr_expect_null(error_next(list));
	} else {
		cr_expect_null(list, "%s", list ? error_message(list) : "");
	}
	error_destroy(&list);
}

static void heat(const char *cpu, const char *core, const char *package)
{
	_cleanup_free_ char *dir = xasprintf("devices/system/cpu/%s/thermal_throttle", cpu);
	_cleanup_free_ char *cores = xasprintf("%s/core_throttle_count", dir);
	_cleanup_free_ char *packages = xasprintf("%s/package_throttle_count", dir);

	fixture_text(f.sys, cores, core);
	fixture_text(f.sys, packages, package);
}

Test(throttle, nothing_known_is_nothing_said)
{
	struct throttle before = throttle_read(&f.root);

	expect_warning(&before, NULL);
}

Test(throttle, heat)
{
	struct throttle before;

	fixture_text(f.sys, "devices/system/cpu/cpufreq/thermal_throttle/core_throttle_count",
		     "99\n");
	heat("cpu0", "5\n", "7\n");
	heat("cpu11", "1\n", "7\n");
	before = throttle_read(&f.root);
	cr_expect_eq(before.cores, 6);
	cr_expect_eq(before.packages, 14);
	expect_warning(&before, NULL);
	heat("cpu11", "4\n", "7\n");
	expect_warning(&before, "throttled for heat during this step (3 events");
}

Test(throttle, control_group_of_version_2)
{
	static const char stat[] = "fs/cgroup/a/cpu.stat";
	struct throttle before;

	fixture_text(f.proc, "self/cgroup", "0::/a\n");
	fixture_text(f.sys, "fs/cgroup/cgroup.controllers", "cpu\n");
	fixture_text(f.sys, stat,
		     "usage_usec 9\nnr_periods 5\nnr_throttled 2\nthrottled_usec 10\n");
	before = throttle_read(&f.root);
	fixture_text(f.sys, stat,
		     "usage_usec 9\nnr_periods 9\nnr_throttled 5\nthrottled_usec 1510\n");
	expect_warning(&before, "3 times and waited for 1.50 ms in all; raise cpu.max (CPUQuota=)");
}

Test(throttle, control_group_of_version_1)
{
	static const char stat[] = "fs/cgroup/cpu/a/cpu.stat";
	struct throttle before;

	fixture_text(f.proc, "self/cgroup", "3:cpu:/a\n");
	fixture_text(f.sys, stat, "nr_periods 5\nnr_throttled 2\nthrottled_time 10\n");
	before = throttle_read(&f.root);
	fixture_text(f.sys, stat, "nr_periods 5\nnr_throttled 3\nthrottled_time 2000010\n");
	expect_warning(&before, "1 times and waited for 2.00 ms");
}

/* Guests' time is part of the user's and must not count twice. */
Test(throttle, steal)
{
	struct throttle before;

	fixture_text(f.proc, "stat",
		     "cpu  100 0 100 700 0 0 0 100 50 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
	before = throttle_read(&f.root);
	cr_expect_eq(before.all, 1000);
	cr_expect_eq(before.steal, 100);
	fixture_text(f.proc, "stat", "cpu  100 0 100 1690 0 0 0 110 50 0\n");
	expect_warning(&before, NULL); /* exactly 1 % */
	fixture_text(f.proc, "stat", "cpu  100 0 100 1660 0 0 0 140 50 0\n");
	expect_warning(&before, "the hypervisor took 4.0 % of this host's processor time");
}

Test(throttle, several_things_at_once)
{
	struct throttle before = { .cores = 1, .all = 10 };
	struct throttle after = { .cores = 2, .all = 20, .steal = 5, .group = 1 };
	struct error *list = throttle_warnings(&before, &after);
	size_t nr = 0;

	for (const struct error *e = list; e; e = error_next(e))
		nr++;
	cr_expect_eq(nr, 3);
	error_destroy(&list);
}

Test(throttle, capped_frequency)
{
	_cleanup_free_ char *none = throttle_cap(&f.root), *full = NULL, *capped = NULL;

	cr_expect_null(none);
	fixture_text(f.sys, "devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "3600000\n");
	fixture_text(f.sys, "devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3600000\n");
	fixture_text(f.sys, "devices/system/cpu/cpu1/cpufreq/scaling_max_freq", "3600000\n");
	fixture_text(f.sys, "devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "3600000\n");
	full = throttle_cap(&f.root);
	cr_expect_null(full);
	fixture_text(f.sys, "devices/system/cpu/cpu1/cpufreq/scaling_max_freq", "2000000\n");
	capped = throttle_cap(&f.root);
	cr_expect_str_eq(capped, "2.00 of 3.60 GHz on 1 of 2 CPUs");
}

Test(throttle, live)
{
	struct throttle t = throttle_read(&host_root_live);

	cr_expect_gt(t.all, 0);
	cr_expect_leq(t.steal, t.all);
}
