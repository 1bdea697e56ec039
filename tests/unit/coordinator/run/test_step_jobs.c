/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/step_sums.h"

#include "tests/unit/common/model/scenario_text.h"

static struct result_step step;
static struct scenario *scenario;
static struct plan *plan;

static void fill(const char *text, size_t at)
{
	struct hostlist hosts = { 0 };
	struct error *err;

	scenario = good_text(text, &no_changes);
	err = hostlist_expand(scenario->hosts, scenario->nr_hosts, &hosts);
	cr_assert_null(err);
	err = plan_new(scenario, &hosts, "run-1", 4711, &plan);
	cr_assert_null(err, "%s", err ? error_message(err) : "");
	step_fill_jobs(plan, &plan->steps[at], &step);
}

static void clean(void)
{
	struct result r = { .steps = xcalloc(1, sizeof(step)), .nr_steps = 1 };

	r.steps[0] = step;
	step = (struct result_step) { 0 };
	result_fini(&r);
	plan_destroy(&plan);
	scenario_destroy(&scenario);
}

static void expect_options(size_t job, const char *want)
{
	const struct result_job *j = &step.jobs[job];
	struct buf text = { 0 };

	for (size_t i = 0; i < j->nr_options; i++) {
		_cleanup_free_ char *one =
			xasprintf("%s%s=%s", i ? " " : "", j->options[i].key, j->options[i].value);

		buf_add(&text, one, strlen(one));
	}
	buf_add(&text, "", 1);
	cr_expect_str_eq((char *)text.data, want);
	buf_fini(&text);
}

/* What is not the default, and what everybody asks for. */
Test(step_jobs, tell_the_options_that_matter)
{
	fill("name: x\n"
	     "targets: {f: {file: f, size: 1GiB, share: shared}}\n"
	     "jobs:\n"
	     "  - {name: a, target: f, rw: randread, bs: 8k, fsync: 0, end_fsync: true, "
	     "time_based: true, runtime: "
	     "2s}\n"
	     "  - {name: b, target: f, group: g, rw: randread}\n",
	     0);
	cr_assert_eq(step.nr_jobs, 2);
	expect_options(0, "rw=randread bs=8KiB iodepth=1 numjobs=1 runtime=2s time_based=true "
			  "direct=false engine=io_uring end_fsync=true");
	expect_options(1, "rw=randread bs=4KiB iodepth=1 numjobs=1 direct=false engine=io_uring");
	cr_expect_str_eq(step.jobs[0].name, "a");
	cr_expect_null(step.jobs[0].group);
	cr_expect_str_eq(step.jobs[1].group, "g");
	cr_expect_str_eq(step.jobs[0].targets, "f");
	cr_expect_str_eq(step.jobs[0].hosts, "local");
	clean();
}

Test(step_jobs, of_the_point_at_hand)
{
	fill("name: x\n"
	     "targets: {s: {simulated: {size: 1GiB}}}\n"
	     "jobs: [{name: a, target: s, rw: randread, runtime: 1s}]\n"
	     "sweep: {iodepth: [1, 8]}\n",
	     1);
	expect_options(0, "rw=randread bs=4KiB iodepth=8 numjobs=1 runtime=1s direct=false "
			  "engine=simulated");
	clean();
}

Test(step_jobs, name_their_hosts_and_targets_folded)
{
	fill("name: x\n"
	     "hosts: \"node[01-04]\"\n"
	     "targets:\n"
	     "  lun0: {device: /dev/sdx}\n"
	     "  f: {file: /srv/f, size: 1GiB}\n"
	     "jobs:\n"
	     "  - {name: a, target: [lun0, f], hosts: [node01, node02, node03], rw: randread}\n"
	     "  - {name: b, target: lun0, rw: randread}\n",
	     0);
	cr_expect_str_eq(step.jobs[0].hosts, "node[01-03]");
	cr_expect_str_eq(step.jobs[1].hosts, "node[01-04]");
	cr_expect_str_eq(step.jobs[0].targets, "lun0, f");
	expect_options(0, "rw=randread bs=4KiB iodepth=1 numjobs=1 "
			  "direct=true for devices, false for files engine=io_uring");
	expect_options(1, "rw=randread bs=4KiB iodepth=1 numjobs=1 direct=true engine=io_uring");
	clean();
}
