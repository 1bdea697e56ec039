/* SPDX-License-Identifier: Apache-2.0 */
/* schema_impl.h - what the files of common/schema share; nobody else includes it. */
#ifndef SALVO_SCHEMA_IMPL_H
#define SALVO_SCHEMA_IMPL_H

#include "common/schema/schema.h"

enum {
	SCHEMA_MAX_DEPTH = 16,
	SCHEMA_MAX_MISTAKES = 20,            /* shown; more are counted */
	SCHEMA_MAX_TEXT = 64 * 1024,         /* STRING without a max of its own */
	SCHEMA_MAX_BYTES = 16 * 1024 * 1024, /* BYTES without a max of its own */
	SCHEMA_MAX_ENTRIES = 65536,          /* lists without a max of their own */
};

/* Where we are in a tree of objects; frames live on the stack and become a text only for an error. */
struct place {
	const struct place *up;
	const char *name; /* NULL: an entry of a list */
	size_t index;
};
/* "jobs[0].bs"; "" for the root (NULL). Owned by the caller. */
char *place_text(const struct place *at) _returns_nonnull_;
/* Puts the path in front of the first error's message: "jobs[0].bs: what". NULL in, NULL out. */
struct error *place_error(const struct place *at, struct error *err) _must_check_;
/* The same for what check() of schema `s` returned, all of the list: "bs: what" becomes "jobs[0].bs: what". */
struct error *place_check_errors(const struct schema *s, const struct place *at,
				 struct error *err) _must_check_;

/* --- fields of an object ------------------------------------------------------------------------- */

static inline void *field_at(const struct field *f, const void *obj)
{
	return (char *)obj + f->offset;
}

static inline size_t *field_count(const struct field *f, const void *obj)
{
	return (size_t *)((char *)obj + f->count_offset);
}

static inline bool field_is_list(const struct field *f)
{
	return f->type == FIELD_LIST || f->type == FIELD_MAP;
}

/* Entry i of a LIST or MAP. */
static inline void *field_entry(const struct field *f, const void *obj, size_t i)
{
	return (char *)*(void **)field_at(f, obj) + i * f->sub->size;
}

void field_mark(const struct schema *s, void *obj, const struct field *f);
bool field_is_set(const struct schema *s, const void *obj, const struct field *f);
/* Frees what one field owns and zeroes it. */
void field_fini(const struct field *f, void *obj);
/* Appends an initialised entry to a LIST or MAP (with its NAME) and returns it. */
void *field_append(const struct field *f, void *obj, const char *name);
/* The entry of that NAME in a MAP, or NULL. */
void *field_map_find(const struct field *f, const void *obj, const char *name);
/* The nearest name in the table that a file may use, or NULL. */
const char *schema_guess(const struct schema *s, const char *name);
/* NULL where only a mapping will do. */
const struct field *schema_shorthand(const struct schema *s);

/* --- single values (schema_value.c) --------------------------------------------------------------- */

/* What the type is called in messages: "a size", "one of read, write"; owned. */
const char *value_kind(enum field_type type);
/* Parses a scalar into the field, range and all; the error has no path. For a STRLIST one text. */
struct error *value_parse(const struct field *f, const char *text, void *obj) _must_check_;
/* Sets the default, or zero where the table has none. The field must be empty. */
void value_set_default(const struct field *f, void *obj);
/* Does the field hold its default (zero, NULL, empty where the table has none)? Objects: all their fields, and
 * none of them given. */
bool value_is_default(const struct field *f, const void *obj);
/* The bounds of the table for whole numbers. */
struct error *value_check_number(const struct field *f, uint64_t n, const char *text) _must_check_;
struct error *value_check_count(const struct field *f, size_t n) _must_check_;
struct error *value_choice(const struct field *f, const char *text, int *ret) _must_check_;
const char *value_choice_name(const struct field *f, int value);
/* "512B to 1GiB", "at least 1", or NULL without bounds; owned. */
char *value_bounds(const struct field *f);
/* Appends a text to a STRLIST. */
void strlist_append(const struct field *f, void *obj, const char *text, size_t len);

/* --- positions (schema_positions.c) and hints (schema_hint.c) of a file that is being loaded -------- */

struct schema_positions *schema_positions_new(const char *file) _returns_nonnull_;
void schema_positions_add(struct schema_positions *p, const struct place *at, unsigned line,
			  unsigned column);
/* Notes a mistake; false when there are so many that further ones are only counted. */
bool schema_positions_add_wrong(struct schema_positions *p, const struct place *at);
/* Loading is over: makes lookups possible. */
void schema_positions_sort(struct schema_positions *p);

/* Explains a YAML syntax error by a text with unquoted brackets in that line (from 0), as in
 * `hosts: [node[01-04]]`; NULL when the line has none. The column counts from 1; owned. */
char *schema_hint_brackets(const char *text, size_t len, size_t line, size_t *ret_column);

#endif
