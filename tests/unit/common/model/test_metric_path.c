/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/metric_path.h"

#include <criterion/criterion.h>
#include <math.h>

static double value_of(const char *text, const struct result_step *s, const struct result_group *g)
{
	struct metric_path path;

	cr_assert(metric_path_parse(text, &path), "%s", text);
	return metric_path_value(&path, s, g);
}

Test(metric_path, values)
{
	struct result_step s = { .overlap = 0.995, .has_start = true, .start_spread_ns = 1500 };
	struct result_group g = { .has_cpu = true, .cpu_usr = 12.5, .cpu_sys = 30, .ctx = 7 };
	struct result_direction *d = &g.dir[DIR_WRITE];

	d->used = g.total.used = true;
	d->iops = 100;
	d->sum.counts.ios = 500;
	d->sum.counts.bytes = 4096;
	d->sum.counts.short_ios = 2;
	g.total.sum.counts.errors = 4;
	g.dir[DIR_SYNC].sum.counts.errors = 1;
	hist_add(&d->sum.lat, 100, 9);
	hist_add(&d->sum.lat, 120, 1);
	hist_add(&d->sum.slat, 50, 1);
	cr_expect_eq(value_of("write.iops", &s, &g), 100);
	cr_expect_eq(value_of("write.ios", &s, &g), 500);
	cr_expect_eq(value_of("write.bytes", &s, &g), 4096);
	cr_expect_eq(value_of("write.short_ios", &s, &g), 2);
	cr_expect_eq(value_of("errors", &s, &g), 5);
	cr_expect_eq(value_of("write.errors", &s, &g), 0);
	cr_expect_eq(value_of("write.lat.p90", &s, &g), 100);
	cr_expect_eq(value_of("write.lat.p90.1", &s, &g), 120);
	cr_expect_eq(value_of("write.lat.min", &s, &g), 100);
	cr_expect_eq(value_of("write.lat.max", &s, &g), 120);
	cr_expect_float_eq(value_of("write.lat.stddev", &s, &g), hist_stddev(&d->sum.lat), 1e-9);
	cr_expect_eq(value_of("write.slat.mean", &s, &g), 50);
	cr_expect_eq(value_of("cpu.usr", &s, &g), 12.5);
	cr_expect_eq(value_of("cpu.sys", &s, &g), 30);
	cr_expect_eq(value_of("cpu.ctx", &s, &g), 7);
	cr_expect_float_eq(value_of("overlap", &s, &g), 99.5, 1e-9);
	cr_expect_eq(value_of("start.spread", &s, &g), 1500);
	direction_sum_fini(&d->sum);
}

Test(metric_path, what_was_not_measured_is_no_number)
{
	static const char *const paths[] = { "read.iops",    "lat.p99", "cpu.usr",
					     "cpu.minf",     "overlap", "start.spread",
					     "sync.lat.mean" };
	struct result_step s = { .overlap = NAN };
	struct result_group g = { 0 };

	for (size_t i = 0; i < array_size(paths); i++)
		cr_expect(isnan(value_of(paths[i], &s, &g)), "%s", paths[i]);
	cr_expect(isnan(value_of("overlap", NULL, &g)));
	g.total.used = true; /* but no I/O came back */
	cr_expect(isnan(value_of("lat.p99", &s, &g)));
}

Test(metric_path, what_is_no_path)
{
	static const char *const texts[] = {
		"",         "iop",      "iopss",        "read.",          "lat",     "lat.",
		"lat.p",    "lat.p0",   "lat.p100.1",   "lat.p9x",        "lat.p.5", "lat.p5.",
		"lat.p1e1", "lat.p0x1", "read.overlap", "read.read.iops", "cpu",     "iops.mean",
	};
	struct metric_path path;

	for (size_t i = 0; i < array_size(texts); i++)
		cr_expect_not(metric_path_parse(texts[i], &path), "%s", texts[i]);
	cr_expect(metric_path_parse("lat.p100", &path));
	cr_expect(metric_path_parse("sync.lat.p0.001", &path));
}

Test(metric_path, nearest)
{
	_cleanup_free_ char *iops = metric_path_nearest("read.iosp");
	_cleanup_free_ char *spread = metric_path_nearest("startspread");
	_cleanup_free_ char *none = metric_path_nearest("sys.softirq.TIMER");

	cr_expect_str_eq(iops, "read.iops");
	cr_expect_str_eq(spread, "start.spread");
	cr_expect_null(none);
}

/* Every row is whole: one getter, a name that parses, and a line in the documentation. */
Test(metric_path, table)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	metric_path_print_markdown(out);
	metric_path_print_text(out);
	fclose(out);
	for (const struct path_metric *m = path_metrics; m->name; m++) {
		_cleanup_free_ char *name =
			xasprintf("%s%s", m->name, m->distribution ? ".mean" : "");
		struct metric_path path;

		cr_expect_eq(!!m->of_direction + !!m->distribution + !!m->of_group + !!m->of_step,
			     1, "%s", m->name);
		cr_expect(metric_path_parse(name, &path) && path.metric == m, "%s", m->name);
		cr_expect(strstr(text, m->name), "%s", m->name);
	}
}
