/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/schema/sample.h"

struct loaded {
	struct sample s;
	struct schema_positions *positions;
	struct error *err;
};

static void load(struct loaded *l, const char *text)
{
	l->err = schema_load_text_at(&sample_schema, "f", text, strlen(text), &l->s, &l->positions);
}

static void finish(struct loaded *l, const char *want)
{
	schema_positions_render(l->positions, &l->err);
	schema_positions_destroy(&l->positions);
	cr_expect_null(l->positions);
	schema_fini(&sample_schema, &l->s);
	expect_messages(l->err, want);
}

Test(schema_positions, later_mistakes_join_in_file_order)
{
	struct loaded l;

	load(&l,
	     "name: a\nnmae: b\nitems:\n  - {name: x, bs: 8k}\n  - {name: y}\nlid: {level: yes}\n");
	cr_assert_not_null(l.positions);
	error_append(&l.err, error_new(ERR_CONFIG, "lid.level: too open"));
	error_append(&l.err, error_new(ERR_CONFIG, "items[1].bs: not in the file, its item is"));
	error_append(&l.err, error_new(ERR_CONFIG, "items[0].bs: too large"));
	error_append(&l.err, error_new(ERR_CONFIG, "count: nowhere in the file"));
	error_append(&l.err, error_new(ERR_CONFIG, "no path at all"));
	error_append(&l.err, error_new(ERR_CONFIG, "--set items[7].bs=4k: no such item"));
	finish(&l, "f:1:1: count: nowhere in the file\n"
		   "f:1:1: no path at all\n"
		   "f:2:1: unknown key 'nmae'; did you mean 'name'?\n"
		   "f:4:19: items[0].bs: too large\n"
		   "f:5:5: items[1].bs: not in the file, its item is\n"
		   "f:6:14: lid.level: too open\n"
		   "--set items[7].bs=4k: no such item\n");
}

Test(schema_positions, loading_leaves_rules_to_the_caller)
{
	struct loaded l;

	load(&l, "name: a\nmode: slow\nitems: [{name: x, bs: 2k}]\n");
	cr_expect_null(l.err);
	error_append(&l.err, schema_positions_check(l.positions, &sample_schema, &l.s));
	finish(&l, "f:1:1: a slow one needs 'wait'\n"
		   "f:3:23: items[0].bs: 2048 does not fit\n");
}

Test(schema_positions, wrong_parts_are_known_and_keep_their_defaults)
{
	struct loaded l;

	load(&l, "name: a\nbs: 4x\nitems: [{name: x, bs: 2}, {name: y}]\nlabels: {k: [a]}\n");
	cr_expect_eq(l.s.bs, 4096);
	cr_expect_eq(l.s.items[0].bs, 4096);
	cr_expect(schema_positions_wrong(l.positions, ""));
	cr_expect(schema_positions_wrong(l.positions, "bs"));
	cr_expect(schema_positions_wrong(l.positions, "items"));
	cr_expect(schema_positions_wrong(l.positions, "items[0]"));
	cr_expect(schema_positions_wrong(l.positions, "items[0].bs"));
	cr_expect(schema_positions_wrong(l.positions, "labels.k"));
	cr_expect_not(schema_positions_wrong(l.positions, "b"));
	cr_expect_not(schema_positions_wrong(l.positions, "items[0].name"));
	cr_expect_not(schema_positions_wrong(l.positions, "items[1]"));
	finish(&l, "f:2:5: bs: '4x' is not a size; write for example 4k, 1MiB or 512\n"
		   "f:3:23: items[0].bs: 2 is out of range: 512B to 1MiB\n"
		   "f:4:13: labels.k: expected a text, got a list\n");
}

Test(schema_positions, none_without_yaml)
{
	struct loaded l;

	load(&l, "a: [\n");
	cr_expect_null(l.positions);
	cr_expect_not_null(l.err);
	error_destroy(&l.err);
	schema_positions_destroy(&l.positions);
}
