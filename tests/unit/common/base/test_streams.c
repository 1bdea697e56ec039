/* SPDX-License-Identifier: Apache-2.0 */
/* A program that was started without stdin, stdout or stderr opens nothing under their numbers. */
#include "common/base/streams.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Bits of the streams that are closed; the exit status says what was wrong, 0 nothing. */
static int try_without(unsigned closed)
{
	char byte = 0;
	int status;
	pid_t pid = fork();

	if (pid > 0) {
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
	for (int fd = 0; fd <= 2; fd++)
		if (closed & 1U << fd)
			close(fd);
	streams_occupy();
	if (open("/dev/null", O_RDWR) <= 2)
		_exit(1);
	if (closed & 1 && (read(0, &byte, 1) >= 0 || errno != EBADF))
		_exit(2);
	for (int fd = 1; fd <= 2; fd++)
		if (closed & 1U << fd && (write(fd, "x", 1) >= 0 || errno != EBADF))
			_exit(3);
	_exit(0);
}

Test(streams, closed_ones_are_taken_and_stay_dead)
{
	for (unsigned closed = 0; closed < 8; closed++)
		cr_expect_eq(try_without(closed), 0, "closed: %u", closed);
}
