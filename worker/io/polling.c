/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/polling.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* The queue's io_poll: '0' or '1'; 0 when it cannot be found. A partition has its disk's queue. */
static int read_io_poll(dev_t dev)
{
	static const char *const places[] = { "queue", "../queue" };
	int c = 0;

	for (size_t i = 0; i < array_size(places); i++) {
		_cleanup_free_ char *path = xasprintf("/sys/dev/block/%u:%u/%s/io_poll", major(dev),
						      minor(dev), places[i]);
		FILE *f = fopen(path, "re");

		if (!f)
			continue;
		c = fgetc(f);
		fclose(f);
		break;
	}
	return c == '0' || c == '1' ? c : 0;
}

struct error *polling_check(const char *engine, const char *flag, const struct engine_env *env)
{
	struct stat st;
	int io_poll = 0;

	if (env->pretend & PRETEND_POLL_QUEUES)
		return NULL;
	if (fstat(env->fd, &st) == 0)
		io_poll = read_io_poll(S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev);
	if (io_poll == '1')
		return NULL;
	if (io_poll == '0')
		return engine_lacks(
			engine, flag,
			"the device has no poll queues (its queue/io_poll is 0); give its "
			"driver some (nvme.poll_queues=), or leave hipri out");
	return engine_lacks(
		engine, flag,
		"which block device lies under it is not known, nor whether that has poll "
		"queues; leave hipri out");
}
