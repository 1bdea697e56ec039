/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/held.h"

/* The table of a target knows all its fields, also those that are yet to come. */
static const struct schema *spec_schema(void)
{
	return schema_field(&assignment_schema, "targets")->sub;
}

/* The same in everything but the name. */
static bool same_target(const struct work_target *a, const struct work_target *b)
{
	struct work_target x = *a, y = *b;
	struct buf x_bytes = { 0 }, y_bytes = { 0 };

	x.name = y.name = (char[]) { "" };
	schema_pack(spec_schema(), &x, &x_bytes);
	schema_pack(spec_schema(), &y, &y_bytes);
	bool same =
		x_bytes.len == y_bytes.len && memcmp(x_bytes.data, y_bytes.data, x_bytes.len) == 0;

	buf_fini(&x_bytes);
	buf_fini(&y_bytes);
	return same;
}

static void held_fini(struct held_target *h)
{
	target_close(&h->open);
	schema_fini(spec_schema(), &h->spec);
}

void held_targets_add(struct held_targets *all, const struct work_target *spec,
		      struct open_target *open)
{
	struct held_target h = { .open = open };

	schema_copy(spec_schema(), &h.spec, spec);
	all->items = xrealloc(all->items, all->nr + 1, sizeof(*all->items));
	all->items[all->nr++] = h;
}

struct open_target *held_targets_find(const struct held_targets *all,
				      const struct work_target *spec)
{
	for (size_t i = 0; i < all->nr; i++)
		if (same_target(&all->items[i].spec, spec))
			return all->items[i].open;
	return NULL;
}

static bool is_wanted(const struct assignment *a, const struct work_target *spec)
{
	for (size_t i = 0; i < a->nr_targets; i++)
		if (same_target(&a->targets[i], spec))
			return true;
	return false;
}

void held_targets_keep(struct held_targets *all, const struct assignment *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->nr; i++) {
		if (is_wanted(a, &all->items[i].spec))
			all->items[kept++] = all->items[i];
		else
			held_fini(&all->items[i]);
	}
	all->nr = kept;
}

void held_targets_mark_written(struct held_targets *all, const struct open_target *open)
{
	for (size_t i = 0; i < all->nr; i++)
		if (all->items[i].open == open)
			all->items[i].is_written = true;
}

void held_targets_close(struct held_targets *all, const struct open_target *open)
{
	for (size_t i = 0; i < all->nr; i++) {
		if (all->items[i].open != open)
			continue;
		held_fini(&all->items[i]);
		all->items[i] = all->items[--all->nr];
		return;
	}
}

void held_targets_fini(struct held_targets *all)
{
	for (size_t i = 0; i < all->nr; i++)
		held_fini(&all->items[i]);
	free(all->items);
	*all = (struct held_targets) { 0 };
}
