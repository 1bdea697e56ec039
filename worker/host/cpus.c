/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/cpus.h"

#include "common/base/str.h"

#include <stdio.h>

/* A set that the kernel prints, and its text for messages; all processors where it does not. */
struct kernel_set {
	cpu_set_t set;
	char *text;
};

/* Takes the text. */
static struct kernel_set set_of(char *text)
{
	struct kernel_set k = { .text = text };
	struct error *err = text ? cpulist_parse(text, &k.set) : NULL;

	/* More processors than a set holds: nothing can be said against those that can be named. */
	if (!text || err)
		memset(&k.set, 0xff, sizeof(k.set));
	error_destroy(&err);
	return k;
}

static struct kernel_set of_host(const struct host_root *root, const char *attr)
{
	_cleanup_free_ char *dir = xasprintf("%s/devices/system/cpu", root->sys);

	return set_of(sysfs_text(dir, attr));
}

/* The affinity of this process, which its cpuset bounds. */
static struct kernel_set of_process(const struct host_root *root)
{
	static const char key[] = "\nCpus_allowed_list:";
	size_t len;
	_cleanup_free_ char *status = sysfs_bytes(root->proc, "self/status", &len);
	char *line = status ? strstr(status, key) : NULL;

	if (!line)
		return set_of(NULL);
	line += strlen(key);
	line += strspn(line, " \t");
	return set_of(xstrndup(line, strcspn(line, "\n")));
}

/* All that are wanted and not in `have`; NULL: none. "CPU 64", "CPUs 64, 65". Owned by the caller. */
static char *missing(const cpu_set_t *want, const cpu_set_t *have)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	unsigned nr = 0;

	assert(out);
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, want) && !CPU_ISSET(i, have))
			fprintf(out, "%s%u", nr++ ? ", " : "", i);
	fclose(out);
	if (!nr) {
		free(text);
		return NULL;
	}
	char *named = xasprintf("CPU%s %s", nr > 1 ? "s" : "", text);

	free(text);
	return named;
}

struct error *cpus_allowed(const struct host_root *root, const char *list, cpu_set_t *ret)
{
	const struct {
		struct kernel_set have;
		const char *wrong, *todo;
	} rules[] = {
		{ of_host(root, "present"), "not on this host, which has", "name others" },
		{ of_host(root, "online"), "offline; online are",
		  "bring it online or name others" },
		{ of_process(root), "not among those that the worker may use,",
		  "widen its cpuset or affinity (AllowedCPUs=, CPUAffinity=, taskset) or name "
		  "others" },
	};
	struct error *err = cpulist_parse(list, ret);

	for (size_t i = 0; i < array_size(rules) && !err; i++) {
		_cleanup_free_ char *lacking = missing(ret, &rules[i].have.set);

		if (lacking)
			err = error_new(ERR_REFUSED, "cpus_allowed: %s: %s %s; %s", lacking,
					rules[i].wrong, rules[i].have.text, rules[i].todo);
	}
	for (size_t i = 0; i < array_size(rules); i++)
		free(rules[i].have.text);
	return err;
}
