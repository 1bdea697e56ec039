/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/target.h"

#include <fcntl.h>

static struct fixture f;
static struct access_rules rules;
static struct work_target t;

static void make(void)
{
	fixture_init(&f);
	rules = (struct access_rules) { .below = f.dir };
	t = (struct work_target) { .name = xstrdup("t"),
				   .kind = TARGET_FILE,
				   .path = xasprintf("%s/file", f.dir),
				   .size = 65536 };
}

static void unmake(void)
{
	free(t.name);
	free(t.path);
	fixture_fini(&f);
}

TestSuite(target, .init = make, .fini = unmake);

static struct open_target *opened(bool probe)
{
	struct open_target *self = NULL;
	struct error *err = target_open(&t, 3, &rules, probe, &self);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	return self;
}

static void refused(const char *part)
{
	struct open_target *self = NULL;
	struct error *err = target_open(&t, 3, &rules, false, &self);

	cr_assert_not_null(err, "%s", part);
	cr_assert_null(self);
	cr_assert_not_null(strstr(error_message(err), part), "%s", error_message(err));
	error_destroy(&err);
}

Test(target, simulated)
{
	struct device_stat stat;
	struct open_target *self;
	uint64_t written = 1;
	struct error *err;

	t.kind = TARGET_SIMULATED;
	t.size = 1 << 30;
	t.writes = true;
	self = opened(false);
	cr_assert_eq(target_info(self)->size_bytes, 1 << 30);
	cr_assert_eq(target_info(self)->target, 3);
	cr_assert_str_eq(target_info(self)->transport, "simulated");
	cr_assert_not(target_stat(self, &stat));
	cr_assert_eq(target_inflight(self), 0);
	err = target_recheck(self);
	cr_assert_null(err);
	err = target_layout(self, 4096, NULL, NULL, &written);
	cr_assert_null(err);
	cr_assert_eq(written, 0);
	target_close(&self);
	cr_assert_null(self);
}

Test(target, a_writer_makes_a_file_of_the_size)
{
	struct open_target *self;
	struct error *err;
	struct stat st;

	t.writes = true;
	self = opened(false);
	err = target_reserve(self, FALLOCATE_NATIVE);
	cr_assert_null(err);
	cr_assert_eq(stat(t.path, &st), 0);
	cr_assert_eq(st.st_size, 65536);
	cr_assert_eq(target_info(self)->size_bytes, 65536);
	cr_assert_str_eq(target_info(self)->path, t.path);
	target_close(&self);
	self = opened(false); /* ours: no word is needed for the next phase */
	target_close(&self);
}

Test(target, a_probe_makes_nothing)
{
	struct open_target *self;

	t.writes = true;
	self = opened(true);
	cr_assert_eq(access(t.path, F_OK), -1);
	cr_assert_eq(target_info(self)->size_bytes, 65536);
	target_close(&self);
}

Test(target, a_second_writer_is_refused)
{
	struct open_target *self;

	t.writes = true;
	self = opened(false);
	refused("locked by another Salvo worker");
	target_close(&self);
}

