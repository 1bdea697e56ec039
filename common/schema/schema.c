/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - objects of a table: made, copied, freed, checked. */
#include "common/schema/schema_impl.h"

/* --- places ---------------------------------------------------------------------------------------- */

static void place_write(const struct place *at, FILE *out)
{
	if (!at)
		return;
	place_write(at->up, out);
	if (at->name)
		fprintf(out, "%s%s", at->up ? "." : "", at->name);
	else
		fprintf(out, "[%zu]", at->index);
}

char *place_text(const struct place *at)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (out) {
		place_write(at, out);
		fclose(out);
	}
	return text ? text : xstrdup("");
}

struct error *place_error(const struct place *at, struct error *err)
{
	_cleanup_free_ char *path = place_text(at);

	return *path ? error_context(err, "%s", path) : err;
}

/* Does the message begin with a field of the schema, as in "bs: what" or "target[1]: what"? */
static bool speaks_of_field(const struct schema *s, const char *message)
{
	size_t len = strcspn(message, ".[: ");

	if (!message[len] || message[len] == ' ')
		return false;
	for (const struct field *f = s->fields; f->name; f++)
		if (strlen(f->name) == len && strncmp(f->name, message, len) == 0)
			return true;
	return false;
}

struct error *place_check_errors(const struct schema *s, const struct place *at, struct error *err)
{
	_cleanup_free_ char *path = place_text(at);
	struct error *list = NULL, *one;

	while ((one = error_detach(&err))) {
		const char *what = error_message(one);
		bool deeper = speaks_of_field(s, what);

		if (*path) {
			struct error *whole = error_new(error_code(one), "%s%s%s", path,
							deeper ? "." : ": ", what);

			error_destroy(&one);
			one = whole;
		}
		error_append(&list, one);
	}
	return list;
}

/* --- fields ---------------------------------------------------------------------------------------- */

static struct fieldset *fieldset_of(const struct schema *s, const void *obj)
{
	return s->set_offset ? (struct fieldset *)((char *)obj + s->set_offset) : NULL;
}

void field_mark(const struct schema *s, void *obj, const struct field *f)
{
	struct fieldset *set = fieldset_of(s, obj);
	size_t i = (size_t)(f - s->fields);

	assert(i < SCHEMA_MAX_FIELDS);
	if (set)
		set->bits[i / 64] |= 1ull << (i % 64);
}

bool field_is_set(const struct schema *s, const void *obj, const struct field *f)
{
	const struct fieldset *set = fieldset_of(s, obj);
	size_t i = (size_t)(f - s->fields);

	return set && (set->bits[i / 64] & 1ull << (i % 64));
}

const struct field *schema_field(const struct schema *s, const char *name)
{
	for (const struct field *f = s->fields; f->name; f++)
		if (streq(f->name, name))
			return f;
	return NULL;
}

bool schema_is_set(const struct schema *s, const void *obj, const char *name)
{
	const struct field *f = schema_field(s, name);

	return f && field_is_set(s, obj, f);
}

const struct field *schema_shorthand(const struct schema *s)
{
	return s->shorthand ? schema_field(s, s->shorthand) : NULL;
}

const char *schema_guess(const struct schema *s, const char *name)
{
	const char *best = NULL;
	unsigned best_d = 3;

	for (const struct field *f = s->fields; f->name; f++) {
		unsigned d = str_distance(f->name, name);

		/* Of "x" and "bs" nothing would be left of the name. */
		if (!(f->flags & FIELD_HIDDEN) && d < best_d && d < strlen(f->name)) {
			best_d = d;
			best = f->name;
		}
	}
	return best;
}

void *field_append(const struct field *f, void *obj, const char *name)
{
	void **list = field_at(f, obj);
	size_t *n = field_count(f, obj);
	void *entry;

	/* The capacity is the next power of two. */
	if ((*n & (*n - 1)) == 0)
		*list = xrealloc(*list, *n ? *n * 2 : 1, f->sub->size);
	entry = field_entry(f, obj, (*n)++);
	schema_init(f->sub, entry);
	if (name) {
		assert(f->sub->fields[0].type == FIELD_STRING);
		*(char **)field_at(f->sub->fields, entry) = xstrdup(name);
		field_mark(f->sub, entry, f->sub->fields);
	}
	return entry;
}

void *field_map_find(const struct field *f, const void *obj, const char *name)
{
	for (size_t i = 0; i < *field_count(f, obj); i++) {
		void *entry = field_entry(f, obj, i);
		const char *have = *(char **)field_at(f->sub->fields, entry);

		if (have && streq(have, name))
			return entry;
	}
	return NULL;
}

/* --- objects --------------------------------------------------------------------------------------- */

void schema_init(const struct schema *s, void *obj)
{
	memset(obj, 0, s->size);
	for (const struct field *f = s->fields; f->name; f++) {
		if (f->type == FIELD_OBJECT)
			schema_init(f->sub, field_at(f, obj));
		else
			value_set_default(f, obj);
	}
}

