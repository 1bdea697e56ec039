/* SPDX-License-Identifier: Apache-2.0 */
/* samples_read.h - the records of samples.msgpack, one after the other, from bytes that may be anything.
 *
 * A record that is cut at the file's end is what a killed coordinator leaves: it ends the reading without an
 * error. What the records mean is said by samples.h and docs/reference/result.md.
 */
#ifndef SALVO_ARCHIVE_SAMPLES_READ_H
#define SALVO_ARCHIVE_SAMPLES_READ_H

#include "common/base/error.h"
#include "common/base/str.h"
#include "common/model/result.h"
#include "common/schema/token.h"

#include <stdio.h>

enum record_type { RECORD_HEADER, RECORD_STEP, RECORD_SAMPLE, RECORD_TOTALS, RECORD_OTHER };

/* A record; what it points to stays until the next one is read. */
struct record {
	enum record_type type;
	struct token_reader map; /* all of it, for the functions below */
	uint64_t step, host;     /* where the type has them */
	int64_t offset_ns;
	const uint8_t *message; /* of a sample or of totals */
	size_t message_len;
};

struct samples_reader {
	const char *name; /* of the file, for messages; borrowed, like the stream */
	FILE *in;
	struct buf buf;
	size_t pos;   /* of the next record in buf */
	uint64_t nr;  /* of records so far */
	bool was_cut; /* the last record was no whole one */
};

/* The next record; *ret_end: there is none. Errors are the file's: ERR_CONFIG. */
struct error *samples_next(struct samples_reader *r, struct record *ret,
			   bool *ret_end) _must_check_;
void samples_reader_fini(struct samples_reader *r);

/* The value of a key of the map at hand; false: there is none, or the bytes are no map. */
bool record_find(const struct token_reader *map, const char *key, struct token_reader *ret);
bool record_count(const struct token_reader *map, const char *key, uint64_t *ret);
bool record_integer(const struct token_reader *map, const char *key, int64_t *ret);
/* The text under a key; NULL: none. Owned by the caller. */
char *record_text(const struct token_reader *map, const char *key);
/* A list of texts under a key; false: there is none. */
bool record_texts(const struct token_reader *map, const char *key, char ***ret, size_t *ret_nr);
/* The i-th element of a list. */
bool record_element(const struct token_reader *list, size_t i, struct token_reader *ret);
/* A map of texts as pairs; what else is in it is left out. */
void record_pairs(const struct token_reader *map, struct text_pair **ret, size_t *ret_nr);

#endif
