/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/report/table.h"

#include <criterion/criterion.h>

static char *wrapped(const char *text, size_t column, size_t indent, size_t width)
{
	char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);

	text_wrap(out, text, column, indent, width);
	fclose(out);
	return got;
}

Test(table, columns_line_up)
{
	_cleanup_free_ char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);
	struct table t;

	table_init(&t, "lrl");
	table_text(&t, "host");
	table_cell(&t, "%s", "IOPS");
	table_cell(&t, "%s", "");
	table_text(&t, "f\xc3\xbcnf");
	table_cell(&t, "%d", 123456);
	table_cell(&t, "%s", "note");
	table_text(&t, "esc\x1b");
	table_cell(&t, "%d", 7);
	table_cell(&t, "%s", "");
	table_print(&t, out, 2);
	fclose(out);
	cr_expect_str_eq(got, "  host       IOPS\n"
			      "  f\xc3\xbcnf     123456  note\n"
			      "  esc\\x1b       7\n");
	table_fini(&t);
}

Test(table, width_counts_characters)
{
	cr_expect_eq(text_width("f\xc3\xbcnf"), 4);
	cr_expect_eq(text_width(""), 0);
}

Test(table, words_wrap)
{
	_cleanup_free_ char *a = wrapped("one two three four", 4, 2, 14);
	_cleanup_free_ char *b = wrapped("averyveryverylongword and more", 0, 2, 10);
	_cleanup_free_ char *c = wrapped("", 0, 2, 10);

	cr_expect_str_eq(a, "one two\n  three four\n");
	cr_expect_str_eq(b, "averyveryv\n  erylongw\n  ord and\n  more\n");
	cr_expect_str_eq(c, "\n");
}

/* A row that is too wide is broken where texts stand; no character of it is lost. */
Test(table, wide_rows_are_broken)
{
	_cleanup_free_ char *got = NULL, *name = xcalloc(1, 151);
	size_t len = 0, column = 0, letters = 0;
	FILE *out = open_memstream(&got, &len);
	struct table t;

	memset(name, 'n', 150);
	table_init(&t, "lrl");
	table_text(&t, name);
	table_cell(&t, "%d", 7);
	table_cell(&t, "%s", "a note of several words");
	table_print(&t, out, 2);
	fclose(out);
	for (const char *p = got; *p; p++) {
		column = *p == '\n' ? 0 : column + 1;
		letters += *p == 'n';
		cr_assert_leq(column, REPORT_WIDTH, "%s", got);
	}
	cr_expect_eq(letters, 150 + 1, "%s", got);
	cr_expect_not_null(strstr(got, "n  7  a note of"), "%s", got);
	table_fini(&t);
}
