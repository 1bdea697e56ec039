/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/schema/sample.h"

#include <string.h>

static struct sample s;

static void setup(void)
{
	schema_init(&sample_schema, &s);
}

static void teardown(void)
{
	schema_fini(&sample_schema, &s);
}

TestSuite(schema_value, .init = setup, .fini = teardown);

static void expect_text(const char *name, const char *text, const char *want)
{
	struct error *err = schema_set(&sample_schema, &s, name, text);
	_cleanup_free_ char *got = schema_format(schema_field(&sample_schema, name), &s);

	cr_assert_null(err, "%s", error_message(err));
	cr_expect_str_eq(got, want);
}

Test(schema_value, texts_as_a_user_would_write_them)
{
	expect_text("name", "a b", "a b");
	expect_text("bs", "65536", "64KiB");
	expect_text("count", "2k", "2000");
	expect_text("wait", "1.5s", "1500ms");
	expect_text("share", "33.3%", "33.3%");
	expect_text("share", "70", "70%");
	expect_text("on", "no", "false");
	expect_text("mode", "slow", "slow");
}

Test(schema_value, numbers_that_are_none)
{
	static const char *const texts[] = { "",    "inf", "nan", "0x10", "1e",
					     "5%%", " 5",  "-1",  "1e999" };

	for (size_t i = 0; i < array_size(texts); i++) {
		struct error *err = schema_set(&sample_schema, &s, "share", texts[i]);

		cr_expect_not_null(err, "'%s'", texts[i]);
		error_destroy(&err);
	}
	cr_expect_float_eq(s.share, 50, 0);
}

Test(schema_value, bounds_and_powers)
{
	expect_messages(schema_set(&sample_schema, &s, "bs", "511"),
			"bs: 511 is out of range: 512B to 1GiB\n");
	expect_messages(schema_set(&sample_schema, &s, "bs", "3k"),
			"bs: 3k is not a power of two\n");
	expect_messages(schema_set(&sample_schema, &s, "bs", "99999999999999999999k"),
			"bs: 99999999999999999999k is too large\n");
	expect_messages(schema_set(&sample_schema, &s, "room", "1k"),
			"room: 1k is out of range: at least 4KiB\n");
	cr_expect_eq(s.bs, 4096);
}

Test(schema_value, texts_have_limits)
{
	struct sample_item item;

	schema_init(&sample_item_schema, &item);
	expect_messages(schema_set(&sample_item_schema, &item, "name", ""),
			"name: may not be empty\n");
	expect_messages(schema_set(&sample_item_schema, &item, "name", "123456789012345678901"),
			"name: is longer than 20 bytes\n");
	cr_expect_null(schema_set(&sample_item_schema, &item, "name", "12345678901234567890"));
	schema_fini(&sample_item_schema, &item);
}

Test(schema_value, choices_guess_only_what_is_near)
{
	expect_messages(schema_set(&sample_schema, &s, "mode", "slwo"),
			"mode: 'slwo' is not one of fast, slow; did you mean 'slow'?\n");
	expect_messages(schema_set(&sample_schema, &s, "mode", "medium"),
			"mode: 'medium' is not one of fast, slow\n");
	expect_messages(schema_set(&sample_schema, &s, "mode", ""),
			"mode: '' is not one of fast, slow\n");
}
