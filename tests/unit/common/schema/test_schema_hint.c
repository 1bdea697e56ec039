/* SPDX-License-Identifier: Apache-2.0 */
#include "common/schema/schema_impl.h"

#include <criterion/criterion.h>

static void expect_hint(const char *line, size_t column, const char *want)
{
	size_t got_column = 0;
	_cleanup_free_ char *text = xasprintf("first: [a[1]]\n%s\r\nlast: [b[2]]", line);
	_cleanup_free_ char *got = schema_hint_brackets(text, strlen(text), 1, &got_column);

	if (!want) {
		cr_expect_null(got, "%s: %s", line, got);
		return;
	}
	cr_assert_not_null(got, "%s", line);
	cr_expect_str_eq(got, want);
	cr_expect_eq(got_column, column, "%s: column %zu", line, got_column);
}

Test(schema_hint, host_lists)
{
	expect_hint("hosts: [initiator[01-04]]", 9,
		    "host names with brackets must be quoted: hosts: [\"initiator[01-04]\"]");
	expect_hint("hosts: [db1, node[01-16,20]:7600, db2]", 14,
		    "host names with brackets must be quoted: hosts: [\"node[01-16,20]:7600\"]");
	expect_hint("hosts: [\"a[1-2]\", b[3-4]]", 19,
		    "host names with brackets must be quoted: hosts: [\"b[3-4]\"]");
	expect_hint("hosts: [[fe80::1]:7600]", 9,
		    "host names with brackets must be quoted: hosts: [\"[fe80::1]:7600\"]");
	expect_hint("  - [fe80::1%eth0]:7600", 0,
		    NULL); /* a zone's letters are no hexadecimal digits */
	expect_hint("  - [2001:db8::5]:7600", 5,
		    "host names with brackets must be quoted: \"[2001:db8::5]:7600\"");
	expect_hint("  - {name: a, hosts: [n[1-2]]}", 23,
		    "texts with brackets must be quoted: name: [\"n[1-2]\"]");
}

Test(schema_hint, other_lines_have_none)
{
	expect_hint("hosts: [a, b", 0, NULL);
	expect_hint("hosts: [\"a[1-2]\", 'b[1]'", 0, NULL);
	expect_hint("hosts: [a, b # and c[1]", 0, NULL);
	expect_hint("bs: [4k, [8k]", 0, NULL);
	expect_hint("", 0, NULL);
}

Test(schema_hint, lines_that_are_not_there)
{
	size_t column;

	cr_expect_null(schema_hint_brackets("a: b[1]", 7, 5, &column));
	cr_expect_null(schema_hint_brackets("", 0, 0, &column));
}
