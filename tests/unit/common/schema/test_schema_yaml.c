/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/schema/sample.h"

static void expect_mistakes(const char *text, const char *want)
{
	struct sample s;

	memset(&s, 0x5a, sizeof(s));
	expect_messages(sample_load(&s, text), want);
	for (size_t i = 0; i < sizeof(s); i++)
		cr_assert_eq(((const char *)&s)[i], 0, "not zeroed after a mistake");
}

Test(schema_yaml, every_type_is_read)
{
	struct sample s;

	sample_load_good(&s, "name: x\n"
			     "bs: 8k\n"
			     "count: 2k\n"
			     "wait: 1.5s\n"
			     "room: 1MB\n"
			     "share: 12.5%\n"
			     "on: no\n"
			     "mode: slow\n"
			     "hosts: [a, \"b[1-2]\"]\n"
			     "lid: {level: force, seal: wax}\n"
			     "labels: {rack: a, \"my key\": b c}\n"
			     "items:\n"
			     "  - {name: i0, hosts: one, lid: yes}\n"
			     "  - name: i1\n"
			     "    bs: 1k\n"
			     "named:\n"
			     "  n0: {bs: 512}\n");
	cr_expect_str_eq(s.name, "x");
	cr_expect_eq(s.bs, 8192);
	cr_expect_eq(s.count, 2000);
	cr_expect_eq(s.wait_ns, 1500000000);
	cr_expect_eq(s.room, 1000000);
	cr_expect_float_eq(s.share, 12.5, 0);
	cr_expect_eq(s.on, false);
	cr_expect_eq(s.mode, MODE_SLOW);
	cr_expect_eq(s.nr_hosts, 2);
	cr_expect_str_eq(s.hosts[1], "b[1-2]");
	cr_expect_eq(s.lid.level, 2);
	cr_expect_str_eq(s.lid.seal, "wax");
	cr_expect_eq(s.nr_labels, 2);
	cr_expect_str_eq(s.labels[1].key, "my key");
	cr_expect_str_eq(s.labels[1].value, "b c");
	cr_expect_eq(s.nr_items, 2);
	cr_expect_str_eq(s.items[0].hosts[0], "one");
	cr_expect_eq(s.items[0].lid.level, 1);
	cr_expect_eq(s.items[0].bs, 4096);
	cr_expect_eq(s.items[1].bs, 1024);
	cr_expect_str_eq(s.named[0].name, "n0");
	cr_expect_eq(s.named[0].bs, 512);
	schema_fini(&sample_schema, &s);
}

Test(schema_yaml, given_is_told_from_default)
{
	struct sample s;

	sample_load_good(&s, "name: x\nbs: 4k\nlid: no\n");
	cr_expect(schema_is_set(&sample_schema, &s, "name"));
	cr_expect(schema_is_set(&sample_schema, &s, "bs"));
	cr_expect(schema_is_set(&sample_schema, &s, "lid"));
	cr_expect(schema_is_set(&sample_lid_schema, &s.lid, "level"));
	cr_expect_not(schema_is_set(&sample_lid_schema, &s.lid, "seal"));
	cr_expect_not(schema_is_set(&sample_schema, &s, "count"));
	cr_expect_not(schema_is_set(&sample_schema, &s, "nonsense"));
	schema_fini(&sample_schema, &s);
}

Test(schema_yaml, all_mistakes_at_once_in_file_order)
{
	expect_mistakes("nmae: x\n"
			"bs: 4x\n"
			"wait: 30\n"
			"items:\n"
			"  - {name: a, bs: 100}\n"
			"  - bs: 8k\n"
			"    hosts: [a, {b: c}]\n"
			"mode: fsat\n"
			"on: maybe\n"
			"share: 101\n"
			"bs: 8k\n",
			"f:1:1: unknown key 'nmae'; did you mean 'name'?\n"
			"f:1:1: missing key 'name' (The name)\n"
			"f:2:5: bs: '4x' is not a size; write for example 4k, 1MiB or 512\n"
			"f:3:7: wait: '30' needs a unit; write for example 30s or 30ms\n"
			"f:5:19: items[0].bs: 100 is out of range: 512B to 1MiB\n"
			"f:6:5: items[1]: missing key 'name' (Its name)\n"
			"f:7:16: items[1].hosts[1]: expected a text, got a mapping; a text with "
			"brackets must be quoted\n"
			"f:8:7: mode: 'fsat' is not one of fast, slow; did you mean 'fast'?\n"
			"f:9:5: on: 'maybe' is not true or false\n"
			"f:10:8: share: 101 is out of range: 0 to 100\n"
			"f:11:1: bs: is given twice\n");
}

