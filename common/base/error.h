/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - what went wrong, where, and what to do about it.
 *
 * Every function that can fail for a reason a person should read returns a `struct error *`:
 * NULL is success, anything else is owned by the caller. Hot-path functions return a negative
 * errno instead and never allocate. One error may carry a list of further ones (error_append):
 * all mistakes of a file, or the reasons of all hosts. Not thread-safe; an error belongs to the
 * thread that holds it.
 */
#ifndef SALVO_BASE_ERROR_H
#define SALVO_BASE_ERROR_H

#include "common/base/compiler.h"

/* clang-format off */
/* X(name, exit status, text) - one list: enum, name on the wire, exit status, docs. */
#define ERROR_CODES(X)                                                          \
	X(NOMEM,       1, "out of memory")                                      \
	X(INTERNAL,    1, "a bug in this program")                              \
	X(IO,          1, "an input/output error")                              \
	X(OUTPUT,      1, "something could not be written or kept")             \
	X(CHECK,       1, "a check of the scenario failed")                     \
	X(USAGE,       2, "bad command line")                                   \
	X(CONFIG,      2, "invalid scenario or configuration")                  \
	X(KEYS,        2, "keys are missing or unusable")                       \
	X(UNREACHABLE, 3, "a worker could not be reached")                      \
	X(AUTH,        3, "a worker and the coordinator do not accept each other's keys") \
	X(BUSY,        3, "a worker belongs to another coordinator")            \
	X(REFUSED,     3, "a worker refused")                                   \
	X(PROTOCOL,    3, "a peer broke the protocol")                          \
	X(LOST,        3, "a worker was lost")                                  \
	X(HUNG,        3, "a device hangs")                                     \
	X(INTERRUPTED, 130, "stopped by the user")
/* clang-format on */

enum error_code {
#define X(name, status, text) ERR_##name,
	ERROR_CODES(X)
#undef X
		ERR_COUNT,
};

struct error;

/* A new error with a message in the form "where: what is wrong; what to do": lower case, no full
 * stop. Never returns NULL: out of memory yields a static object. */
struct error *error_new(enum error_code code, const char *fmt, ...)
	_printf_(2, 3) _returns_nonnull_ _must_check_;
/* Adds "what: " in front of the message of the first error; NULL in, NULL out, so it composes. */
struct error *error_context(struct error *err, const char *fmt, ...) _printf_(2, 3) _must_check_;
/* Appends `more` to `*list`, keeping order; both may be NULL. Takes `more`. */
void error_append(struct error **list, struct error *more);

/* Takes the first error off the list and returns it alone; NULL from an empty list. */
struct error *error_detach(struct error **list);
/* Where in a file the mistake stands, from 1; 0: nowhere. Of the first error of the list. */
void error_set_position(struct error *err, unsigned line, unsigned column);
unsigned error_line(const struct error *err);
unsigned error_column(const struct error *err);
/* Sorts the list by line and column, stable; errors without a position go to the end. */
void error_sort_by_position(struct error **list);

enum error_code error_code(const struct error *err);
/* The name of the code as it stands in ERROR_CODES ("REFUSED"); for the wire and for tests. */
const char *error_code_name(enum error_code code);
/* The code of that name, or ERR_INTERNAL for a name that this version does not know. */
enum error_code error_code_from_name(const char *name);
const char *error_message(const struct error *err);
const struct error *error_next(const struct error *err);
/* The exit status of the whole list: of 130, 3, 2, 1 the first that any of its errors has. */
int error_exit_status(const struct error *err);
/* Of two exit statuses the one that stands: 130 before 3 before 2 before 1 before 0. */
int exit_status_worst(int a, int b);
/* Frees the whole list and sets it to NULL; accepts NULL inside. */
void error_destroy(struct error **self_p);

#endif
