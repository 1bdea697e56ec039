/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/counters.h"

#include "common/base/clock.h"
#include "common/base/str.h"

#include <sys/sysmacros.h>

enum { SECTOR_BYTES = 512 };

/* Columns of a `stat` file; the ninth, I/Os in flight, is no counter. The queue's time came with 2.5, discards with
 * 4.18, flushes with 5.5. */
static const struct column {
	size_t offset; /* in struct device_stat */
	uint64_t unit;
} columns[] = {
#define C(member, unit)                                    \
	{                                                  \
		offsetof(struct device_stat, member), unit \
	}
	C(read_ios, 1),
	C(read_merges, 1),
	C(read_bytes, SECTOR_BYTES),
	C(read_ticks_ns, NS_PER_MS),
	C(write_ios, 1),
	C(write_merges, 1),
	C(write_bytes, SECTOR_BYTES),
	C(write_ticks_ns, NS_PER_MS),
	{ 0, 0 },
	C(busy_ns, NS_PER_MS),
	C(in_queue_ns, NS_PER_MS),
	C(discard_ios, 1),
	{ 0, 0 },
	C(discard_bytes, SECTOR_BYTES),
	{ 0, 0 },
	C(flush_ios, 1),
#undef C
};

static uint64_t *cell(struct device_stat *st, const struct column *c)
{
	return (uint64_t *)((char *)st + c->offset);
}

static uint64_t value(const struct device_stat *st, const struct column *c)
{
	return *(const uint64_t *)((const char *)st + c->offset);
}

/* Up to `nr` numbers of a line; how many there are. */
static size_t numbers_of(const char *text, unsigned long long *ret, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		char *end;

		ret[i] = strtoull(text, &end, 10);
		if (end == text)
			break;
		text = end;
	}
	return i;
}

/* Adds the counters in DIR/stat. */
static bool add_stat(const char *dir, struct device_stat *to)
{
	enum { OLDEST_KERNEL = 10 };
	_cleanup_free_ char *text = sysfs_text(dir, "stat");
	unsigned long long v[array_size(columns)];
	size_t nr = text ? numbers_of(text, v, array_size(v)) : 0;

	if (nr < OLDEST_KERNEL)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (columns[i].unit)
			*cell(to, &columns[i]) += v[i] * columns[i].unit;
	return true;
}

static char *device_dir(const struct host_root *root, dev_t rdev)
{
	return xasprintf("%s/dev/block/%u:%u", root->sys, major(rdev), minor(rdev));
}

static bool has_counted(const struct device_stat *st)
{
	return st->read_ios || st->write_ios || st->discard_ios || st->flush_ios;
}

static size_t nr_digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* "nvme0c1n3" is one of the paths of "nvme0n3". */
static bool is_path_of(const char *name, const char *head)
{
	size_t len = strlen("nvme") + nr_digits(head + strlen("nvme"));
	const char *controller = name + len + 1;

	return strncmp(name, head, len) == 0 && name[len] == 'c' && nr_digits(controller) &&
	       streq(controller + nr_digits(controller), head + len);
}

/* Kernels before 6.4 count nothing at the device that stands for all paths of an NVMe namespace. */
static void add_nvme_paths(const struct host_root *root, const char *dir, struct device_stat *to)
{
	_cleanup_free_ char *real = realpath(dir, NULL), *base = NULL;
	const char *name = real ? strrchr(real, '/') + 1 : "";
	struct names all;

	if (!str_starts(name, "nvme"))
		return;
	base = xasprintf("%s/block", root->sys);
	all = names_of_folder(base);
	for (size_t i = 0; i < all.nr; i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", base, all.names[i]);

		if (is_path_of(all.names[i], name))
			add_stat(path, to);
	}
	names_fini(&all);
}

/* zram says that it does not count and counts all the same. A partition has its disk's queue. */
static bool is_switched_off(const char *dir)
{
	_cleanup_free_ char *real = realpath(dir, NULL);
	const char *name = real ? strrchr(real, '/') + 1 : "";

	if (str_starts(name, "zram"))
		return false;
	return sysfs_number(dir, "queue/iostats", 1) == 0 ||
	       sysfs_number(dir, "../queue/iostats", 1) == 0;
}

bool counters_read(const struct host_root *root, dev_t rdev, struct device_stat *ret)
{
	_cleanup_free_ char *dir = device_dir(root, rdev);
	struct device_stat st = { 0 };

	if (!add_stat(dir, &st) || is_switched_off(dir))
		return false;
	if (!has_counted(&st))
		add_nvme_paths(root, dir, &st);
	*ret = st;
	return true;
}

struct device_stat counters_between(const struct device_stat *before,
				    const struct device_stat *after)
{
	struct device_stat st = { 0 };

	for (size_t i = 0; i < array_size(columns); i++) {
		const struct column *c = &columns[i];

		if (c->unit && value(after, c) > value(before, c))
			*cell(&st, c) = value(after, c) - value(before, c);
	}
	return st;
}

uint64_t counters_inflight(const struct host_root *root, dev_t rdev)
{
	_cleanup_free_ char *dir = device_dir(root, rdev), *text = sysfs_text(dir, "inflight");
	unsigned long long v[2];

	return text && numbers_of(text, v, array_size(v)) == array_size(v) ? v[0] + v[1] : 0;
}
