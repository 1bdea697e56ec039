/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/schema/sample.h"

#include <msgpack.h>

static struct buf b;
static struct sample s;

static void teardown(void)
{
	buf_fini(&b);
	schema_fini(&sample_schema, &s);
}

TestSuite(schema_wire, .fini = teardown);

static int write_bytes(void *data, const char *bytes, size_t len)
{
	buf_add(data, bytes, len);
	return 0;
}

static void text(msgpack_packer *pk, const char *t)
{
	msgpack_pack_str_with_body(pk, t, strlen(t));
}

/* A label, with `n` further fields to come. */
static msgpack_packer start_label(unsigned n)
{
	msgpack_packer pk;

	b.len = 0;
	msgpack_packer_init(&pk, &b, write_bytes);
	msgpack_pack_map(&pk, 2 + n);
	text(&pk, "key");
	text(&pk, "k");
	text(&pk, "value");
	text(&pk, "v");
	return pk;
}

static void refuse(const struct schema *schema, const char *want)
{
	char obj[sizeof(struct sample)];
	struct error *err = schema_unpack(schema, b.data, b.len, obj);

	cr_assert_not_null(err, "accepted, not: %s", want);
	cr_expect_eq(error_code(err), ERR_PROTOCOL);
	cr_expect_str_eq(error_message(err), want);
	error_destroy(&err);
	for (size_t i = 0; i < schema->size; i++)
		cr_assert_eq(obj[i], 0);
}

static void expect_unpacks(void)
{
	struct error *err = schema_unpack(&sample_schema, b.data, b.len, &s);

	cr_assert_null(err, "%s", error_message(err));
}

static void pack_everything(void)
{
	struct sample from;

	sample_load_good(
		&from,
		"name: x\nbs: 8k\ncount: 7\nwait: 3s\nroom: 1M\nshare: 12.5\non: no\nmode: slow\n"
		"hosts: [a, '']\nlid: {level: force, seal: wax}\nlabels: {k: v, l: w}\n"
		"items: [{name: i, hosts: [h], lid: yes}, {name: j}]\nnamed: {n: {bs: 512}}\n");
	from.raw = xcalloc(3, 1);
	from.raw[2] = 9;
	from.nr_raw = 3;
	from.delta = -5;
	from.real = 0.1;
	schema_pack(&sample_schema, &from, &b);
	schema_fini(&sample_schema, &from);
}

Test(schema_wire, every_type_comes_back)
{
	pack_everything();
	expect_unpacks();
	cr_expect_str_eq(s.name, "x");
	cr_expect_eq(s.bs, 8192);
	cr_expect_eq(s.count, 7);
	cr_expect_eq(s.wait_ns, 3000000000ull);
	cr_expect_eq(s.room, 1048576);
	cr_expect_float_eq(s.share, 12.5, 0);
	cr_expect_eq(s.on, false);
	cr_expect_eq(s.mode, MODE_SLOW);
	cr_expect_eq(s.nr_hosts, 2);
	cr_expect_str_eq(s.hosts[1], "");
	cr_expect_eq(s.lid.level, 2);
	cr_expect_str_eq(s.lid.seal, "wax");
	cr_expect_str_eq(s.labels[1].value, "w");
	cr_expect_eq(s.nr_items, 2);
	cr_expect_str_eq(s.items[0].hosts[0], "h");
	cr_expect_eq(s.items[0].lid.level, 1);
	cr_expect_eq(s.named[0].bs, 512);
	cr_expect_eq(s.nr_raw, 3);
	cr_expect_eq(s.raw[2], 9);
	cr_expect_eq(s.delta, -5);
	cr_expect_float_eq(s.real, 0.1, 0);
	cr_expect(schema_is_set(&sample_schema, &s, "room"));
}

Test(schema_wire, packing_again_gives_the_same_bytes)
{
	_cleanup_(buf_fini) struct buf again = { 0 };

	pack_everything();
	expect_unpacks();
	schema_pack(&sample_schema, &s, &again);
	cr_expect_eq(again.len, b.len);
	cr_expect_eq(memcmp(again.data, b.data, b.len), 0);
}

