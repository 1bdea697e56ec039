/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/result.h"

#include <criterion/criterion.h>

Test(result, the_same_warning_is_kept_once)
{
	struct result r = { 0 };

	for (unsigned i = 0; i < 3; i++) {
		result_warn(&r, "a", NULL, "late");
		result_warn(&r, "b", NULL, "late");
		result_warn(&r, "a", "lun0", "late");
		result_warn(&r, NULL, NULL, "late");
	}
	cr_expect_eq(r.nr_warnings, 4);
	cr_expect_str_eq(r.warnings[2].target, "lun0");
	cr_expect_null(r.warnings[3].host);
	result_fini(&r);
	cr_expect_eq(r.nr_warnings, 0);
}

/* A peer that never stops warning fills no memory, and drowns nobody; it is said that something is missing. */
Test(result, warnings_have_an_end)
{
	struct result r = { 0 };

	for (unsigned i = 0; i < 5000; i++) {
		_cleanup_free_ char *text = xasprintf("warning %u", i);

		result_warn(&r, "a", NULL, text);
	}
	cr_expect_eq(r.nr_warnings, 1001);
	cr_expect_str_eq(r.warnings[1000].text, "further warnings of it were not kept");
	result_fault(&r, "b", NULL, "lost");
	result_warn(&r, NULL, NULL, "of all");
	cr_assert_eq(r.nr_warnings, 1003);
	cr_expect(r.warnings[1001].is_fault);
	result_fini(&r);
}

Test(result, names_of_states)
{
	cr_expect_str_eq(run_status_names[RUN_ABORTED], "aborted");
	cr_expect_str_eq(host_state_names[HOST_HUNG], "hung");
}
