/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/counters.h"

#include "common/base/clock.h"
#include "common/base/str.h"

#include <sys/sysmacros.h>

static char *counter_text(const struct host_root *root, dev_t rdev, const char *attr)
{
	_cleanup_free_ char *dir =
		xasprintf("%s/dev/block/%u:%u", root->sys, major(rdev), minor(rdev));

	return sysfs_text(dir, attr);
}

/* The first `nr` numbers of a line; false: it has fewer. */
static bool numbers_of(const char *text, unsigned long long *ret, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		char *end;

		ret[i] = strtoull(text, &end, 10);
		if (end == text)
			return false;
		text = end;
	}
	return true;
}

bool counters_read(const struct host_root *root, dev_t rdev, struct device_stat *ret)
{
	/* Reads: how many, merged, sectors, ms; the same of writes; in flight; ms busy. */
	enum { READS = 0, READ_SECTORS = 2, WRITES = 4, WRITE_SECTORS = 6, BUSY = 9, NR = 10 };
	enum { SECTOR = 512 };
	_cleanup_free_ char *text = counter_text(root, rdev, "stat");
	unsigned long long v[NR];

	if (!text || !numbers_of(text, v, NR))
		return false;
	*ret = (struct device_stat) { .read_ios = v[READS],
				      .read_bytes = v[READ_SECTORS] * SECTOR,
				      .write_ios = v[WRITES],
				      .write_bytes = v[WRITE_SECTORS] * SECTOR,
				      .busy_ns = v[BUSY] * NS_PER_MS };
	return true;
}

uint64_t counters_inflight(const struct host_root *root, dev_t rdev)
{
	_cleanup_free_ char *text = counter_text(root, rdev, "inflight");
	unsigned long long v[2];

	return text && numbers_of(text, v, array_size(v)) ? v[0] + v[1] : 0;
}
