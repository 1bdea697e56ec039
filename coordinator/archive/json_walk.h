/* SPDX-License-Identifier: Apache-2.0 */
/* json_walk.h - a large JSON text read piece by piece: the objects and lists that are large are walked
 * through, what is small becomes a jansson tree. So memory follows what is kept, not the text.
 *
 * The text may be anything. The first error stops the walk: every function then does nothing and says that
 * there is no more, so only the end needs to ask (walk_end). Errors name the file and the path in it.
 */
#ifndef SALVO_ARCHIVE_JSON_WALK_H
#define SALVO_ARCHIVE_JSON_WALK_H

#include "common/base/error.h"

#include <jansson.h>
#include <stdbool.h>

enum {
	WALK_PATH_MAX = 512,
	WALK_TREE_MAX = 16 * 1024 * 1024, /* bytes of text that become one tree */
};

struct json_walk {
	const char *name; /* of the file, for messages; borrowed like the text */
	const char *text;
	size_t len, at;
	char path[WALK_PATH_MAX]; /* "results[0].groups[1]" */
	size_t path_len;
	struct error *err;
};

/* The first error of the walk, at its path; later ones are passed over. */
void walk_fail(struct json_walk *w, const char *fmt, ...) _printf_(2, 3);
/* Extends the path (".key", "[3]"); the length before it, for walk_pop. */
size_t walk_push(struct json_walk *w, const char *fmt, ...) _printf_(2, 3);
void walk_pop(struct json_walk *w, size_t len);

/* Reads the value at hand, of at most WALK_TREE_MAX bytes; NULL on error. */
json_t *walk_value(struct json_walk *w);

/* Takes the element at hand of a list into `obj`; it must read it whole. */
typedef void walk_reader(struct json_walk *w, void *obj);
/* Reads a list, with `element` for each of its elements. */
void walk_list(struct json_walk *w, walk_reader *element, void *obj);

/* Which keys of an object are walked, and by whom. */
struct walk_part {
	const char *key; /* NULL: the end of the table */
	walk_reader *reader;
};
/* Reads an object: the values of `parts` by their readers, all others into one tree. NULL on error. */
json_t *walk_object(struct json_walk *w, const struct walk_part *parts, void *obj);

/* Moves to the value of a key of the object at hand and passes over all before it unread; false: there is none. */
bool walk_find(struct json_walk *w, const char *key);

/* Nothing but blanks may follow. Returns the walk's error, which the caller owns; NULL: all was well. */
struct error *walk_end(struct json_walk *w) _must_check_;

#endif
