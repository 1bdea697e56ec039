/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/stuck.h"

#include "common/base/str.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char state[] = "/tmp/salvo-test-stuck-XXXXXX";
static pid_t child;

static void setup(void)
{
	int held = open("/dev/null", O_RDONLY); /* the child's */

	cr_assert_not_null(mkdtemp(state));
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	close(held);
}

static void end_child(void)
{
	if (!child)
		return;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	child = 0;
}

static void teardown(void)
{
	_cleanup_free_ char *command = xasprintf("rm -rf '%s'", state);

	end_child();
	cr_assert_eq(system(command), 0);
}

TestSuite(stuck, .init = setup, .fini = teardown);

static void save(pid_t pid)
{
	struct stuck_record r;
	struct error *err;

	stuck_record_init(&r, pid);
	stuck_record_add(&r, "/dev/disk/by-id/x", "/dev/null", "hangs \"badly\": since today");
	stuck_record_add(&r, "/srv/file", NULL, "too");
	err = stuck_save(state, &r);
	cr_assert_null(err, "%s", err ? error_message(err) : "");
	stuck_record_fini(&r);
}

static size_t nr_loaded(void)
{
	struct stuck_record *records;
	size_t nr, loaded;

	stuck_load(state, &records, &nr);
	loaded = nr;
	stuck_records_free(&records, &nr);
	return loaded;
}

static bool folder_is_there(void)
{
	_cleanup_free_ char *path = xasprintf("%s/stuck.d", state);

	return access(path, F_OK) == 0;
}

Test(stuck, record_comes_back_as_it_was_saved)
{
	struct stuck_record *records;
	size_t nr;

	save(child);
	stuck_load(state, &records, &nr);
	cr_assert_eq(nr, 1);
	cr_assert_eq(records[0].pid, (uint64_t)child);
	cr_assert_eq(records[0].nr_targets, 2);
	cr_assert_str_eq(records[0].targets[0].path, "/dev/disk/by-id/x");
	cr_assert_str_eq(records[0].targets[0].canonical, "/dev/null");
	cr_assert_str_eq(records[0].targets[0].text, "hangs \"badly\": since today");
	cr_assert_null(records[0].targets[1].canonical);
	cr_assert_eq(stuck_prune(&records[0], NULL, NULL), 0);
	stuck_forget(state, &records[0]);
	stuck_records_free(&records, &nr);
	cr_assert_not(folder_is_there(), "nothing is left behind");
}

Test(stuck, record_is_over_with_its_process_and_is_removed)
{
	save(child);
	cr_assert_eq(nr_loaded(), 1);
	end_child();
	cr_assert_eq(nr_loaded(), 0);
	cr_assert_not(folder_is_there());
}

Test(stuck, process_that_is_dead_but_not_reaped_counts_as_gone)
{
	siginfo_t info;

	save(child);
	kill(child, SIGKILL);
	cr_assert_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	cr_assert_eq(nr_loaded(), 0);
}

Test(stuck, another_process_of_that_number_is_another_process)
{
	struct stuck_record r;

	stuck_record_init(&r, child);
	stuck_record_add(&r, "/srv/file", NULL, "too");
	r.pid_started++;
	cr_assert_eq(stuck_prune(&r, NULL, NULL), 1);
	cr_assert_eq(r.nr_targets, 0);
	stuck_record_fini(&r);
}

static void note_released(void *arg, const struct stuck_target *t)
{
	snprintf(arg, 64, "%s", t->path);
}

Test(stuck, target_that_the_process_has_closed_is_over)
{
	struct stuck_record r;
	char released[64] = "";

	stuck_record_init(&r, child);
	stuck_record_add(&r, "/dev/null", "/dev/null", "it has that open");
	stuck_record_add(&r, "/srv/closed", "/srv/closed", "it has that no more");
	stuck_record_add(&r, "/srv/unknown", NULL, "it may be opening that");
	cr_assert_eq(stuck_prune(&r, note_released, released), 1);
	cr_assert_str_eq(released, "/srv/closed");
	cr_assert_eq(r.nr_targets, 2);
	cr_assert_str_eq(r.targets[0].path, "/dev/null");
	cr_assert_str_eq(r.targets[1].path, "/srv/unknown");
	stuck_record_fini(&r);
}

Test(stuck, nothing_is_stuck_after_a_reboot)
{
	_cleanup_free_ char *command =
		xasprintf("sed -i 's/^boot: .*/boot: earlier/' '%s'/stuck.d/*", state);

	save(child);
	cr_assert_eq(system(command), 0);
	cr_assert_eq(nr_loaded(), 0);
}

Test(stuck, damaged_record_is_left_for_people_and_hinders_nothing)
{
	_cleanup_free_ char *path = xasprintf("%s/stuck.d/1.yaml", state);
	FILE *file;

	save(child);
	file = fopen(path, "we");
	cr_assert_not_null(file);
	fputs("targets: [", file);
	fclose(file);
	cr_assert_eq(nr_loaded(), 1);
	cr_assert_eq(access(path, F_OK), 0);
}

Test(stuck, folder_that_cannot_be_written_is_an_error)
{
	struct stuck_record r;
	_cleanup_(error_destroy) struct error *err = NULL;

	stuck_record_init(&r, child);
	err = stuck_save("/proc/nowhere", &r);
	cr_assert_eq(error_code(err), ERR_OUTPUT);
	stuck_record_fini(&r);
}
