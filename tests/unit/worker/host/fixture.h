/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h - a made-up host in a temporary folder: sys, proc and dev with what a test puts there. */
#ifndef SALVO_TEST_HOST_FIXTURE_H
#define SALVO_TEST_HOST_FIXTURE_H

#include "common/base/str.h"
#include "worker/host/sysfs.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
	char dir[64];
	char *sys, *proc, *dev;
	struct host_root root;
};

static inline void fixture_folder(const char *path)
{
	_cleanup_free_ char *copy = xstrdup(path);

	for (char *p = copy + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(copy, 0755);
			*p = '/';
		}
	mkdir(copy, 0755);
}

static inline void fixture_init(struct fixture *f)
{
	strcpy(f->dir, "/tmp/salvo-fixture-XXXXXX");
	cr_assert_not_null(mkdtemp(f->dir));
	f->sys = xasprintf("%s/sys", f->dir);
	f->proc = xasprintf("%s/proc", f->dir);
	f->dev = xasprintf("%s/dev", f->dir);
	fixture_folder(f->sys);
	fixture_folder(f->proc);
	fixture_folder(f->dev);
	f->root = (struct host_root) { .sys = f->sys, .proc = f->proc, .dev = f->dev };
}

static inline int fixture_remove_one(const char *path, const struct stat *st, int type,
				     struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void fixture_fini(struct fixture *f)
{
	nftw(f->dir, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(f->sys);
	free(f->proc);
	free(f->dev);
}

static inline void fixture_bytes(const char *base, const char *path, const void *data, size_t len)
{
	_cleanup_free_ char *full = xasprintf("%s/%s", base, path);
	_cleanup_free_ char *folder = xstrndup(full, (size_t)(strrchr(full, '/') - full));
	FILE *file;

	fixture_folder(folder);
	file = fopen(full, "we");
	cr_assert_not_null(file, "%s", full);
	cr_assert_eq(fwrite(data, 1, len, file), len);
	cr_assert_eq(fclose(file), 0);
}

static inline void fixture_text(const char *base, const char *path, const char *text)
{
	fixture_bytes(base, path, text, strlen(text));
}

/* A link at base/path to base/to. */
static inline void fixture_link(const char *base, const char *path, const char *to)
{
	_cleanup_free_ char *full = xasprintf("%s/%s", base, path);
	_cleanup_free_ char *folder = xstrndup(full, (size_t)(strrchr(full, '/') - full));
	_cleanup_free_ char *target = xasprintf("%s/%s", base, to);

	fixture_folder(folder);
	cr_assert_eq(symlink(target, full), 0, "%s", full);
}

/* A block device: `path` in sys ("devices/x/block/sda"), its number, its size in sectors. */
static inline void fixture_block(struct fixture *f, const char *path, const char *devno,
				 const char *sectors)
{
	_cleanup_free_ char *dev = xasprintf("%s/dev", path);
	_cleanup_free_ char *size = xasprintf("%s/size", path);
	_cleanup_free_ char *by_number = xasprintf("dev/block/%s", devno);
	_cleanup_free_ char *by_name = xasprintf("block/%s", strrchr(path, '/') + 1);
	_cleanup_free_ char *by_class = xasprintf("class/block/%s", strrchr(path, '/') + 1);

	fixture_text(f->sys, dev, devno);
	fixture_text(f->sys, size, sectors);
	fixture_link(f->sys, by_number, path);
	fixture_link(f->sys, by_name, path);
	fixture_link(f->sys, by_class, path);
}

#endif
