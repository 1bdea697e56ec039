/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/error.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct error *at(unsigned line, unsigned column, const char *what)
{
	struct error *err = error_new(ERR_CONFIG, "%s", what);

	error_set_position(err, line, column);
	return err;
}

static void expect_texts(const struct error *err, const char *want)
{
	char all[256] = "";

	for (; err; err = error_next(err))
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s ", error_message(err));
	cr_expect_str_eq(all, want);
}

Test(error, context_goes_in_front_and_composes)
{
	struct error *err = error_new(ERR_IO, "cannot open: %s", "no such file");

	err = error_context(err, "job '%s'", "a");
	err = error_context(err, "node1");
	cr_expect_str_eq(error_message(err), "node1: job 'a': cannot open: no such file");
	cr_expect_eq(error_code(err), ERR_IO);
	error_destroy(&err);
	cr_expect_null(err);
	cr_expect_null(error_context(NULL, "nothing"));
}

Test(error, list_keeps_its_order)
{
	struct error *list = NULL, *first;

	error_append(&list, NULL);
	cr_expect_null(list);
	error_append(&list, error_new(ERR_IO, "a"));
	error_append(&list, error_new(ERR_IO, "b"));
	error_append(&list, NULL);
	error_append(&list, error_new(ERR_IO, "c"));
	expect_texts(list, "a b c ");
	first = error_detach(&list);
	expect_texts(first, "a ");
	expect_texts(list, "b c ");
	error_destroy(&first);
	error_destroy(&list);
	cr_expect_null(error_detach(&list));
}

Test(error, sorted_by_position_and_stable)
{
	struct error *list = NULL;

	error_append(&list, error_new(ERR_CONFIG, "none1"));
	error_append(&list, at(7, 2, "7.2"));
	error_append(&list, at(3, 9, "3.9"));
	error_append(&list, at(3, 4, "3.4a"));
	error_append(&list, error_new(ERR_CONFIG, "none2"));
	error_append(&list, at(3, 4, "3.4b"));
	error_append(&list, at(1, 1, "1.1"));
	error_sort_by_position(&list);
	expect_texts(list, "1.1 3.4a 3.4b 3.9 7.2 none1 none2 ");
	cr_expect_eq(error_line(list), 1);
	cr_expect_eq(error_column(error_next(list)), 4);
	error_destroy(&list);
	error_sort_by_position(&list);
	cr_expect_null(list);
}

Test(error, codes_by_name)
{
	for (int code = 0; code < ERR_COUNT; code++)
		cr_expect_eq(error_code_from_name(error_code_name((enum error_code)code)),
			     (enum error_code)code);
	cr_expect_eq(error_code_from_name("FROM_THE_FUTURE"), ERR_INTERNAL);
}

Test(error, the_worst_status_stands)
{
	struct error *list = error_new(ERR_IO, "1");

	cr_expect_eq(error_exit_status(NULL), 0);
	cr_expect_eq(error_exit_status(list), 1);
	error_append(&list, error_new(ERR_CONFIG, "2"));
	cr_expect_eq(error_exit_status(list), 2);
	error_append(&list, error_new(ERR_LOST, "3"));
	cr_expect_eq(error_exit_status(list), 3);
	error_append(&list, error_new(ERR_USAGE, "2"));
	cr_expect_eq(error_exit_status(list), 3);
	error_append(&list, error_new(ERR_INTERRUPTED, "130"));
	cr_expect_eq(error_exit_status(list), 130);
	error_destroy(&list);
	cr_expect_eq(exit_status_worst(0, 1), 1);
	cr_expect_eq(exit_status_worst(2, 1), 2);
	cr_expect_eq(exit_status_worst(0, 0), 0);
}