Test(schema_wire, optional_fields_with_their_defaults_are_not_sent)
{
	struct sample from;
	size_t longer;

	sample_load_good(&from, "name: x\nroom: 1M\nlid: yes\n");
	schema_pack(&sample_schema, &from, &b);
	longer = b.len;
	schema_fini(&sample_schema, &from);
	sample_load_good(&from, "name: x\n");
	b.len = 0;
	schema_pack(&sample_schema, &from, &b);
	schema_fini(&sample_schema, &from);
	cr_expect_lt(b.len, longer);
	expect_unpacks();
	cr_expect_eq(s.room, 0);
	cr_expect_not(schema_is_set(&sample_schema, &s, "room"));
	cr_expect_not(schema_is_set(&sample_schema, &s, "lid"));
}

Test(schema_wire, unknown_keys_are_passed_over_unless_strict)
{
	struct sample_label label;
	msgpack_packer pk = start_label(2);

	text(&pk, "later");
	msgpack_pack_array(&pk, 2);
	msgpack_pack_map(&pk, 1);
	text(&pk, "deep");
	msgpack_pack_nil(&pk);
	msgpack_pack_double(&pk, 1);
	text(&pk, "more");
	msgpack_pack_int(&pk, 1);
	cr_assert_null(schema_unpack(&sample_label_schema, b.data, b.len, &label));
	cr_expect_str_eq(label.value, "v");
	schema_fini(&sample_label_schema, &label);
	refuse(&sample_item_schema, "'key' is not known to this version of the program");
}

Test(schema_wire, missing_and_nil_fields)
{
	msgpack_packer pk = start_label(0);

	refuse(&sample_schema, "name: is missing");
	b.len = 0;
	msgpack_packer_init(&pk, &b, write_bytes);
	msgpack_pack_map(&pk, 2);
	text(&pk, "key");
	text(&pk, "k");
	text(&pk, "value");
	msgpack_pack_nil(&pk);
	refuse(&sample_label_schema, "value: is missing");
}

Test(schema_wire, a_key_given_twice)
{
	msgpack_packer pk = start_label(1);

	text(&pk, "key");
	text(&pk, "again");
	refuse(&sample_label_schema, "key: is given twice");
}

/* An item with one more field, which is wrong in the way of `value`. */
static void item_with(const char *key, void (*value)(msgpack_packer *pk), const char *want)
{
	msgpack_packer pk;

	b.len = 0;
	msgpack_packer_init(&pk, &b, write_bytes);
	msgpack_pack_map(&pk, 1);
	text(&pk, key);
	value(&pk);
	refuse(&sample_schema, want);
}

static void a_text(msgpack_packer *pk)
{
	text(pk, "text");
}

static void minus_one(msgpack_packer *pk)
{
	msgpack_pack_int(pk, -1);
}

static void three(msgpack_packer *pk)
{
	msgpack_pack_int(pk, 3);
}

static void huge(msgpack_packer *pk)
{
	msgpack_pack_uint64(pk, UINT64_MAX);
}

static void not_a_number(msgpack_packer *pk)
{
	msgpack_pack_double(pk, __builtin_nan(""));
}

static void seventeen_bytes(msgpack_packer *pk)
{
	msgpack_pack_bin_with_body(pk, "12345678901234567", 17);
}

static void text_with_nul(msgpack_packer *pk)
{
	msgpack_pack_str_with_body(pk, "a\0b", 3);
}

static void list_of_numbers(msgpack_packer *pk)
{
	msgpack_pack_array(pk, 1);
	msgpack_pack_int(pk, 1);
}

static void list_of_many(msgpack_packer *pk)
{
	msgpack_pack_array(pk, 101);
	for (int i = 0; i < 101; i++)
		msgpack_pack_map(pk, 0);
}

static void nested_mistake(msgpack_packer *pk)
{
	msgpack_pack_array(pk, 1);
	msgpack_pack_map(pk, 2);
	text(pk, "name");
	text(pk, "x");
	text(pk, "bs");
	msgpack_pack_int(pk, 5);
}

static void level_open(msgpack_packer *pk)
{
	msgpack_pack_map(pk, 1);
	text(pk, "level");
	text(pk, "opne");
}

