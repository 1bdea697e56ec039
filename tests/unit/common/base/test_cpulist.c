/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/cpulist.h"

#include <criterion/criterion.h>
#include <string.h>

Test(cpulist, numbers_and_ranges)
{
	static const struct {
		const char *text;
		int nr, first, last;
	} wanted[] = {
		{ "0", 1, 0, 0 },
		{ "0-3,8", 5, 0, 8 },
		{ "3,1", 2, 1, 3 },
		{ "5-5", 1, 5, 5 },
		{ "1-3,2-4", 4, 1, 4 },
		{ "1023", 1, 1023, 1023 },
		{ "0-1023", 1024, 0, 1023 },
	};

	for (size_t i = 0; i < array_size(wanted); i++) {
		cpu_set_t set;
		struct error *err = cpulist_parse(wanted[i].text, &set);

		cr_assert_null(err, "%s", wanted[i].text);
		cr_expect_eq(CPU_COUNT(&set), wanted[i].nr, "%s", wanted[i].text);
		cr_expect(CPU_ISSET(wanted[i].first, &set), "%s", wanted[i].text);
		cr_expect(CPU_ISSET(wanted[i].last, &set), "%s", wanted[i].text);
	}
}

Test(cpulist, mistakes)
{
	static const struct {
		const char *text, *part;
	} wanted[] = {
		{ "", "is no list" },      { "a", "is no list" },
		{ "0,", "is no list" },    { "0-", "is no list" },
		{ "-3", "is no list" },    { "0--3", "is no list" },
		{ "0 1", "is no list" },   { "0,,1", "is no list" },
		{ "0-3:2", "is no list" }, { "3-1", "backwards" },
		{ "1024", "above 1023" },  { "0-99999999999999999999", "above" },
		{ "\033[2J", "\\x1b[2J" },
	};

	for (size_t i = 0; i < array_size(wanted); i++) {
		cpu_set_t set;
		struct error *err = cpulist_parse(wanted[i].text, &set);

		cr_assert_not_null(err, "%s", wanted[i].text);
		cr_expect(strstr(error_message(err), wanted[i].part), "%s", error_message(err));
		error_destroy(&err);
	}
}
