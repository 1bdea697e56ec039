/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/control_pair.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static struct control_pair a, b;

static void setup(void)
{
	int fds[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	control_pair_init(&a, fds[0]);
	control_pair_init(&b, fds[1]);
}

static void teardown(void)
{
	control_pair_fini(&a);
	control_pair_fini(&b);
}

TestSuite(control_pair, .init = setup, .fini = teardown);

static void expect_frame(const void *data, size_t len)
{
	const uint8_t *got;
	size_t got_len;

	cr_assert_eq(control_pair_next(&b, &got, &got_len), 1);
	cr_assert_eq(got_len, len);
	cr_assert_eq(memcmp(got, data, len), 0);
}

static void expect_none(void)
{
	const uint8_t *got;
	size_t len;

	cr_assert_eq(control_pair_next(&b, &got, &len), 0);
}

Test(control_pair, frames_arrive_whole_and_in_order)
{
	control_pair_send(&a, (const uint8_t *)"one", 3);
	control_pair_send(&a, (const uint8_t *)"", 0);
	control_pair_send(&a, (const uint8_t *)"three", 5);
	cr_assert(control_pair_fill(&b));
	expect_frame("one", 3);
	expect_frame("", 0);
	cr_assert(control_pair_fill(&b), "a fill in between keeps what is unread");
	expect_frame("three", 5);
	expect_none();
}

Test(control_pair, frame_in_pieces_is_put_together)
{
	static const uint8_t bytes[] = { 4, 0, 0, 0, 'a', 'b', 'c', 'd' };

	for (size_t i = 0; i < sizeof(bytes); i++) {
		expect_none();
		cr_assert_eq(write(a.fd, &bytes[i], 1), 1);
		cr_assert(control_pair_fill(&b));
	}
	expect_frame("abcd", 4);
}

Test(control_pair, what_the_other_end_does_not_take_waits_here)
{
	enum { BYTES = 4 << 20 };
	uint8_t *data = xcalloc(BYTES, 1);
	const uint8_t *got;
	size_t len = 0;

	memset(data, 'x', BYTES);
	control_pair_send(&a, data, BYTES);
	cr_assert(control_pair_has_output(&a));
	while (control_pair_fill(&b) && control_pair_next(&b, &got, &len) == 0)
		cr_assert(control_pair_flush(&a));
	cr_assert_eq(len, BYTES);
	cr_assert_eq(memcmp(got, data, BYTES), 0);
	cr_assert(control_pair_flush(&a));
	cr_assert_not(control_pair_has_output(&a));
	free(data);
}

Test(control_pair, last_frames_are_read_after_the_other_end_is_gone)
{
	control_pair_send(&a, (const uint8_t *)"last", 4);
	control_pair_fini(&a);
	cr_assert_not(control_pair_fill(&b));
	expect_frame("last", 4);
	expect_none();
	cr_assert_not(control_pair_flush_wait(&a), "nothing goes through a closed pair");
}

Test(control_pair, sending_to_one_that_is_gone_is_an_answer_and_no_signal)
{
	control_pair_fini(&b);
	control_pair_send(&a, (const uint8_t *)"x", 1);
	cr_assert_not(control_pair_flush_wait(&a));
}

Test(control_pair, length_beyond_all_messages_is_nonsense)
{
	const uint32_t length = MESSAGE_MAX_BYTES + 1;
	const uint8_t *got;
	size_t len;

	cr_assert_eq(write(a.fd, &length, sizeof(length)), (ssize_t)sizeof(length));
	cr_assert(control_pair_fill(&b));
	cr_assert_eq(control_pair_next(&b, &got, &len), -EPROTO);
}
