/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - what this worker's owner allows: the `allow` part of worker.yaml. Data and pure matching. */
#ifndef SALVO_HOST_RULES_H
#define SALVO_HOST_RULES_H

#include <stdbool.h>
#include <stddef.h>

/* Patterns: globs in which `*` and `?` do not cross `/`, and `wwn:GLOB` for identities. */
struct access_rules {
	char **read, **write;
	size_t nr_read, nr_write;
	char *below; /* embedded worker: regular files below this folder may be written as well, devices named
		      * with `destroy` too, and whatever the user may read may be read; NULL: a daemon */
};

/* Does any pattern match one of the names (canonical node and all its links) or the identity (may be NULL)? */
bool rules_match(char *const *patterns, size_t nr_patterns, char *const *names, size_t nr_names,
		 const char *identity);

#endif
