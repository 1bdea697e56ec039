/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/pattern.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect(const char *text, const void *bytes, size_t nr)
{
	struct pattern p;
	struct error *err = pattern_parse(text, &p);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	cr_assert_eq(p.nr, nr);
	cr_assert_eq(memcmp(p.bytes, bytes, nr), 0);
}

static void expect_wrong(const char *text, const char *why)
{
	_cleanup_(error_destroy) struct error *err = NULL;
	struct pattern p;

	err = pattern_parse(text, &p);
	cr_assert_not_null(err, "%s", text);
	cr_assert_not_null(strstr(error_message(err), why), "%s", error_message(err));
}

Test(pattern, hex_is_bytes_in_the_order_of_the_text)
{
	expect("0xdeadbeef", "\xde\xad\xbe\xef", 4);
	expect("0x00Ff", "\x00\xff", 2);
}

Test(pattern, anything_else_is_the_text)
{
	expect("salvo", "salvo", 5);
	expect("deadbeef", "deadbeef", 8);
	expect("0", "0", 1);
}

Test(pattern, half_bytes_and_other_digits_are_wrong)
{
	expect_wrong("0x", "two hex digits");
	expect_wrong("0xabc", "two hex digits");
	expect_wrong("0xgg", "two hex digits");
	expect_wrong("0x-1", "two hex digits");
}

Test(pattern, has_from_one_to_512_bytes)
{
	char text[2 + 2 * PATTERN_MAX + 3] = "0x", longest[PATTERN_MAX];
	struct pattern p;

	expect_wrong("", "no bytes");
	memset(text + 2, 'a', 2 * PATTERN_MAX);
	memset(longest, 0xaa, sizeof(longest));
	expect(text, longest, PATTERN_MAX);
	memset(text + 2, 'a', 2 * PATTERN_MAX + 2);
	expect_wrong(text, "513 bytes");
	text[0] = 'x';
	text[1 + PATTERN_MAX] = '\0';
	expect_wrong(text, "513 bytes");
	text[PATTERN_MAX] = '\0';
	cr_assert_null(pattern_parse(text, &p));
	cr_assert_eq(p.nr, PATTERN_MAX);
}