Test(schema_wire, wrong_values_say_where)
{
	item_with("bs", a_text, "bs: is not a positive number");
	item_with("bs", minus_one, "bs: is not a positive number");
	item_with("bs", three, "bs: 3 is out of range: 512B to 1GiB");
	item_with("count", huge, "count: 18446744073709551615 is out of range: 1 to 10000");
	item_with("delta", huge, "delta: is not a whole number of 64 bits");
	item_with("share", not_a_number, "share: is not a number");
	item_with("share", huge, "share: is out of range: 0 to 100");
	item_with("on", three, "on: is not true or false");
	item_with("name", three, "name: is not a text");
	item_with("name", text_with_nul, "name: holds a NUL character");
	item_with("raw", a_text, "raw: is not a string of bytes");
	item_with("raw", seventeen_bytes, "raw: has too many bytes");
	item_with("hosts", a_text, "hosts: is not a list");
	item_with("hosts", list_of_numbers, "hosts[0]: is not a text");
	item_with("items", list_of_numbers, "items[0]: is not a map");
	item_with("items", list_of_many, "items: has 101 entries, the most is 100");
	item_with("items", nested_mistake, "items[0].bs: 5 is out of range: 512B to 1MiB");
	item_with("lid", level_open, "lid.level: 'opne' is not one of no, yes, force");
	item_with("mode", three, "mode: is not a text");
}

Test(schema_wire, bytes_that_are_no_map)
{
	static const uint8_t array[] = { 0x91, 0xc0 };
	msgpack_packer pk;

	b.len = 0;
	buf_add(&b, array, sizeof(array));
	refuse(&sample_schema, "is not a map");
	b.len = 1;
	refuse(&sample_schema, "1 bytes that are not msgpack, or nested too deep");
	b.len = 0;
	refuse(&sample_schema, "0 bytes that are not msgpack, or nested too deep");
	pk = start_label(0);
	msgpack_pack_nil(&pk);
	refuse(&sample_label_schema, "1 bytes follow the end of the map");
	msgpack_packer_init(&pk, &b, write_bytes);
	b.len = 0;
	msgpack_pack_map(&pk, 1);
	msgpack_pack_int(&pk, 1);
	msgpack_pack_int(&pk, 1);
	refuse(&sample_label_schema, "has a key that is not a text");
}

Test(schema_wire, memory_is_bounded_by_the_length)
{
	msgpack_packer pk;

	/* 60 000 empty texts cost a byte each on the wire and 48 in memory. */
	b.len = 0;
	msgpack_packer_init(&pk, &b, write_bytes);
	msgpack_pack_map(&pk, 1);
	text(&pk, "hosts");
	msgpack_pack_array(&pk, 60000);
	for (int i = 0; i < 60000; i++)
		text(&pk, "");
	{
		struct sample into;
		struct error *err = schema_unpack(&sample_schema, b.data, b.len, &into);

		cr_assert_not_null(err);
		cr_expect(strstr(error_message(err), "asks for more memory") != NULL, "%s",
			  error_message(err));
		error_destroy(&err);
	}
}

Test(schema_wire, rules_run_where_no_file_was_read)
{
	/* Objects with a fieldset were judged where their file was. */
	struct sample from;

	sample_load_good(&from, "name: x\n");
	from.mode = MODE_SLOW;
	schema_pack(&sample_schema, &from, &b);
	schema_fini(&sample_schema, &from);
	expect_unpacks();
}

Test(schema_wire, two_objects_in_one_map)
{
	struct sample_label label = { .key = (char *)"k", .value = (char *)"v" }, back;
	struct sample from;

	sample_load_good(&from, "name: x\ncount: 5\n");
	schema_pack_two(&sample_label_schema, &label, &sample_schema, &from, &b);
	schema_fini(&sample_schema, &from);
	expect_unpacks();
	cr_expect_eq(s.count, 5);
	cr_assert_null(schema_unpack(&sample_label_schema, b.data, b.len, &back));
	cr_expect_str_eq(back.value, "v");
	schema_fini(&sample_label_schema, &back);
}
