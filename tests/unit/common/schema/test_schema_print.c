/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/schema/sample.h"

static char *print(const struct sample *s)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	schema_print_yaml(&sample_schema, s, out);
	fclose(out);
	return text;
}

Test(schema_print, defaults_are_visible_and_nothing_else_is_invented)
{
	struct sample s;
	_cleanup_free_ char *text = NULL;

	sample_load_good(&s, "name: a\n");
	text = print(&s);
	cr_expect_str_eq(text, "name: a\n"
			       "bs: 4KiB\n"
			       "count: 1\n"
			       "wait: 0\n"
			       "share: 50%\n"
			       "on: true\n"
			       "mode: fast\n");
	schema_fini(&sample_schema, &s);
}

Test(schema_print, everything)
{
	struct sample s;
	_cleanup_free_ char *text = NULL;

	sample_load_good(
		&s,
		"name: \"yes\"\nroom: 1MB\nhosts: [a, \"b[1-2]:7600\"]\nlid: {seal: 'wax: red'}\n"
		"labels: {rack: 7, \"a b\": \"\"}\n"
		"items: [{name: i, lid: yes, hosts: h}, {name: j}]\n"
		"named: {n: {bs: 8k}}\n");
	text = print(&s);
	cr_expect_str_eq(text, "name: \"yes\"\n"
			       "bs: 4KiB\n"
			       "count: 1\n"
			       "wait: 0\n"
			       "room: 1000000B\n"
			       "share: 50%\n"
			       "on: true\n"
			       "mode: fast\n"
			       "hosts: [a, \"b[1-2]:7600\"]\n"
			       "lid:\n"
			       "  level: no\n"
			       "  seal: \"wax: red\"\n"
			       "labels:\n"
			       "  rack: \"7\"\n"
			       "  \"a b\": \"\"\n"
			       "items:\n"
			       "  - name: i\n"
			       "    bs: 4KiB\n"
			       "    hosts: [h]\n"
			       "    lid: yes\n"
			       "  - name: j\n"
			       "    bs: 4KiB\n"
			       "    lid: no\n"
			       "named:\n"
			       "  \"n\":\n"
			       "    bs: 8KiB\n"
			       "    lid: no\n");
	schema_fini(&sample_schema, &s);
}

/* Any text that a user or a peer may have chosen comes back byte for byte, or YAML could not hold it. */
Test(schema_print, texts_come_back)
{
	static const char *const texts[] = {
		"plain",
		"with space",
		"a: b",
		"- a",
		"#x",
		"*a",
		"&a",
		"!t",
		"{a}",
		"[a]",
		"a, b",
		"'q'",
		"\"q\"",
		"back\\slash",
		"line\nbreak",
		"tab\t",
		"",
		"~",
		"null",
		"true",
		"NO",
		"123",
		"1e3",
		"0x10",
		"%d",
		"@x",
		"`x",
		"a #b",
		"trailing ",
		" leading",
		"?",
		"-",
		".",
		"..",
		"\xc3\xbc",
		"\xe2\x82\xac",
		"\xf0\x9f\x98\x80",
		"\x1b[2J",
		"\x7f",
		"\xe2\x80\xa8",
		"\xef\xbb\xbf",
		"\xc2\x85",
	};

	for (size_t i = 0; i < array_size(texts); i++) {
		struct sample s, back;
		_cleanup_free_ char *text = NULL;

		sample_load_good(&s, "name: x\n");
		free(s.name);
		s.name = xstrdup(texts[i]);
		text = print(&s);
		sample_load_good(&back, text);
		cr_expect_str_eq(back.name, texts[i], "%zu: %s", i, text);
		schema_fini(&sample_schema, &s);
		schema_fini(&sample_schema, &back);
	}
}

Test(schema_print, broken_utf8_still_loads)
{
	struct sample s, back;
	_cleanup_free_ char *text = NULL;

	sample_load_good(&s, "name: x\n");
	free(s.name);
	s.name = xstrdup("a\xff\xc3(");
	text = print(&s);
	sample_load_good(&back, text);
	schema_fini(&sample_schema, &s);
	schema_fini(&sample_schema, &back);
}