Test(schema_yaml, wrong_kinds_in_words)
{
	expect_mistakes("name: [a]\n"
			"bs: {a: b}\n"
			"hosts: {a: b}\n"
			"labels: [a]\n"
			"items: 5\n"
			"named: x\n"
			"lid: [a, b]\n",
			"f:1:7: name: expected a text, got a list\n"
			"f:2:5: bs: expected a size, got a mapping\n"
			"f:3:8: hosts: expected a list of texts or one text, got a mapping\n"
			"f:4:9: labels: expected a mapping of names, got a list\n"
			"f:5:8: items: expected a list, got a single value\n"
			"f:6:8: named: expected a mapping of names, got a single value\n"
			"f:7:6: lid: expected a name, got a list\n");
	expect_mistakes("- a\n", "f:1:1: expected a mapping of sample keys, got a list\n");
	expect_mistakes("name: a\nitems: [b]\n",
			"f:2:9: items[0]: expected a mapping of item keys, got a single value\n");
}

Test(schema_yaml, nothing_behind_a_key)
{
	expect_mistakes("name:\nbs: ~\nhosts:\nitems: null\n",
			"f:1:6: name: has no value; write one, or leave the key out\n"
			"f:2:5: bs: has no value; write one, or leave the key out\n"
			"f:3:7: hosts: expected a list of texts or one text, got nothing\n"
			"f:4:8: items: expected a list, got nothing\n");
	expect_mistakes("", "f: the file is empty\n");
	expect_mistakes("# only a remark\n", "f: the file is empty\n");
}

Test(schema_yaml, quoted_words_are_texts)
{
	struct sample s;

	sample_load_good(&s, "name: \"null\"\nhosts: [\"\", '~']\n");
	cr_expect_str_eq(s.name, "null");
	cr_expect_str_eq(s.hosts[0], "");
	cr_expect_str_eq(s.hosts[1], "~");
	schema_fini(&sample_schema, &s);
}

Test(schema_yaml, booleans_are_four_words)
{
	expect_mistakes("name: a\non: on\n", "f:2:5: on: 'on' is not true or false\n");
	expect_mistakes("name: a\non: 1\n", "f:2:5: on: '1' is not true or false\n");
	expect_mistakes("name: a\non: True\n", "f:2:5: on: 'True' is not true or false\n");
}

Test(schema_yaml, hidden_fields_are_no_keys)
{
	expect_mistakes("name: a\ndelta: 5\n", "f:2:1: unknown key 'delta' in this sample\n");
	/* The name of a named entry is not a key of it either. */
	expect_mistakes("name: a\nnamed: {n: {name: m}}\n",
			"f:2:13: named.n.name: is given twice\n");
}

Test(schema_yaml, names_given_twice)
{
	expect_mistakes("name: a\nlabels: {a: b, c: d, a: e}\n",
			"f:2:22: labels: 'a' is given twice\n");
}

Test(schema_yaml, bounds_of_lists)
{
	expect_mistakes("name: a\nitems: []\n", "f:2:8: items: needs at least 1 entry\n");
	expect_mistakes("name: a\nitems: [{name: b, hosts: [a, b, c, d]}]\n",
			"f:2:26: items[0].hosts: has 4 entries, the most is 3\n");
}

Test(schema_yaml, rules_run_when_the_object_is_right)
{
	expect_mistakes("name: a\nitems: [{name: b}, {name: c, bs: 2k}]\nmode: slow\n",
			"f:1:1: a slow one needs 'wait'\n"
			"f:2:34: items[1].bs: 2048 does not fit\n");
	expect_mistakes(
		"name: a\nitems: [{name: b, lid: force}]\nnamed: {x: {bs: 2k, lid: force}}\n",
		"f:2:9: items[0]: an item cannot be forced\n"
		"f:3:12: named.x: an item cannot be forced\n"
		"f:3:17: named.x.bs: 2048 does not fit\n");
	/* Of an object with mistakes no rule is tried. */
	expect_mistakes("name: a\nitems: [{name: b, bs: 2k, nmae: c}]\n",
			"f:2:27: items[0]: unknown key 'nmae'; did you mean 'name'?\n");
}

