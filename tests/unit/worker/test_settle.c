/* SPDX-License-Identifier: Apache-2.0 */
/* Quiet before a step: what was written is synced once, caches are dropped as the jobs want it. */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/cache.h"
#include "worker/settle.h"

static struct fixture f;
static struct access_rules rules;
static struct work_target spec;
static struct work_member member;
static struct assignment a;
static struct settle settle;

static bool go_on(void *arg, const char *doing, uint64_t done)
{
	(void)arg;
	(void)doing;
	(void)done;
	return true;
}

/* The file is where the build is, which is on a disk where /tmp may not be. */
static void make(void)
{
	_cleanup_free_ char *here = get_current_dir_name();

	fixture_init(&f);
	rules = (struct access_rules) { .below = (char *)"/" };
	spec = (struct work_target) { .name = (char *)"t",
				      .kind = TARGET_FILE,
				      .path = xasprintf("%s/salvo-settle-%d", here, getpid()),
				      .size = 8 << 20,
				      .reads = true,
				      .writes = true };
	member = (struct work_member) { .job = { .invalidate = true }, .nr_parts = 1 };
	a = (struct assignment) {
		.targets = &spec, .nr_targets = 1, .members = &member, .nr_members = 1
	};
	settle = (struct settle) { .root = &f.root, .progress = go_on };
}

static void unmake(void)
{
	unlink(spec.path);
	free(spec.path);
	error_destroy(&settle.warnings);
	fixture_fini(&f);
}

TestSuite(settle, .init = make, .fini = unmake);

static struct open_target *opened(void)
{
	struct open_target *t = NULL;
	struct error *err = target_open(&spec, 0, &rules, false, &t);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	return t;
}

/* Writes all of the file through the cache. */
static void fill(struct open_target *t)
{
	_cleanup_free_ char *data = calloc(1, spec.size);
	struct error *err;
	int fd = -1;

	err = target_fd(t, &(struct target_access) { .write = true }, &fd);
	cr_assert_null(err);
	cr_assert_eq(pwrite(fd, data, spec.size, 0), (ssize_t)spec.size);
}

static void expect_fine(struct error *err)
{
	cr_expect_null(err, "%s", err ? error_message(err) : "");
	cr_expect_null(settle.warnings, "%s",
		       settle.warnings ? error_message(settle.warnings) : "");
	error_destroy(&err);
}

static bool can_tell(const struct open_target *t)
{
	int fd = target_look_fd(t);

	return !cache_is_home(fd) && cache_bytes(fd) != UINT64_MAX;
}

/* Also what is dirty: it is written first. */
Test(settle, invalidate_drops_the_file)
{
	struct open_target *t = opened();

	fill(t);
	if (can_tell(t)) {
		cr_expect_geq(cache_bytes(target_look_fd(t)), spec.size);
		expect_fine(settle_caches(&settle, &a, &t));
		cr_expect_eq(cache_bytes(target_look_fd(t)), 0);
	}
	target_close(&t);
}

Test(settle, without_invalidate_it_stays)
{
	struct open_target *t = opened();

	member.job.invalidate = false;
	fill(t);
	expect_fine(settle_caches(&settle, &a, &t));
	if (can_tell(t))
		cr_expect_geq(cache_bytes(target_look_fd(t)), spec.size);
	target_close(&t);
}

Test(settle, drop_caches_of_the_host)
{
	_cleanup_free_ char *text = NULL;
	struct open_target *t = opened();

	member.job = (struct job) { .drop_caches = true };
	fixture_text(f.proc, "sys/vm/drop_caches", "0\n");
	expect_fine(settle_check(&settle, &a));
	text = sysfs_text(f.proc, "sys/vm/drop_caches");
	cr_expect_str_eq(text, "0", "a check drops nothing");
	free(text);
	expect_fine(settle_caches(&settle, &a, &t));
	text = sysfs_text(f.proc, "sys/vm/drop_caches");
	cr_expect_str_eq(text, "3");
	target_close(&t);
}

Test(settle, drop_caches_where_it_is_not_allowed)
{
	struct error *err;

	expect_fine(settle_check(&settle, &a));
	member.job.drop_caches = true;
	err = settle_check(&settle, &a);
	cr_assert_not_null(err);
	cr_expect_eq(error_code(err), ERR_REFUSED);
	error_destroy(&err);
}

Test(settle, what_was_written_is_synced_once)
{
	struct held_targets held = { 0 };
	struct open_target *t = opened();

	held_targets_add(&held, &spec, t);
	cr_expect_not(held.items[0].is_written);
	held_targets_mark_written(&held, t);
	cr_expect(held.items[0].is_written);
	expect_fine(settle_written(&settle, &held));
	cr_expect_not(held.items[0].is_written);
	held_targets_fini(&held);
}

Test(settle, a_simulated_target_has_nothing_to_settle)
{
	struct held_targets held = { 0 };
	struct open_target *t;

	free(spec.path);
	spec = (struct work_target) {
		.name = (char *)"t", .kind = TARGET_SIMULATED, .size = 4096, .writes = true
	};
	spec.path = NULL;
	t = opened();
	held_targets_add(&held, &spec, t);
	held_targets_mark_written(&held, t);
	expect_fine(settle_written(&settle, &held));
	expect_fine(settle_caches(&settle, &a, &t));
	held_targets_fini(&held);
	spec.path = xstrdup("/nowhere/at/all");
}
