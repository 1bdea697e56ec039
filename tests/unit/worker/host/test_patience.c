/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/patience.h"

#include <criterion/criterion.h>

/* What does not answer is in tests/integration/hang_devices.sh. */
Test(patience, stat_says_what_is_there)
{
	struct stat st, own;

	cr_assert(patient_stat("/dev/null", &st));
	cr_assert_eq(stat("/dev/null", &own), 0);
	cr_assert_eq(st.st_rdev, own.st_rdev);
	cr_assert_not(patient_stat("/no/such/thing", &st));
	cr_assert(patient_stat("/dev/null", &st), "asked again after its answer");
}

Test(patience, status_is_that_of_loop_devices_only)
{
	struct loop_info64 info;

	cr_assert_not(patient_loop_status("/dev/null", &info));
	cr_assert_not(patient_loop_status("/no/such/thing", &info));
}
