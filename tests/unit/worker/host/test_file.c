/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/xattr.h>

static struct fixture f;
static char *path;

static void make(void)
{
	fixture_init(&f);
	path = xasprintf("%s/file", f.dir);
}

static void unmake(void)
{
	free(path);
	fixture_fini(&f);
}

TestSuite(file, .init = make, .fini = unmake);

static struct place found(const char *at)
{
	struct place p;
	struct error *err = place_find(at, &p);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	return p;
}

static void not_found(const char *at, const char *part)
{
	struct place p;
	struct error *err = place_find(at, &p);

	cr_assert_not_null(err);
	cr_assert_not_null(strstr(error_message(err), part), "%s", error_message(err));
	error_destroy(&err);
}

static int made(struct place *p)
{
	int fd;
	struct error *err = file_make(p, &fd);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	return fd;
}

static uint64_t laid_out(int fd, uint64_t bytes)
{
	uint64_t written = 0;
	struct error *err = file_lay_out(fd, path, bytes, NULL, NULL, &written);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	return written;
}

Test(file, links_are_resolved)
{
	struct place p;
	_cleanup_free_ char *link = xasprintf("%s/link", f.dir);

	fixture_text(f.dir, "file", "x");
	cr_assert_eq(symlink("file", link), 0);
	p = found(link);
	cr_assert_str_eq(p.path, path);
	cr_assert(p.exists);
	place_fini(&p);
}

Test(file, a_link_to_nowhere_makes_no_file)
{
	_cleanup_free_ char *link = xasprintf("%s/link", f.dir);

	cr_assert_eq(symlink("nowhere", link), 0);
	not_found(link, "No such file");
}

Test(file, new_files_need_their_folder)
{
	_cleanup_free_ char *deep = xasprintf("%s/a/b", f.dir);
	_cleanup_free_ char *slash = xasprintf("%s/sub/", f.dir);

	not_found(deep, "make the folder first");
	not_found(slash, "is not a path of a file");
	not_found("", "without a path");
	not_found(NULL, "without a path");
}

Test(file, what_was_made_here_is_ours)
{
	struct place p = found(path);
	int fd;

	cr_assert_not(p.exists);
	fd = made(&p);
	cr_assert(p.exists);
	cr_assert(file_is_ours(&p));
	place_fini(&p);
	p = found(path);
	cr_assert(file_is_ours(&p), "also when it is found again");
	place_fini(&p);
	close(fd);
}

Test(file, others_are_foreign)
{
	struct place p;

	fixture_text(f.dir, "file", "x");
	p = found(path);
	cr_assert_not(file_is_ours(&p));
	place_fini(&p);
}

Test(file, the_mark_is_enough)
{
	struct place p;

	fixture_text(f.dir, "file", "x");
	if (setxattr(path, "user.salvo", "x", 1, 0) < 0)
		cr_skip("no extended attributes on %s", f.dir);
	p = found(path);
	cr_assert(file_is_ours(&p));
	place_fini(&p);
}

Test(file, a_second_name_makes_it_foreign)
{
	struct place p = found(path);
	int fd = made(&p);
	_cleanup_free_ char *second = xasprintf("%s/second", f.dir);

	place_fini(&p);
	cr_assert_eq(link(path, second), 0);
	p = found(path);
	cr_assert_not(file_is_ours(&p));
	place_fini(&p);
	close(fd);
}

Test(file, layout_fills_every_hole_once)
{
	enum { SIZE = 3 << 20, HOLE_AT = 1 << 20, HOLE = 65536 };
	struct place p = found(path);
	int fd = made(&p);

	cr_assert_not(file_is_laid_out(&p, SIZE));
	cr_assert_eq(laid_out(fd, SIZE), SIZE);
	cr_assert(file_is_laid_out(&p, SIZE));
	cr_assert_eq(laid_out(fd, SIZE), 0, "what is there is not written again");
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, HOLE_AT, HOLE) == 0) {
		cr_assert_not(file_is_laid_out(&p, SIZE));
		cr_assert_eq(laid_out(fd, SIZE), HOLE);
		cr_assert(file_is_laid_out(&p, SIZE));
	}
	cr_assert_eq(laid_out(fd, SIZE + 4096), 4096, "it grows");
	place_fini(&p);
	close(fd);
}

Test(file, reserved_blocks_are_not_laid_out)
{
	enum { SIZE = 1 << 20 };
	struct place p = found(path);
	int fd = made(&p);
	struct error *err = file_reserve(fd, path, SIZE, FALLOCATE_NATIVE);

	cr_assert_null(err);
	cr_assert_eq(laid_out(fd, SIZE), SIZE);
	place_fini(&p);
	close(fd);
}