void field_fini(const struct field *f, void *obj)
{
	void *p = field_at(f, obj);

	switch (f->type) {
	case FIELD_STRING:
		freep(p);
		break;
	case FIELD_STRLIST:
		for (size_t i = 0; i < *field_count(f, obj); i++)
			free((*(char ***)p)[i]);
		freep(p);
		*field_count(f, obj) = 0;
		break;
	case FIELD_BYTES:
		freep(p);
		*field_count(f, obj) = 0;
		break;
	case FIELD_OBJECT:
		schema_fini(f->sub, p);
		break;
	case FIELD_LIST:
	case FIELD_MAP:
		for (size_t i = 0; i < *field_count(f, obj); i++)
			schema_fini(f->sub, field_entry(f, obj, i));
		freep(p);
		*field_count(f, obj) = 0;
		break;
	case FIELD_BOOL:
	case FIELD_COUNT:
	case FIELD_INT:
	case FIELD_SIZE:
	case FIELD_DURATION:
	case FIELD_PERCENT:
	case FIELD_REAL:
	case FIELD_CHOICE:
		break;
	}
}

void schema_fini(const struct schema *s, void *obj)
{
	for (const struct field *f = s->fields; f->name; f++)
		field_fini(f, obj);
	memset(obj, 0, s->size);
}

/* What `to` holds of the field is a plain copy of the pointers in `from`: makes it its own. */
static void field_own(const struct field *f, void *to, const void *from)
{
	size_t n;

	switch (f->type) {
	case FIELD_STRING: {
		const char *text = *(char **)field_at(f, from);

		*(char **)field_at(f, to) = text ? xstrdup(text) : NULL;
		break;
	}
	case FIELD_STRLIST:
		n = *field_count(f, from);
		*(char ***)field_at(f, to) = NULL;
		*field_count(f, to) = 0;
		for (size_t i = 0; i < n; i++) {
			const char *text = (*(char ***)field_at(f, from))[i];

			strlist_append(f, to, text, strlen(text));
		}
		break;
	case FIELD_BYTES:
		n = *field_count(f, from);
		*(uint8_t **)field_at(f, to) = n ? xcalloc(n, 1) : NULL;
		if (n)
			memcpy(*(uint8_t **)field_at(f, to), *(uint8_t **)field_at(f, from), n);
		break;
	case FIELD_OBJECT:
		schema_copy(f->sub, field_at(f, to), field_at(f, from));
		break;
	case FIELD_LIST:
	case FIELD_MAP:
		n = *field_count(f, from);
		*(void **)field_at(f, to) = NULL;
		*field_count(f, to) = 0;
		for (size_t i = 0; i < n; i++)
			schema_copy(f->sub, field_append(f, to, NULL), field_entry(f, from, i));
		break;
	case FIELD_BOOL:
	case FIELD_COUNT:
	case FIELD_INT:
	case FIELD_SIZE:
	case FIELD_DURATION:
	case FIELD_PERCENT:
	case FIELD_REAL:
	case FIELD_CHOICE:
		break;
	}
}

void schema_copy(const struct schema *s, void *to, const void *from)
{
	memcpy(to, from, s->size);
	for (const struct field *f = s->fields; f->name; f++)
		field_own(f, to, from);
}

/* How many bytes of the struct the field itself takes, without its count. */
static size_t field_bytes(const struct field *f)
{
	switch (f->type) {
	case FIELD_BOOL:
		return sizeof(bool);
	case FIELD_CHOICE:
		return sizeof(int);
	case FIELD_OBJECT:
		return f->sub->size;
	case FIELD_COUNT:
	case FIELD_INT:
	case FIELD_SIZE:
	case FIELD_DURATION:
	case FIELD_PERCENT:
	case FIELD_REAL:
		return sizeof(uint64_t);
	case FIELD_STRING:
	case FIELD_STRLIST:
	case FIELD_BYTES:
	case FIELD_LIST:
	case FIELD_MAP:
		break;
	}
	return sizeof(void *);
}

void schema_inherit(const struct schema *s, void *to, const void *from)
{
	assert(s->set_offset);
	for (const struct field *f = s->fields; f->name; f++) {
		if (!field_is_set(s, from, f) || field_is_set(s, to, f))
			continue;
		field_fini(f, to);
		memcpy(field_at(f, to), field_at(f, from), field_bytes(f));
		field_own(f, to, from);
		if (f->type == FIELD_BYTES)
			*field_count(f, to) = *field_count(f, from);
		field_mark(s, to, f);
	}
}

/* --- checking --------------------------------------------------------------------------------------- */

static struct error *check_object(const struct schema *s, const void *obj, const struct place *at,
				  const struct schema_positions *loaded)
{
	_cleanup_free_ char *path = place_text(at);
	struct error *list = NULL;

	for (const struct field *f = s->fields; f->name; f++) {
		struct place here = { .up = at, .name = f->name };

		if (f->type == FIELD_OBJECT)
			error_append(&list, check_object(f->sub, field_at(f, obj), &here, loaded));
		for (size_t i = 0; field_is_list(f) && i < *field_count(f, obj); i++) {
			const void *entry = field_entry(f, obj, i);
			struct place place = { .up = &here, .index = i };

			if (f->type == FIELD_MAP)
				place.name = *(char **)field_at(f->sub->fields, entry);
			error_append(&list, check_object(f->sub, entry, &place, loaded));
		}
	}
	if (s->check && !(loaded && schema_positions_wrong(loaded, path)))
		error_append(&list, place_check_errors(s, at, s->check(obj)));
	return list;
}

struct error *schema_check(const struct schema *s, const void *obj)
{
	return check_object(s, obj, NULL, NULL);
}

struct error *schema_positions_check(const struct schema_positions *p, const struct schema *s,
				     const void *obj)
{
	return check_object(s, obj, NULL, p);
}
