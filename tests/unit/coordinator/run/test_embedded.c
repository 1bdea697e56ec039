/* SPDX-License-Identifier: Apache-2.0 */
/* The worker is a shell script here: what matters is how a process is started, watched and removed. */
#include "coordinator/run/embedded.h"

#include "common/base/str.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/salvo-test-embedded-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
	setenv("TMPDIR", folder, 1);
}

static void teardown(void)
{
	_cleanup_free_ char *command = xasprintf("rm -r '%s'", folder);

	cr_assert_eq(system(command), 0);
}

TestSuite(embedded, .init = setup, .fini = teardown, .timeout = 30);

static void use_worker(const char *script)
{
	_cleanup_free_ char *path = xasprintf("%s/worker", folder);
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", script);
	fclose(f);
	cr_assert_eq(chmod(path, 0700), 0);
	setenv("SALVO_WORKER", path, 1);
}

static struct embedded *start(void)
{
	struct embedded *e = NULL;
	struct error *err = embedded_start(&e);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	return e;
}

static bool wait_file(const char *path)
{
	for (int i = 0; i < 500 && access(path, F_OK); i++)
		poll(NULL, 0, 10);
	return access(path, F_OK) == 0;
}

static bool has_ended(const struct embedded *e, int ms)
{
	struct pollfd p = { .fd = embedded_pidfd(e), .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

Test(embedded, starts_in_a_private_folder_and_leaves_nothing)
{
	_cleanup_free_ char *dir = NULL, *made = NULL;
	struct embedded *e;
	struct stat st;

	use_worker("while [ $# -gt 0 ]; do case $1 in --state) d=$2;; esac; shift; done\n"
		   "mkdir \"$d/sub\"; : > \"$d/sub/made\"; exec sleep 20");
	e = start();
	cr_assert(str_starts(embedded_endpoint(e), "ipc:///"));
	dir = xstrdup(embedded_endpoint(e) + strlen("ipc://"));
	*strrchr(dir, '/') = '\0';
	made = xasprintf("%s/sub/made", dir);
	cr_assert(wait_file(made));
	cr_assert_eq(stat(dir, &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0700);
	cr_assert_not(has_ended(e, 0));
	embedded_stop(&e);
	cr_assert_null(e);
	cr_assert_neq(access(dir, F_OK), 0);
	embedded_stop(&e);
}

Test(embedded, one_that_does_not_go_is_killed)
{
	_cleanup_free_ char *ready = xasprintf("%s/ready", folder);
	_cleanup_free_ char *script =
		xasprintf("trap '' TERM\n: > '%s'\nwhile :; do sleep 1; done", ready);
	struct embedded *e;

	use_worker(script);
	e = start();
	cr_assert(wait_file(ready));
	embedded_stop(&e);
	cr_assert_null(e);
}

Test(embedded, own_process_group_so_that_ctrl_c_is_ours)
{
	_cleanup_free_ char *ready = xasprintf("%s/ready", folder);
	_cleanup_free_ char *script =
		xasprintf("cut -d' ' -f5 /proc/$$/stat > '%s.tmp'; mv '%s.tmp' '%s'; exec sleep 20",
			  ready, ready, ready);
	struct embedded *e;
	int group = 0;
	FILE *f;

	use_worker(script);
	e = start();
	cr_assert(wait_file(ready));
	f = fopen(ready, "r");
	cr_assert_not_null(f);
	cr_assert_eq(fscanf(f, "%d", &group), 1);
	fclose(f);
	cr_assert_neq(group, getpgrp());
	embedded_stop(&e);
}

static void check_end(const char *script, const char *part)
{
	_cleanup_(error_destroy) struct error *err = NULL;
	_cleanup_(embedded_stop) struct embedded *e = NULL;

	use_worker(script);
	e = start();
	cr_assert(has_ended(e, 5000));
	err = embedded_ended(e);
	cr_assert_eq(error_code(err), ERR_LOST);
	cr_assert_not_null(strstr(error_message(err), part), "%s", error_message(err));
}

Test(embedded, says_how_it_ended)
{
	check_end("exit 7", "status 7");
	check_end("kill -9 $$", "signal 9");
}

Test(embedded, program_that_is_not_there)
{
	_cleanup_(error_destroy) struct error *err = NULL;
	struct embedded *e = NULL;

	setenv("SALVO_WORKER", "/nowhere/salvo-worker", 1);
	err = embedded_start(&e);
	cr_assert_not_null(err);
	cr_assert_eq(error_code(err), ERR_USAGE);
	cr_assert_not_null(strstr(error_message(err), "SALVO_WORKER"));
}

Test(embedded, folder_too_long_for_a_socket)
{
	_cleanup_(error_destroy) struct error *err = NULL;
	struct embedded *e = NULL;
	char path[200];

	use_worker("exit 0");
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	setenv("TMPDIR", path, 1);
	err = embedded_start(&e);
	cr_assert_not_null(err);
	cr_assert_not_null(strstr(error_message(err), "too long"));
}
