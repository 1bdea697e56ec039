/* SPDX-License-Identifier: Apache-2.0 */
/* schema_positions.c - where the keys of a loaded file stand, and its mistakes in file order. */
#include "common/schema/schema_impl.h"

struct position {
	char *path;
	unsigned line, column;
};

struct position_list {
	struct position *entries;
	size_t nr;
};

struct schema_positions {
	char *file;
	struct position_list keys; /* sorted by path once loading is over */
	struct position_list wrong;
	size_t nr_unlisted; /* mistakes that were only counted */
};

struct schema_positions *schema_positions_new(const char *file)
{
	struct schema_positions *p = xcalloc(1, sizeof(*p));

	p->file = xstrdup(file);
	return p;
}

static void list_fini(struct position_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->entries[i].path);
	free(list->entries);
}

void schema_positions_destroy(struct schema_positions **self_p)
{
	struct schema_positions *p = *self_p;

	if (!p)
		return;
	list_fini(&p->keys);
	list_fini(&p->wrong);
	free(p->file);
	freep(self_p);
}

static void list_add(struct position_list *list, const struct place *at, unsigned line,
		     unsigned column)
{
	/* The capacity is the next power of two. */
	if ((list->nr & (list->nr - 1)) == 0)
		list->entries = xrealloc(list->entries, list->nr ? list->nr * 2 : 1,
					 sizeof(*list->entries));
	list->entries[list->nr++] = (struct position) { place_text(at), line, column };
}

void schema_positions_add(struct schema_positions *p, const struct place *at, unsigned line,
			  unsigned column)
{
	list_add(&p->keys, at, line, column);
}

bool schema_positions_add_wrong(struct schema_positions *p, const struct place *at)
{
	enum { MAX_LISTED = 1000 };

	if (p->wrong.nr == MAX_LISTED) {
		p->nr_unlisted++;
		return false;
	}
	list_add(&p->wrong, at, 0, 0);
	return true;
}

static int by_path(const void *a, const void *b)
{
	const struct position *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	/* A shorthand stands at the place of its object: the first of the two is the node itself. */
	if (order)
		return order;
	return x->line != y->line ? (x->line < y->line ? -1 : 1) : 0;
}

void schema_positions_sort(struct schema_positions *p)
{
	if (p->keys.nr)
		qsort(p->keys.entries, p->keys.nr, sizeof(*p->keys.entries), by_path);
}

static const struct position *find_exact(const struct schema_positions *p, const char *path)
{
	size_t low = 0, high = p->keys.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(p->keys.entries[mid].path, path);

		if (order == 0)
			return &p->keys.entries[mid];
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

bool schema_positions_wrong(const struct schema_positions *p, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < p->wrong.nr; i++) {
		const char *wrong = p->wrong.entries[i].path;

		if (strncmp(wrong, path, len) == 0 &&
		    (!len || !wrong[len] || strchr(".[", wrong[len])))
			return true;
	}
	return false;
}

/* The part of the file that the message speaks of: by its path, or by the nearest that holds it, in the end
 * the whole. NULL for a message about an option of the command line. */
static const struct position *find_nearest(const struct schema_positions *p, const char *message)
{
	const char *end = strstr(message, ": ");
	_cleanup_free_ char *path = NULL;

	if (str_starts(message, "--"))
		return NULL;
	path = xstrndup(message, end ? (size_t)(end - message) : 0);
	for (size_t len = strlen(path); len; len--) {
		const struct position *found;

		if (path[len] && path[len] != '.' && path[len] != '[')
			continue;
		path[len] = '\0';
		found = find_exact(p, path);
		if (found)
			return found;
	}
	return find_exact(p, "");
}

/* Gives places to those that have none yet, and sorts. */
static void place_all(const struct schema_positions *p, struct error **list)
{
	struct error *placed = NULL, *one;

	while ((one = error_detach(list))) {
		const struct position *at = NULL;

		if (!error_line(one))
			at = find_nearest(p, error_message(one));
		if (at)
			error_set_position(one, at->line, at->column);
		error_append(&placed, one);
	}
	error_sort_by_position(&placed);
	*list = placed;
}

void schema_positions_render(const struct schema_positions *p, struct error **list)
{
	struct error *shown = NULL, *one;
	size_t nr = 0, more = p->nr_unlisted;

	place_all(p, list);
	while ((one = error_detach(list))) {
		if (nr++ >= SCHEMA_MAX_MISTAKES) {
			more++;
			error_destroy(&one);
			continue;
		}
		if (error_line(one))
			one = error_context(one, "%s:%u:%u", p->file, error_line(one),
					    error_column(one));
		error_append(&shown, one);
	}
	if (more)
		error_append(&shown, error_new(ERR_CONFIG, "%s: and %zu more", p->file, more));
	*list = shown;
}
