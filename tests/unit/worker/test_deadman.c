/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/clock.h"
#include "worker/deadman.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEASE_NS (200 * NS_PER_MS)

static void pause_ns(uint64_t ns)
{
	struct timespec t = clock_timespec(ns);

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* Looks when it is due, for as long as two leases. `renew`: the lease runs along with the time. */
static void supervise(bool renew)
{
	uint64_t begin = clock_mono_ns(), end = begin + LEASE_NS, now;
	struct deadman d;

	deadman_init(&d);
	deadman_tick(&d, end, begin);
	while ((now = clock_mono_ns()) < begin + 2 * LEASE_NS) {
		pause_ns(d.next_ns > now ? d.next_ns - now : 0);
		now = clock_mono_ns();
		if (renew)
			end = now + LEASE_NS;
		deadman_tick(&d, end, now);
	}
	deadman_fini(&d);
	_exit(0);
}

static int status_of(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

Test(deadman, process_that_is_stopped_is_killed)
{
	uint64_t begin = clock_mono_ns();
	pid_t pid = fork();
	int status;

	if (pid == 0)
		supervise(true);
	pause_ns(LEASE_NS / 4);
	cr_assert_eq(kill(pid, SIGSTOP), 0);
	status = status_of(pid); /* it needs no SIGCONT */
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	cr_assert_gt(clock_mono_ns() - begin, LEASE_NS / 2);
}

Test(deadman, supervisor_that_looks_lives_on)
{
	for (int renew = 0; renew < 2; renew++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			supervise(renew);
		status = status_of(pid);
		cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

Test(deadman, rest_takes_the_timer_back)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		uint64_t now = clock_mono_ns();
		struct deadman d;

		deadman_init(&d);
		deadman_tick(&d, now + LEASE_NS, now);
		deadman_rest(&d);
		pause_ns(2 * LEASE_NS);
		_exit(d.next_ns == UINT64_MAX ? 0 : 1);
	}
	status = status_of(pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
