/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/inventory.h"

enum { TEXT_BYTES = 4096, MAX_GROUPS = 1024, MAX_LABELS = 256 };

/* clang-format off */
static const struct choice role_choices[] = {
	{ "initiator", ROLE_INITIATOR, "runs jobs" },
	{ "observer",  ROLE_OBSERVER,  "runs no jobs, but is held for the run and watched: the target, say" },
	{ NULL }
};

static const struct field host_fields[] = {
	F_STRING(struct inventory_host, name, .flags = FIELD_HIDDEN,
		 .help = "Name of the host, or of several: \"node[01-16]\""),
	F_STRING(struct inventory_host, address, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = TEXT_BYTES,
		 .help = "Where its worker listens: 10.0.0.5, \"10.0.0.5:7601\", \"10.0.1.[1-16]\" for as many names; without it the name itself"),
	F_CHOICE(struct inventory_host, role, .choices = role_choices, .def = "initiator",
		 .help = "What the host is for"),
	F_MAP(struct inventory_host, labels, nr_labels, &label_schema, .flags = FIELD_OPTIONAL, .max = MAX_LABELS,
	      .help = "Texts that go into the result with the host"),
	{ NULL }
};
static const struct schema host_schema = {
	.name = "host", .help = "A host with a worker, by its name; a text alone is its address",
	.size = sizeof(struct inventory_host), .fields = host_fields,
	.set_offset = offsetof(struct inventory_host, set), .shorthand = "address",
};

static const struct field group_fields[] = {
	F_STRING(struct inventory_group, name, .flags = FIELD_HIDDEN,
		 .help = "Name of the group"),
	F_STRLIST(struct inventory_group, hosts, nr_hosts, .flags = FIELD_REQUIRED | FIELD_NONEMPTY, .min = 1, .max = HOSTLIST_MAX,
		  .help = "Names of its hosts: \"db1,node[01-04]\""),
	{ NULL }
};
static const struct schema group_schema = {
	.name = "group", .help = "Hosts that are named together",
	.size = sizeof(struct inventory_group), .fields = group_fields, .shorthand = "hosts",
};

static const struct field inventory_fields[] = {
	F_MAP(struct inventory, hosts, nr_hosts, &host_schema, .flags = FIELD_REQUIRED, .min = 1, .max = HOSTLIST_MAX,
	      .help = "Hosts with a worker, by their names"),
	F_MAP(struct inventory, groups, nr_groups, &group_schema, .flags = FIELD_OPTIONAL, .max = MAX_GROUPS,
	      .help = "Names for several hosts"),
	{ NULL }
};
const struct schema inventory_schema = {
	.name = "inventory", .help = "The hosts that there are, for --inventory",
	.size = sizeof(struct inventory), .fields = inventory_fields, .set_offset = offsetof(struct inventory, set),
};
/* clang-format on */

void inventory_destroy(struct inventory **self_p)
{
	struct inventory *inv = *self_p;

	if (!inv)
		return;
	hostlist_fini(&inv->all);
	schema_fini(&inventory_schema, inv);
	freep(self_p);
}

/* --- names ---------------------------------------------------------------------------------------- */

const struct host *inventory_find(const struct inventory *inv, const char *name)
{
	for (size_t i = 0; inv && i < inv->all.nr_hosts; i++)
		if (streq(inv->all.hosts[i].name, name))
			return &inv->all.hosts[i];
	return NULL;
}

static const struct inventory_group *find_group(const struct inventory *inv, const char *name)
{
	for (size_t i = 0; inv && i < inv->nr_groups; i++)
		if (streq(inv->groups[i].name, name))
			return &inv->groups[i];
	return NULL;
}

bool inventory_has_group(const struct inventory *inv, const char *name)
{
	return find_group(inv, name) != NULL;
}

static bool is_in(const struct hostlist *list, const struct host *h)
{
	for (size_t i = 0; i < list->nr_hosts; i++)
		if (list->hosts[i].entry && streq(list->hosts[i].name, h->name))
			return true;
	return false;
}

static void add_copy(struct hostlist *list, const struct host *h)
{
	if (!is_in(list, h))
		hostlist_append(list, (struct host) { .name = xstrdup(h->name),
						      .address = xstrdup(h->address),
						      .entry = h->entry });
}

