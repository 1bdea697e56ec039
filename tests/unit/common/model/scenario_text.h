/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_text.h - scenarios from texts in a test. */
#ifndef SALVO_TEST_SCENARIO_TEXT_H
#define SALVO_TEST_SCENARIO_TEXT_H

#include "common/model/scenario.h"

#include <criterion/criterion.h>
#include <unistd.h>

/* Loads the text by way of a file, which is what users have. */
static inline struct error *load_text(const char *text, const struct scenario_changes *changes,
				      struct scenario **ret)
{
	char path[] = "/tmp/salvo-test-XXXXXX";
	int fd = mkstemp(path);
	struct error *err;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	err = scenario_load_changed(path, changes, ret);
	unlink(path);
	return err;
}

/* The same for a scenario that must be good. */
static inline struct scenario *good_text(const char *text, const struct scenario_changes *changes)
{
	struct scenario *sc = NULL;
	struct error *err = load_text(text, changes, &sc);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	return sc;
}

static const struct scenario_changes no_changes;

#endif
