/* SPDX-License-Identifier: Apache-2.0 */
/* The result directory: what is refused before a run, what is there after it, and a full disk between. */
#include "coordinator/archive/result_dir.h"
#include "tests/unit/coordinator/fleet.h"

#include <criterion/criterion.h>
#include <msgpack.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[64];

static void setup(void)
{
	snprintf(base, sizeof(base), "/tmp/salvo-test-XXXXXX");
	cr_assert_not_null(mkdtemp(base));
	cr_assert_eq(chdir(base), 0);
}

static void teardown(void)
{
	_cleanup_free_ char *command = xasprintf("rm -rf %s", base);

	cr_assert_eq(chdir("/"), 0);
	cr_assert_eq(system(command), 0);
}

TestSuite(result_dir, .init = setup, .fini = teardown);

static char *slurp(const char *path, size_t *ret_len)
{
	char *text = xcalloc(1 << 20, 1);
	FILE *in = fopen(path, "r");

	cr_assert_not_null(in, "%s", path);
	*ret_len = fread(text, 1, (1 << 20) - 1, in);
	fclose(in);
	return text;
}

static void expect_refused(const char *path, enum error_code code, const char *text)
{
	struct result_dir *dir = NULL;
	struct error *err = result_dir_create(path, &dir);

	cr_assert_not_null(err);
	cr_assert_null(dir);
	cr_expect_eq(error_code(err), code);
	cr_expect(strstr(error_message(err), text) != NULL, "%s", error_message(err));
	error_destroy(&err);
}

Test(result_dir, refuses_a_path_that_cannot_be)
{
	cr_assert_eq(mkdir("full", 0777), 0);
	cr_assert_eq(mkdir("full/x", 0777), 0);
	cr_assert_eq(symlink("/dev/null", "file"), 0);
	expect_refused("no/such", ERR_USAGE, "no/such: its parent folder does not exist");
	expect_refused("full", ERR_USAGE, "full: is not empty");
	expect_refused("file", ERR_USAGE, "file: is in the way or not a folder");
	cr_expect_eq(access("no", F_OK), -1);
}

Test(result_dir, an_empty_folder_will_do)
{
	struct result_dir *dir = NULL;

	cr_assert_eq(mkdir("empty", 0777), 0);
	cr_assert_null(result_dir_create("empty", &dir));
	cr_expect_str_eq(result_dir_path(dir), "empty");
	result_dir_destroy(&dir);
	cr_expect_eq(access("empty", F_OK), 0, "it was there before");
}

Test(result_dir, nothing_is_left_of_a_run_that_never_began)
{
	struct result_dir *dir = NULL;

	cr_assert_null(result_dir_create("new", &dir));
	cr_expect_eq(access("new", F_OK), 0);
	result_dir_destroy(&dir);
	cr_expect_eq(access("new", F_OK), -1);
}

Test(result_dir, an_empty_folder_serves_one_run_at_a_time)
{
	struct result_dir *dir = NULL;

	cr_assert_null(result_dir_create("out", &dir));
	expect_refused("out", ERR_USAGE, "out: another run is using it");
	cr_expect_eq(access("out", F_OK), 0, "the first one's");
	result_dir_destroy(&dir);
}

Test(result_dir, default_path_has_a_safe_name)
{
	static const char want[] = "./salvo-results/_._a_b__-20260131T115959Z";
	struct result_dir *dir = NULL;

	cr_assert_null(result_dir_create_default("../a b/\x1b", 1769860799, &dir));
	cr_expect_str_eq(result_dir_path(dir), want);
	cr_expect_eq(access(want, F_OK), 0);
	result_dir_destroy(&dir);
	cr_expect_eq(access("salvo-results", F_OK), -1, "no empty folder stays");
}

Test(result_dir, default_paths_of_one_second_differ)
{
	struct result_dir *a = NULL, *b = NULL;

	cr_assert_null(result_dir_create_default("x", 1769860799, &a));
	cr_assert_null(result_dir_create_default("x", 1769860799, &b));
	cr_expect_str_eq(result_dir_path(b), "./salvo-results/x-20260131T115959Z-2");
	cr_assert_null(result_dir_write_scenario(b, "name: x\n"));
	result_dir_destroy(&a);
	cr_expect_eq(access("salvo-results/x-20260131T115959Z", F_OK), -1);
	result_dir_destroy(&b);
	cr_expect_eq(access("salvo-results/x-20260131T115959Z-2/scenario.yaml", F_OK), 0);
}

Test(result_dir, without_a_path_nothing_is_kept)
{
	struct result_dir *dir = NULL;

	cr_assert_null(result_dir_create(NULL, &dir));
	cr_expect_null(result_dir_path(dir));
	cr_expect_null(result_dir_write_scenario(dir, "name: x\n"));
	cr_expect_null(result_dir_append_sample(dir, 0, 0, 0, NULL, 0));
	result_dir_destroy(&dir);
}

/* --- a whole run ------------------------------------------------------------------------------------------- */

static const uint8_t sample[] = { 0x81, 0xa1, 'k', 0x07 }; /* {"k": 7} */

static struct result_dir *begin(struct test_fleet *f)
{
	struct job job = fleet_job("r", RW_RANDREAD);
	struct result_dir *dir = NULL;

	fleet_init(f, 2, &job, 1);
	cr_assert_null(result_dir_create("out", &dir));
	cr_assert_null(result_dir_write_scenario(dir, "name: x\n"));
	cr_assert_null(result_dir_write_plan(dir, &f->plan, collector_result(f->collector)));
	cr_assert_null(
		result_dir_append_step(dir, &f->plan, 0, 12345, collector_result(f->collector)));
	return dir;
}

