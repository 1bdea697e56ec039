/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/stop_signals.h"

#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

static int status_of(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

Test(stop_signals, first_one_is_noted)
{
	struct stop_signals s = { 0 };

	stop_signals_hold(&s);
	cr_assert_eq(raise(SIGPIPE), 0);
	cr_assert_not(stop_signals_release(&s));
	stop_signals_fini(&s);
	stop_signals_hold(&s);
	cr_assert_eq(raise(SIGTERM), 0);
	cr_assert(stop_signals_release(&s));
	stop_signals_fini(&s);
	stop_signals_fini(&s);
}

Test(stop_signals, second_one_ends_the_program)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct stop_signals s = { 0 };

		stop_signals_hold(&s);
		raise(SIGINT);
		raise(SIGINT);
		_exit(0);
	}
	status = status_of(pid);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), 130);
}

Test(stop_signals, after_them_all_is_as_before)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct stop_signals s = { 0 };

		signal(SIGHUP, SIG_IGN);
		signal(SIGINT, SIG_DFL);
		stop_signals_hold(&s);
		raise(SIGHUP); /* nohup */
		raise(SIGHUP);
		if (stop_signals_release(&s))
			_exit(1);
		raise(SIGINT);
		_exit(2);
	}
	status = status_of(pid);
	cr_assert(WIFSIGNALED(status));
	cr_assert_eq(WTERMSIG(status), SIGINT);
}
