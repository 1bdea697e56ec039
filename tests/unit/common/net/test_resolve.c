/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/resolve.h"

#include "common/base/clock.h"

#include <criterion/criterion.h>

enum { NR = 6 };

Test(resolve, each_host_has_its_own_answer)
{
	struct host list[NR] = {
		{ (char *)"a", (char *)"tcp://127.0.0.1:7600" },
		{ (char *)"b", (char *)"tcp://[::1]:7601" },
		{ (char *)"c", (char *)"tcp://localhost:7602" },
		{ (char *)"d", (char *)"ipc:///run/x" },
		{ (char *)"e", (char *)"tcp://no-such-host.invalid:7600" },
		{ (char *)"f", (char *)"tcp://noport" },
	};
	struct hostlist hosts = { list, NR };
	uint64_t begin_ns = clock_mono_ns();
	struct resolved *r = resolve_hosts(&hosts, 3 * NS_PER_S);

	cr_assert_lt(clock_mono_ns() - begin_ns, 4 * NS_PER_S);
	cr_assert_str_eq(r[0].endpoint, "tcp://127.0.0.1:7600");
	cr_assert_str_eq(r[1].endpoint, "tcp://[::1]:7601");
	cr_assert_str_eq(r[2].endpoint, "tcp://127.0.0.1:7602"); /* though ::1 comes first */
	cr_assert_str_eq(r[3].endpoint, "ipc:///run/x");
	cr_assert_null(r[4].endpoint);
	cr_assert_eq(error_code(r[4].err), ERR_UNREACHABLE);
	cr_assert_not_null(strstr(error_message(r[4].err), "no-such-host.invalid"));
	cr_assert_eq(error_code(r[5].err), ERR_CONFIG);
	for (int i = 0; i < 4; i++)
		cr_assert_null(r[i].err);
	resolved_free(&r, NR);
	cr_assert_null(r);
}

Test(resolve, no_hosts)
{
	struct resolved *r = resolve_hosts(&(struct hostlist) { 0 }, NS_PER_S);

	resolved_free(&r, 0);
}

/* Time is over before the first look: every name is said to have no answer, or has one already. */
Test(resolve, limit_of_nothing_ends_at_once)
{
	struct host host = { (char *)"e", (char *)"tcp://no-such-host.invalid:7600" };
	struct resolved *r = resolve_hosts(&(struct hostlist) { &host, 1 }, 0);

	cr_assert_not_null(r[0].err);
	cr_assert_eq(error_code(r[0].err), ERR_UNREACHABLE);
	resolved_free(&r, 1);
}
