/* SPDX-License-Identifier: Apache-2.0 */
/* A call that may take its time, watched and left alone. */
#include "worker/slow.h"

#include "common/base/compiler.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

static bool always(void *arg)
{
	++*(unsigned *)arg;
	return true;
}

static bool never(void *arg)
{
	++*(unsigned *)arg;
	return false;
}

/* Waits until the pipe has a byte: as long as a test wants. */
static int wait_for_byte(int fd)
{
	struct pollfd item = { .fd = fd, .events = POLLIN };

	return poll(&item, 1, -1) == 1 ? 0 : -errno;
}

static int no_space(int fd)
{
	(void)fd;
	return -ENOSPC;
}

Test(slow, result_of_the_call)
{
	unsigned looks = 0;

	cr_expect_eq(slow_call(no_space, STDERR_FILENO, always, &looks), -ENOSPC);
}

struct feeding {
	int fd;
	unsigned looks;
};

static bool feed_at_third(void *arg)
{
	struct feeding *f = arg;

	if (++f->looks == 3)
		cr_expect_eq(write(f->fd, "x", 1), 1);
	return true;
}

Test(slow, is_looked_at_while_it_lasts)
{
	struct feeding f = { 0 };
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	f.fd = ends[1];
	cr_expect_eq(slow_call(wait_for_byte, ends[0], feed_at_third, &f), 0);
	cr_expect_geq(f.looks, 3);
	close(ends[0]);
	close(ends[1]);
}

/* The call goes on with a descriptor of its own and harms nobody. */
Test(slow, is_left_alone)
{
	unsigned looks = 0;
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_expect_eq(slow_call(wait_for_byte, ends[0], never, &looks), -ECANCELED);
	cr_expect_eq(looks, 1);
	close(ends[0]);
	cr_expect_eq(write(ends[1], "x", 1), 1, "the other end is still open");
	close(ends[1]);
}
