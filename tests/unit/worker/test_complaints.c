/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/complaints.h"

#include <criterion/criterion.h>

Test(complaints, flood_is_counted_and_not_logged)
{
	struct complaints c = { 0 };
	uint64_t now = 5 * COMPLAINTS_EVERY_NS, hidden = 99, passed = 0;

	for (int i = 0; i < 1000; i++)
		passed += complaints_pass(&c, now + (uint64_t)i, &hidden);
	cr_assert_eq(passed, COMPLAINTS_MAX);
	cr_assert_eq(hidden, 0);
	cr_assert(complaints_pass(&c, now + COMPLAINTS_EVERY_NS, &hidden));
	cr_assert_eq(hidden, 1000 - COMPLAINTS_MAX);
	cr_assert(complaints_pass(&c, now + COMPLAINTS_EVERY_NS + 1, &hidden));
	cr_assert_eq(hidden, 0, "said once");
}

Test(complaints, few_are_all_logged)
{
	struct complaints c = { 0 };
	uint64_t hidden = 99;

	for (uint64_t i = 1; i < 100; i++) {
		cr_assert(complaints_pass(&c, i * COMPLAINTS_EVERY_NS / COMPLAINTS_MAX, &hidden));
		cr_assert_eq(hidden, 0);
	}
}
