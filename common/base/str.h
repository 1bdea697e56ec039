/* SPDX-License-Identifier: Apache-2.0 */
/* str.h - strings and small allocations of the control plane.
 *
 * The x-functions abort with a line when memory is out (CZMQ below us aborts as well); sizes that a
 * user or a peer chooses are checked against a limit before they get here. Any thread.
 */
#ifndef SALVO_BASE_STR_H
#define SALVO_BASE_STR_H

#include "common/base/compiler.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef streq /* czmq.h has a macro of that name and meaning */
static inline bool streq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}
#endif

static inline bool str_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

void *xcalloc(size_t n, size_t size) _returns_nonnull_;
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *text) _returns_nonnull_; /* text may not be NULL */
char *xstrndup(const char *text, size_t len) _returns_nonnull_;
char *xasprintf(const char *fmt, ...) _printf_(1, 2) _returns_nonnull_;

/* Frees *p and sets it to NULL: the cleanup handler of plain allocations. */
void freep(void *p);
#define _cleanup_free_ _cleanup_(freep)
void closep(int *fd); /* closes *fd when >= 0 and sets it to -1 */
#define _cleanup_close_ _cleanup_(closep)

/* Gives a guarded descriptor away. */
static inline int take_fd(int *fd)
{
	int value = *fd;

	*fd = -1;
	return value;
}

/* Edit distance (insert, delete, replace, swap of neighbours = 1), for "did you mean"; 99 for texts
 * of 64 bytes and more. */
unsigned str_distance(const char *a, const char *b);

/* The nearest of several names, for "did you mean": set wanted, try all of them, read found (NULL: none is
 * near enough). */
struct guess {
	const char *wanted, *found;
	unsigned best;
};
void guess_try(struct guess *g, const char *name);

/* A copy in which control characters, ESC and broken UTF-8 stand as \xNN: text from a peer or a file
 * on its way to a terminal or a log. Owned by the caller. */
char *str_printable(const char *text) _returns_nonnull_;

/* A growing byte buffer. Zero-initialise; buf_fini frees it. */
struct buf {
	uint8_t *data;
	size_t len, cap;
};
void buf_add(struct buf *b, const void *data, size_t len);
void buf_add_varint(struct buf *b, uint64_t value); /* LEB128, 1 to 10 bytes */
void buf_fini(struct buf *b);
/* Reads one varint at *pos and moves on; false at the end or when it does not fit in 64 bits. */
bool varint_read(const uint8_t *data, size_t len, size_t *pos, uint64_t *ret);

#endif
