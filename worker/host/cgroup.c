/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/cgroup.h"

#include "common/base/str.h"

#include <stdio.h>

/* Is the controller in "cpu,cpuacct"? */
static bool is_listed(const char *list, size_t len, const char *controller)
{
	_cleanup_free_ char *copy = xstrndup(list, len);
	char *rest = copy, *name;

	while ((name = strsep(&rest, ",")) != NULL)
		if (streq(name, controller))
			return true;
	return false;
}

/* "4:memory:/a/b" (version 1), "0::/a/b" (version 2): the path of the group that has the controller; a hybrid has both
 * and a controller in one of them. */
static char *path_in(char *text, const char *controller, bool *ret_v2)
{
	char *rest = text, *line, *v2 = NULL;

	while ((line = strsep(&rest, "\n")) != NULL) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

		if (!path)
			continue;
		*ret_v2 = false;
		if (is_listed(list + 1, (size_t)(path - list - 1), controller))
			return path + 1;
		if (str_starts(line, "0::"))
			v2 = path + 1;
	}
	*ret_v2 = true;
	return v2;
}

static char *mounted_at(const struct host_root *root, const char *controller, bool is_v2)
{
	_cleanup_free_ char *base = xasprintf("%s/fs/cgroup", root->sys);

	if (!is_v2)
		return xasprintf("%s/%s", base, controller);
	if (sysfs_exists(base, "cgroup.controllers"))
		return xstrdup(base);
	return xasprintf("%s/unified", base);
}

struct names cgroup_folders(const struct host_root *root, const char *controller)
{
	struct names list = { 0 };
	size_t len;
	_cleanup_free_ char *text = sysfs_bytes(root->proc, "self/cgroup", &len);
	bool is_v2 = false;
	char *path = text ? path_in(text, controller, &is_v2) : NULL;
	_cleanup_free_ char *base = path ? mounted_at(root, controller, is_v2) : NULL;

	while (path) {
		_cleanup_free_ char *dir = xasprintf("%s%s", base, streq(path, "/") ? "" : path);
		char *slash = strrchr(path, '/');

		/* In a container the path may be one that only its host sees. */
		if (sysfs_exists(dir, ""))
			names_add(&list, dir);
		if (!slash || slash[1] == '\0')
			break;
		if (slash == path)
			slash[1] = '\0';
		else
			*slash = '\0';
	}
	return list;
}
