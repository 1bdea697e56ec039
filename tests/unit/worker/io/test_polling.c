/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/polling.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <unistd.h>

static void expect_refusal(int fd, const char *why)
{
	struct engine_env env = { .target = "t", .fd = fd };
	_cleanup_(error_destroy) struct error *err = polling_check("pvsync2", "hipri", &env);

	cr_assert_not_null(err);
	cr_expect_eq(error_code(err), ERR_REFUSED);
	cr_expect_not_null(strstr(error_message(err), "engine pvsync2: hipri: Linux "), "%s",
			   error_message(err));
	cr_expect_not_null(strstr(error_message(err), why), "%s", error_message(err));
}

/* No block device lies under a pipe. */
Test(polling, unknown_devices_are_refused)
{
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	expect_refusal(fds[0], "is not known");
	expect_refusal(-1, "is not known");
	close(fds[0]);
	close(fds[1]);
}

/* Loop devices have none; any of them may be asked, also without a file. */
Test(polling, devices_without_poll_queues_are_refused)
{
	int fd = open("/dev/loop0", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		cr_skip_test("/dev/loop0 cannot be opened here");
	expect_refusal(fd, "queue/io_poll is 0");
	close(fd);
}