Test(schema_yaml, more_than_twenty_are_counted)
{
	char text[2048] = "name: a\n", want[4096] = "";
	struct sample s;

	for (int i = 0; i < 27; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "key%d: 1\n", i);
		if (i < 20)
			snprintf(want + strlen(want), sizeof(want) - strlen(want),
				 "f:%d:1: unknown key 'key%d' in this sample\n", i + 2, i);
	}
	snprintf(want + strlen(want), sizeof(want) - strlen(want), "f: and 7 more\n");
	expect_messages(sample_load(&s, text), want);
}

Test(schema_yaml, syntax_errors_have_a_place)
{
	expect_mistakes(
		"name: a\nitems:\n  - name: b\n   bs: 4k\n",
		"f:4:4: not valid YAML: did not find expected '-' indicator while parsing a block "
		"collection\n");
	expect_mistakes("name: \"a\n",
			"f:2:1: not valid YAML: found unexpected end of stream while "
			"scanning a quoted scalar\n");
	expect_mistakes("name: a\n---\nname: b\n",
			"f:3:1: a second document begins here; a file holds one\n");
	expect_mistakes("name: !x a\n", "f:1:7: name: tags such as '!x' have no meaning here\n");
	expect_mistakes("name: \"a\\0b\"\n", "f:1:7: name: holds a NUL character\n");
	expect_mistakes("name: a\nhosts: *nobody\n",
			"f:2:8: not valid YAML: found undefined alias\n");
}

Test(schema_yaml, unquoted_brackets_are_explained)
{
	expect_mistakes("name: a\nhosts: [initiator[01-04]]\n",
			"f:2:9: host names with brackets must be quoted: hosts: "
			"[\"initiator[01-04]\"]\n");
	expect_mistakes(
		"name: a\nhosts: [fe80::1]:7600\n",
		"f:2:8: host names with brackets must be quoted: hosts: [\"[fe80::1]:7600\"]\n");
}

Test(schema_yaml, aliases_work_and_cannot_blow_up)
{
	struct sample s;
	_cleanup_free_ char *text = xcalloc(64000, 1);
	struct error *err;

	sample_load_good(&s, "name: a\nitems: [&i {name: b, bs: 8k}, *i]\n");
	cr_expect_eq(s.items[1].bs, 8192);
	schema_fini(&sample_schema, &s);

	/* 4000 names, each an item that names the same 5000 hosts: 20 million values in 60 KB. */
	strcpy(text, "name: a\nhosts: &h [");
	for (int i = 0; i < 5000; i++)
		strcat(text, "a,");
	strcat(text, "b]\nnamed:\n  n: &n {hosts: *h}\n");
	for (int i = 0; i < 4000; i++)
		snprintf(text + strlen(text), 20, "  n%d: *n\n", i);
	err = sample_load(&s, text);
	cr_assert_not_null(err);
	while (error_next(err))
		error_destroy(&(struct error *) { error_detach(&err) });
	cr_expect(strstr(error_message(err), "more") != NULL, "%s", error_message(err));
	error_destroy(&err);
}

Test(schema_yaml, an_alias_within_its_own_anchor_ends)
{
	struct sample s;
	struct error *err = sample_load(&s, "name: a\nlabels: &l {a: *l}\n");

	cr_expect_not_null(err);
	error_destroy(&err);
}

Test(schema_yaml, files_are_read_and_limited)
{
	char path[] = "/tmp/salvo-test-XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	struct sample s;
	char want[100];

	fputs("name: from file\n", f);
	fflush(f);
	cr_assert_null(schema_load_file(&sample_schema, path, &s));
	cr_expect_str_eq(s.name, "from file");
	schema_fini(&sample_schema, &s);
	for (int i = 0; i < 1024 * 1024; i++)
		fputc('#', f);
	fclose(f);
	snprintf(want, sizeof(want), "%s: is larger than 1MiB\n", path);
	expect_messages(schema_load_file(&sample_schema, path, &s), want);
	remove(path);
	snprintf(want, sizeof(want), "%s: cannot open: No such file or directory\n", path);
	expect_messages(schema_load_file(&sample_schema, path, &s), want);
	expect_messages(schema_load_file(&sample_schema, "/", &s),
			"/: cannot read: Is a directory\n");
}

/* libyaml takes time by the square of their number. */
Test(schema_yaml, brackets_nested_without_end_are_refused_at_once)
{
	enum { NR = 100000 };
	_cleanup_free_ char *text = xcalloc(NR + 1, 1);

	memset(text, '[', NR);
	expect_mistakes(text, "f: brackets are nested more than 100 deep\n");
	memset(text, '{', NR);
	expect_mistakes(text, "f: brackets are nested more than 100 deep\n");
}
