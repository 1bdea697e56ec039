/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/checks.h"

#include <criterion/criterion.h>
#include <math.h>

enum { NR_STEPS = 4 };

static struct text_pair points[2] = { { (char *)"bs", (char *)"4k" },
				      { (char *)"bs", (char *)"8k" } };
static struct result_group groups[NR_STEPS];
static struct result_step steps[NR_STEPS];
static struct scenario scenario;
static struct result result;

/* Two points, two repeats each, with 1000, 2000, 3000 and 4000 IOPS. */
static void set_up(void)
{
	for (size_t i = 0; i < NR_STEPS; i++) {
		groups[i] = (struct result_group) { .name = (char *)"all",
						    .total = { .used = true,
							       .iops = 1000.0 * (double)(i + 1) } };
		steps[i] = (struct result_step) { .point = &points[i / 2],
						  .nr_point = 1,
						  .repeat = i % 2 + 1,
						  .phase = (char *)"main",
						  .overlap = NAN,
						  .groups = &groups[i],
						  .nr_groups = 1 };
	}
	scenario = (struct scenario) { .repeat = 2, .nr_phases = 1 };
	result = (struct result) { .steps = steps, .nr_steps = NR_STEPS };
}

static void tear_down(void)
{
	result.nr_steps = 0;
	result.steps = NULL;
	result_fini(&result);
}

TestSuite(checks, .init = set_up, .fini = tear_down);

static struct error *evaluate(const char *check)
{
	static char *list[1];

	list[0] = (char *)check;

	scenario.checks = list;
	scenario.nr_checks = 1;
	return checks_evaluate(&scenario, &result);
}

Test(checks, passed)
{
	cr_assert_null(evaluate("iops >= 1k"));
	cr_assert_eq(result.nr_checks, NR_STEPS);
	for (size_t i = 0; i < NR_STEPS; i++) {
		const struct result_check *c = &result.checks[i];

		cr_expect_eq(c->state, CHECK_PASSED);
		cr_expect_eq(c->value, 1000.0 * (double)(i + 1));
		cr_expect_str_eq(c->text, "iops >= 1k");
		cr_expect_str_eq(c->point[0].value, points[i / 2].value);
		cr_expect_eq(c->repeat, i % 2 + 1);
		cr_expect_str_eq(c->phase, "main");
	}
	cr_expect_str_eq(result.checks[1].why, "iops is 2000");
	cr_expect_eq(result.nr_warnings, 0);
}

Test(checks, failed_says_where_first)
{
	struct error *err = evaluate("iops < 2.5k");

	cr_assert_not_null(err);
	cr_expect_eq(error_exit_status(err), 1);
	cr_expect_str_eq(error_message(err), "check 'iops < 2.5k' failed at 2 of 4 steps, first at "
					     "bs=8k, repeat 1: iops is 3000");
	cr_expect_null(error_next(err));
	cr_expect_eq(result.checks[1].state, CHECK_PASSED);
	cr_expect_eq(result.checks[2].state, CHECK_FAILED);
	error_destroy(&err);
}

Test(checks, of_one_step)
{
	struct error *err;

	result.nr_steps = 1;
	err = evaluate("iops > 1k");
	cr_assert_not_null(err);
	cr_expect_str_eq(error_message(err), "check 'iops > 1k' failed: iops is 1000");
	error_destroy(&err);
}

/* The numbers of a partial step are of another load than the one asked for. */
Test(checks, partial_steps_are_skipped)
{
	steps[2].partial = steps[3].partial = true;
	steps[2].hosts_text = (char *)"7 of 8 hosts";
	cr_assert_null(evaluate("iops < 2.5k"));
	cr_expect_eq(result.checks[2].state, CHECK_SKIPPED);
	cr_expect(isnan(result.checks[2].value));
	cr_expect_str_eq(result.checks[2].why, "partial: 7 of 8 hosts");
	cr_expect_str_eq(result.checks[3].why, "partial: it was stopped before its time");
	cr_expect_eq(result.nr_warnings, 0);
}

Test(checks, not_measured_is_skipped_and_said)
{
	cr_assert_null(evaluate("write.iops > 1"));
	cr_expect_eq(result.nr_checks, NR_STEPS);
	cr_expect_eq(result.checks[0].state, CHECK_SKIPPED);
	cr_expect_str_eq(result.checks[0].why, "'write.iops' was not measured here");
	cr_assert_eq(result.nr_warnings, 1);
	cr_expect_str_eq(result.warnings[0].text, "check 'write.iops > 1' could not be made: "
						  "'write.iops' was not measured here");
}

Test(checks, what_was_foreseen_is_said_once)
{
	result_warn(&result, NULL, NULL, "checks[0]: 'write.iops' is not measured in any phase");
	cr_assert_null(evaluate("write.iops > 1"));
	cr_expect_eq(result.nr_warnings, 1);
}

Test(checks, groups)
{
	struct result_group two[2] = { groups[1], groups[1] };

	two[1].name = (char *)"oltp";
	two[1].total.iops = 7;
	steps[1].groups = two;
	steps[1].nr_groups = 2;
	cr_assert_null(evaluate("oltp:iops == 7"));
	cr_expect_str_eq(result.checks[0].why, "no group 'oltp' in this phase");
	cr_expect_eq(result.checks[1].state, CHECK_PASSED);
	cr_expect_eq(result.nr_warnings, 0);
}

Test(checks, nothing_was_measured)
{
	result.nr_steps = 0;
	cr_assert_null(evaluate("iops > 1"));
	cr_expect_eq(result.nr_checks, 0);
	cr_expect_eq(result.nr_warnings, 0);
}
