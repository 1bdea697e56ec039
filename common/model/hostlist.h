/* SPDX-License-Identifier: Apache-2.0 */
/* hostlist.h - host expressions: `node[01-16,20]:7600,db1`, `[fe80::1]:7600`, `ipc:///run/x`, `^FILE`.
 *
 * Pure but for ^FILE. At most HOSTLIST_MAX hosts.
 */
#ifndef SALVO_MODEL_HOSTLIST_H
#define SALVO_MODEL_HOSTLIST_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { HOSTLIST_MAX = 8192, HOST_DEFAULT_PORT = 7600 };

struct inventory_host;

struct host {
	char *name; /* that of the inventory; else the entry without its port, with it where that is not unique */
	char *address; /* a ZeroMQ endpoint: tcp://node01:7600, ipc:///run/x */
	const struct inventory_host
		*entry; /* borrowed from the inventory; NULL: it is not in one */
};

struct hostlist {
	struct host *hosts;
	size_t nr_hosts;
};

/* Somebody who knows hosts by names. */
struct host_source {
	const void *arg;
	/* Adds what the entry (one name, no ranges) stands for. *ret_known false: it knows no such name, and the
	 * entry is taken as it stands. */
	struct error *(*add)(const void *arg, const char *entry, struct hostlist *list,
			     bool *ret_known);
};

/* Expands the expressions (each may hold several, separated by commas outside of brackets). A host that
 * is named twice is an error. */
struct error *hostlist_expand(char *const *expressions, size_t nr,
			      struct hostlist *ret) _must_check_;
/* The same with entries looked up first; `source` may be NULL. */
struct error *hostlist_expand_from(const struct host_source *source, char *const *expressions,
				   size_t nr, struct hostlist *ret) _must_check_;
/* Takes ownership of the host's texts. */
void hostlist_append(struct hostlist *list, struct host host);
void hostlist_fini(struct hostlist *list);
/* Names folded again: "node[01-16,20],db1"; owned by the caller. */
char *hostlist_fold(const char *const *names, size_t nr);

#endif
