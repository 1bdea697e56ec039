/* SPDX-License-Identifier: Apache-2.0 */
/* schema_wire.c - objects as msgpack maps keyed by field names.
 *
 * Design notes. Writing goes through msgpack-c. Reading does not: its unpacker reserves memory by what a header
 * claims. Here the bytes are first walked (every count and length against what is left, depth), then taken over by
 * the table, and all memory is charged against a budget that grows with the message's length.
 */
#include "common/schema/schema_impl.h"

#include "common/schema/token.h"

#include <inttypes.h>
#include <math.h>
#include <msgpack/pack.h>

/* --- writing ----------------------------------------------------------------------------------------- */

static int write_bytes(void *data, const char *bytes, size_t len)
{
	buf_add(data, bytes, len);
	return 0;
}

static void pack_text(msgpack_packer *pk, const char *text)
{
	size_t len = strlen(text);

	msgpack_pack_str(pk, len);
	msgpack_pack_str_body(pk, text, len);
}

static void pack_object(msgpack_packer *pk, const struct schema *s, const void *obj);

static void pack_field(msgpack_packer *pk, const struct field *f, const void *obj)
{
	const void *p = field_at(f, obj);
	const char *name;

	switch (f->type) {
	case FIELD_BOOL:
		*(const bool *)p ? msgpack_pack_true(pk) : msgpack_pack_false(pk);
		break;
	case FIELD_COUNT:
	case FIELD_SIZE:
	case FIELD_DURATION:
		msgpack_pack_uint64(pk, *(const uint64_t *)p);
		break;
	case FIELD_INT:
		msgpack_pack_int64(pk, *(const int64_t *)p);
		break;
	case FIELD_PERCENT:
	case FIELD_REAL:
		msgpack_pack_double(pk, *(const double *)p);
		break;
	case FIELD_CHOICE:
		name = value_choice_name(f, *(const int *)p);
		assert(name);
		pack_text(pk, name);
		break;
	case FIELD_STRING:
		pack_text(pk, *(char *const *)p);
		break;
	case FIELD_STRLIST:
		msgpack_pack_array(pk, *field_count(f, obj));
		for (size_t i = 0; i < *field_count(f, obj); i++)
			pack_text(pk, (*(char **const *)p)[i]);
		break;
	case FIELD_BYTES:
		msgpack_pack_bin(pk, *field_count(f, obj));
		msgpack_pack_bin_body(pk, *(uint8_t *const *)p, *field_count(f, obj));
		break;
	case FIELD_OBJECT:
		pack_object(pk, f->sub, p);
		break;
	case FIELD_LIST:
	case FIELD_MAP:
		msgpack_pack_array(pk, *field_count(f, obj));
		for (size_t i = 0; i < *field_count(f, obj); i++)
			pack_object(pk, f->sub, field_entry(f, obj, i));
		break;
	}
}

static bool is_packed(const struct schema *s, const void *obj, const struct field *f)
{
	if (f->type == FIELD_STRING && !*(char **)field_at(f, obj))
		return false;
	return !(f->flags & FIELD_OPTIONAL) || field_is_set(s, obj, f) || !value_is_default(f, obj);
}

static size_t count_packed(const struct schema *s, const void *obj)
{
	size_t n = 0;

	for (const struct field *f = s->fields; f->name; f++)
		n += is_packed(s, obj, f);
	return n;
}

static void pack_fields(msgpack_packer *pk, const struct schema *s, const void *obj)
{
	for (const struct field *f = s->fields; f->name; f++) {
		if (!is_packed(s, obj, f))
			continue;
		pack_text(pk, f->name);
		pack_field(pk, f, obj);
	}
}

static void pack_object(msgpack_packer *pk, const struct schema *s, const void *obj)
{
	msgpack_pack_map(pk, count_packed(s, obj));
	pack_fields(pk, s, obj);
}

void schema_pack(const struct schema *s, const void *obj, struct buf *out)
{
	msgpack_packer pk;

	msgpack_packer_init(&pk, out, write_bytes);
	pack_object(&pk, s, obj);
}

