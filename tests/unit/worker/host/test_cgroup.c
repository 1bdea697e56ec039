/* SPDX-License-Identifier: Apache-2.0 */
/* The control groups of a process, on made-up hosts. */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/cgroup.h"

static struct fixture f;

static void make(void)
{
	fixture_init(&f);
}

static void unmake(void)
{
	fixture_fini(&f);
}

TestSuite(cgroup, .init = make, .fini = unmake);

static void group(const char *path)
{
	_cleanup_free_ char *dir = xasprintf("%s/fs/cgroup/%s", f.sys, path);

	fixture_folder(dir);
}

static bool ends(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && streq(text + strlen(text) - strlen(end), end);
}

Test(cgroup, folders_go_from_the_group_to_the_root)
{
	struct names list;

	fixture_text(f.proc, "self/cgroup", "0::/system.slice/salvo.service\n");
	fixture_text(f.sys, "fs/cgroup/cgroup.controllers", "cpu memory pids\n");
	group("system.slice/salvo.service");
	list = cgroup_folders(&f.root, "pids");
	cr_assert_eq(list.nr, 3);
	cr_expect(ends(list.names[0], "/fs/cgroup/system.slice/salvo.service"));
	cr_expect(ends(list.names[1], "/fs/cgroup/system.slice"));
	cr_expect(ends(list.names[2], "/fs/cgroup"));
	names_fini(&list);
}

/* A hybrid: the controller of version 1 counts. */
Test(cgroup, folders_of_version_1)
{
	struct names list;

	fixture_text(f.proc, "self/cgroup", "9:name=x:/\n4:cpu,memory:/a/b\n2:pids:/\n0::/c\n");
	fixture_text(f.sys, "fs/cgroup/memory/a/b/memory.limit_in_bytes", "1\n");
	fixture_text(f.sys, "fs/cgroup/unified/c/cgroup.procs", "1\n");
	list = cgroup_folders(&f.root, "memory");
	cr_assert_eq(list.nr, 3);
	cr_expect(ends(list.names[0], "/fs/cgroup/memory/a/b"));
	names_fini(&list);
	list = cgroup_folders(&f.root, "io");
	cr_assert_eq(list.nr, 2);
	cr_expect(ends(list.names[0], "/fs/cgroup/unified/c"));
	names_fini(&list);
}

/* In a container the path may be one that only its host sees. */
Test(cgroup, folders_that_are_not_there_are_left_out)
{
	struct names list;

	fixture_text(f.proc, "self/cgroup", "0::/of/the/host\n");
	fixture_text(f.sys, "fs/cgroup/cgroup.controllers", "cpu memory pids\n");
	list = cgroup_folders(&f.root, "pids");
	cr_assert_eq(list.nr, 1);
	cr_expect(ends(list.names[0], "/fs/cgroup"));
	names_fini(&list);
}

Test(cgroup, none)
{
	struct names list = cgroup_folders(&f.root, "pids");

	cr_expect_eq(list.nr, 0);
	names_fini(&list);
}
