/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/messages.h"

#include <stdio.h>

/* Every field gets a value by its table: so a new field is in the seeds by itself. */
static void fill_object(const struct schema *s, void *obj, unsigned depth);

static void *member_at(const struct field *f, void *obj)
{
	return (char *)obj + f->offset;
}

static size_t *count_at(const struct field *f, void *obj)
{
	return (size_t *)((char *)obj + f->count_offset);
}

static uint64_t some_number(const struct field *f)
{
	uint64_t n = f->min ? f->min : 4096;

	return f->max && n > f->max ? f->max : n;
}

static void fill_bytes(const struct field *f, void *obj)
{
	struct buf bytes = { 0 };
	struct hist h = { 0 };

	hist_add(&h, 90, 3);
	hist_add(&h, 100000, 90);
	hist_add(&h, 10000000, 10);
	hist_add(&h, HIST_LIMIT + 5, 1);
	hist_encode(&h, NULL, &bytes);
	hist_fini(&h);
	*(uint8_t **)member_at(f, obj) = bytes.data;
	*count_at(f, obj) = bytes.len;
}

static void fill_list(const struct field *f, void *obj, unsigned depth)
{
	enum { ENTRIES = 2 };
	char *entries = xcalloc(ENTRIES, f->sub->size);

	for (size_t i = 0; i < ENTRIES; i++)
		fill_object(f->sub, entries + i * f->sub->size, depth + 1);
	*(void **)member_at(f, obj) = entries;
	*count_at(f, obj) = ENTRIES;
}

static void fill_strlist(const struct field *f, void *obj)
{
	char **list = xcalloc(2, sizeof(char *));

	list[0] = xstrdup("node01");
	list[1] = xstrdup("node02");
	*(char ***)member_at(f, obj) = list;
	*count_at(f, obj) = 2;
}

static void fill_field(const struct field *f, void *obj, unsigned depth)
{
	switch (f->type) {
	case FIELD_BOOL:
		*(bool *)member_at(f, obj) = true;
		break;
	case FIELD_COUNT:
	case FIELD_SIZE:
	case FIELD_DURATION:
		*(uint64_t *)member_at(f, obj) = some_number(f);
		break;
	case FIELD_INT:
		*(int64_t *)member_at(f, obj) = -1;
		break;
	case FIELD_PERCENT:
	case FIELD_REAL:
		*(double *)member_at(f, obj) = 12.5;
		break;
	case FIELD_CHOICE:
		*(int *)member_at(f, obj) = f->choices[0].value;
		break;
	case FIELD_STRING:
		*(char **)member_at(f, obj) = xasprintf("some %s", f->name);
		break;
	case FIELD_STRLIST:
		fill_strlist(f, obj);
		break;
	case FIELD_BYTES:
		fill_bytes(f, obj);
		break;
	case FIELD_OBJECT:
		fill_object(f->sub, member_at(f, obj), depth + 1);
		break;
	case FIELD_LIST:
	case FIELD_MAP:
		fill_list(f, obj, depth);
		break;
	}
}

static void fill_object(const struct schema *s, void *obj, unsigned depth)
{
	assert(depth < 16);
	for (const struct field *f = s->fields; f->name; f++)
		fill_field(f, obj, depth);
}

void seed_message(enum message_type type, struct buf *out)
{
	struct message m = { .type = type, .session = 0x123456789abcdef };

	fill_object(message_schema(type), &m.hello, 0);
	/* The rule of an assignment: its members are of its targets. */
	for (size_t i = 0; type == MSG_PREPARE && i < m.prepare.nr_members; i++)
		m.prepare.members[i].target = i;
	message_encode(&m, out);
	message_fini(&m);
}

static void read_rows(const struct member_row *rows, size_t nr)
{
	struct hist sum = { 0 };

	for (size_t i = 0; i < nr; i++) {
		const struct member_row *row = &rows[i];

		/* Refused or not, what was added so far must stay usable. */
		if (hist_decode_add(&sum, row->lat, row->lat_len) &&
		    hist_decode_add(&sum, row->clat, row->clat_len) &&
		    hist_decode_add(&sum, row->slat, row->slat_len))
			assert(hist_percentile(&sum, 50) <= hist_percentile(&sum, 100));
	}
	hist_fini(&sum);
}

static void use(const struct message *m)
{
	struct error *err;

	if (m->type == MSG_SAMPLE)
		read_rows(m->sample.rows, m->sample.nr_rows);
	else if (m->type == MSG_DONE)
		read_rows(m->done.rows, m->done.nr_rows);
	if (m->type == MSG_FAILED) {
		err = failed_to_error(&m->failed);
		error_destroy(&err);
	}
}

bool try_message(const uint8_t *data, size_t len)
{
	_cleanup_(buf_fini) struct buf first = { 0 }, second = { 0 };
	struct message m, again;
	struct hist h = { 0 };
	struct error *err;

	if (!hist_decode_add(&h, data, len))
		h.overflow++;
	hist_fini(&h);
	err = message_decode(data, len, &m);
	if (err) {
		assert(error_code(err) == ERR_PROTOCOL);
		error_destroy(&err);
		return false;
	}
	use(&m);
	message_encode(&m, &first);
	message_fini(&m);
	err = message_decode(first.data, first.len, &again);
	if (err)
		fprintf(stderr, "%s\n", error_message(err));
	assert(!err);
	message_encode(&again, &second);
	message_fini(&again);
	assert(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
	return true;
}
