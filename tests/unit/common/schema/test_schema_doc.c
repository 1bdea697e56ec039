/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/schema/sample.h"

static char *text;
static size_t len;

static struct error *explain(const char *path)
{
	FILE *out;
	struct error *err;

	free(text);
	out = open_memstream(&text, &len);
	err = schema_explain(&sample_schema, path, out);
	fclose(out);
	return err;
}

static void teardown(void)
{
	freep(&text);
}

TestSuite(schema_doc, .fini = teardown);

Test(schema_doc, one_key)
{
	cr_expect_null(explain("bs"));
	cr_expect_str_eq(text, "bs: Block | size\n"
			       "  type: a size, 512B to 1GiB, a power of two\n"
			       "  default: 4k\n");
	cr_expect_null(explain("items.lid.level"));
	cr_expect_str_eq(text, "items.lid.level: How open\n"
			       "  one of\n"
			       "    no               closed\n"
			       "    yes              open\n"
			       "    force            broken open\n"
			       "  default: no\n");
	cr_expect_null(explain("items[3].name"));
	cr_expect_str_eq(text, "items[3].name: Its name\n"
			       "  type: a text\n"
			       "  must be given\n");
}

Test(schema_doc, objects_list_their_keys)
{
	cr_expect_null(explain("lid"));
	cr_expect(strstr(text, "short: lid: VALUE stands for lid: {level: VALUE}\n"), "%s", text);
	cr_expect(strstr(text, "    seal             What seals it\n"), "%s", text);
	cr_expect_null(explain("named"));
	cr_expect_null(strstr(text, "Its name"), "the name of a named entry is no key");
}

Test(schema_doc, unknown_keys_lead_to_the_nearest)
{
	expect_messages(explain("cuont"),
			"unknown key 'cuont' in this sample; did you mean 'count'?\n");
	expect_messages(explain("items.seal"),
			"unknown key 'seal' in this item; did you mean 'lid.seal'?\n");
	expect_messages(explain("zzz"), "unknown key 'zzz' in this sample\n");
	expect_messages(explain("delta"), "unknown key 'delta' in this sample\n");
	expect_messages(explain("bs.x"), "'bs' has no keys below it\n");
}

Test(schema_doc, markdown_has_each_table_once)
{
	FILE *out = open_memstream(&text, &len);
	const char *lid;

	schema_print_markdown(&sample_schema, out);
	fclose(out);
	cr_expect(
		strstr(text,
		       "| `bs` | a size, 512B to 1GiB, a power of two | `4k` | Block \\| size |\n"),
		"%s", text);
	cr_expect(strstr(text, "| `name` | a text | must be given | The name |\n"));
	cr_expect(strstr(text, "| `mode` | `fast`, `slow` | `fast` | How fast |\n"));
	cr_expect_null(strstr(text, "delta"));
	lid = strstr(text, "\n## lid\n");
	cr_assert_not_null(lid);
	cr_expect_null(strstr(lid + 1, "\n## lid\n"));
}

Test(schema_doc, wire_markdown_shows_what_files_do_not)
{
	const struct schema *const tables[] = { &sample_schema, &sample_lid_schema };
	FILE *out = open_memstream(&text, &len);

	schema_print_wire_markdown(tables, 2, out);
	fclose(out);
	cr_expect(strstr(text, "| `delta` | int |"), "%s", text);
	cr_expect(strstr(text, "| `raw` | bin | 16 | optional | Bytes |\n"), "%s", text);
	cr_expect(strstr(text, "| `items` | array of maps ([item](#item)) | 100 |"), "%s", text);
}