Test(target, descriptors_are_shared_by_flags)
{
	struct open_target *self;
	struct error *err;
	int write_fd, same, read_fd;

	t.writes = t.reads = true;
	self = opened(false);
	err = target_fd(self, &(struct target_access) { .write = true }, &write_fd);
	cr_assert_null(err);
	err = target_fd(self, &(struct target_access) { .write = true }, &same);
	cr_assert_null(err);
	err = target_fd(self, &(struct target_access) { 0 }, &read_fd);
	cr_assert_null(err);
	cr_assert_eq(write_fd, same);
	cr_assert_neq(write_fd, read_fd);
	cr_assert_eq(fcntl(write_fd, F_GETFL) & O_ACCMODE, O_RDWR);
	cr_assert_eq(fcntl(read_fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	cr_assert(fcntl(read_fd, F_GETFD) & FD_CLOEXEC);
	target_close(&self);
}

Test(target, a_reader_gets_no_descriptor_for_writing)
{
	struct open_target *self;
	struct error *err;
	int fd;

	fixture_text(f.dir, "file", "0123456789");
	t.reads = true;
	t.size = 0;
	self = opened(false);
	cr_assert_eq(target_info(self)->size_bytes, 10);
	err = target_fd(self, &(struct target_access) { .write = true }, &fd);
	cr_assert_not_null(err);
	error_destroy(&err);
	target_close(&self);
}

Test(target, reading_never_grows_a_foreign_file)
{
	struct stat st;

	fixture_text(f.dir, "file", "0123456789");
	t.reads = true;
	refused("was not made by Salvo and has only 10 of 65536 bytes");
	cr_assert_eq(stat(t.path, &st), 0);
	cr_assert_eq(st.st_size, 10);
}

Test(target, a_reader_lays_its_own_file_out)
{
	struct open_target *self;
	struct error *err;
	uint64_t written;

	t.reads = true;
	self = opened(false);
	err = target_layout(self, t.size, NULL, NULL, &written);
	cr_assert_null(err);
	cr_assert_eq(written, 65536);
	target_close(&self);
	self = opened(false);
	err = target_layout(self, t.size, NULL, NULL, &written);
	cr_assert_null(err);
	cr_assert_eq(written, 0);
	target_close(&self);
}

Test(target, foreign_file_with_holes_is_reported)
{
	struct open_target *self;

	fixture_text(f.dir, "file", "x");
	cr_assert_eq(truncate(t.path, 1 << 20), 0);
	t.reads = true;
	self = opened(false);
	cr_assert_not_null(target_info(self)->warning);
	cr_assert_not_null(strstr(target_info(self)->warning, "has holes"));
	target_close(&self);
}

Test(target, only_files_are_files_and_only_devices_devices)
{
	_cleanup_free_ char *fifo = xasprintf("%s/fifo", f.dir);
	char *path = t.path;

	t.reads = true;
	t.path = f.dir;
	refused("is a folder, not a regular file");
	cr_assert_eq(mkfifo(fifo, 0600), 0);
	t.path = fifo;
	refused("is a fifo, not a regular file");
	t.path = (char *)"/dev/null";
	refused("is a character device, not a regular file");
	t.kind = TARGET_DEVICE;
	refused("no block device can be found behind it");
	t.path = fifo;
	refused("is a fifo, not a device");
	t.path = (char *)"/no/such/device";
	refused("make the folder first");
	t.path = (char *)"/dev/no-such-device";
	refused("No such file or directory");
	fixture_text(f.dir, "file", "x");
	t.path = path;
	refused("is a regular file, not a device; name it with 'file:'");
}

Test(target, a_daemon_wants_absolute_paths)
{
	char *path = t.path;

	rules.below = NULL;
	t.reads = true;
	t.path = (char *)"file";
	refused("is not an absolute path");
	t.path = path;
}

Test(target, what_changes_after_the_check_is_seen)
{
	struct open_target *self;
	struct error *err;
	_cleanup_free_ char *second = xasprintf("%s/second", f.dir);

	t.writes = true;
	self = opened(false);
	err = target_recheck(self);
	cr_assert_null(err, "%s", err ? error_message(err) : "");
	cr_assert_eq(link(t.path, second), 0);
	err = target_recheck(self);
	cr_assert_not_null(err);
	cr_assert_not_null(strstr(error_message(err), "was not made by Salvo"));
	error_destroy(&err);
	target_close(&self);
}

Test(target, size_must_fit_on_the_file_system)
{
	t.writes = true;
	t.size = 1ull << 60;
	refused("but its file system has only");
	cr_assert_eq(access(t.path, F_OK), -1);
}

Test(target, each_access_has_its_own_descriptor)
{
	const struct target_access accesses[] = {
		{ .write = true },
		{ .write = true, .sync = SYNC_SYNC },
		{ .write = true, .sync = SYNC_DSYNC },
		{ .write = true, .advice = POSIX_FADV_RANDOM },
		{ .advice = POSIX_FADV_SEQUENTIAL },
	};
	const int flags[] = { O_RDWR, O_RDWR | O_SYNC, O_RDWR | O_DSYNC, O_RDWR, O_RDONLY };
	int fds[array_size(accesses)], again;
	struct open_target *self;

	t.writes = t.reads = true;
	self = opened(false);
	for (size_t i = 0; i < array_size(accesses); i++) {
		struct error *err = target_fd(self, &accesses[i], &fds[i]);

		cr_assert_null(err);
		for (size_t k = 0; k < i; k++)
			cr_assert_neq(fds[i], fds[k]);
		cr_assert_eq(fcntl(fds[i], F_GETFL) & (O_ACCMODE | O_SYNC), flags[i], "%zu", i);
	}
	for (size_t i = 0; i < array_size(accesses); i++) {
		struct error *err = target_fd(self, &accesses[i], &again);

		cr_assert_null(err);
		cr_assert_eq(again, fds[i]);
	}
	target_close(&self);
}

Test(target, nothing_is_made_for_readonly_jobs)
{
	t.reads = t.readonly = true;
	refused("no file is made for readonly jobs");
	fixture_text(f.dir, "file", "0123456789");
	refused("has only 10 of 65536 bytes, and is not made larger for readonly jobs");
	t.size = 10;
	struct open_target *self = opened(false);

	target_close(&self);
}

Test(target, only_salvos_own_files_are_removed)
{
	struct open_target *self;
	struct error *err;
	bool is_gone;

	fixture_text(f.dir, "file", "0123456789");
	t.size = 10;
	t.reads = t.unlink = true;
	refused("was not made by Salvo, and unlink would remove it");
	t.destroy = DESTROY_YES;
	self = opened(false);
	err = target_unlink(self, &is_gone);
	cr_assert_null(err);
	cr_assert_not(is_gone);
	target_close(&self);

	cr_assert_eq(unlink(t.path), 0);
	self = opened(false);
	err = target_unlink(self, &is_gone);
	cr_assert_null(err);
	cr_assert(is_gone);
	cr_assert_neq(access(t.path, F_OK), 0);
	target_close(&self);
}
