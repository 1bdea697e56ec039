/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/schema/sample.h"

static struct sample s;

static void setup(void)
{
	sample_load_good(&s, "name: a\nitems: [{name: x}, {name: y}]\n"
			     "named: {n: {bs: 8k}, db.example: {bs: 8k}, db: {bs: 8k}}\n");
}

static void teardown(void)
{
	schema_fini(&sample_schema, &s);
}

TestSuite(schema_set, .init = setup, .fini = teardown);

static void set(const char *path, const char *text)
{
	struct error *err = schema_set_path(&sample_schema, &s, path, text);

	cr_expect_null(err, "%s: %s", path, error_message(err));
	error_destroy(&err);
}

static void refuse(const char *path, const char *text, const char *want)
{
	struct error *err = schema_set_path(&sample_schema, &s, path, text);

	cr_assert_not_null(err, "%s=%s", path, text);
	cr_expect_str_eq(error_message(err), want);
	error_destroy(&err);
}

Test(schema_set, values_by_path)
{
	set("count", "5");
	set("items[1].bs", "16k");
	set("items[0].lid.level", "force");
	set("items[0].lid.seal", "wax");
	set("items[1].lid", "yes");
	set("named.n.bs", "512");
	set("named.db.bs", "1k");
	set("named.db.example.bs", "2k");
	cr_expect_eq(s.count, 5);
	cr_expect_eq(s.items[1].bs, 16384);
	cr_expect_eq(s.items[0].lid.level, 2);
	cr_expect_str_eq(s.items[0].lid.seal, "wax");
	cr_expect_eq(s.items[1].lid.level, 1);
	cr_expect_eq(s.named[0].bs, 512);
	cr_expect_eq(s.named[1].bs, 2048);
	cr_expect_eq(s.named[2].bs, 1024);
}

Test(schema_set, what_was_set_counts_as_given)
{
	cr_expect_not(schema_is_set(&sample_schema, &s, "lid"));
	set("lid.seal", "wax");
	cr_expect(schema_is_set(&sample_schema, &s, "lid"));
	cr_expect(schema_is_set(&sample_lid_schema, &s.lid, "seal"));
	cr_expect_not(schema_is_set(&sample_lid_schema, &s.lid, "level"));
}

Test(schema_set, lists_of_texts)
{
	set("hosts", "a");
	cr_expect_eq(s.nr_hosts, 1);
	set("hosts", "[a, \"b[1,2]\",  'c' ]");
	cr_expect_eq(s.nr_hosts, 3);
	cr_expect_str_eq(s.hosts[0], "a");
	cr_expect_str_eq(s.hosts[1], "b[1,2]");
	cr_expect_str_eq(s.hosts[2], "c");
	set("hosts", "[]");
	cr_expect_eq(s.nr_hosts, 0);
	refuse("hosts", "[a,,b]", "hosts: '[a,,b]' is not a list such as [a, b]");
	refuse("hosts", "['a]", "hosts: '['a]' is not a list such as [a, b]");
	refuse("hosts", "['a'b]", "hosts: '['a'b]' is not a list such as [a, b]");
	refuse("items[0].hosts", "[a,b,c,d]", "items[0].hosts: has 4 entries, the most is 3");
}

Test(schema_set, new_names_where_a_text_is_enough)
{
	set("labels.rack", "7");
	set("labels.a.b[0]", "dotted");
	set("labels.rack", "8");
	cr_expect_eq(s.nr_labels, 2);
	cr_expect_str_eq(s.labels[0].value, "8");
	cr_expect_str_eq(s.labels[1].key, "a.b[0]");
}

Test(schema_set, mistakes_say_where)
{
	refuse("cuont", "5", "unknown key 'cuont' in this sample; did you mean 'count'?");
	refuse("delta", "5", "unknown key 'delta' in this sample");
	refuse("count", "0", "count: 0 is out of range: 1 to 10000");
	refuse("items.bs", "4k", "items: is a list; say which entry: 'items[0]'");
	refuse("items[2].bs", "4k", "items: has 2 entries, there is no [2]");
	refuse("items[x].bs", "4k", "items: is a list; say which entry: 'items[0]'");
	refuse("items[0", "4k", "items: a ']' is missing");
	refuse("items[0]", "4k", "items[0]: is a mapping; say which key of it");
	refuse("items[0]bs", "4k", "items[0]: a '.' and a key are missing");
	refuse("items[0].sb", "4k", "items[0]: unknown key 'sb' in this item; did you mean 'bs'?");
	refuse("items", "4k", "items: expected a list, got a single value");
	refuse("named", "4k", "named: expected a mapping of names, got a single value");
	refuse("named.m.bs", "4k", "named: there is no 'm'");
	refuse("named[0].bs", "4k", "named: is a mapping; say which entry: 'named.NAME'");
	refuse("count.x", "4k", "count: has no parts that '.x' could name");
	refuse("lid.level", "open", "lid.level: 'open' is not one of no, yes, force");
	refuse("", "4k", "unknown key '' in this sample");
}

Test(schema_set, one_key_of_one_object)
{
	struct error *err = schema_set(&sample_item_schema, &s.items[0], "bs", "64k");

	cr_expect_null(err);
	cr_expect_eq(s.items[0].bs, 65536);
	expect_messages(schema_set(&sample_item_schema, &s.items[0], "bs", "1"),
			"bs: 1 is out of range: 512B to 1MiB\n");
	expect_messages(schema_set(&sample_item_schema, &s.items[0], "bx", "1"),
			"unknown key 'bx' in this item; did you mean 'bs'?\n");
}
