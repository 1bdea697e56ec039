/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"

#include <criterion/criterion.h>

Test(str, distance_counts_edits)
{
	cr_expect_eq(str_distance("bs", "bs"), 0);
	cr_expect_eq(str_distance("", "abc"), 3);
	cr_expect_eq(str_distance("abc", ""), 3);
	cr_expect_eq(str_distance("iodpeth", "iodepth"), 1); /* neighbours swapped */
	cr_expect_eq(str_distance("runtme", "runtime"), 1);
	cr_expect_eq(str_distance("runtimee", "runtime"), 1);
	cr_expect_eq(str_distance("rantime", "runtime"), 1);
	cr_expect_eq(str_distance("kitten", "sitting"), 3);
	cr_expect_eq(
		str_distance("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl",
			     "a"),
		99);
}

static void expect_printable(const char *text, const char *want)
{
	_cleanup_free_ char *got = str_printable(text);

	cr_expect_str_eq(got, want);
}

Test(str, printable_escapes_what_a_terminal_obeys)
{
	expect_printable("plain text", "plain text");
	expect_printable("\x1b[2Jx", "\\x1b[2Jx");
	expect_printable("a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f");
	expect_printable("gr\xc3\xbc\xc3\x9f"
			 "e \xe2\x82\xac \xf0\x9f\x98\x80",
			 "gr\xc3\xbc\xc3\x9f"
			 "e \xe2\x82\xac \xf0\x9f\x98\x80");
	expect_printable("\xc2\x9b"
			 "31m",
			 "\\xc2\\x9b"
			 "31m");                             /* CSI as a C1 control */
	expect_printable("a\xff\xc3", "a\\xff\\xc3");        /* broken UTF-8 */
	expect_printable("\xc0\xaf", "\\xc0\\xaf");          /* overlong */
	expect_printable("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* surrogate */
	expect_printable("\xe2\x80\xae"
			 "x",
			 "\\xe2\\x80\\xae"
			 "x"); /* right-to-left override */
}

Test(str, varints_of_every_length_come_back)
{
	_cleanup_(buf_fini) struct buf b = { 0 };
	size_t pos = 0;
	uint64_t got;

	for (unsigned shift = 0; shift < 64; shift++) {
		buf_add_varint(&b, (1ull << shift) - 1);
		buf_add_varint(&b, 1ull << shift);
	}
	buf_add_varint(&b, UINT64_MAX);
	for (unsigned shift = 0; shift < 64; shift++) {
		cr_assert(varint_read(b.data, b.len, &pos, &got));
		cr_expect_eq(got, (1ull << shift) - 1);
		cr_assert(varint_read(b.data, b.len, &pos, &got));
		cr_expect_eq(got, 1ull << shift);
	}
	cr_assert(varint_read(b.data, b.len, &pos, &got));
	cr_expect_eq(got, UINT64_MAX);
	cr_expect_eq(pos, b.len);
	cr_expect_not(varint_read(b.data, b.len, &pos, &got));
}

Test(str, broken_varints_are_refused)
{
	static const uint8_t cut[] = { 0x80, 0x80 };
	static const uint8_t large[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02
	};
	static const uint8_t endless[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					   0x80, 0x80, 0x80, 0x80, 0x01 };
	uint64_t got;
	size_t pos = 0;

	cr_expect_not(varint_read(cut, sizeof(cut), &pos, &got));
	pos = 0;
	cr_expect_not(varint_read(large, sizeof(large), &pos, &got));
	pos = 0;
	cr_expect_not(varint_read(endless, sizeof(endless), &pos, &got));
}

Test(str, buffers_grow_and_texts_are_copied)
{
	_cleanup_(buf_fini) struct buf b = { 0 };
	_cleanup_free_ char *text = xasprintf("%s-%d", "a", 7), *part = xstrndup("abcdef", 3);

	for (unsigned i = 0; i < 1000; i++)
		buf_add(&b, &i, sizeof(i));
	cr_expect_eq(b.len, 1000 * sizeof(unsigned));
	cr_expect_eq(((const unsigned *)b.data)[999], 999);
	cr_expect_str_eq(text, "a-7");
	cr_expect_str_eq(part, "abc");
	freep(&part);
	cr_expect_null(part);
}
