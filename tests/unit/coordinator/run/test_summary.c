/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/summary.h"

#include <criterion/criterion.h>
#include <math.h>

Test(summary, metrics_by_path)
{
	struct result_group g = { .name = (char *)"all", .has_cpu = true, .cpu_usr = 12.5 };
	struct result_direction *read = &g.dir[DIR_READ];

	read->used = g.total.used = true;
	read->iops = 100;
	read->bw_bytes = 409600;
	read->sum.counts.errors = 2;
	hist_add(&read->sum.lat, 100, 999);
	hist_add(&read->sum.lat, 200, 1);
	hist_add(&g.total.sum.lat, 150, 1);
	g.total.sum.counts.errors = 2;
	g.dir[DIR_SYNC].sum.counts.errors = 1;
	cr_expect_float_eq(group_metric(&g, "read.iops"), 100, 0);
	cr_expect_float_eq(group_metric(&g, "read.bw_bytes"), 409600, 0);
	cr_expect_float_eq(group_metric(&g, "read.lat.mean"), 100.1, 1e-9);
	cr_expect_float_eq(group_metric(&g, "read.lat.p99.9"), 100, 0);
	cr_expect_float_eq(group_metric(&g, "read.lat.p99.99"), 200, 0);
	cr_expect_float_eq(group_metric(&g, "read.lat.max"), 200, 0);
	cr_expect_float_eq(group_metric(&g, "lat.p50"), 150, 0);
	cr_expect_float_eq(group_metric(&g, "errors"), 3, 0);
	cr_expect_float_eq(group_metric(&g, "read.errors"), 2, 0);
	cr_expect_float_eq(group_metric(&g, "cpu.usr"), 12.5, 0);
	direction_sum_fini(&read->sum);
	direction_sum_fini(&g.total.sum);
}

Test(summary, what_is_not_there_is_no_number)
{
	static const char *const paths[] = {
		"read.iops",   "write.lat.p99", "lat.p99", "cpu.sys", "nonsense", "read.lat.px",
		"read.lat.p0", "read.lat.p101", "read.",   "",        "lat.p99x"
	};
	struct result_group g = { .name = (char *)"all" };

	for (size_t i = 0; i < array_size(paths); i++)
		cr_expect(isnan(group_metric(&g, paths[i])), "%s", paths[i]);
	g.total.used = g.dir[DIR_READ].used = true;
	hist_add(&g.total.sum.lat, 5, 1);
	hist_add(&g.dir[DIR_READ].sum.lat, 5, 1);
	for (size_t i = 4; i < array_size(paths); i++)
		cr_expect(isnan(group_metric(&g, paths[i])), "%s", paths[i]);
	direction_sum_fini(&g.total.sum);
	direction_sum_fini(&g.dir[DIR_READ].sum);
}
