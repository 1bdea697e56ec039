/* SPDX-License-Identifier: Apache-2.0 */
/* Which rule refuses what, with which word and exit status. A sparse file stands for the opened device. */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/safety.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

#define SDB "devices/pci0/ata2/host1/block/sdb"

static struct fixture f;
static struct block_device *dev;
static struct work_target target;
static struct access_rules rules;
static struct subject subject;
static struct verdict verdict;
static char *write_list[1], *read_list[1];
static int fd = -1;

static void make(void)
{
	_cleanup_free_ char *image = NULL;

	fixture_init(&f);
	fixture_block(&f, SDB, "8:16", "131072");
	fixture_text(f.sys, SDB "/device/wwid", "naa.6001405a1b2c3d4e\n");
	fixture_block(&f, SDB "/sdb1", "8:17", "65536");
	fixture_text(f.sys, SDB "/sdb1/partition", "1");
	dev = block_device_new(&f.root, makedev(8, 16));
	write_list[0] = read_list[0] = xstrdup("/dev/sd?");
	rules = (struct access_rules) {
		.read = read_list, .nr_read = 1, .write = write_list, .nr_write = 1
	};
	target = (struct work_target) { .name = xstrdup("lun0"),
					.kind = TARGET_DEVICE,
					.writes = true,
					.destroy = DESTROY_YES };
	subject = (struct subject) { .root = &f.root,
				     .target = &target,
				     .rules = &rules,
				     .label = "/dev/sdb",
				     .path = "/dev/sdb",
				     .writes = true,
				     .dev = dev };
	verdict = (struct verdict) { 0 };
	image = xasprintf("%s/image", f.dir);
	fd = open(image, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_eq(ftruncate(fd, 64 << 20), 0);
}

static void unmake(void)
{
	verdict_fini(&verdict);
	block_device_destroy(&dev);
	free(write_list[0]);
	free(target.name);
	closep(&fd);
	fixture_fini(&f);
}

TestSuite(safety, .init = make, .fini = unmake);

/* An ext4 superblock that libblkid accepts. */
static void put_ext4(uint64_t at, bool needs_recovery)
{
	uint8_t super[1024] = { 0 };

	super[0x00] = 128;                          /* inodes */
	super[0x04] = 64;                           /* blocks */
	super[0x18] = 2;                            /* 4 KiB blocks */
	super[0x38] = 0x53, super[0x39] = 0xEF;     /* magic */
	super[0x3A] = 1;                            /* clean */
	super[0x4C] = 1;                            /* revision */
	super[0x5C] = 4;                            /* has a journal */
	super[0x60] = needs_recovery ? 0x46 : 0x42; /* extents, file types, recovery */
	memset(super + 0x68, 0xab, 16);             /* UUID */
	cr_assert_eq(pwrite(fd, super, sizeof(super), (off_t)at + 1024), (ssize_t)sizeof(super));
}

#define EXT4_UUID "abababab-abab-abab-abab-abababababab"

/* A DOS partition table with one partition from 1 MiB. */
static void put_table(uint8_t type)
{
	uint8_t mbr[512] = { 0 };

	memcpy(mbr + 440, "\x78\x56\x34\x12", 4);
	mbr[446 + 4] = type;
	mbr[446 + 9] = 8;  /* start: 2048 */
	mbr[446 + 14] = 1; /* 65536 sectors */
	mbr[510] = 0x55, mbr[511] = 0xAA;
	cr_assert_eq(pwrite(fd, mbr, sizeof(mbr), 0), (ssize_t)sizeof(mbr));
}

static void check(void)
{
	verdict_fini(&verdict);
	safety_check_closed(&subject, &verdict);
	if (!verdict.untouchable)
		safety_check_opened(&subject, fd, &verdict);
}

static void refused(enum error_code code, const char *text)
{
	check();
	cr_assert_not_null(verdict.refusals, "not refused: %s", text);
	cr_assert_str_eq(error_message(verdict.refusals), text);
	cr_assert_eq(error_code(verdict.refusals), code);
	cr_assert_null(error_next(verdict.refusals), "%s",
		       error_message(error_next(verdict.refusals)));
}

static void allowed(void)
{
	check();
	cr_assert_null(verdict.refusals, "%s", error_message(verdict.refusals));
}

Test(safety, an_empty_device_needs_the_word)
{
	allowed();
	target.destroy = DESTROY_NO;
	refused(ERR_CONFIG, "/dev/sdb: a job writes to it, which destroys what it holds; to allow "
			    "that write 'destroy: true' in target 'lun0'");
}

Test(safety, lists_are_separate_for_reading_and_writing)
{
	rules.nr_write = 0;
	refused(ERR_REFUSED, "/dev/sdb: not in this worker's allow.write; its owner may add "
			     "'/dev/sdb' or 'wwn:naa.6001405a1b2c3d4e' to it in worker.yaml");
	cr_assert(verdict.untouchable, "not even opened");
	subject.writes = false;
	subject.reads = true;
	allowed();
	rules.nr_read = 0;
	refused(ERR_REFUSED, "/dev/sdb: not in this worker's allow.read; its owner may add "
			     "'/dev/sdb' or 'wwn:naa.6001405a1b2c3d4e' to it in worker.yaml");
}

Test(safety, allowed_by_identity)
{
	free(write_list[0]);
	write_list[0] = xstrdup("wwn:naa.6001405*");
	allowed();
}

Test(safety, embedded_worker_writes_devices_by_their_word)
{
	rules = (struct access_rules) { .below = f.dir };
	allowed();
	subject.reads = true;
	allowed();
	target.destroy = DESTROY_NO;
	check();
	cr_assert_eq(error_code(verdict.refusals), ERR_CONFIG);
}

Test(safety, a_file_system_needs_force)
{
	put_ext4(0, false);
	refused(ERR_REFUSED, "/dev/sdb: holds ext4, UUID " EXT4_UUID
			     "; to destroy it write 'destroy: force' in target 'lun0'");
	cr_assert_str_eq(verdict.signature, "ext4, UUID " EXT4_UUID);
	target.destroy = DESTROY_FORCE;
	allowed();
	target.destroy = DESTROY_NO;
	refused(ERR_CONFIG, "/dev/sdb: holds ext4, UUID " EXT4_UUID
			    "; to allow that write 'destroy: force' in target 'lun0'");
}

Test(safety, a_reader_may_read_what_is_there)
{
	put_ext4(0, true);
	subject.writes = false;
	subject.reads = true;
	allowed();
	cr_assert_str_eq(verdict.signature, "ext4, UUID " EXT4_UUID);
}

Test(safety, what_looks_alive_must_be_named)
{
	char uuid[] = EXT4_UUID, other[] = "abababab-0000-0000-0000-abababababab";

	put_ext4(0, true);
	target.destroy = DESTROY_FORCE;
	refused(ERR_REFUSED,
		"/dev/sdb: holds ext4, UUID " EXT4_UUID
		", and its journal needs recovery: somebody may be using it, also on another host; "
		"if "
		"nobody does, write 'destroy: {uuid: " EXT4_UUID "}' in target 'lun0'");
	target.destroy_uuid = other;
	check();
	cr_assert_not_null(verdict.refusals);
	target.destroy_uuid = uuid;
	target.destroy = DESTROY_YES;
	allowed();
}

Test(safety, a_uuid_names_one_medium_only)
{
	char other[] = "0000";

	target.destroy_uuid = other;
	allowed(); /* nothing is there (any more) that could be destroyed by mistake */
	put_ext4(0, false);
	refused(ERR_REFUSED,
		"/dev/sdb: holds ext4, UUID " EXT4_UUID
		", but the scenario's destroy names '0000'; look whether this is the "
		"right device; then write 'destroy: {uuid: " EXT4_UUID "}' in target 'lun0'");
}

Test(safety, what_lies_in_a_partition_counts)
{
	char table[] = "12345678";

	put_table(0x83);
	put_ext4(1 << 20, true);
	target.destroy = DESTROY_FORCE;
	check();
	cr_assert_not_null(verdict.refusals);
	cr_assert_not_null(strstr(error_message(verdict.refusals),
				  "holds ext4, UUID " EXT4_UUID
				  " in partition 1, and its journal"));
	target.destroy_uuid = table;
	allowed(); /* who names the table names the whole disk */
}

Test(safety, an_efi_partition_is_never_written)
{
	put_table(0xef);
	target.destroy = DESTROY_FORCE;
	refused(ERR_REFUSED,
		"/dev/sdb: holds an EFI system partition in partition 1; choose another "
		"device; no word in the scenario allows this");
}

Test(safety, the_system_disk_is_never_written)
{
	fixture_text(f.proc, "self/mountinfo", "21 1 8:17 / / rw - ext4 /dev/sdb1 rw\n");
	target.destroy = DESTROY_FORCE;
	check();
	cr_assert(verdict.untouchable);
	cr_assert_str_eq(error_message(verdict.refusals),
			 "/dev/sdb: this host runs from it (/, /usr, /boot or the EFI partition); "
			 "choose another device; no word in the scenario allows this");
	cr_assert_str_eq(error_message(error_next(verdict.refusals)),
			 "/dev/sdb: its partition /dev/sdb1 is mounted on /; unmount it or choose "
			 "another device");
}

Test(safety, a_guarded_device_cannot_be_mounted_by_others)
{
	fixture_text(f.proc, "self/mountinfo", "21 1 8:17 / /srv rw - ext4 /dev/sdb1 rw\n");
	check();
	cr_assert_not_null(verdict.refusals);
	subject.guarded = true;
	allowed();
	fixture_block(&f, "devices/virtual/block/loop3", "7:3", "8");
	fixture_text(f.sys, "devices/virtual/block/loop3/loop/backing_file", "/dev/sdb\n");
	refused(ERR_REFUSED,
		"/dev/sdb: the backing of /dev/loop3; 'losetup -d /dev/loop3' or choose "
		"another device");
}

Test(safety, a_reader_is_told_who_uses_it)
{
	fixture_text(f.proc, "self/mountinfo", "21 1 8:17 / /srv rw - ext4 /dev/sdb1 rw\n");
	fixture_text(f.proc, "swaps", "Filename\n/dev/sdb partition 8 0 -3\n");
	subject.writes = false;
	subject.reads = true;
	allowed();
	cr_assert_str_eq(verdict.in_use,
			 "its partition /dev/sdb1 is mounted on /srv, used as swap");
}

Test(safety, read_only_and_empty_devices)
{
	dev->read_only = true;
	refused(ERR_REFUSED,
		"/dev/sdb: read-only; choose another device, or a job that only reads");
	dev->read_only = false;
	dev->size_bytes = 0;
	refused(ERR_REFUSED,
		"/dev/sdb: has no medium (its size is 0); set it up or choose another device");
}

static void as_file(const char *path)
{
	subject.dev = NULL;
	subject.path = subject.label = path;
	subject.free = 1 << 20;
	target.kind = TARGET_FILE;
	free(write_list[0]);
	write_list[0] = xstrdup("/srv/*");
}

Test(safety, files_that_salvo_did_not_make)
{
	as_file("/srv/x");
	target.destroy = DESTROY_NO;
	allowed();
	subject.exists = true;
	refused(ERR_REFUSED, "/srv/x: exists and was not made by Salvo; to overwrite it write "
			     "'destroy: true' in target 'lun0', or name another file");
	subject.ours = true;
	allowed();
	subject.ours = false;
	target.destroy = DESTROY_YES;
	allowed();
}

Test(safety, files_have_their_places)
{
	as_file("/srv/x");
	subject.path = subject.label = "/etc/x";
	refused(ERR_REFUSED, "/etc/x: not in this worker's allow.write; its owner may add '/etc/x' "
			     "to it in worker.yaml");
	rules = (struct access_rules) { .below = f.dir };
	check();
	cr_assert_not_null(strstr(error_message(verdict.refusals), "not below the current folder"));
	rules.below = (char *)"/";
	subject.path = subject.label = "/dev/sdx";
	refused(ERR_REFUSED, "/dev/sdx: no place for a file (below /dev); name an existing device "
			     "with 'device:', or put the file elsewhere");
}

Test(safety, a_folder_is_no_prefix_of_its_sibling)
{
	_cleanup_free_ char *sibling = xasprintf("%sx/file", f.dir);
	_cleanup_free_ char *inside = xasprintf("%s/file", f.dir);

	as_file(sibling);
	rules = (struct access_rules) { .below = f.dir };
	check();
	cr_assert_not_null(verdict.refusals);
	subject.path = subject.label = inside;
	allowed();
}

Test(safety, free_space_is_checked_before)
{
	as_file("/srv/x");
	subject.need = 2 << 20;
	check();
	cr_assert_not_null(
		strstr(error_message(verdict.refusals),
		       "needs 2.00 MiB more, but its file system has only 1.00 MiB free"));
	cr_assert_eq(error_exit_status(verdict.refusals), 3);
}
