/* SPDX-License-Identifier: Apache-2.0 */
/* What the system still lets a process have, on made-up hosts; resource limits are this process's own. */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/room.h"

#include <sys/resource.h>

static struct fixture f;

static void make(void)
{
	fixture_init(&f);
}

static void unmake(void)
{
	fixture_fini(&f);
}

TestSuite(room, .init = make, .fini = unmake);

static void expect_refusals(const struct room_need *need, size_t nr, const char *text)
{
	struct error *err = room_check(&f.root, need);
	bool found = !text;
	size_t seen = 0;

	for (const struct error *e = err; e; e = error_next(e)) {
		cr_expect_eq(error_code(e), ERR_REFUSED);
		found |= text && strstr(error_message(e), text);
		seen++;
	}
	cr_expect_eq(seen, nr, "%zu refusals: %s", seen, err ? error_message(err) : "none");
	cr_expect(found, "none says '%s': %s", text, err ? error_message(err) : "none");
	error_destroy(&err);
}

/* --- control groups ----------------------------------------------------------------------------------- */

static void group_v2(void)
{
	fixture_text(f.proc, "self/cgroup", "0::/system.slice/salvo.service\n");
	fixture_text(f.sys, "fs/cgroup/cgroup.controllers", "cpu memory pids\n");
	fixture_text(f.sys, "fs/cgroup/system.slice/salvo.service/pids.max", "100\n");
	fixture_text(f.sys, "fs/cgroup/system.slice/salvo.service/pids.current", "60\n");
	fixture_text(f.sys, "fs/cgroup/system.slice/memory.max", "1073741824\n");
	fixture_text(f.sys, "fs/cgroup/system.slice/memory.current", "805306368\n");
	fixture_text(f.sys, "fs/cgroup/system.slice/memory.stat",
		     "anon 5\ninactive_file 201326592\nactive_file 67108864\nshmem 5\n");
}

Test(room, no_groups_at_all)
{
	expect_refusals(&(struct room_need) { .threads = 10, .bytes = 1 << 20, .files = 1 }, 0,
			NULL);
}

Test(room, tasks_of_the_group)
{
	group_v2();
	expect_refusals(&(struct room_need) { .threads = 40 }, 0, NULL);
	expect_refusals(&(struct room_need) { .threads = 41 }, 1,
			"this step needs 41 threads, and of pids.max of ");
	expect_refusals(&(struct room_need) { .threads = 41 }, 1,
			"salvo.service, 100, only 40 are left; raise it (TasksMax=) or lower");
}

/* Page cache is given back when it is needed: 512 MiB of 1 GiB are left. */
Test(room, memory_of_the_group)
{
	group_v2();
	expect_refusals(&(struct room_need) { .bytes = 512 << 20 }, 0, NULL);
	expect_refusals(&(struct room_need) { .bytes = (512 << 20) + 1 }, 1,
			"/system.slice, 1.00 GiB, only 512 MiB is left; raise it (MemoryMax=)");
}

Test(room, memory_of_version_1)
{
	fixture_text(f.proc, "self/cgroup", "4:memory:/a\n");
	fixture_text(f.sys, "fs/cgroup/memory/a/memory.limit_in_bytes", "1048576\n");
	fixture_text(f.sys, "fs/cgroup/memory/a/memory.usage_in_bytes", "1048576\n");
	fixture_text(f.sys, "fs/cgroup/memory/a/memory.stat",
		     "cache 1\ninactive_file 1\nactive_file 1\ntotal_inactive_file 4096\n"
		     "total_active_file 0\n");
	expect_refusals(&(struct room_need) { .bytes = 4096 }, 0, NULL);
	expect_refusals(&(struct room_need) { .bytes = 4097 }, 1, "of memory.limit_in_bytes of ");
}

Test(room, everything_that_is_too_low_is_said)
{
	group_v2();
	expect_refusals(&(struct room_need) { .threads = 50, .bytes = 1 << 30 }, 2, NULL);
}

/* --- resource limits ------------------------------------------------------------------------------------ */

static void limit(__rlimit_resource_t resource, uint64_t value)
{
	struct rlimit r = { .rlim_cur = value, .rlim_max = value };

	cr_assert_eq(setrlimit(resource, &r), 0);
}

Test(room, open_files)
{
	fixture_text(f.proc, "self/fd/0", "");
	fixture_text(f.proc, "self/fd/1", "");
	limit(RLIMIT_NOFILE, 100);
	expect_refusals(&(struct room_need) { .files = 98 }, 0, NULL);
	expect_refusals(
		&(struct room_need) { .files = 99 }, 1,
		"this step needs 99 file descriptors, and of RLIMIT_NOFILE, 100, only 98 are "
		"left; raise it (LimitNOFILE=, ulimit -n)");
}

/* A thread's stack is address space, too. The limits are far above what the test itself has. */
Test(room, address_space_and_data)
{
	enum { STACK = 1 << 20 };

	fixture_text(f.proc, "self/status", "Name:\tx\nVmSize:\t1024 kB\nVmData:\t2048 kB\n");
	limit(RLIMIT_STACK, STACK);
	limit(RLIMIT_AS, (uint64_t)64 << 40);
	limit(RLIMIT_DATA, (uint64_t)32 << 40);
	expect_refusals(&(struct room_need) { .threads = 4, .bytes = (uint64_t)32 << 40 }, 1,
			"of RLIMIT_DATA, 32.0 TiB, only 32.0 TiB is left; raise it (LimitDATA=");
	expect_refusals(&(struct room_need) { .bytes = ((uint64_t)64 << 40) - STACK }, 1,
			"RLIMIT_DATA");
	expect_refusals(&(struct room_need) { .threads = 1, .bytes = ((uint64_t)64 << 40) - STACK },
			2, "of RLIMIT_AS, 64.0 TiB, only");
}

/* Root is exempt: the test becomes somebody else for a while. */
Test(room, tasks_of_the_user)
{
	uid_t uid = getuid() ? getuid() : 65534;
	_cleanup_free_ char *status = xasprintf("Name:\tx\nUid:\t%u\t1\t1\t1\nThreads:\t7\n", uid);

	fixture_text(f.proc, "41/status", status);
	fixture_text(f.proc, "42/status", status);
	fixture_text(f.proc, "43/status", "Name:\tx\nUid:\t4242\t1\t1\t1\nThreads:\t99\n");
	fixture_text(f.proc, "uptime/status", status);
	cr_assert_eq(chmod(f.dir, 0755), 0);
	limit(RLIMIT_NPROC, 100);
	if (getuid() == 0)
		cr_assert_eq(setresuid(uid, uid, 0), 0);
	expect_refusals(&(struct room_need) { .threads = 86 }, 0, NULL);
	expect_refusals(&(struct room_need) { .threads = 87 }, 1,
			", 100, only 86 are left; raise it (LimitNPROC=, ulimit -u)");
	if (seteuid(0) == 0)
		cr_expect_eq(setresuid(0, 0, 0), 0);
}