void schema_pack_two(const struct schema *head, const void *head_obj, const struct schema *s,
		     const void *obj, struct buf *out)
{
	msgpack_packer pk;

	msgpack_packer_init(&pk, out, write_bytes);
	msgpack_pack_map(&pk, count_packed(head, head_obj) + count_packed(s, obj));
	pack_fields(&pk, head, head_obj);
	pack_fields(&pk, s, obj);
}

/* --- reading by the table ----------------------------------------------------------------------------- */

/* Bytes, a place in them, and how much memory may still be taken for what they say. */
struct reader {
	struct token_reader in;
	size_t budget;
};

static struct error *refuse(const struct place *at, const char *what)
{
	return place_error(at, error_new(ERR_PROTOCOL, "%s", what));
}

static struct error *charge(struct reader *r, const struct place *at, size_t bytes)
{
	if (bytes > r->budget)
		return refuse(at, "asks for more memory than a message of its length may");
	r->budget -= bytes;
	return NULL;
}

static struct error *unpack_object(struct reader *r, const struct schema *s, void *obj,
				   const struct place *at);

static struct error *unpack_number(const struct field *f, const struct token *t, void *obj,
				   const struct place *at)
{
	char text[24];
	uint64_t *p = field_at(f, obj);
	bool unset;

	if (t->type != TOKEN_UINT)
		return refuse(at, "is not a positive number");
	*p = t->n;
	/* Fields that need not be given keep their "not given", bounds or not. */
	unset = !(f->flags & FIELD_REQUIRED) && value_is_default(f, obj);
	if (unset || (t->n >= f->min && (!f->max || t->n <= f->max) && !(f->flags & FIELD_POW2)))
		return NULL;
	snprintf(text, sizeof(text), "%" PRIu64, t->n);
	return place_error(at, value_check_number(f, t->n, text));
}

static struct error *unpack_real(const struct field *f, const struct token *t, void *obj,
				 const struct place *at)
{
	double v = t->type == TOKEN_REAL   ? t->real
		   : t->type == TOKEN_UINT ? (double)t->n
		   : t->type == TOKEN_INT  ? (double)t->i
					   : NAN;

	if (!isfinite(v))
		return refuse(at, "is not a number");
	if (f->type == FIELD_PERCENT && !(v >= 0 && v <= 100))
		return refuse(at, "is out of range: 0 to 100");
	*(double *)field_at(f, obj) = v;
	return NULL;
}

/* Takes the bytes of a text whose header has been read. */
static struct error *take_text(struct reader *r, const struct token *t, size_t max,
			       const struct place *at, char **ret)
{
	const char *text = (const char *)r->in.data + r->in.pos;
	enum { MALLOC_OVERHEAD = 32 };
	struct error *err;

	if (t->type != TOKEN_STR)
		return refuse(at, "is not a text");
	if (t->n > max)
		return place_error(at, error_new(ERR_PROTOCOL, "is longer than %zu bytes", max));
	if (memchr(text, '\0', t->n))
		return refuse(at, "holds a NUL character");
	err = charge(r, at, t->n + MALLOC_OVERHEAD);
	if (err)
		return err;
	*ret = xstrndup(text, t->n);
	r->in.pos += t->n;
	return NULL;
}

static struct error *unpack_choice(struct reader *r, const struct field *f, const struct token *t,
				   void *obj, const struct place *at)
{
	_cleanup_free_ char *text = NULL;
	struct error *err;

	for (const struct choice *c = f->choices; t->type == TOKEN_STR && c->name; c++) {
		if (strlen(c->name) != t->n || memcmp(c->name, r->in.data + r->in.pos, t->n) != 0)
			continue;
		r->in.pos += t->n;
		*(int *)field_at(f, obj) = c->value;
		return NULL;
	}
	err = take_text(r, t, 64, at, &text);
	return err ? err : place_error(at, value_choice(f, text, field_at(f, obj)));
}

static struct error *unpack_string(struct reader *r, const struct field *f, const struct token *t,
				   void *obj, const struct place *at)
{
	char **p = field_at(f, obj);

	freep(p); /* the default */
	if (!t->n && (f->flags & FIELD_NONEMPTY))
		return refuse(at, "may not be empty");
	return take_text(r, t, f->max ? f->max : SCHEMA_MAX_TEXT, at, p);
}

