/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/progress.h"

#include "common/base/clock.h"

#include <criterion/criterion.h>

static struct point_value bs = { (char *)"bs", (char *)"4k" };
static struct point point = { &bs, 1 };
static struct step steps[2] = {
	{ .phase_name = "fill", .duration_ns = 60 * NS_PER_S },
	{ .phase_name = "main", .duration_ns = 90 * NS_PER_S },
};
static struct plan plan = { .points = &point, .nr_points = 1, .steps = steps, .nr_steps = 2 };

static void check_text(const struct run_view *view, const struct live *live, uint64_t now_s,
		       const char *expected)
{
	_cleanup_free_ char *text = progress_text(&plan, view, live, now_s * NS_PER_S);

	cr_assert_str_eq(text, expected);
}

Test(progress, running)
{
	struct run_view view = { .phase = PHASE_RUNNING,
				 .start_ns = 100 * NS_PER_S,
				 .end_ns = 160 * NS_PER_S };
	struct live live = { .iops = 123456,
			     .bw_bytes = 512.0 * 1024 * 1024,
			     .has_rates = true,
			     .hosts_running = 2,
			     .hosts_total = 3 };

	check_text(&view, &live, 115,
		   "[1/2] bs=4k, fill: 15s, 2m15s left, 2/3 hosts, 123k IOPS, 512 MiB/s");
	live.errors = 7;
	view.step = 1;
	view.end_ns = 0; /* ends by size alone */
	check_text(&view, &live, 115,
		   "[2/2] bs=4k, main: 15s, 2/3 hosts, 123k IOPS, 512 MiB/s, 7 errors");
}

Test(progress, before_the_start)
{
	struct run_view view = { .phase = PHASE_CONNECTING, .hosts = 3, .hosts_ready = 1 };

	check_text(&view, NULL, 1, "connecting, 1/3 hosts");
	view.phase = PHASE_PREPARING;
	check_text(&view, NULL, 1, "[1/2] bs=4k, fill: preparing, 1/3 hosts ready");
	/* A peer's text can do nothing to the terminal. */
	view.doing_host = "w1";
	view.doing = "laying out \033[2J";
	check_text(&view, NULL, 1,
		   "[1/2] bs=4k, fill: preparing, 1/3 hosts ready; w1: laying out \\x1b[2J");
	view.phase = PHASE_STARTING;
	check_text(&view, NULL, 1, "[1/2] bs=4k, fill: starting");
}

Test(progress, resting)
{
	struct run_view view = { .phase = PHASE_RESTING, .step = 1, .end_ns = 105 * NS_PER_S };

	check_text(&view, NULL, 101, "[2/2] bs=4k, main: resting, begins in 4s, 1m34s left");
}

Test(progress, rests_to_come_are_part_of_the_time_left)
{
	struct run_view view = { .phase = PHASE_RUNNING,
				 .start_ns = 100 * NS_PER_S,
				 .end_ns = 160 * NS_PER_S };
	struct live live = { .hosts_running = 1, .hosts_total = 1 };

	steps[1].rest_ns = 10 * NS_PER_S;
	check_text(&view, &live, 115,
		   "[1/2] bs=4k, fill: 15s, 2m25s left, 1/1 hosts"); /* no sample yet: no rate */
	steps[1].rest_ns = 0;
}

/* What is written to something that is no terminal, between two times. */
static size_t lines_written(uint64_t from_s, uint64_t to_s, uint64_t step_ms)
{
	struct run_view view = { .phase = PHASE_CONNECTING, .hosts = 1 };
	struct progress *p;
	size_t lines = 0;
	FILE *out = tmpfile();

	cr_assert_not_null(out);
	p = progress_new(&plan, out);
	for (uint64_t ms = from_s * 1000; ms <= to_s * 1000; ms += step_ms)
		progress_update(p, &view, NULL, ms * NS_PER_MS);
	progress_destroy(&p);
	rewind(out);
	for (int c; (c = fgetc(out)) != EOF;) {
		cr_assert_neq(c, '\r');
		cr_assert_neq(c, '\033');
		lines += c == '\n';
	}
	fclose(out);
	return lines;
}

Test(progress, one_line_per_ten_seconds_elsewhere)
{
	cr_assert_eq(lines_written(1, 9, 20), 0);
	cr_assert_eq(lines_written(1, 36, 20), 3);
}
