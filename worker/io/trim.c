/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/trim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

struct error *trim_check(int fd, bool *ret_is_device)
{
	uint64_t nothing[2] = { 0, 0 };
	struct stat st;

	if (fstat(fd, &st) != 0)
		return error_new(ERR_IO, "%s", strerrordesc_np(errno));
	*ret_is_device = S_ISBLK(st.st_mode);
	/* A discard of no bytes is refused as wrong, or before that because there is no discard. */
	if (*ret_is_device && ioctl(fd, BLKDISCARD, nothing) != 0 && errno == EOPNOTSUPP)
		return error_new(ERR_REFUSED,
				 "the device does not support discard, which rw: trim, "
				 "randtrim and trimwrite need; choose another rw or device");
	return NULL;
}

int32_t trim_now(int fd, bool is_device, uint64_t offset, uint32_t bytes)
{
	uint64_t range[2] = { offset, bytes };
	int ret = is_device ? ioctl(fd, BLKDISCARD, range)
			    : fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					(off_t)offset, bytes);

	return ret < 0 ? -errno : (int32_t)bytes;
}