/* The hosts of a group; names that it has wrong were told when the inventory was loaded. */
static struct error *add_group(const struct inventory *inv, const struct inventory_group *g,
			       bool initiators_only, struct hostlist *list)
{
	_cleanup_(hostlist_fini) struct hostlist names = { 0 };
	struct error *err = hostlist_expand(g->hosts, g->nr_hosts, &names);

	for (size_t i = 0; i < names.nr_hosts; i++) {
		const struct host *h = inventory_find(inv, names.hosts[i].name);

		if (h && !(initiators_only && host_is_observer(h)))
			add_copy(list, h);
	}
	return err;
}

static struct error *unknown_name(const struct inventory *inv, const char *name)
{
	struct guess guess = { .wanted = name };
	_cleanup_free_ char *clean = str_printable(name);

	for (size_t i = 0; i < inv->all.nr_hosts; i++)
		guess_try(&guess, inv->all.hosts[i].name);
	for (size_t i = 0; i < inv->nr_groups; i++)
		guess_try(&guess, inv->groups[i].name);
	if (guess.found)
		return error_new(
			ERR_CONFIG,
			"'%s' is no host and no group of the inventory; did you mean '%s'?", clean,
			guess.found);
	return error_new(ERR_CONFIG,
			 "'%s' is no host and no group of the inventory; a host that is not in it "
			 "is written with its port: %s:%d",
			 clean, clean, HOST_DEFAULT_PORT);
}

static struct error *add_name(const struct inventory *inv, const char *entry, bool initiators_only,
			      struct hostlist *list, bool *ret_known)
{
	const struct host *h = inventory_find(inv, entry);
	const struct inventory_group *g = h ? NULL : find_group(inv, entry);

	*ret_known = h || g;
	if (h)
		add_copy(list, h);
	if (g)
		return add_group(inv, g, initiators_only, list);
	/* A slip of the pen would become a name to resolve, and a run that waits for it. */
	return h || strchr(entry, ':') ? NULL : unknown_name(inv, entry);
}

static struct error *add_any(const void *arg, const char *entry, struct hostlist *list,
			     bool *ret_known)
{
	return add_name(arg, entry, false, list, ret_known);
}

static struct error *add_initiators(const void *arg, const char *entry, struct hostlist *list,
				    bool *ret_known)
{
	return add_name(arg, entry, true, list, ret_known);
}

struct error *inventory_expand(const struct inventory *inv, char *const *expressions, size_t nr,
			       struct hostlist *ret)
{
	const struct host_source source = { inv, add_any };

	return hostlist_expand_from(inv ? &source : NULL, expressions, nr, ret);
}

struct error *inventory_expand_initiators(const struct inventory *inv, char *const *expressions,
					  size_t nr, struct hostlist *ret)
{
	const struct host_source source = { inv, add_initiators };

	return hostlist_expand_from(inv ? &source : NULL, expressions, nr, ret);
}

void inventory_all(const struct inventory *inv, struct hostlist *ret)
{
	*ret = (struct hostlist) { 0 };
	for (size_t i = 0; i < inv->all.nr_hosts; i++)
		add_copy(ret, &inv->all.hosts[i]);
}

/* --- the file ------------------------------------------------------------------------------------- */

static void mistake(struct error **errors, const char *path, struct error *err)
{
	error_append(errors, error_context(err, "%s", path));
}

/* Expands the entry's name; false after a mistake. */
static bool expand_names(const struct inventory_host *h, const char *path, struct hostlist *ret,
			 struct error **errors)
{
	char *const names[1] = { h->name };
	struct error *err;

	if (h->name[0] == '^' || strchr(h->name, ',') != NULL ||
	    h->name[strcspn(h->name, ":/@%")]) {
		mistake(errors, path,
			error_new(ERR_CONFIG, "is no name of a host; its address and port stand in "
					      "address"));
		return false;
	}
	err = hostlist_expand(names, 1, ret);
	if (!err)
		return true;
	mistake(errors, path, err);
	return false;
}

static bool expand_addresses(const struct inventory_host *h, const char *path, size_t nr_names,
			     struct hostlist *ret, struct error **errors)
{
	_cleanup_free_ char *where = xasprintf("%s.address", path);
	char *const addresses[1] = { h->address };
	struct error *err = hostlist_expand(addresses, 1, ret);

	if (!err && ret->nr_hosts != nr_names)
		err = error_new(ERR_CONFIG, "%zu address%s for %zu name%s", ret->nr_hosts,
				ret->nr_hosts == 1 ? "" : "es", nr_names, nr_names == 1 ? "" : "s");
	if (!err)
		return true;
	mistake(errors, where, err);
	return false;
}

