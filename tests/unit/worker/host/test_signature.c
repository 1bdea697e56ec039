/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/signature.h"

#include <fcntl.h>

static struct fixture f;
static int fd = -1;

static void make(void)
{
	_cleanup_free_ char *image = NULL;

	fixture_init(&f);
	image = xasprintf("%s/image", f.dir);
	fd = open(image, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_eq(ftruncate(fd, 64 << 20), 0);
}

static void unmake(void)
{
	closep(&fd);
	fixture_fini(&f);
}

TestSuite(signature, .init = make, .fini = unmake);

static void put(off_t at, const void *data, size_t len)
{
	cr_assert_eq(pwrite(fd, data, len, at), (ssize_t)len);
}

static void expect(const char *type, const char *sign)
{
	_cleanup_free_ char *alive = signature_alive(fd, 0, type);

	if (!sign)
		cr_assert_null(alive, "%s", alive);
	else
		cr_assert_not_null(alive && strstr(alive, sign) ? alive : NULL, "%s: %s", type,
				   alive ? alive : "not alive");
}

Test(signature, an_empty_device_has_none)
{
	struct signatures list;
	struct error *err = signatures_read(fd, &list);

	cr_assert_null(err);
	cr_assert_eq(list.nr, 0);
	signatures_fini(&list);
}

Test(signature, every_signature_is_found)
{
	struct signatures list;
	struct error *err;

	put(0, "XFSB\0\0\x10\0", 8); /* too little for XFS */
	put(4096 - 10, "SWAPSPACE2", 10);
	put(1024, "\1\0\0\0\xff\x3f\0\0", 8); /* version 1, last page 16383 */
	put(512, "LABELONE\1\0\0\0\0\0\0\0\0\0\0\0\x20\0\0\0LVM2 001", 32);
	err = signatures_read(fd, &list);
	cr_assert_null(err);
	cr_assert_eq(list.nr, 2);
	signatures_fini(&list);
}

Test(signature, text_and_word)
{
	struct signature ext4 = { .type = (char *)"ext4",
				  .uuid = (char *)"1B2C",
				  .label = (char *)"data",
				  .partition = 2 };
	struct signature vmfs = { .type = (char *)"VMFS" };
	_cleanup_free_ char *text = signature_text(&ext4);

	cr_assert_str_eq(text, "ext4, label 'data', UUID 1B2C in partition 2");
	cr_assert(signature_is_named(&ext4, "1b2c"));
	cr_assert_not(signature_is_named(&ext4, "ext4"));
	cr_assert_not(signature_is_named(&ext4, ""));
	cr_assert_not(signature_is_named(&ext4, NULL));
	cr_assert(signature_is_named(&vmfs, "vmfs"));
}

Test(signature, ext_signs_of_life)
{
	uint8_t super[1024] = { [0x18] = 2, [0x3A] = 1 };

	put(1024, super, sizeof(super));
	expect("ext4", NULL);
	super[0x3A] = 0; /* not cleanly unmounted, no journal */
	put(1024, super, sizeof(super));
	expect("ext2", "marked as mounted");
	super[0x5C] = 4; /* with a journal it is the journal that counts */
	put(1024, super, sizeof(super));
	expect("ext4", NULL);
	super[0x60] = 4;
	put(1024, super, sizeof(super));
	expect("ext4", "journal needs recovery");
}

Test(signature, ext_multiple_mount_protection_names_the_host)
{
	uint8_t super[1024] = { [0x18] = 2, [0x3A] = 1, [0x61] = 1, [0x168] = 9 };
	uint8_t mmp[1024] = { 0x50, 0x4D, 0x4D, 0x00, 0x50, 0x4D, 0x4D, 0xFF };

	memcpy(mmp + 16, "db7", 3);
	put(1024, super, sizeof(super));
	put(9 * 4096, mmp, sizeof(mmp));
	expect("ext4", NULL);
	mmp[7] = 0; /* a sequence number instead of "clean" */
	put(9 * 4096, mmp, sizeof(mmp));
	expect("ext4", "host 'db7' uses it");
}

Test(signature, flags_of_other_file_systems)
{
	uint8_t btrfs[128] = { 0 }, fat[512] = { [0x16] = 1 };

	put(65536, btrfs, sizeof(btrfs));
	expect("btrfs", NULL);
	btrfs[97] = 1;
	put(65536, btrfs, sizeof(btrfs));
	expect("btrfs", "log needs recovery");
	put(0, fat, sizeof(fat));
	expect("vfat", NULL);
	fat[0x25] = 1;
	put(0, fat, sizeof(fat));
	expect("vfat", "marked as mounted");
	fat[0x25] = fat[0x16] = 0;
	put(0, fat, sizeof(fat));
	expect("vfat", NULL);
	fat[0x41] = 1;
	put(0, fat, sizeof(fat));
	expect("vfat", "marked as mounted");
	expect("exfat", NULL);
	fat[106] = 2;
	put(0, fat, sizeof(fat));
	expect("exfat", "marked as mounted");
	expect("ocfs2", "several hosts");
	expect("VMFS", "several hosts");
	expect("swsuspend", "sleeping system");
	expect("ntfs", NULL);
}

static void put_be32(uint8_t *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* A log of 1024 blocks at 64 KiB, of which `head` were written in round 2 and the others in round 1; the last
 * record, of two blocks, carries `flags`. */
static void put_xfs_log(unsigned head, uint8_t flags)
{
	enum { NR = 1024, BLOCK = 512, AT = 65536 };
	uint8_t super[BLOCK] = { 0 };

	put_be32(super + 4, 4096);
	put_be32(super + 52, AT / 4096); /* low half of the log's first block */
	put_be32(super + 84, 16384);
	put_be32(super + 96, NR * BLOCK / 4096);
	super[124] = 14;
	put(0, super, sizeof(super));
	for (unsigned i = 0; i < NR; i++) {
		uint8_t block[BLOCK] = { 0 };
		uint32_t round = i < head ? 2 : 1;

		put_be32(block, round);
		if (i + 2 == head) {
			put_be32(block, 0xFEEDBABE);
			put_be32(block + 4, round);
			put_be32(block + 40, 1);
		}
		if (i + 1 == head)
			block[9] = flags;
		put(AT + (off_t)i * BLOCK, block, sizeof(block));
	}
}

Test(signature, xfs_log_ends_with_an_unmount_record)
{
	static const unsigned heads[] = { 2, 3, 511, 512, 513, 1023, 1024 };

	for (size_t i = 0; i < array_size(heads); i++) {
		put_xfs_log(heads[i], 0x20);
		expect("xfs", NULL);
		put_xfs_log(heads[i], 0x01);
		expect("xfs", "log needs recovery");
	}
}
