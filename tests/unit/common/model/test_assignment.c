/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/assignment.h"

#include <criterion/criterion.h>

static void fill(struct assignment *a)
{
	schema_init(&assignment_schema, a);
	a->run = xstrdup("r1");
	a->step = 3;
	a->interval_ns = 1000000000;
	a->nr_targets = 1;
	a->targets = xcalloc(1, sizeof(*a->targets));
	a->targets[0] = (struct work_target) {
		.name = xstrdup("disk"),
		.kind = TARGET_SIMULATED,
		.size = 1 << 20,
		.latency_ns = 5000,
		.writes = true,
		.destroy = DESTROY_FORCE,
	};
	a->nr_members = 2;
	a->members = xcalloc(2, sizeof(*a->members));
	for (uint64_t i = 0; i < 2; i++) {
		struct work_member *m = &a->members[i];

		*m = (struct work_member) {
			.job_index = i,
			.first_thread = 10 * i,
			.part_first = 4 * i,
			.nr_parts = 8,
			.part_align = 4096,
		};
		schema_init(&job_schema, &m->job);
		m->job.name = xasprintf("job%d", (int)i);
		m->job.target = xcalloc(1, sizeof(char *));
		m->job.target[0] = xstrdup("disk");
		m->job.nr_target = 1;
		m->job.numjobs = 4;
	}
}

static struct error *send(const struct assignment *a, struct assignment *ret)
{
	_cleanup_(buf_fini) struct buf bytes = { 0 };

	schema_pack(&assignment_schema, a, &bytes);
	return schema_unpack(&assignment_schema, bytes.data, bytes.len, ret);
}

Test(assignment, arrives_as_it_was_sent)
{
	struct assignment a, got;
	struct error *err;

	fill(&a);
	err = send(&a, &got);
	cr_assert_null(err, "%s", err ? error_message(err) : "");
	cr_assert_str_eq(got.run, "r1");
	cr_assert_eq(got.step, 3);
	cr_assert_not(got.probe);
	cr_assert_eq(got.nr_targets, 1);
	cr_assert_eq(got.targets[0].kind, TARGET_SIMULATED);
	cr_assert_null(got.targets[0].path);
	cr_assert_eq(got.targets[0].latency_ns, 5000);
	cr_assert_eq(got.targets[0].destroy, DESTROY_FORCE);
	cr_assert(got.targets[0].writes && !got.targets[0].reads);
	cr_assert_eq(got.nr_members, 2);
	cr_assert_eq(got.members[1].part_first, 4);
	cr_assert_eq(got.members[1].first_thread, 10);
	cr_assert_str_eq(got.members[1].job.name, "job1");
	cr_assert_eq(assignment_threads(&got), 8);
	cr_assert_eq(got.targets[0].nr_quantiles, 0);
	schema_fini(&assignment_schema, &a);
	schema_fini(&assignment_schema, &got);
}

Test(assignment, brings_the_distribution_of_a_simulated_target)
{
	struct assignment a, got;
	struct work_target *t;

	fill(&a);
	t = &a.targets[0];
	t->nr_quantiles = 2;
	t->quantiles = xcalloc(2, sizeof(*t->quantiles));
	t->quantiles[0] = (struct quantile) { .percent = xstrdup("50"), .latency_ns = 100 };
	t->quantiles[1] = (struct quantile) { .percent = xstrdup("99.9"), .latency_ns = 2000 };
	t->stall = (struct stall) { .at_ns = 7, .for_ns = 8 };
	cr_assert_null(send(&a, &got));
	cr_assert_eq(got.targets[0].nr_quantiles, 2);
	cr_assert_str_eq(got.targets[0].quantiles[1].percent, "99.9");
	cr_assert_eq(got.targets[0].quantiles[1].latency_ns, 2000);
	cr_assert_eq(got.targets[0].stall.at_ns, 7);
	cr_assert_eq(got.targets[0].stall.for_ns, 8);
	schema_fini(&assignment_schema, &a);
	schema_fini(&assignment_schema, &got);
}

Test(assignment, a_member_of_no_target_is_refused)
{
	struct assignment a, got;
	struct error *err;

	fill(&a);
	a.members[1].target = 1;
	err = send(&a, &got);
	cr_assert_not_null(err);
	cr_assert_eq(error_code(err), ERR_PROTOCOL);
	error_destroy(&err);
	schema_fini(&assignment_schema, &a);
}

static void expect_refused(struct assignment *a)
{
	struct assignment got;
	struct error *err = send(a, &got);

	cr_assert_not_null(err);
	error_destroy(&err);
	schema_fini(&assignment_schema, a);
}

/* The worker divides by these. */
Test(assignment, nothing_that_is_divided_by_may_be_zero)
{
	struct assignment a;

	fill(&a);
	a.members[0].nr_parts = 0;
	expect_refused(&a);
	fill(&a);
	a.members[0].part_align = 0;
	expect_refused(&a);
	fill(&a);
	a.interval_ns = 0;
	expect_refused(&a);
	fill(&a);
	a.members[0].job.bs = 0;
	expect_refused(&a);
	fill(&a);
	a.members[0].job.numjobs = 0;
	expect_refused(&a);
}
