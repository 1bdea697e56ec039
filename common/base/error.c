/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct error {
	enum error_code code;
	char *message;
	unsigned line, column;
	struct error *next;
};

/* Returned when there is no memory left to describe an error; never freed. */
static char nomem_message[] = "out of memory";
static struct error error_nomem = { .code = ERR_NOMEM, .message = nomem_message };

static const struct {
	const char *name;
	int status;
} codes[] = {
#define X(name_, status_, text) [ERR_##name_] = { #name_, status_ },
	ERROR_CODES(X)
#undef X
};
static_assert(array_size(codes) == ERR_COUNT, "one row per code");

struct error *error_new(enum error_code code, const char *fmt, ...)
{
	struct error *err = calloc(1, sizeof(*err));
	va_list ap;
	int n;

	if (!err)
		return &error_nomem;
	err->code = code;
	va_start(ap, fmt);
	n = vasprintf(&err->message, fmt, ap);
	va_end(ap);
	if (n < 0) {
		free(err);
		return &error_nomem;
	}
	return err;
}

struct error *error_context(struct error *err, const char *fmt, ...)
{
	char *what = NULL, *joined = NULL;
	va_list ap;

	if (!err || err == &error_nomem)
		return err;
	va_start(ap, fmt);
	if (vasprintf(&what, fmt, ap) < 0)
		what = NULL;
	va_end(ap);
	if (what && asprintf(&joined, "%s: %s", what, err->message) >= 0) {
		free(err->message);
		err->message = joined;
	}
	free(what);
	return err;
}

void error_append(struct error **list, struct error *more)
{
	while (*list && *list != &error_nomem)
		list = &(*list)->next;
	if (!*list)
		*list = more;
	else
		error_destroy(&more);
}

struct error *error_detach(struct error **list)
{
	struct error *err = *list;

	if (!err)
		return NULL;
	*list = err->next;
	if (err != &error_nomem)
		err->next = NULL;
	return err;
}

void error_set_position(struct error *err, unsigned line, unsigned column)
{
	if (err == &error_nomem)
		return;
	err->line = line;
	err->column = column;
}

unsigned error_line(const struct error *err)
{
	return err->line;
}

unsigned error_column(const struct error *err)
{
	return err->column;
}

static bool stands_before(const struct error *a, const struct error *b)
{
	if (!a->line || !b->line)
		return a->line != 0 && b->line == 0;
	return a->line != b->line ? a->line < b->line : a->column < b->column;
}

/* Merges two sorted lists; of equal ones those of `a` come first. */
static struct error *merge_sorted(struct error *a, struct error *b)
{
	struct error *head = NULL, **tail = &head;

	while (a && b) {
		struct error **from = stands_before(b, a) ? &b : &a;

		*tail = *from;
		*from = (*from)->next;
		tail = &(*tail)->next;
	}
	*tail = a ? a : b;
	return head;
}

void error_sort_by_position(struct error **list)
{
	struct error *half = *list, *second;

	if (!half || !half->next)
		return;
	for (const struct error *fast = half->next; fast && fast->next; fast = fast->next->next)
		half = half->next;
	second = half->next;
	half->next = NULL;
	error_sort_by_position(list);
	error_sort_by_position(&second);
	*list = merge_sorted(*list, second);
}

enum error_code error_code(const struct error *err)
{
	return err->code;
}

const char *error_code_name(enum error_code code)
{
	return codes[code].name;
}

enum error_code error_code_from_name(const char *name)
{
	for (int code = 0; code < ERR_COUNT; code++)
		if (strcmp(codes[code].name, name) == 0)
			return (enum error_code)code;
	return ERR_INTERNAL;
}

const char *error_message(const struct error *err)
{
	return err->message;
}

const struct error *error_next(const struct error *err)
{
	return err->next;
}

int exit_status_worst(int a, int b)
{
	static const int order[] = { 130, 3, 2, 1, 4, 5 };

	for (size_t i = 0; i < array_size(order); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return a ? a : b;
}

int error_exit_status(const struct error *err)
{
	int status = 0;

	for (; err; err = err->next)
		status = exit_status_worst(status, codes[err->code].status);
	return status;
}

void error_destroy(struct error **self_p)
{
	struct error *err = *self_p, *next;

	for (; err && err != &error_nomem; err = next) {
		next = err->next;
		free(err->message);
		free(err);
	}
	*self_p = NULL;
}
