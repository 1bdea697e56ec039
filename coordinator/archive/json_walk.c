/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/json_walk.h"

#include "common/base/str.h"

#include <stdarg.h>
#include <stdio.h>

enum { PARTS_MAX = 32 };

/* --- errors and the path ------------------------------------------------------------------------------ */

void walk_fail(struct json_walk *w, const char *fmt, ...)
{
	_cleanup_free_ char *what = NULL;
	va_list args;

	if (w->err)
		return;
	va_start(args, fmt);
	if (vasprintf(&what, fmt, args) < 0)
		what = NULL;
	va_end(args);
	w->err = error_new(ERR_CONFIG, "%s: %s%s%s", w->name, w->path, w->path_len ? ": " : "",
			   what ? what : "is wrong");
}

size_t walk_push(struct json_walk *w, const char *fmt, ...)
{
	size_t before = w->path_len, room = sizeof(w->path) - before;
	va_list args;
	int len;

	if (!before && *fmt == '.')
		fmt++;
	va_start(args, fmt);
	len = vsnprintf(w->path + before, room, fmt, args);
	va_end(args);
	if (len > 0)
		w->path_len += (size_t)len < room ? (size_t)len : room - 1;
	return before;
}

void walk_pop(struct json_walk *w, size_t len)
{
	w->path_len = len;
	w->path[len] = '\0';
}

static size_t line_of(const struct json_walk *w, size_t at)
{
	size_t line = 1;

	for (size_t i = 0; i < at && i < w->len; i++)
		line += w->text[i] == '\n';
	return line;
}

static void fail_syntax(struct json_walk *w, const char *what)
{
	if (w->at >= w->len)
		walk_fail(w, "the file ends in the middle of it; is it whole?");
	else
		walk_fail(w, "line %zu: %s", line_of(w, w->at), what);
}

/* --- characters ----------------------------------------------------------------------------------------- */

static void skip_blanks(struct json_walk *w)
{
	while (w->at < w->len && w->text[w->at] && strchr(" \t\r\n", w->text[w->at]))
		w->at++;
}

/* Is the next character that one? Then it is taken. */
static bool take(struct json_walk *w, char c)
{
	if (w->err)
		return false;
	skip_blanks(w);
	if (w->at >= w->len || w->text[w->at] != c)
		return false;
	w->at++;
	return true;
}

static bool expect(struct json_walk *w, char c)
{
	char what[] = "no ' '";

	if (take(w, c))
		return true;
	what[4] = c;
	fail_syntax(w, what);
	return false;
}

/* Before the nr-th entry of an object or a list that ends with `end`: false at the end, and after errors. */
static bool next_entry(struct json_walk *w, size_t nr, char end)
{
	if (take(w, end) || w->err)
		return false;
	return !nr || expect(w, ',');
}

/* --- values ----------------------------------------------------------------------------------------------- */

json_t *walk_value(struct json_walk *w)
{
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY;
	size_t left = w->len - w->at;
	bool is_cut = left > WALK_TREE_MAX;
	json_error_t error;
	json_t *value;

	if (w->err)
		return NULL;
	value = json_loadb(w->text + w->at, is_cut ? WALK_TREE_MAX : left, flags, &error);
	if (value) {
		w->at += (size_t)error.position;
		return value;
	}
	if (json_error_code(&error) != json_error_premature_end_of_input)
		walk_fail(w, "line %zu: %s", line_of(w, w->at) + (size_t)error.line - 1,
			  error.text);
	else if (is_cut)
		walk_fail(w, "is larger than this program reads (%d bytes)", WALK_TREE_MAX);
	else
		walk_fail(w, "the file ends in the middle of it; is it whole?");
	return NULL;
}

void walk_list(struct json_walk *w, walk_reader *element, void *obj)
{
	if (!expect(w, '['))
		return;
	for (size_t i = 0; next_entry(w, i, ']'); i++) {
		size_t before = walk_push(w, "[%zu]", i);

		element(w, obj);
		walk_pop(w, before);
	}
}

static char *read_key(struct json_walk *w)
{
	json_t *value;
	char *key = NULL;

	skip_blanks(w);
	value = walk_value(w);
	if (json_is_string(value))
		key = xstrdup(json_string_value(value));
	else
		walk_fail(w, "line %zu: a key is no text", line_of(w, w->at));
	json_decref(value);
	if (key && !expect(w, ':'))
		freep(&key);
	return key;
}

static size_t part_of(const struct walk_part *parts, const char *key)
{
	size_t i = 0;

	while (parts[i].key && !streq(parts[i].key, key))
		i++;
	return i;
}

static void read_entry(struct json_walk *w, const struct walk_part *parts, void *obj,
		       const char *key, uint32_t *seen, json_t *own)
{
	size_t part = part_of(parts, key), before = walk_push(w, ".%s", key);
	json_t *value;

	assert(part < PARTS_MAX);
	if (parts[part].key ? *seen & 1u << part : json_object_get(own, key) != NULL) {
		walk_fail(w, "is given twice");
	} else if (parts[part].key) {
		*seen |= 1u << part;
		parts[part].reader(w, obj);
	} else {
		value = walk_value(w);
		if (value)
			json_object_set_new(own, key, value);
	}
	walk_pop(w, before);
}

json_t *walk_object(struct json_walk *w, const struct walk_part *parts, void *obj)
{
	json_t *own = json_object();
	uint32_t seen = 0;
	size_t own_bytes = 0;

	if (expect(w, '{'))
		for (size_t i = 0; next_entry(w, i, '}'); i++) {
			_cleanup_free_ char *key = read_key(w);
			size_t before = w->at;

			if (!key)
				break;
			read_entry(w, parts, obj, key, &seen, own);
			own_bytes += parts[part_of(parts, key)].key ? 0 : w->at - before;
			if (own_bytes > WALK_TREE_MAX)
				walk_fail(w, "is larger than this program reads (%d bytes)",
					  WALK_TREE_MAX);
		}
	if (!w->err)
		return own;
	json_decref(own);
	return NULL;
}

/* Passes over a value by its brackets and quotes alone. */
static void skip_value(struct json_walk *w)
{
	size_t depth = 0;
	bool in_text = false;

	for (; w->at < w->len; w->at++) {
		char c = w->text[w->at];

		if (in_text) {
			w->at += c == '\\';
			in_text = c != '"';
			continue;
		}
		if (!depth && (c == ',' || c == '}' || c == ']'))
			return;
		in_text = c == '"';
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
	}
	fail_syntax(w, "");
}

bool walk_find(struct json_walk *w, const char *key)
{
	if (!expect(w, '{'))
		return false;
	for (size_t i = 0; next_entry(w, i, '}'); i++) {
		_cleanup_free_ char *found = read_key(w);

		if (found && streq(found, key))
			return true;
		if (!w->err)
			skip_value(w);
	}
	return false;
}

struct error *walk_end(struct json_walk *w)
{
	skip_blanks(w);
	if (!w->err && w->at < w->len)
		walk_fail(w, "line %zu: something follows after the end", line_of(w, w->at));
	return take_ptr(w->err);
}
