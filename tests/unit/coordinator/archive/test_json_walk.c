/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/json_walk.h"

#include "common/base/str.h"

#include <criterion/criterion.h>

/* Elements of lists, added up; objects in them are walked for their "n". */
static void add_element(struct json_walk *w, void *obj)
{
	json_t *value = walk_value(w);

	if (value && !json_is_integer(value))
		walk_fail(w, "is no number");
	*(json_int_t *)obj += json_integer_value(value);
	json_decref(value);
}

static void add_list(struct json_walk *w, void *obj)
{
	walk_list(w, add_element, obj);
}

static const struct walk_part parts[] = { { "list", add_list }, { NULL } };

static json_t *walk(const char *text, json_int_t *sum, struct error **err)
{
	struct json_walk w = { .name = "f", .text = text, .len = strlen(text) };
	json_t *own;

	*sum = 0;
	own = walk_object(&w, parts, sum);
	*err = walk_end(&w);
	return own;
}

Test(json_walk, parts_are_walked_and_the_rest_is_a_tree)
{
	struct error *err;
	json_int_t sum;
	json_t *own = walk("\n{ \"a\" : [1, {\"b\":2}], \"list\":[ 1,2 ,40 ], \"c\":\"x\"}\n", &sum,
			   &err);

	cr_assert_null(err);
	cr_expect_eq(sum, 43);
	cr_expect_eq(json_object_size(own), 2);
	cr_expect_eq(json_array_size(json_object_get(own, "a")), 2);
	cr_expect_str_eq(json_string_value(json_object_get(own, "c")), "x");
	json_decref(own);
}

Test(json_walk, empty_lists_and_objects)
{
	struct error *err;
	json_int_t sum;
	json_t *own = walk("{\"list\":[]}", &sum, &err);

	cr_assert_null(err);
	cr_expect_eq(json_object_size(own), 0);
	json_decref(own);
	own = walk("{}", &sum, &err);
	cr_expect_null(err);
	json_decref(own);
}

Test(json_walk, errors_have_the_path_and_the_line)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{\"list\":[1,\"x\"]}", "f: list[1]: is no number" },
		{ "{\"list\":[1,\n2 3]}", "f: list: line 2: no ','" },
		{ "{\"list\":[1,2", "f: list: the file ends in the middle of it; is it whole?" },
		{ "{\"list\":[1,]}", "f: list[1]: line 1: unexpected token near ']'" },
		{ "{\"list\":[,]}", "f: list[0]: line 1: " },
		{ "{\"list\":1}", "f: list: line 1: no '['" },
		{ "{\"a\":1,\n\"a\":2}", "f: a: is given twice" },
		{ "{\"a\":{\"b\":1,\n\"b\":2}}", "f: a: line 2: duplicate object key" },
		{ "{\"a\"\n1}", "f: line 2: no ':'" },
		{ "{1:2}", "f: line 1: a key is no text" },
		{ "{\"a\":1}x", "f: line 1: something follows after the end" },
		{ "", "f: the file ends in the middle of it" },
	};

	for (size_t i = 0; i < array_size(cases); i++) {
		struct error *err;
		json_int_t sum;
		json_t *own = walk(cases[i].text, &sum, &err);

		cr_assert_not_null(err, "%s", cases[i].text);
		cr_expect(str_starts(error_message(err), cases[i].want), "'%s' instead of '%s'",
			  error_message(err), cases[i].want);
		json_decref(own);
		error_destroy(&err);
	}
}

Test(json_walk, finds_a_key_behind_what_it_passes_over)
{
	const char *text = "{\"a\":\"}]\\\"{\",\"b\":[{\"key\":1},[]],\"key\":7}";
	struct json_walk w = { .name = "f", .text = text, .len = strlen(text) };
	json_t *value;

	cr_assert(walk_find(&w, "key"));
	value = walk_value(&w);
	cr_expect_eq(json_integer_value(value), 7);
	json_decref(value);
	w = (struct json_walk) { .name = "f", .text = text, .len = strlen(text) };
	cr_expect_not(walk_find(&w, "none"));
	cr_expect_null(w.err);
	w = (struct json_walk) { .name = "f", .text = text, .len = 12 };
	cr_expect_not(walk_find(&w, "key"));
	cr_assert_not_null(w.err);
	error_destroy(&w.err);
}

Test(json_walk, a_value_that_is_too_large_is_refused)
{
	size_t len = WALK_TREE_MAX + 100;
	char *text = xcalloc(1, len + 1);
	struct json_walk w = { .name = "f", .text = text, .len = len };
	json_int_t sum = 0;
	struct error *err;
	json_t *own;

	memset(text, ' ', len);
	memcpy(text, "{\"a\":[", 6);
	memcpy(text + len - 2, "]}", 2);
	own = walk_object(&w, parts, &sum);
	err = walk_end(&w);
	cr_expect_null(own);
	cr_assert_not_null(err);
	cr_expect_not_null(strstr(error_message(err), "is larger than this program reads"));
	error_destroy(&err);
	free(text);
}

Test(json_walk, long_paths_are_cut)
{
	char text[2000] = "{\"";
	struct error *err;
	json_int_t sum;
	json_t *own;

	memset(text + 2, 'x', 1500);
	strcat(text, "\":tru}");
	own = walk(text, &sum, &err);
	cr_expect_null(own);
	cr_assert_not_null(err);
	error_destroy(&err);
}
