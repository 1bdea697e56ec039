/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/schema/sample.h"

Test(schema, init_sets_every_default)
{
	struct sample s;

	memset(&s, 0x5a, sizeof(s));
	schema_init(&sample_schema, &s);
	cr_expect_null(s.name);
	cr_expect_eq(s.bs, 4096);
	cr_expect_eq(s.count, 1);
	cr_expect_eq(s.room, 0);
	cr_expect_float_eq(s.share, 50, 0);
	cr_expect_eq(s.on, true);
	cr_expect_eq(s.lid.level, 0);
	cr_expect_eq(s.nr_items, 0);
	cr_expect_not(schema_is_set(&sample_schema, &s, "bs"));
	schema_fini(&sample_schema, &s);
}

Test(schema, fini_accepts_zeroed_objects)
{
	struct sample s = { 0 };

	schema_fini(&sample_schema, &s);
	schema_fini(&sample_schema, &s);
	cr_expect_null(s.items);
}

static const char *const everything =
	"name: x\nhosts: [a, b]\nlid: {seal: wax}\nlabels: {k: v}\n"
	"items: [{name: i, hosts: [h]}, {name: j}, {name: k}]\nnamed: {n: {bs: 8k}}\n";

Test(schema, copies_are_deep)
{
	struct sample a, b;
	static const uint8_t bytes[] = { 1, 0, 2 };

	sample_load_good(&a, everything);
	a.raw = xcalloc(3, 1);
	memcpy(a.raw, bytes, 3);
	a.nr_raw = 3;
	schema_copy(&sample_schema, &b, &a);
	cr_expect_neq(a.name, b.name);
	cr_expect_neq(a.items[0].hosts[0], b.items[0].hosts[0]);
	schema_fini(&sample_schema, &a);
	cr_expect_str_eq(b.name, "x");
	cr_expect_str_eq(b.hosts[1], "b");
	cr_expect_str_eq(b.lid.seal, "wax");
	cr_expect_str_eq(b.labels[0].value, "v");
	cr_expect_eq(b.nr_items, 3);
	cr_expect_str_eq(b.items[0].hosts[0], "h");
	cr_expect_eq(b.named[0].bs, 8192);
	cr_expect_eq(memcmp(b.raw, bytes, 3), 0);
	cr_expect(schema_is_set(&sample_schema, &b, "labels"));
	schema_fini(&sample_schema, &b);
}

Test(schema, inherit_fills_only_what_was_not_given)
{
	struct sample from, to;

	sample_load_good(&from, "name: from\nbs: 8k\nwait: 5s\nhosts: [a, b]\nlid: {seal: wax}\n"
				"items: [{name: i}]\non: no\nmode: slow\nshare: 10\n");
	sample_load_good(&to, "name: to\nbs: 16k\n");
	schema_inherit(&sample_schema, &to, &from);
	schema_fini(&sample_schema, &from);
	cr_expect_str_eq(to.name, "to");
	cr_expect_eq(to.bs, 16384);
	cr_expect_eq(to.wait_ns, 5000000000ull);
	cr_expect_eq(to.nr_hosts, 2);
	cr_expect_str_eq(to.hosts[1], "b");
	cr_expect_str_eq(to.lid.seal, "wax");
	cr_expect_str_eq(to.items[0].name, "i");
	cr_expect_eq(to.on, false);
	cr_expect_eq(to.mode, MODE_SLOW);
	cr_expect_float_eq(to.share, 10, 0);
	cr_expect_eq(to.count, 1);
	cr_expect(schema_is_set(&sample_schema, &to, "wait"));
	cr_expect_not(schema_is_set(&sample_schema, &to, "count"));
	schema_fini(&sample_schema, &to);
}

Test(schema, check_reaches_everything_and_says_where)
{
	struct sample s;

	sample_load_good(&s, everything);
	s.mode = MODE_SLOW;
	s.items[1].bs = 2048;
	s.items[1].lid.level = 2;
	s.named[0].bs = 2048;
	expect_messages(schema_check(&sample_schema, &s), "items[1].bs: 2048 does not fit\n"
							  "items[1]: an item cannot be forced\n"
							  "named.n.bs: 2048 does not fit\n"
							  "a slow one needs 'wait'\n");
	schema_fini(&sample_schema, &s);
}

Test(schema, fields_by_name)
{
	cr_expect_eq(schema_field(&sample_schema, "wait")->offset,
		     offsetof(struct sample, wait_ns));
	cr_expect_null(schema_field(&sample_schema, "wait_ns"));
	cr_expect_null(schema_field(&sample_schema, ""));
}
