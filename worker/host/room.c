/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/room.h"

#include "common/base/str.h"
#include "common/base/units.h"
#include "worker/host/cgroup.h"

#include <ctype.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- saying it -------------------------------------------------------------------------------------- */

/* One limit, and how much of it is in use. */
struct ceiling {
	uint64_t limit, used;
	char *name;       /* "RLIMIT_NPROC"; owned */
	const char *todo; /* "raise it (LimitNPROC=, ulimit -u) or lower numjobs" */
};

enum unit { UNIT_THREADS, UNIT_BYTES, UNIT_FILES };
static const char *const unit_names[] = { "threads", "memory", "file descriptors" };

static void amount_text(char text[UNITS_TEXT], enum unit unit, uint64_t n)
{
	if (unit == UNIT_BYTES)
		units_human_bytes(text, (double)n);
	else
		snprintf(text, UNITS_TEXT, "%llu", (unsigned long long)n);
}

/* Takes the ceiling's name. */
static struct error *check(struct ceiling c, enum unit unit, uint64_t need)
{
	_cleanup_free_ char *name = c.name;
	uint64_t left = c.limit > c.used ? c.limit - c.used : 0;
	char need_text[UNITS_TEXT], left_text[UNITS_TEXT], limit_text[UNITS_TEXT];

	if (need <= left)
		return NULL;
	amount_text(need_text, unit, need);
	amount_text(left_text, unit, left);
	amount_text(limit_text, unit, c.limit);
	return error_new(ERR_REFUSED, "this step needs %s %s%s, and of %s, %s, only %s %s left; %s",
			 need_text, unit == UNIT_BYTES ? "of " : "", unit_names[unit], name,
			 limit_text, left_text, unit == UNIT_BYTES ? "is" : "are", c.todo);
}

/* --- resource limits -------------------------------------------------------------------------------- */

/* The number behind a key in this process's status; 0: none. */
static uint64_t own_status(const struct host_root *root, const char *key)
{
	size_t len;
	_cleanup_free_ char *text = sysfs_bytes(root->proc, "self/status", &len);
	const char *line = text ? strstr(text, key) : NULL;

	return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

static bool read_limit(__rlimit_resource_t resource, uint64_t *ret)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return false;
	*ret = limit.rlim_cur;
	return true;
}

/* Address space and data also hold the stacks of the threads. */
static uint64_t with_stacks(const struct room_need *need)
{
	enum { STACK_BYTES = 8 << 20 };
	uint64_t stack = STACK_BYTES, bytes;

	read_limit(RLIMIT_STACK, &stack);
	if (__builtin_mul_overflow(stack, need->threads, &bytes) ||
	    __builtin_add_overflow(bytes, need->bytes, &bytes))
		return UINT64_MAX;
	return bytes;
}

static struct error *check_mappings(const struct host_root *root, const struct room_need *need)
{
	static const struct {
		__rlimit_resource_t resource;
		const char *key, *name, *todo;
	} all[] = {
		{ RLIMIT_AS, "\nVmSize:", "RLIMIT_AS",
		  "raise it (LimitAS=, ulimit -v) or lower iodepth, bs or numjobs" },
		{ RLIMIT_DATA, "\nVmData:", "RLIMIT_DATA",
		  "raise it (LimitDATA=, ulimit -d) or lower iodepth, bs or numjobs" },
	};
	enum { KIB = 1024 };
	struct error *errs = NULL;

	for (size_t i = 0; i < array_size(all); i++) {
		struct ceiling c = { .todo = all[i].todo };

		if (!read_limit(all[i].resource, &c.limit))
			continue;
		c.used = own_status(root, all[i].key) * KIB;
		c.name = xstrdup(all[i].name);
		error_append(&errs, check(c, UNIT_BYTES, with_stacks(need)));
	}
	return errs;
}

static struct error *check_files(const struct host_root *root, const struct room_need *need)
{
	struct ceiling c = { .todo = "raise it (LimitNOFILE=, ulimit -n) or lower numjobs" };
	_cleanup_free_ char *dir = xasprintf("%s/self/fd", root->proc);
	struct names open_now;

	if (!read_limit(RLIMIT_NOFILE, &c.limit))
		return NULL;
	open_now = names_of_folder(dir);
	c.used = open_now.nr;
	names_fini(&open_now);
	c.name = xstrdup("RLIMIT_NOFILE");
	return check(c, UNIT_FILES, need->files);
}

static bool is_exempt(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
	unsigned mask = 1u << CAP_SYS_ADMIN | 1u << CAP_SYS_RESOURCE;

	return getuid() == 0 || (syscall(SYS_capget, &head, caps) == 0 && caps[0].effective & mask);
}

