/* SPDX-License-Identifier: Apache-2.0 */
/* schema_set.c - single values changed by name or by path, as in --set KEY=VALUE. */
#include "common/schema/schema_impl.h"

static struct error *unknown_key(const struct schema *s, const char *name)
{
	const char *guess = schema_guess(s, name);

	if (guess)
		return error_new(ERR_CONFIG, "unknown key '%s' in this %s; did you mean '%s'?",
				 name, s->name, guess);
	return error_new(ERR_CONFIG, "unknown key '%s' in this %s", name, s->name);
}

static const struct field *key_of(const struct schema *s, const char *name, struct error **ret_err)
{
	const struct field *f = schema_field(s, name);

	if (f && !(f->flags & FIELD_HIDDEN))
		return f;
	*ret_err = unknown_key(s, name);
	return NULL;
}

/* Takes one entry of "[a, 'b c']" off, without its blanks and quotes; NULL when it is broken. */
static const char *take_entry(const struct field *f, void *obj, const char *p, const char *end)
{
	const char *stop, *next;

	while (p < end && *p == ' ')
		p++;
	if (p < end && (*p == '"' || *p == '\'')) {
		stop = memchr(p + 1, *p, (size_t)(end - p - 1));
		if (!stop)
			return NULL;
		strlist_append(f, obj, p + 1, (size_t)(stop - p - 1));
		next = stop + 1 + strspn(stop + 1, " ");
		return next == end ? end : *next == ',' ? next + 1 : NULL;
	}
	next = memchr(p, ',', (size_t)(end - p));
	stop = next ? next : end;
	while (stop > p && stop[-1] == ' ')
		stop--;
	if (stop == p)
		return NULL;
	strlist_append(f, obj, p, (size_t)(stop - p));
	return next ? next + 1 : end;
}

static struct error *set_strlist(const struct field *f, void *obj, const char *text)
{
	size_t len = strlen(text);
	const char *p = text + 1, *end = text + len - 1;

	if (len < 2 || *text != '[' || *end != ']')
		return value_parse(f, text, obj);
	field_fini(f, obj);
	while (p < end) {
		p = take_entry(f, obj, p, end);
		if (!p)
			return error_new(ERR_CONFIG, "'%s' is not a list such as [a, b]", text);
	}
	return value_check_count(f, *field_count(f, obj));
}

/* Writes a text into a field, an object's by its shorthand. */
static struct error *set_field(const struct schema *s, void *obj, const struct field *f,
			       const char *text)
{
	struct error *err;

	if (f->type == FIELD_OBJECT && schema_shorthand(f->sub))
		err = set_field(f->sub, field_at(f, obj), schema_shorthand(f->sub), text);
	else if (f->type == FIELD_STRLIST)
		err = set_strlist(f, obj, text);
	else
		err = value_parse(f, text, obj);
	if (!err)
		field_mark(s, obj, f);
	return err;
}

struct error *schema_set(const struct schema *s, void *obj, const char *name, const char *text)
{
	struct error *err = NULL;
	const struct field *f = key_of(s, name, &err);

	return f ? error_context(set_field(s, obj, f, text), "%s", name) : err;
}

/* The next part of a path up to '.', '[' or ']'; what follows is left in *path. */
static char *next_part(const char **path)
{
	size_t len = strcspn(*path, ".[]");
	char *part = xstrndup(*path, len);

	*path += len;
	return part;
}

static struct error *set_path(const struct schema *s, void *obj, const char *path,
			      const struct place *up, const char *text);

/* "[3].bs" of a list. */
static struct error *set_in_list(const struct field *f, void *obj, const char *path,
				 const struct place *up, const char *text)
{
	size_t n = *field_count(f, obj);
	struct place at = { .up = up };
	char *end;

	if (path[0] != '[' || path[1] < '0' || path[1] > '9')
		return place_error(
			up, error_new(ERR_CONFIG, "is a list; say which entry: '%s[0]'", f->name));
	at.index = strtoul(path + 1, &end, 10);
	if (*end != ']')
		return place_error(up, error_new(ERR_CONFIG, "a ']' is missing"));
	if (at.index >= n)
		return place_error(up, error_new(ERR_CONFIG, "has %zu entr%s, there is no [%zu]", n,
						 n == 1 ? "y" : "ies", at.index));
	return set_path(f->sub, field_entry(f, obj, at.index), end + 1, &at, text);
}

/* The entry whose NAME the path begins with (names may hold dots), the longest of them. */
static void *find_by_prefix(const struct field *f, const void *obj, const char *path,
			    size_t *ret_len)
{
	void *best = NULL;

	*ret_len = 0;
	for (size_t i = 0; i < *field_count(f, obj); i++) {
		void *entry = field_entry(f, obj, i);
		const char *name = *(char **)field_at(f->sub->fields, entry);
		size_t len = strlen(name);

		if (!str_starts(path, name) || (path[len] && path[len] != '.') || len < *ret_len)
			continue;
		*ret_len = len;
		best = entry;
	}
	return best;
}

/* ".lun0.size" of a map; where entries have a shorthand, all of the rest is the NAME. */
static struct error *set_in_map(const struct field *f, void *obj, const char *path,
				const struct place *up, const char *text)
{
	bool plain = schema_shorthand(f->sub) != NULL;
	_cleanup_free_ char *name = NULL;
	struct place at = { .up = up };
	void *entry;
	size_t len;

	if (path[0] != '.' || !path[1])
		return place_error(
			up,
			error_new(ERR_CONFIG, "is a mapping; say which entry: '%s.NAME'", f->name));
	path++;
	entry = plain ? field_map_find(f, obj, path) : find_by_prefix(f, obj, path, &len);
	if (!entry && !plain) {
		name = next_part(&path);
		return place_error(up, error_new(ERR_CONFIG, "there is no '%s'", name));
	}
	if (plain)
		len = strlen(path);
	name = xstrndup(path, len);
	at.name = name;
	if (!entry)
		entry = field_append(f, obj, name);
	return set_path(f->sub, entry, path + len, &at, text);
}

/* `path` is what follows the object: "" (its shorthand) or ".key...", or "key..." at the root. */
static struct error *set_path(const struct schema *s, void *obj, const char *path,
			      const struct place *up, const char *text)
{
	_cleanup_free_ char *name = NULL;
	struct place at = { .up = up };
	struct error *err = NULL;
	const struct field *f;

	if (!*path && up) {
		f = schema_shorthand(s);
		if (!f)
			return place_error(
				up, error_new(ERR_CONFIG, "is a mapping; say which key of it"));
		return place_error(up, set_field(s, obj, f, text));
	}
	if (up && *path++ != '.')
		return place_error(up, error_new(ERR_CONFIG, "a '.' and a key are missing"));
	name = next_part(&path);
	f = key_of(s, name, &err);
	if (!f)
		return place_error(up, err);
	at.name = name;
	if (f->type == FIELD_LIST && *path)
		err = set_in_list(f, obj, path, &at, text);
	else if (f->type == FIELD_MAP && *path)
		err = set_in_map(f, obj, path, &at, text);
	else if (f->type == FIELD_OBJECT && *path)
		err = set_path(f->sub, field_at(f, obj), path, &at, text);
	else if (*path)
		err = place_error(&at,
				  error_new(ERR_CONFIG, "has no parts that '%s' could name", path));
	else
		err = place_error(&at, set_field(s, obj, f, text));
	if (!err)
		field_mark(s, obj, f);
	return err;
}

struct error *schema_set_path(const struct schema *s, void *obj, const char *path, const char *text)
{
	return set_path(s, obj, path, NULL, text);
}