static void check_unique(const struct inventory *inv, const struct host *h, const char *path,
			 struct error **errors)
{
	for (size_t i = 0; i < inv->all.nr_hosts; i++) {
		const struct host *other = &inv->all.hosts[i];

		if (streq(other->name, h->name))
			mistake(errors, path,
				error_new(ERR_CONFIG, "'%s' is in '%s' already", h->name,
					  other->entry->name));
		else if (streq(other->address, h->address))
			mistake(errors, path,
				error_new(ERR_CONFIG, "'%s' has the address of '%s' (%s)", h->name,
					  other->name, other->address));
		else
			continue;
		return;
	}
}

static void add_entry(struct inventory *inv, const struct inventory_host *h,
		      const struct schema_positions *known, struct error **errors)
{
	_cleanup_(hostlist_fini) struct hostlist names = { 0 }, addresses = { 0 };
	_cleanup_free_ char *path = xasprintf("hosts.%s", h->name);

	for (size_t i = 0; i < h->nr_labels; i++) {
		_cleanup_free_ char *clean = str_printable(h->labels[i].key);

		if (!streq(clean, h->labels[i].key))
			mistake(errors, path,
				error_new(ERR_CONFIG,
					  "the label '%s' has a character that cannot be shown",
					  clean));
	}
	if (!expand_names(h, path, &names, errors) || schema_positions_wrong(known, path))
		return;
	if (h->address && !expand_addresses(h, path, names.nr_hosts, &addresses, errors))
		return;
	if (inv->all.nr_hosts + names.nr_hosts > HOSTLIST_MAX) {
		mistake(errors, path, error_new(ERR_CONFIG, "more than %d hosts", HOSTLIST_MAX));
		return;
	}
	for (size_t i = 0; i < names.nr_hosts; i++) {
		struct host one = {
			.name = xstrdup(names.hosts[i].name),
			.address = xstrdup((h->address ? addresses : names).hosts[i].address),
			.entry = h,
		};

		check_unique(inv, &one, path, errors);
		hostlist_append(&inv->all, one);
	}
}

static void check_member(const struct inventory *inv, const char *name, const char *path,
			 struct error **errors)
{
	struct guess guess = { .wanted = name };

	if (inventory_find(inv, name))
		return;
	for (size_t i = 0; i < inv->all.nr_hosts; i++)
		guess_try(&guess, inv->all.hosts[i].name);
	if (find_group(inv, name))
		mistake(errors, path,
			error_new(ERR_CONFIG, "'%s' is a group; a group holds hosts", name));
	else if (guess.found)
		mistake(errors, path,
			error_new(ERR_CONFIG, "no host '%s'; did you mean '%s'?", name,
				  guess.found));
	else
		mistake(errors, path, error_new(ERR_CONFIG, "no host '%s' under hosts", name));
}

static void check_group(const struct inventory *inv, const struct inventory_group *g,
			bool hosts_good, struct error **errors)
{
	_cleanup_(hostlist_fini) struct hostlist names = { 0 };
	_cleanup_free_ char *path = xasprintf("groups.%s", g->name);
	struct error *err = NULL;

	if (!*g->name || g->name[strcspn(g->name, " ,:[]^/")])
		err = error_new(ERR_CONFIG, "a group's name has no blanks and none of , : [ ] ^ /");
	else if (inventory_find(inv, g->name))
		err = error_new(ERR_CONFIG, "a host has the name '%s' already", g->name);
	else
		err = hostlist_expand(g->hosts, g->nr_hosts, &names);
	mistake(errors, path, err);
	for (size_t i = 0; hosts_good && i < names.nr_hosts; i++)
		check_member(inv, names.hosts[i].name, path, errors);
}

static struct error *complete(struct inventory *inv, const struct schema_positions *known)
{
	bool hosts_good = !schema_positions_wrong(known, "hosts");
	struct error *errors = NULL;

	for (size_t i = 0; i < inv->nr_hosts; i++)
		add_entry(inv, &inv->hosts[i], known, &errors);
	hosts_good &= !errors;
	for (size_t i = 0; i < inv->nr_groups; i++)
		check_group(inv, &inv->groups[i], hosts_good, &errors);
	return errors;
}

struct error *inventory_load(const char *path, struct inventory **ret)
{
	_cleanup_(schema_positions_destroy) struct schema_positions *known = NULL;
	_cleanup_(inventory_destroy) struct inventory *inv = xcalloc(1, sizeof(*inv));
	struct error *errors = schema_load_file_at(&inventory_schema, path, inv, &known);

	if (!known)
		return errors;
	error_append(&errors, complete(inv, known));
	schema_positions_render(known, &errors);
	if (errors)
		return errors;
	*ret = take_ptr(inv);
	return NULL;
}
