/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/facts.h"

#include "common/base/str.h"
#include "worker/host/throttle.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

struct fact_list {
	struct fact *facts;
	size_t nr;
};

/* Takes `value`; a fact that could not be read is left out. */
static void add(struct fact_list *list, const char *key, char *value)
{
	if (!value)
		return;
	list->facts = xrealloc(list->facts, list->nr + 1, sizeof(*list->facts));
	list->facts[list->nr].key = xstrdup(key);
	list->facts[list->nr++].value = str_printable(value);
	free(value);
}

/* What stands behind `key` and the separator in the first such line of a text file. */
static char *value_in(const char *dir, const char *file, const char *key, const char *separator)
{
	size_t len;
	_cleanup_free_ char *text = sysfs_bytes(dir, file, &len);
	char *rest = text, *line;

	while (rest && (line = strsep(&rest, "\n")) != NULL) {
		char *value = strstr(line, separator);

		if (!str_starts(line, key) || !value)
			continue;
		value += strlen(separator);
		value += strspn(value, " \t\"");
		len = strlen(value);
		while (len > 0 && (isspace((unsigned char)value[len - 1]) || value[len - 1] == '"'))
			len--;
		return xstrndup(value, len);
	}
	return NULL;
}

/* Boot parameters may carry a secret (an iSCSI password, a key): the value is left out. */
static char *without_secrets(char *cmdline)
{
	static const char *const secret[] = { "pass", "secret", "token", "key", "chap" };
	_cleanup_free_ char *old = cmdline;
	struct buf out = { 0 };
	char *rest = old, *word, *text;

	while (rest && (word = strsep(&rest, " ")) != NULL) {
		char *value = strchr(word, '=');

		for (size_t i = 0; value && i < array_size(secret); i++) {
			char *hit = strcasestr(word, secret[i]);

			if (hit && hit < value)
				value[1] = '\0';
		}
		if (out.len)
			buf_add(&out, " ", 1);
		buf_add(&out, word, strlen(word));
	}
	text = xstrndup((const char *)out.data, out.len);
	buf_fini(&out);
	return text;
}

static char *memory_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0
		       ? xasprintf("%llu", (unsigned long long)pages * (unsigned long long)page)
		       : NULL;
}

static char *cpus(int which)
{
	long nr = sysconf(which);

	return nr > 0 ? xasprintf("%ld", nr) : NULL;
}

void facts_collect(struct fact **ret, size_t *ret_nr)
{
	facts_collect_at(&host_root_live, ret, ret_nr);
}

void facts_collect_at(const struct host_root *root, struct fact **ret, size_t *ret_nr)
{
	/* clang-format off */
	const struct {
		const char *key, *base, *attr;
	} files[] = {
		{ "clocksource", root->sys, "devices/system/clocksource/clocksource0/current_clocksource" },
		{ "governor", root->sys, "devices/system/cpu/cpu0/cpufreq/scaling_governor" },
		{ "cpufreq_driver", root->sys, "devices/system/cpu/cpu0/cpufreq/scaling_driver" },
		{ "smt", root->sys, "devices/system/cpu/smt/control" },
		{ "numa_nodes", root->sys, "devices/system/node/online" },
		{ "transparent_hugepage", root->sys, "kernel/mm/transparent_hugepage/enabled" },
		{ "io_uring_disabled", root->proc, "sys/kernel/io_uring_disabled" },
		{ "hypervisor", root->sys, "hypervisor/type" },
		{ "product", root->sys, "class/dmi/id/product_name" },
		{ "bios", root->sys, "class/dmi/id/bios_version" },
		{ "boot_id", root->proc, "sys/kernel/random/boot_id" },
	};
	/* clang-format on */
	struct fact_list list = { 0 };
	struct utsname name;
	char *cmdline = sysfs_text(root->proc, "cmdline");

	if (uname(&name) == 0) {
		add(&list, "kernel", xstrdup(name.release));
		add(&list, "kernel_build", xstrdup(name.version));
		add(&list, "machine", xstrdup(name.machine));
		add(&list, "hostname", xstrdup(name.nodename));
	}
	add(&list, "os", value_in("/etc", "os-release", "PRETTY_NAME", "="));
	add(&list, "cmdline", cmdline ? without_secrets(cmdline) : NULL);
	add(&list, "cpu_model", value_in(root->proc, "cpuinfo", "model name", ": "));
	add(&list, "microcode", value_in(root->proc, "cpuinfo", "microcode", ": "));
	add(&list, "nr_cpus", cpus(_SC_NPROCESSORS_ONLN));
	add(&list, "cpufreq_capped", throttle_cap(root));
	add(&list, "memory_bytes", memory_bytes());
	for (size_t i = 0; i < array_size(files); i++)
		add(&list, files[i].key, sysfs_text(files[i].base, files[i].attr));
	*ret = list.facts;
	*ret_nr = list.nr;
}

void facts_free(struct fact **facts, size_t *nr)
{
	for (size_t i = 0; i < *nr; i++) {
		free((*facts)[i].key);
		free((*facts)[i].value);
	}
	free(*facts);
	*facts = NULL;
	*nr = 0;
}

void welcome_init(struct msg_welcome *w, const char *version)
{
	char name[HOST_NAME_MAX + 1] = "";

	gethostname(name, sizeof(name) - 1);
	*w = (struct msg_welcome) {
		.protocol = PROTOCOL_MAJOR,
		.version = xstrdup(version),
		.hostname = xstrdup(name),
	};
}

void welcome_refresh(struct msg_welcome *w)
{
	facts_free(&w->facts, &w->nr_facts);
	facts_collect(&w->facts, &w->nr_facts);
}

void welcome_fini(struct msg_welcome *w)
{
	facts_free(&w->facts, &w->nr_facts);
	free(w->version);
	free(w->hostname);
	*w = (struct msg_welcome) { 0 };
}