Test(file, reserve_never_shrinks)
{
	struct place p = found(path);
	int fd = made(&p);
	struct stat st;
	struct error *err = file_reserve(fd, path, 8192, FALLOCATE_NATIVE);

	cr_assert_null(err);
	err = file_reserve(fd, path, 4096, FALLOCATE_NATIVE);
	cr_assert_null(err);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq(st.st_size, 8192);
	err = file_reserve(fd, path, UINT64_MAX, FALLOCATE_NATIVE);
	cr_assert_not_null(err);
	error_destroy(&err);
	place_fini(&p);
	close(fd);
}

/* No two 4 KiB blocks are equal, and a megabyte has about as many ones as zeros. */
Test(file, layout_does_not_compress)
{
	enum { SIZE = 2 << 20, PAGE = 4096 };
	struct place p = found(path);
	int fd = made(&p);
	_cleanup_free_ uint8_t *data = xcalloc(SIZE, 1);
	uint64_t ones = 0;

	laid_out(fd, SIZE);
	cr_assert_eq(pread(fd, data, SIZE, 0), SIZE);
	for (size_t i = 0; i < SIZE; i++)
		ones += (uint64_t)__builtin_popcount(data[i]);
	cr_assert(ones > 4 * SIZE - 40000 && ones < 4 * SIZE + 40000);
	for (size_t i = 1; i < SIZE / PAGE; i++)
		cr_assert_neq(memcmp(data, data + i * PAGE, PAGE), 0);
	place_fini(&p);
	close(fd);
}

static bool stop_at_once(void *arg, const char *name, uint64_t done, uint64_t total)
{
	uint64_t *seen = arg;

	cr_assert_str_eq(name, path);
	cr_assert_leq(done, total);
	*seen = done;
	return false;
}

Test(file, layout_can_be_stopped)
{
	enum { SIZE = 80 << 20, FIRST_REPORT = 64 << 20 };
	struct place p = found(path);
	int fd = made(&p);
	uint64_t written = 0, seen = 0;
	struct error *err = file_lay_out(fd, path, SIZE, stop_at_once, &seen, &written);

	cr_assert_not_null(err);
	cr_assert_eq(error_code(err), ERR_INTERRUPTED);
	cr_assert_eq(seen, FIRST_REPORT);
	cr_assert_eq(written, FIRST_REPORT);
	error_destroy(&err);
	place_fini(&p);
	close(fd);
}

static struct stat reserved(int fd, uint64_t bytes, int how)
{
	struct error *err = file_reserve(fd, path, bytes, how);
	struct stat st;

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	cr_assert_eq(fstat(fd, &st), 0);
	return st;
}

Test(file, each_way_of_reserving_does_what_it_says)
{
	enum { SIZE = 1 << 20 };
	static const struct {
		int how;
		off_t size;
		bool has_blocks;
	} ways[] = {
		{ FALLOCATE_NONE, 0, false },     { FALLOCATE_TRUNCATE, SIZE, false },
		{ FALLOCATE_KEEP, 0, true },      { FALLOCATE_POSIX, SIZE, true },
		{ FALLOCATE_NATIVE, SIZE, true },
	};

	for (size_t i = 0; i < array_size(ways); i++) {
		struct place p = found(path);
		int fd = made(&p);
		struct stat st = reserved(fd, SIZE, ways[i].how);

		cr_assert_eq(st.st_size, ways[i].size, "way %zu", i);
		cr_assert_eq((uint64_t)st.st_blocks * 512 >= SIZE, ways[i].has_blocks, "way %zu",
			     i);
		place_fini(&p);
		close(fd);
		cr_assert_eq(unlink(path), 0);
	}
}

static bool removed(const struct place *p)
{
	bool is_gone;
	struct error *err = file_unlink(p, &is_gone);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	return is_gone;
}

Test(file, what_was_made_is_removed_and_forgotten)
{
	struct place p = found(path);
	int fd = made(&p);

	cr_assert(removed(&p));
	cr_assert_neq(access(path, F_OK), 0);
	cr_assert_not(removed(&p), "it is gone already");
	(void)fremovexattr(fd, "user.salvo");
	cr_assert_not(file_is_ours(&p), "its number may be another file's");
	place_fini(&p);
	close(fd);
}

Test(file, others_are_not_removed)
{
	_cleanup_free_ char *second = xasprintf("%s/second", f.dir);
	struct place p, made_one;
	int fd;

	fixture_text(f.dir, "file", "x");
	p = found(path);
	cr_assert_not(removed(&p), "a foreign file");
	place_fini(&p);
	cr_assert_eq(unlink(path), 0);

	made_one = found(path);
	fd = made(&made_one);
	cr_assert_eq(rename(path, second), 0);
	fixture_text(f.dir, "file", "x");
	cr_assert_not(removed(&made_one), "another one that has its name");
	cr_assert_eq(rename(second, path), 0);
	cr_assert_eq(link(path, second), 0);
	cr_assert_not(removed(&made_one), "one with a second name");
	place_fini(&made_one);
	close(fd);
}