static struct error *unpack_bytes(struct reader *r, const struct field *f, const struct token *t,
				  void *obj, const struct place *at)
{
	struct error *err;

	if (t->type != TOKEN_BIN)
		return refuse(at, "is not a string of bytes");
	if (t->n > (f->max ? f->max : SCHEMA_MAX_BYTES))
		return refuse(at, "has too many bytes");
	err = charge(r, at, t->n);
	if (err || !t->n)
		return err;
	*(uint8_t **)field_at(f, obj) = xcalloc(t->n, 1);
	memcpy(*(uint8_t **)field_at(f, obj), r->in.data + r->in.pos, t->n);
	*field_count(f, obj) = t->n;
	r->in.pos += t->n;
	return NULL;
}

static struct error *check_entries(const struct field *f, const struct token *t,
				   const struct place *at)
{
	if (t->type != TOKEN_ARRAY)
		return refuse(at, "is not a list");
	if (t->n > SCHEMA_MAX_ENTRIES)
		return refuse(at, "has too many entries");
	if (!t->n && !(f->flags & FIELD_REQUIRED))
		return NULL;
	return place_error(at, value_check_count(f, t->n));
}

static struct error *unpack_strlist(struct reader *r, const struct field *f, const struct token *t,
				    void *obj, const struct place *at)
{
	struct error *err = check_entries(f, t, at);

	field_fini(f, obj); /* the default */
	for (size_t i = 0; !err && i < t->n; i++) {
		struct place here = { .up = at, .index = i };
		_cleanup_free_ char *text = NULL;
		struct token entry;

		if (!token_read(&r->in, &entry))
			return refuse(&here, "is cut short");
		err = take_text(r, &entry, SCHEMA_MAX_TEXT, &here, &text);
		if (!err)
			err = charge(r, &here, 2 * sizeof(char *));
		if (!err)
			strlist_append(f, obj, text, strlen(text));
	}
	return err;
}

static struct error *unpack_list(struct reader *r, const struct field *f, const struct token *t,
				 void *obj, const struct place *at)
{
	struct error *err = check_entries(f, t, at);

	for (size_t i = 0; !err && i < t->n; i++) {
		struct place here = { .up = at, .index = i };

		/* The list doubles when it is full. */
		err = charge(r, &here, 2 * f->sub->size);
		if (!err)
			err = unpack_object(r, f->sub, field_append(f, obj, NULL), &here);
	}
	return err;
}

/* Reads the value of a field, which is not nil. */
static struct error *unpack_field(struct reader *r, const struct field *f, void *obj,
				  const struct place *at)
{
	struct token t;

	if (f->type == FIELD_OBJECT)
		return unpack_object(r, f->sub, field_at(f, obj), at);
	if (!token_read(&r->in, &t))
		return refuse(at, "is cut short");
	switch (f->type) {
	case FIELD_BOOL:
		if (t.type != TOKEN_BOOL)
			return refuse(at, "is not true or false");
		*(bool *)field_at(f, obj) = t.n;
		return NULL;
	case FIELD_COUNT:
	case FIELD_SIZE:
	case FIELD_DURATION:
		return unpack_number(f, &t, obj, at);
	case FIELD_INT:
		if (t.type != TOKEN_INT && (t.type != TOKEN_UINT || t.n > INT64_MAX))
			return refuse(at, "is not a whole number of 64 bits");
		*(int64_t *)field_at(f, obj) = (int64_t)t.n;
		return NULL;
	case FIELD_PERCENT:
	case FIELD_REAL:
		return unpack_real(f, &t, obj, at);
	case FIELD_CHOICE:
		return unpack_choice(r, f, &t, obj, at);
	case FIELD_STRING:
		return unpack_string(r, f, &t, obj, at);
	case FIELD_STRLIST:
		return unpack_strlist(r, f, &t, obj, at);
	case FIELD_BYTES:
		return unpack_bytes(r, f, &t, obj, at);
	case FIELD_OBJECT:
	case FIELD_LIST:
	case FIELD_MAP:
		break;
	}
	return unpack_list(r, f, &t, obj, at);
}

