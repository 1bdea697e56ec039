/* SPDX-License-Identifier: Apache-2.0 */
/* result_read_group.h - a part of result_read.h: groups and their histograms, and flat objects by their tables. */
#ifndef SALVO_ARCHIVE_RESULT_READ_GROUP_H
#define SALVO_ARCHIVE_RESULT_READ_GROUP_H

#include "coordinator/archive/json_walk.h"
#include "coordinator/archive/result_fields.h"

/* The members of a flat object by its table. `from` NULL: the walk has failed already. */
void read_fields(struct json_walk *w, const json_t *from, const struct json_field *fields,
		 void *obj);
/* The same of the object under that key. */
void read_fields_below(struct json_walk *w, const char *key, const json_t *from,
		       const struct json_field *fields, void *obj);
/* A map of texts; nothing when it is absent. */
void read_pairs(struct json_walk *w, const json_t *from, const char *key, struct text_pair **ret,
		size_t *ret_nr);
/* The object under that key, borrowed; NULL when it is absent or null. */
json_t *read_object(struct json_walk *w, const json_t *from, const char *key);

/* Walks a group with the groups below it. */
void read_whole_group(struct json_walk *w, struct result_group *ret);

#endif
