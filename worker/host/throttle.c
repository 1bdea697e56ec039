/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/throttle.h"

#include "common/base/str.h"
#include "common/base/units.h"
#include "worker/host/cgroup.h"

#include <ctype.h>

/* Less than this of the processors' time taken by the hypervisor is not worth a warning. */
static const double STEAL_WARN_SHARE = 0.01;

/* --- reading ---------------------------------------------------------------------------------------- */

/* The folders of all processors. */
static struct names cpu_folders(const struct host_root *root)
{
	_cleanup_free_ char *base = xasprintf("%s/devices/system/cpu", root->sys);
	struct names all = names_of_folder(base), cpus = { 0 };

	for (size_t i = 0; i < all.nr; i++) {
		_cleanup_free_ char *dir = xasprintf("%s/%s", base, all.names[i]);

		if (str_starts(all.names[i], "cpu") && isdigit((unsigned char)all.names[i][3]))
			names_add(&cpus, dir);
	}
	names_fini(&all);
	return cpus;
}

static void read_heat(const struct host_root *root, struct throttle *t)
{
	struct names cpus = cpu_folders(root);

	for (size_t i = 0; i < cpus.nr; i++) {
		t->cores += sysfs_number(cpus.names[i], "thermal_throttle/core_throttle_count", 0);
		t->packages +=
			sysfs_number(cpus.names[i], "thermal_throttle/package_throttle_count", 0);
	}
	names_fini(&cpus);
}

/* The number behind a key at the beginning of a line; 0: none. */
static uint64_t value_of(const char *text, const char *key)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (str_starts(line, key))
			return strtoull(line + strlen(key), NULL, 10);
	}
	return 0;
}

static void read_group(const struct host_root *root, struct throttle *t)
{
	enum { NS_PER_USEC = 1000 };
	struct names dirs = cgroup_folders(root, "cpu");

	for (size_t i = 0; i < dirs.nr; i++) {
		size_t len;
		_cleanup_free_ char *text = sysfs_bytes(dirs.names[i], "cpu.stat", &len);

		if (!text)
			continue;
		t->group += value_of(text, "nr_throttled ");
		/* Version 2 counts us, version 1 ns. */
		t->group_ns += value_of(text, "throttled_usec ") * NS_PER_USEC +
			       value_of(text, "throttled_time ");
	}
	names_fini(&dirs);
}

static void read_steal(const struct host_root *root, struct throttle *t)
{
	/* user nice system idle iowait irq softirq steal; guests' time is in the first two. */
	enum { STEAL = 7, NR };
	_cleanup_free_ char *text = sysfs_text(root->proc, "stat");
	char *rest = text ? text + strcspn(text, " ") : NULL, *end;

	for (int i = 0; rest && i < NR; i++) {
		uint64_t ticks = strtoull(rest, &end, 10);

		if (end == rest)
			break;
		t->all += ticks;
		if (i == STEAL)
			t->steal = ticks;
		rest = end;
	}
}

struct throttle throttle_read(const struct host_root *root)
{
	struct throttle t = { 0 };

	read_heat(root, &t);
	read_group(root, &t);
	read_steal(root, &t);
	return t;
}

/* --- comparing -------------------------------------------------------------------------------------- */

static uint64_t more(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

struct error *throttle_warnings(const struct throttle *before, const struct throttle *after)
{
	uint64_t heat = more(before->cores, after->cores) + more(before->packages, after->packages);
	uint64_t waits = more(before->group, after->group), all = more(before->all, after->all);
	double steal = all ? (double)more(before->steal, after->steal) / (double)all : 0;
	struct error *list = NULL;
	char text[UNITS_TEXT];

	if (heat)
		error_append(
			&list,
			error_new(ERR_REFUSED,
				  "the processors were throttled for heat during this step (%llu "
				  "events of cores and packages): its numbers are those of a hot "
				  "host",
				  (unsigned long long)heat));
	units_human_ns(text, (double)more(before->group_ns, after->group_ns));
	if (waits)
		error_append(
			&list,
			error_new(ERR_REFUSED,
				  "the worker's control group used up its share of the processors "
				  "%llu times and waited for %s in all; raise cpu.max (CPUQuota=)",
				  (unsigned long long)waits, text));
	if (steal > STEAL_WARN_SHARE)
		error_append(
			&list,
			error_new(ERR_REFUSED,
				  "the hypervisor took %.1f %% of this host's processor time away "
				  "(steal) during this step",
				  steal * 100));
	return list;
}

/* --- cap -------------------------------------------------------------------------------------------- */

char *throttle_cap(const struct host_root *root)
{
	static const double KHZ_PER_GHZ = 1e6;
	struct names cpus = cpu_folders(root);
	uint64_t lowest = 0, able = 0;
	size_t nr = 0, known = 0;

	for (size_t i = 0; i < cpus.nr; i++) {
		uint64_t may = sysfs_number(cpus.names[i], "cpufreq/scaling_max_freq", 0);
		uint64_t can = sysfs_number(cpus.names[i], "cpufreq/cpuinfo_max_freq", 0);

		known += can > 0;
		if (!may || may >= can)
			continue;
		nr++;
		if (!lowest || may < lowest) {
			lowest = may;
			able = can;
		}
	}
	names_fini(&cpus);
	return nr ? xasprintf("%.2f of %.2f GHz on %zu of %zu CPUs", (double)lowest / KHZ_PER_GHZ,
			      (double)able / KHZ_PER_GHZ, nr, known)
		  : NULL;
}
