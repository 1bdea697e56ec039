/* SPDX-License-Identifier: Apache-2.0 */
/* What the control process hears of an I/O process without its help. */
#include "worker/child.h"

#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

static char *words_of(const char *text, size_t times)
{
	struct child c = { .words_fd = memfd_create("test", MFD_CLOEXEC) };
	char *words;

	cr_assert_geq(c.words_fd, 0);
	for (size_t i = 0; i < times; i++)
		cr_assert_eq(write(c.words_fd, text, strlen(text)), (ssize_t)strlen(text));
	words = child_words(&c);
	close(c.words_fd);
	return words;
}

Test(child, words_are_those_of_its_stderr)
{
	_cleanup_free_ char *none = words_of("", 0), *two = words_of("an assertion failed\n", 2);

	cr_expect_str_empty(none);
	cr_expect_str_eq(two, "an assertion failed\nan assertion failed\n");
}

Test(child, of_endless_words_the_beginning_is_heard)
{
	_cleanup_free_ char *words = words_of("0123456789abcdef", 8192);

	cr_expect_eq(strlen(words), 64 * 1024);
}
