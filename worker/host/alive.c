/* SPDX-License-Identifier: Apache-2.0 */
/* Signs that somebody uses a file system at this moment, as far as a few reads can tell. */
#include "common/base/str.h"
#include "worker/host/signature.h"

#include <stdio.h>
#include <unistd.h>

/* Copies `len` bytes at `offset` of the device; false: they cannot be read. */
static bool read_at(int fd, uint64_t offset, void *to, size_t len)
{
	return pread(fd, to, len, (off_t)offset) == (ssize_t)len;
}

static uint16_t le16_at(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t le32_at(const uint8_t *p)
{
	return (uint32_t)le16_at(p) | (uint32_t)le16_at(p + 2) << 16;
}

static uint64_t le64_at(const uint8_t *p)
{
	return (uint64_t)le32_at(p) | (uint64_t)le32_at(p + 4) << 32;
}

/* Multiple-mount protection: the block in which a mounted file system's host counts. */
static char *ext_mmp(int fd, uint64_t offset, const uint8_t *super)
{
	enum { LOG_BLOCK = 0x18, MMP_BLOCK = 0x168, NODE_AT = 16, NODE_LEN = 64 };
	static const uint32_t magic = 0x004D4D50, clean = 0xFF4D4D50;
	uint8_t mmp[NODE_AT + NODE_LEN + 1] = { 0 };
	uint64_t block_bytes = 1024ull << (le32_at(super + LOG_BLOCK) & 0xf);
	_cleanup_free_ char *node = NULL;

	if (!read_at(fd, offset + le64_at(super + MMP_BLOCK) * block_bytes, mmp, sizeof(mmp) - 1))
		return NULL;
	if (le32_at(mmp) != magic || le32_at(mmp + 4) == clean)
		return NULL;
	node = str_printable((const char *)mmp + NODE_AT);
	return xasprintf("its multiple-mount protection says that host '%s' uses it", node);
}

static char *ext_alive(int fd, uint64_t offset)
{
	enum { AT = 1024, STATE = 0x3A, COMPAT = 0x5C, INCOMPAT = 0x60 };
	enum { STATE_CLEAN = 1, COMPAT_JOURNAL = 4, INCOMPAT_RECOVER = 4, INCOMPAT_MMP = 0x100 };
	uint8_t super[1024];
	char *mmp = NULL;

	if (!read_at(fd, offset + AT, super, sizeof(super)))
		return NULL;
	if (le32_at(super + INCOMPAT) & INCOMPAT_MMP)
		mmp = ext_mmp(fd, offset, super);
	if (mmp)
		return mmp;
	if (le32_at(super + INCOMPAT) & INCOMPAT_RECOVER)
		return xstrdup("its journal needs recovery");
	if (!(le32_at(super + COMPAT) & COMPAT_JOURNAL) && !(le16_at(super + STATE) & STATE_CLEAN))
		return xstrdup("it is marked as mounted");
	return NULL;
}

static char *btrfs_alive(int fd, uint64_t offset)
{
	enum { AT = 65536, LOG_ROOT = 96 };
	uint8_t super[128];

	if (!read_at(fd, offset + AT, super, sizeof(super)))
		return NULL;
	return le64_at(super + LOG_ROOT) ? xstrdup("its log needs recovery") : NULL;
}

static char *fat_alive(int fd, uint64_t offset)
{
	enum { SIZE_16 = 0x16, FLAGS_16 = 0x25, FLAGS_32 = 0x41, DIRTY = 1 };
	uint8_t boot[512];

	if (!read_at(fd, offset, boot, sizeof(boot)))
		return NULL;
	return boot[le16_at(boot + SIZE_16) ? FLAGS_16 : FLAGS_32] & DIRTY
		       ? xstrdup("it is marked as mounted")
		       : NULL;
}

static char *exfat_alive(int fd, uint64_t offset)
{
	enum { FLAGS = 106, DIRTY = 2 };
	uint8_t boot[512];

	if (!read_at(fd, offset, boot, sizeof(boot)))
		return NULL;
	return boot[FLAGS] & DIRTY ? xstrdup("it is marked as mounted") : NULL;
}

static char *cluster_alive(_unused_ int fd, _unused_ uint64_t offset)
{
	return xstrdup("it is made to be used by several hosts at once");
}

static char *suspend_alive(_unused_ int fd, _unused_ uint64_t offset)
{
	return xstrdup("a sleeping system will wake up from it");
}

char *signature_alive(int fd, uint64_t offset, const char *type)
{
	static const struct {
		const char *type;
		char *(*alive)(int fd, uint64_t offset);
	} checks[] = {
		{ "ext2", ext_alive },
		{ "ext3", ext_alive },
		{ "ext4", ext_alive },
		{ "ext4dev", ext_alive },
		{ "xfs", xfs_alive },
		{ "btrfs", btrfs_alive },
		{ "vfat", fat_alive },
		{ "exfat", exfat_alive },
		{ "gfs", cluster_alive },
		{ "gfs2", cluster_alive },
		{ "ocfs", cluster_alive },
		{ "ocfs2", cluster_alive },
		{ "VMFS", cluster_alive },
		{ "VMFS_volume_member", cluster_alive },
		{ "ceph_bluestore", cluster_alive },
		{ "oracleasm", cluster_alive },
		{ "swsuspend", suspend_alive },
	};

	for (size_t i = 0; i < array_size(checks); i++)
		if (streq(checks[i].type, type))
			return checks[i].alive(fd, offset);
	return NULL;
}
