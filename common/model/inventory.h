/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.h - a file of hosts by name: where their workers are, what they are for, groups of them.
 *
 *	hosts:
 *	  db1: {address: "10.0.0.5:7600", labels: {rack: a}}
 *	  "node[01-16]": {address: "10.0.1.[1-16]"}
 *	  tgt: {address: 10.0.0.9, role: observer}
 *	groups: {oltp: "db1,node[01-04]"}
 *
 * An observer runs no jobs: its worker is held for the run, and its clock and facts are in the result. Pure but for
 * reading the file.
 */
#ifndef SALVO_MODEL_INVENTORY_H
#define SALVO_MODEL_INVENTORY_H

#include "common/model/hostlist.h"
#include "common/model/scenario.h"

enum host_role { ROLE_INITIATOR, ROLE_OBSERVER };

/* An entry of the file; one with ranges in its name is of many hosts. */
struct inventory_host {
	char *name;
	char *address; /* NULL: the name */
	int role;      /* enum host_role */
	struct label *labels;
	size_t nr_labels;
	struct fieldset set;
};

struct inventory_group {
	char *name;
	char **hosts;
	size_t nr_hosts;
};

struct inventory {
	struct inventory_host *hosts;
	size_t nr_hosts;
	struct inventory_group *groups;
	size_t nr_groups;
	struct fieldset set;

	/* Not in the file: */
	struct hostlist all; /* one of each host, in file order */
};

extern const struct schema inventory_schema;

/* All mistakes of the file at once, with their places. */
struct error *inventory_load(const char *path, struct inventory **ret) _must_check_;
void inventory_destroy(struct inventory **self_p);

/* The host of that name; NULL: there is none. */
const struct host *inventory_find(const struct inventory *inv, const char *name);

bool inventory_has_group(const struct inventory *inv, const char *name);

/* Expands host expressions in which names of hosts and groups stand for those of the inventory; a host that is
 * named several times is in the list once. What is not in it must be recognisable as an address by its port. An
 * `inv` of NULL is an empty one. The hosts borrow from the inventory. */
struct error *inventory_expand(const struct inventory *inv, char *const *expressions, size_t nr,
			       struct hostlist *ret) _must_check_;
/* The same for the hosts of a job: observers that are in a group are passed over. */
struct error *inventory_expand_initiators(const struct inventory *inv, char *const *expressions,
					  size_t nr, struct hostlist *ret) _must_check_;
/* All hosts of the inventory, which may not be NULL. */
void inventory_all(const struct inventory *inv, struct hostlist *ret);

static inline bool host_is_observer(const struct host *h)
{
	return h->entry && h->entry->role == ROLE_OBSERVER;
}

#endif