/* All tasks of the process's user, which is what RLIMIT_NPROC counts. */
static uint64_t tasks_of_user(const struct host_root *root)
{
	static const char uid_key[] = "\nUid:", threads_key[] = "\nThreads:";
	struct names pids = names_of_folder(root->proc);
	uint64_t sum = 0;

	for (size_t i = 0; i < pids.nr; i++) {
		_cleanup_free_ char *attr = xasprintf("%s/status", pids.names[i]), *text = NULL;
		const char *uid, *threads;
		size_t len;

		if (!isdigit((unsigned char)*pids.names[i]))
			continue;
		text = sysfs_bytes(root->proc, attr, &len);
		uid = text ? strstr(text, uid_key) : NULL;
		threads = text ? strstr(text, threads_key) : NULL;
		if (uid && threads && strtoul(uid + strlen(uid_key), NULL, 10) == getuid())
			sum += strtoull(threads + strlen(threads_key), NULL, 10);
	}
	names_fini(&pids);
	return sum;
}

static struct error *check_tasks(const struct host_root *root, const struct room_need *need)
{
	struct ceiling c = { .todo = "raise it (LimitNPROC=, ulimit -u) or lower numjobs" };

	if (is_exempt() || !read_limit(RLIMIT_NPROC, &c.limit))
		return NULL;
	c.used = tasks_of_user(root);
	c.name = xasprintf("RLIMIT_NPROC of user %u", getuid());
	return check(c, UNIT_THREADS, need->threads);
}

/* --- control groups --------------------------------------------------------------------------------- */

static struct error *check_pids(const struct host_root *root, const struct room_need *need)
{
	struct names dirs = cgroup_folders(root, "pids");
	struct error *errs = NULL;

	for (size_t i = 0; i < dirs.nr; i++) {
		/* "max" is no number. */
		struct ceiling c = {
			.limit = sysfs_number(dirs.names[i], "pids.max", UINT64_MAX),
			.used = sysfs_number(dirs.names[i], "pids.current", 0),
			.name = xasprintf("pids.max of %s", dirs.names[i]),
			.todo = "raise it (TasksMax=) or lower numjobs",
		};

		error_append(&errs, check(c, UNIT_THREADS, need->threads));
	}
	names_fini(&dirs);
	return errs;
}

/* What the kernel would give back of the group's page cache. */
static uint64_t reclaimable(const char *dir)
{
	static const char *const keys[] = { "\ninactive_file ", "\nactive_file ",
					    "\ntotal_inactive_file ", "\ntotal_active_file " };
	size_t len;
	_cleanup_free_ char *text = sysfs_bytes(dir, "memory.stat", &len);
	bool is_v1 = text && strstr(text, keys[2]);
	uint64_t sum = 0;

	for (size_t i = is_v1 ? 2 : 0; text && i < (is_v1 ? 4 : 2); i++) {
		const char *line = strstr(text, keys[i]);

		sum += line ? strtoull(line + strlen(keys[i]), NULL, 10) : 0;
	}
	return sum;
}

static struct error *check_memory(const struct host_root *root, const struct room_need *need)
{
	struct names dirs = cgroup_folders(root, "memory");
	struct error *errs = NULL;

	for (size_t i = 0; i < dirs.nr; i++) {
		const char *dir = dirs.names[i];
		bool is_v2 = sysfs_exists(dir, "memory.max");
		uint64_t used =
			sysfs_number(dir, is_v2 ? "memory.current" : "memory.usage_in_bytes", 0);
		uint64_t spare = reclaimable(dir);
		struct ceiling c = {
			.limit = sysfs_number(dir, is_v2 ? "memory.max" : "memory.limit_in_bytes",
					      UINT64_MAX),
			.used = used > spare ? used - spare : 0,
			.name = xasprintf("%s of %s",
					  is_v2 ? "memory.max" : "memory.limit_in_bytes", dir),
			.todo = "raise it (MemoryMax=) or lower iodepth, bs or numjobs",
		};

		error_append(&errs, check(c, UNIT_BYTES, need->bytes));
	}
	names_fini(&dirs);
	return errs;
}

struct error *room_check(const struct host_root *root, const struct room_need *need)
{
	struct error *errs = check_tasks(root, need);

	error_append(&errs, check_pids(root, need));
	error_append(&errs, check_memory(root, need));
	error_append(&errs, check_mappings(root, need));
	error_append(&errs, check_files(root, need));
	return errs;
}
