/* SPDX-License-Identifier: Apache-2.0 */
/* The page cache of a file of this host, and the switch for all of it on a made-up one. */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/cache.h"

#include "common/base/error.h"

#include <fcntl.h>
#include <stdlib.h>

Test(cache, switch_drops_everything)
{
	_cleanup_free_ char *text = NULL;
	struct error *err;
	struct fixture f;
	int fd = -1;

	fixture_init(&f);
	fixture_text(f.proc, "sys/vm/drop_caches", "0\n");
	err = cache_open_switch(&f.root, &fd);
	cr_assert_null(err);
	cr_expect_eq(cache_drop_all(fd), 0);
	close(fd);
	text = sysfs_text(f.proc, "sys/vm/drop_caches");
	cr_expect_str_eq(text, "3");
	fixture_fini(&f);
}

Test(cache, without_a_switch)
{
	struct error *err;
	struct fixture f;
	int fd = -1;

	fixture_init(&f);
	err = cache_open_switch(&f.root, &fd);
	cr_assert_not_null(err);
	cr_expect_eq(error_code(err), ERR_REFUSED);
	cr_expect_not_null(strstr(error_message(err), "drop_caches cannot be written: No such"));
	cr_expect_not_null(strstr(error_message(err), "run the worker as root"));
	cr_expect_lt(fd, 0);
	error_destroy(&err);
	fixture_fini(&f);
}

Test(cache, unwritten_of_the_host)
{
	struct fixture f;

	fixture_init(&f);
	cr_expect_eq(cache_unwritten(&f.root), 0);
	fixture_text(
		f.proc, "meminfo",
		"MemTotal: 100 kB\nDirty:     12 kB\nWriteback:   3 kB\nWritebackTmp: 99 kB\n");
	cr_expect_eq(cache_unwritten(&f.root), 15 * 1024);
	fixture_fini(&f);
}

/* In the folder that the test runs in, which is on a disk where the build is. */
Test(cache, a_file_leaves_it)
{
	enum { BYTES = 1 << 20 };
	_cleanup_free_ char *data = calloc(1, BYTES);
	char path[] = "salvo-cache-XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	unlink(path);
	cr_assert_eq(write(fd, data, BYTES), BYTES);
	cr_expect_eq(cache_sync(fd), 0);
	if (cache_is_home(fd) || cache_bytes(fd) == UINT64_MAX)
		cr_skip_test("the build is in memory, or the kernel does not tell");
	cr_expect_geq(cache_bytes(fd), BYTES);
	cr_expect_eq(cache_drop(fd), 0);
	cr_expect_eq(cache_bytes(fd), 0);
}
