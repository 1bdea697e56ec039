/* SPDX-License-Identifier: Apache-2.0 */
/* token.h - msgpack, one header at a time, from bytes that nobody has vouched for. Allocates nothing. */
#ifndef SALVO_SCHEMA_TOKEN_H
#define SALVO_SCHEMA_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOKEN_MAX_DEPTH = 16 };

enum token_type {
	TOKEN_NIL,
	TOKEN_BOOL,
	TOKEN_UINT, /* also positive integers of signed form */
	TOKEN_INT,  /* negative */
	TOKEN_REAL,
	TOKEN_STR,
	TOKEN_BIN,
	TOKEN_EXT,
	TOKEN_ARRAY,
	TOKEN_MAP,
};

struct token {
	enum token_type type;
	uint64_t n; /* value, or length in bytes or entries */
	int64_t i;
	double real;
};

struct token_reader {
	const uint8_t *data;
	size_t len, pos;
};

static inline size_t token_left(const struct token_reader *r)
{
	return r->len - r->pos;
}

/* Reads one header; of texts and bytes the content is next. False when the bytes are no header, or speak of
 * more bytes or entries than are left. */
bool token_read(struct token_reader *r, struct token *t);
/* Passes over one value with everything in it; false when it is broken or nested too deep. */
bool token_skip(struct token_reader *r);

#endif
