/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h - a table with every type of field, for the tests of common/schema. */
#ifndef SALVO_TESTS_SCHEMA_SAMPLE_H
#define SALVO_TESTS_SCHEMA_SAMPLE_H

#include "common/schema/schema.h"

#include <criterion/criterion.h>

enum sample_mode { MODE_FAST, MODE_SLOW };

struct sample_lid {
	int level;
	char *seal;
	struct fieldset set;
};

struct sample_label {
	char *key, *value;
};

struct sample_item {
	char *name;
	uint64_t bs;
	char **hosts;
	size_t nr_hosts;
	struct sample_lid lid;
	struct fieldset set;
};

struct sample {
	char *name;
	uint64_t bs, count, wait_ns, room;
	double share;
	bool on;
	int mode;
	char **hosts;
	size_t nr_hosts;
	struct sample_lid lid;
	struct sample_label *labels;
	size_t nr_labels;
	struct sample_item *items;
	size_t nr_items;
	struct sample_item *named;
	size_t nr_named;
	uint8_t *raw;
	size_t nr_raw;
	int64_t delta;
	double real;
	struct fieldset set;
};

static const struct choice sample_levels[] = {
	{ "no", 0, "closed" },
	{ "yes", 1, "open" },
	{ "force", 2, "broken open" },
	{ 0 },
};

static const struct field sample_lid_fields[] = {
	F_CHOICE(struct sample_lid, level, .choices = sample_levels, .def = "no",
		 .help = "How open"),
	F_STRING(struct sample_lid, seal, .flags = FIELD_OPTIONAL, .help = "What seals it"),
	{ 0 },
};
static const struct schema sample_lid_schema = {
	.name = "lid",
	.help = "A lid",
	.size = sizeof(struct sample_lid),
	.fields = sample_lid_fields,
	.set_offset = offsetof(struct sample_lid, set),
	.shorthand = "level",
};

static const struct field sample_label_fields[] = {
	F_STRING(struct sample_label, key, .help = "Name"),
	F_STRING(struct sample_label, value, .help = "Value"),
	{ 0 },
};
static const struct schema sample_label_schema = {
	.name = "label",
	.help = "A label",
	.size = sizeof(struct sample_label),
	.fields = sample_label_fields,
	.shorthand = "value",
};

static inline struct error *sample_item_check(const void *obj)
{
	const struct sample_item *item = obj;
	struct error *list = NULL;

	if (item->bs == 2048)
		error_append(&list, error_new(ERR_CONFIG, "bs: 2048 does not fit"));
	if (item->lid.level == 2)
		error_append(&list, error_new(ERR_CONFIG, "an item cannot be forced"));
	return list;
}

static const struct field sample_item_fields[] = {
	F_STRING(struct sample_item, name, .flags = FIELD_REQUIRED | FIELD_NONEMPTY, .max = 20,
		 .help = "Its name"),
	F_SIZE(struct sample_item, bs, .min = 512, .max = 1 << 20, .def = "4k",
	       .help = "Its block"),
	F_STRLIST(struct sample_item, hosts, nr_hosts, .max = 3, .help = "Where"),
	F_OBJECT(struct sample_item, lid, &sample_lid_schema, .help = "Its lid"),
	{ 0 },
};
static const struct schema sample_item_schema = {
	.name = "item",
	.help = "An item",
	.size = sizeof(struct sample_item),
	.fields = sample_item_fields,
	.set_offset = offsetof(struct sample_item, set),
	.check = sample_item_check,
	.strict_wire = true,
};

static inline struct error *sample_check(const void *obj)
{
	const struct sample *s = obj;

	if (s->mode == MODE_SLOW && !s->wait_ns)
		return error_new(ERR_CONFIG, "a slow one needs 'wait'");
	return NULL;
}

static const struct choice sample_modes[] = {
	{ "fast", MODE_FAST, NULL },
	{ "slow", MODE_SLOW, NULL },
	{ 0 },
};

static const struct field sample_fields[] = {
	F_STRING(struct sample, name, .flags = FIELD_REQUIRED, .help = "The name"),
	F_SIZE(struct sample, bs, .min = 512, .max = 1 << 30, .def = "4k", .flags = FIELD_POW2,
	       .help = "Block | size"),
	F_COUNT(struct sample, count, .min = 1, .max = 10000, .def = "1", .help = "How many"),
	F_DURATION(struct sample, wait, .def = "0", .help = "How long"),
	F_SIZE(struct sample, room, .min = 4096, .flags = FIELD_OPTIONAL, .help = "How much"),
	F_PERCENT(struct sample, share, .def = "50", .help = "Of the whole"),
	F_BOOL(struct sample, on, .def = "yes", .help = "Switched on"),
	F_CHOICE(struct sample, mode, .choices = sample_modes, .def = "fast", .help = "How fast"),
	F_STRLIST(struct sample, hosts, nr_hosts, .help = "Hosts"),
	F_OBJECT(struct sample, lid, &sample_lid_schema, .flags = FIELD_OPTIONAL,
		 .help = "The lid"),
	F_MAP(struct sample, labels, nr_labels, &sample_label_schema, .help = "Labels"),
	F_LIST(struct sample, items, nr_items, &sample_item_schema, .min = 1, .max = 100,
	       .help = "Items"),
	F_MAP(struct sample, named, nr_named, &sample_item_schema, .help = "Named items"),
	F_BYTES(struct sample, raw, nr_raw, .max = 16, .flags = FIELD_HIDDEN | FIELD_OPTIONAL,
		.help = "Bytes"),
	F_INT(struct sample, delta, .flags = FIELD_HIDDEN, .help = "Signed"),
	F_REAL(struct sample, real, .flags = FIELD_HIDDEN, .help = "Real"),
	{ 0 },
};
static const struct schema sample_schema = {
	.name = "sample",
	.help = "A sample of every type",
	.size = sizeof(struct sample),
	.fields = sample_fields,
	.set_offset = offsetof(struct sample, set),
	.check = sample_check,
};

/* All messages of the list, a line each. */
static inline char *sample_messages(const struct error *err)
{
	char *all = xstrdup("");

	for (; err; err = error_next(err)) {
		char *longer = xasprintf("%s%s\n", all, error_message(err));

		free(all);
		all = longer;
	}
	return all;
}

/* The messages of `err`, which is destroyed, are exactly these lines. */
static inline void expect_messages(struct error *err, const char *want)
{
	_cleanup_free_ char *got = sample_messages(err);

	cr_expect_str_eq(got, want, "got:\n%swant:\n%s", got, want);
	error_destroy(&err);
}

static inline struct error *sample_load(struct sample *s, const char *text)
{
	return schema_load_text(&sample_schema, "f", text, strlen(text), s);
}

/* Loads a text that must be right. */
static inline void sample_load_good(struct sample *s, const char *text)
{
	struct error *err = sample_load(s, text);

	cr_assert_null(err, "%s", error_message(err));
}

#endif