static const msgpack_object *value(const msgpack_object *map, const char *key)
{
	cr_assert_eq(map->type, MSGPACK_OBJECT_MAP);
	for (uint32_t i = 0; i < map->via.map.size; i++) {
		const msgpack_object_kv *kv = &map->via.map.ptr[i];

		if (kv->key.via.str.size == strlen(key) &&
		    memcmp(kv->key.via.str.ptr, key, strlen(key)) == 0)
			return &kv->val;
	}
	cr_assert_fail("no key %s", key);
	return NULL;
}

static void expect_text(const msgpack_object *map, const char *key, const char *text)
{
	const msgpack_object *v = value(map, key);

	cr_assert_eq(v->type, MSGPACK_OBJECT_STR);
	cr_expect_eq(v->via.str.size, strlen(text));
	cr_expect_eq(memcmp(v->via.str.ptr, text, strlen(text)), 0);
}

Test(result_dir, samples_say_themselves_what_they_are)
{
	_cleanup_free_ char *bytes = NULL;
	msgpack_unpacked object;
	struct result_dir *dir;
	size_t len, at = 0;
	struct test_fleet f;

	dir = begin(&f);
	for (size_t i = 0; i < 3; i++)
		cr_assert_null(
			result_dir_append_sample(dir, 0, i % 2, -500, sample, sizeof(sample)));
	/* All of it is there although nobody closed the file: as after a crash. */
	bytes = slurp("out/samples.msgpack", &len);
	msgpack_unpacked_init(&object);
	cr_assert_eq(msgpack_unpack_next(&object, bytes, len, &at), MSGPACK_UNPACK_SUCCESS);
	expect_text(&object.data, "record", "header");
	expect_text(&object.data, "run", "run-1");
	cr_expect_eq(value(&object.data, "format")->via.u64, 1);
	cr_expect_eq(value(&object.data, "interval_ns")->via.u64, 1000000000);
	cr_expect_eq(value(&object.data, "hosts")->via.array.size, 2);
	cr_assert_eq(msgpack_unpack_next(&object, bytes, len, &at), MSGPACK_UNPACK_SUCCESS);
	expect_text(&object.data, "record", "step");
	cr_expect_eq(value(&object.data, "start_ns")->via.u64, 12345);
	expect_text(&value(&object.data, "members")->via.array.ptr[0].via.array.ptr[0], "job", "r");
	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(msgpack_unpack_next(&object, bytes, len, &at), MSGPACK_UNPACK_SUCCESS);
		expect_text(&object.data, "record", "sample");
		cr_expect_eq(value(&object.data, "host")->via.u64, i % 2);
		cr_expect_eq(value(&object.data, "offset_ns")->via.i64, -500);
		cr_expect_eq(value(value(&object.data, "sample"), "k")->via.u64, 7);
	}
	cr_expect_eq(at, len);
	msgpack_unpacked_destroy(&object);
	result_dir_destroy(&dir);
	fleet_fini(&f);
}

Test(result_dir, holds_four_files_after_a_run)
{
	static const char *const names[] = { "out/scenario.yaml", "out/samples.msgpack",
					     "out/result.json", "out/report.txt" };
	struct load l = { .dir = DIR_READ };
	struct result_dir *dir;
	struct test_fleet f;

	dir = begin(&f);
	collector_begin(f.collector, 0, 0);
	load_add(&l, 100, 4096, 1000000);
	fleet_done_one(&f, 0, l, 0, 1000000000);
	cr_assert_null(result_dir_finish(dir, fleet_finish(&f)));
	result_dir_destroy(&dir);
	for (size_t i = 0; i < array_size(names); i++) {
		size_t len;
		_cleanup_free_ char *text = slurp(names[i], &len);

		cr_expect_gt(len, 0, "%s", names[i]);
	}
	cr_expect_eq(access("out/.result.json.new", F_OK), -1);
	fleet_fini(&f);
}

/* The limit on a file's size stands for a full disk: the error comes once, what fits stays whole. */
Test(result_dir, a_full_disk_is_said_once)
{
	struct rlimit limit = { .rlim_cur = 700, .rlim_max = RLIM_INFINITY };
	static const uint8_t large[100] = { 0xc4, 98 };
	_cleanup_free_ char *bytes = NULL;
	struct result_dir *dir;
	unsigned errors = 0;
	size_t len, at = 0;
	struct test_fleet f;
	msgpack_unpacked object;

	dir = begin(&f);
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (size_t i = 0; i < 20; i++) {
		struct error *err = result_dir_append_sample(dir, 0, 0, 0, large, sizeof(large));

		if (err) {
			cr_expect_eq(error_code(err), ERR_OUTPUT);
			cr_expect(strstr(error_message(err), "out/samples.msgpack") != NULL);
			errors++;
		}
		error_destroy(&err);
	}
	cr_expect_eq(errors, 1);
	limit.rlim_cur = RLIM_INFINITY;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_expect_null(result_dir_finish(dir, fleet_finish(&f)), "what can be kept is kept");
	result_dir_destroy(&dir);
	bytes = slurp("out/samples.msgpack", &len);
	msgpack_unpacked_init(&object);
	while (at < len)
		cr_assert_eq(msgpack_unpack_next(&object, bytes, len, &at), MSGPACK_UNPACK_SUCCESS);
	msgpack_unpacked_destroy(&object);
	fleet_fini(&f);
}