/* Looks at `guess` first: fields come in the order of the table. */
static const struct field *find_key(const struct schema *s, const struct field *guess,
				    const char *key, size_t len)
{
	if (guess->name && strlen(guess->name) == len && memcmp(guess->name, key, len) == 0)
		return guess;
	for (const struct field *f = s->fields; f->name; f++)
		if (strlen(f->name) == len && memcmp(f->name, key, len) == 0)
			return f;
	return NULL;
}

static struct error *unknown_key(const struct reader *r, const struct token *key,
				 const struct place *at)
{
	int len = key->n > 64 ? 64 : (int)key->n;

	return place_error(at, error_new(ERR_PROTOCOL,
					 "'%.*s' is not known to this version of the program", len,
					 (const char *)r->in.data + r->in.pos - key->n));
}

/* Reads one key and its value. */
static struct error *unpack_pair(struct reader *r, const struct schema *s, void *obj,
				 const struct place *at, const struct field **guess, bool *seen)
{
	struct place here = { .up = at };
	const struct field *f;
	struct error *err;
	struct token key;

	if (!token_read(&r->in, &key) || key.type != TOKEN_STR)
		return refuse(at, "has a key that is not a text");
	r->in.pos += key.n;
	f = find_key(s, *guess, (const char *)r->in.data + r->in.pos - key.n, key.n);
	if (!f && s->strict_wire)
		return unknown_key(r, &key, at);
	if (!f || (token_left(&r->in) && r->in.data[r->in.pos] == 0xc0))
		return token_skip(&r->in) ? NULL : refuse(at, "is cut short");
	here.name = f->name;
	if (seen[f - s->fields])
		return refuse(&here, "is given twice");
	seen[f - s->fields] = true;
	*guess = f + 1;
	err = unpack_field(r, f, obj, &here);
	if (!err)
		field_mark(s, obj, f);
	return err;
}

/* Reads a map into an object that schema_init has made. */
static struct error *unpack_object(struct reader *r, const struct schema *s, void *obj,
				   const struct place *at)
{
	bool seen[SCHEMA_MAX_FIELDS] = { false };
	const struct field *guess = s->fields;
	struct token map;

	if (!token_read(&r->in, &map) || map.type != TOKEN_MAP)
		return refuse(at, "is not a map");
	for (size_t i = 0; i < map.n; i++) {
		struct error *err = unpack_pair(r, s, obj, at, &guess, seen);

		if (err)
			return err;
	}
	for (const struct field *f = s->fields; f->name; f++) {
		struct place here = { .up = at, .name = f->name };

		if (!seen[f - s->fields] && !(f->flags & FIELD_OPTIONAL) && !f->def)
			return refuse(&here, "is missing");
	}
	if (!s->check || s->set_offset)
		return NULL;
	return place_check_errors(s, at, s->check(obj));
}

/* Whatever the table finds wrong, the peer is to blame. */
static struct error *blame_peer(struct error *err)
{
	struct error *list = NULL, *one;

	while ((one = error_detach(&err))) {
		error_append(&list, error_new(ERR_PROTOCOL, "%s", error_message(one)));
		error_destroy(&one);
	}
	return list;
}

struct error *schema_unpack(const struct schema *s, const uint8_t *data, size_t len, void *obj)
{
	enum { MEMORY_FACTOR = 32, MEMORY_BASE = 64 * 1024 };
	struct token_reader walk = { .data = data, .len = len };
	struct reader r = { .in = walk, .budget = len * MEMORY_FACTOR + MEMORY_BASE };
	struct error *err;

	memset(obj, 0, s->size);
	if (!token_skip(&walk))
		return error_new(ERR_PROTOCOL, "%zu bytes that are not msgpack, or nested too deep",
				 len);
	if (token_left(&walk))
		return error_new(ERR_PROTOCOL, "%zu bytes follow the end of the map",
				 token_left(&walk));
	schema_init(s, obj);
	err = unpack_object(&r, s, obj, NULL);
	if (!err)
		return NULL;
	schema_fini(s, obj);
	return blame_peer(err);
}
