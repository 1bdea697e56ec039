/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/log.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>

TestSuite(log, .init = cr_redirect_stderr);

static void read_stderr(char *text, size_t size)
{
	FILE *f = cr_get_redirected_stderr();

	fflush(stderr);
	text[fread(text, 1, size - 1, f)] = '\0';
}

Test(log, line_has_time_level_component_and_no_control_characters)
{
	char text[256], when[32];
	int year;

	log_init("tester", LOG_LEVEL_INFO);
	log_warn("found '%s'", "\x1b[2Jx");
	read_stderr(text, sizeof(text));
	cr_expect_eq(sscanf(text, "%4d-%31s", &year, when), 2, "%s", text);
	cr_expect(strstr(text, "Z warning tester: found '\\x1b[2Jx'\n"), "%s", text);
}

Test(log, quieter_levels_are_silent)
{
	char text[256];

	log_init("tester", LOG_LEVEL_WARN);
	log_info("not this");
	log_debug("nor this");
	log_err("but this");
	read_stderr(text, sizeof(text));
	cr_expect_null(strstr(text, "not this"));
	cr_expect_null(strstr(text, "nor this"));
	cr_expect(strstr(text, " error tester: but this\n"), "%s", text);
}
