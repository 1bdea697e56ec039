/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/keys.h"

#include "common/base/str.h"

#include <criterion/criterion.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/salvo-test-keys-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void teardown(void)
{
	zdir_t *dir = zdir_new(folder, NULL);

	zdir_remove(dir, true);
	zdir_destroy(&dir);
}

TestSuite(keys, .init = setup, .fini = teardown);

static char *at(const char *path)
{
	return xasprintf("%s/%s", folder, path);
}

static void copy_file(const char *from, const char *to)
{
	_cleanup_free_ char *command = xasprintf("cp '%s/%s' '%s/%s'", folder, from, folder, to);

	cr_assert_eq(system(command), 0);
}

static unsigned mode_of(const char *path)
{
	_cleanup_free_ char *full = at(path);
	struct stat st;

	cr_assert_eq(stat(full, &st), 0, "%s", full);
	return st.st_mode & 07777;
}

static void generate(const char *dir, const char *role)
{
	_cleanup_free_ char *full = at(dir);
	struct error *err = keys_generate(full, role);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
}

Test(keys, pair_has_right_modes_and_loads)
{
	_cleanup_free_ char *dir = at("a/b");
	_cleanup_(zcert_destroy) zcert_t *cert = NULL;

	generate("a/b", "worker");
	cr_assert_eq(mode_of("a"), 0700);
	cr_assert_eq(mode_of("a/b/worker.key"), 0644);
	cr_assert_eq(mode_of("a/b/worker.key_secret"), 0600);
	cr_assert_null(keys_load_secret(dir, "worker", &cert));
	cr_assert_not_null(cert);
}

Test(keys, existing_keys_are_never_overwritten)
{
	_cleanup_free_ char *dir = at("w");
	_cleanup_(error_destroy) struct error *err = NULL;

	generate("w", "worker");
	err = keys_generate(dir, "worker");
	cr_assert_not_null(err);
	cr_assert_eq(error_code(err), ERR_KEYS);
	cr_assert_not_null(strstr(error_message(err), "never overwritten"));
}

Test(keys, secret_that_others_may_read_is_refused)
{
	_cleanup_free_ char *dir = at("w"), *path = at("w/worker.key_secret");
	_cleanup_(zcert_destroy) zcert_t *cert = NULL;
	_cleanup_(error_destroy) struct error *err = NULL;

	generate("w", "worker");
	cr_assert_eq(chmod(path, 0640), 0);
	err = keys_load_secret(dir, "worker", &cert);
	cr_assert_not_null(err);
	cr_assert_not_null(strstr(error_message(err), "chmod 600"));
	cr_assert_null(cert);
}

Test(keys, public_half_alone_is_no_secret)
{
	_cleanup_free_ char *dir = at("w"), *path = at("w/worker.key_secret");
	_cleanup_(zcert_destroy) zcert_t *cert = NULL;
	_cleanup_(error_destroy) struct error *missing = NULL, *fake = NULL;

	generate("w", "worker");
	cr_assert_eq(unlink(path), 0);
	missing = keys_load_secret(dir, "worker", &cert);
	cr_assert_not_null(missing);
	cr_assert_not_null(strstr(error_message(missing), "salvo keygen worker"));
	copy_file("w/worker.key", "w/worker.key_secret");
	cr_assert_eq(chmod(path, 0600), 0);
	fake = keys_load_secret(dir, "worker", &cert);
	cr_assert_not_null(fake);
	cr_assert_not_null(strstr(error_message(fake), "no CURVE key pair"));
}

Test(keys, find_sees_new_and_withdrawn_keys_at_once)
{
	_cleanup_free_ char *dir = at("w/coordinators"), *path = at("w/coordinators/anna.key");
	_cleanup_free_ char *c = at("c");
	_cleanup_(zcert_destroy) zcert_t *cert = NULL;
	bool undecided;

	generate("w/coordinators", "other");
	generate("c", "coordinator");
	cr_assert_null(keys_load_secret(c, "coordinator", &cert));
	cr_assert_null(keys_find(dir, zcert_public_key(cert), &undecided));
	copy_file("c/coordinator.key", "w/coordinators/anna.key");
	_cleanup_free_ char *name = keys_find(dir, zcert_public_key(cert), &undecided);
	cr_assert_str_eq(name, "anna");
	cr_assert_eq(unlink(path), 0);
	cr_assert_null(keys_find(dir, zcert_public_key(cert), &undecided));
}

Test(keys, find_in_a_missing_folder_finds_nothing)
{
	_cleanup_free_ char *dir = at("nowhere");
	const uint8_t key[KEY_BYTES] = { 1 };
	bool undecided;

	cr_assert_null(keys_find(dir, key, &undecided));
	cr_assert(!undecided);
}

Test(keys, find_without_descriptors_decides_nothing)
{
	_cleanup_free_ char *dir = at("w");
	const uint8_t key[KEY_BYTES] = { 1 };
	struct rlimit files, few;
	bool undecided;

	generate("w", "worker");
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	/* Room for the folder and for no file in it, and then for neither. */
	for (rlim_t room = 2; room-- > 0;) {
		int free_fd = dup(STDERR_FILENO);

		close(free_fd);
		few = (struct rlimit) { (rlim_t)free_fd + room, files.rlim_max };
		cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		cr_assert_null(keys_find(dir, key, &undecided));
		cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
		cr_assert(undecided, "room for %d", (int)room);
	}
	cr_assert_null(keys_find(dir, key, &undecided));
	cr_assert(!undecided);
}

Test(keys, own_key_goes_before_default)
{
	_cleanup_free_ char *dir = at("c"), *junk = at("c/workers/bad.key");
	uint8_t one[KEY_BYTES], other[KEY_BYTES];
	_cleanup_(error_destroy) struct error *none = NULL, *bad = NULL;
	struct error *err;
	FILE *file;

	none = keys_load_worker_public(dir, "node1", one);
	cr_assert_not_null(none);
	cr_assert_not_null(strstr(error_message(none), "node1.key"));
	generate("c/workers", "default");
	err = keys_load_worker_public(dir, "node1", one);
	cr_assert_null(err);
	generate("c/workers", "node1");
	err = keys_load_worker_public(dir, "node1", other);
	cr_assert_null(err);
	cr_assert_neq(memcmp(one, other, KEY_BYTES), 0);
	err = keys_load_worker_public(dir, "../workers/node1", other);
	cr_assert_null(err);
	cr_assert_eq(memcmp(one, other, KEY_BYTES), 0, "a name with '/' only has the default");
	file = fopen(junk, "w");
	cr_assert_not_null(file);
	fputs("not a certificate\n", file);
	fclose(file);
	bad = keys_load_worker_public(dir, "bad", other);
	cr_assert_not_null(bad);
}
