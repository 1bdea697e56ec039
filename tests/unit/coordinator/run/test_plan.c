/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/plan.h"

#include "common/model/inventory.h"
#include "tests/unit/common/model/scenario_text.h"

struct planned {
	struct scenario *scenario;
	struct plan *plan;
};

static void planned_fini(struct planned *p)
{
	plan_destroy(&p->plan);
	scenario_destroy(&p->scenario);
}

/* A plan of the text for its own hosts, or for these. */
static struct planned make(const char *text)
{
	struct planned p = { .scenario = good_text(text, &no_changes) };
	struct hostlist hosts = { 0 };
	struct error *err = hostlist_expand(p.scenario->hosts, p.scenario->nr_hosts, &hosts);

	cr_assert_null(err);
	err = plan_new(p.scenario, &hosts, "run-1", 4711, &p.plan);
	cr_assert_null(err, "%s", err ? error_message(err) : "");
	return p;
}

Test(plan, points_then_repeats_then_phases)
{
	_cleanup_(planned_fini) struct planned p =
		make("name: x\n"
		     "targets: {d: {simulated: {size: 1GiB}}}\n"
		     "phases:\n"
		     "  - {name: fill, measured: false, jobs: [{name: a, target: d, rw: write}]}\n"
		     "  - {name: mix, jobs: [{name: a, target: d, rw: randread, runtime: 2s, "
		     "ramp_time: 1s}]}\n"
		     "sweep: {bs: [4k, 64k]}\n"
		     "repeat: 2\n");
	static const struct {
		size_t point;
		uint64_t repeat;
		size_t phase;
		uint64_t bs;
	} want[] = {
		{ 0, 0, 0, 4096 }, { 0, 0, 1, 4096 },  { 0, 1, 0, 4096 }, { 0, 1, 1, 4096 },
		{ 1, 0, 0, 4096 }, { 1, 0, 1, 65536 }, { 1, 1, 0, 4096 }, { 1, 1, 1, 65536 },
	};
	_cleanup_free_ char *text = plan_point_text(p.plan, 1);

	cr_assert_eq(p.plan->nr_steps, array_size(want));
	for (size_t i = 0; i < array_size(want); i++) {
		const struct step *s = &p.plan->steps[i];

		cr_assert_eq(s->point, want[i].point);
		cr_assert_eq(s->repeat, want[i].repeat);
		cr_assert_eq(s->phase, want[i].phase);
		cr_assert_eq(s->measured, want[i].phase == 1);
		cr_assert_eq(s->jobs[0].bs, want[i].bs);
		cr_assert_eq(s->hosts[0]->members[0].job.bs, want[i].bs);
		cr_assert_eq(s->hosts[0]->step, i);
		cr_assert_eq(s->duration_ns, want[i].phase ? 3000000000 : 0);
	}
	cr_assert_eq(p.plan->duration_ns, 4 * 3000000000ull);
	cr_assert_str_eq(text, "bs=64k");
}

Test(plan, interleaved_has_repeats_outermost_and_rests_between_runs)
{
	_cleanup_(planned_fini) struct planned p =
		make("name: x\n"
		     "targets: {d: {simulated: {size: 1GiB}}}\n"
		     "phases:\n"
		     "  - {name: fill, measured: false, jobs: [{name: a, target: d, rw: write}]}\n"
		     "  - {name: mix, jobs: [{name: a, target: d, rw: randread, runtime: 2s}]}\n"
		     "sweep: {bs: [4k, 64k]}\n"
		     "repeat: 2\n"
		     "order: interleaved\n"
		     "pause: 5s\n");
	static const size_t points[] = { 0, 0, 1, 1, 0, 0, 1, 1 };
	static const uint64_t repeats[] = { 0, 0, 0, 0, 1, 1, 1, 1 };

	cr_assert_eq(p.plan->nr_steps, array_size(points));
	for (size_t i = 0; i < array_size(points); i++) {
		const struct step *s = &p.plan->steps[i];

		cr_assert_eq(s->point, points[i]);
		cr_assert_eq(s->repeat, repeats[i]);
		cr_assert_eq(s->phase, i % 2);
		/* Between runs, not between the phases of one, and not before the first. */
		cr_assert_eq(s->rest_ns, i && i % 2 == 0 ? 5000000000 : 0);
		cr_assert_eq(s->hosts[0]->step, i);
	}
	cr_assert_eq(p.plan->duration_ns, 4 * 2000000000ull + 3 * 5000000000ull);
}

Test(plan, ramp_may_be_longer_than_the_runtime)
{
	_cleanup_(planned_fini) struct planned p = make(
		"name: x\n"
		"targets: {d: {simulated: {size: 1GiB}}}\n"
		"jobs: [{name: a, target: d, time_based: true, runtime: 1s, ramp_time: 2s}]\n");

	cr_assert_eq(p.plan->steps[0].duration_ns, 3000000000);
	cr_assert_eq(p.plan->steps[0].hosts[0]->members[0].job.runtime_ns, 1000000000);
	cr_assert_eq(p.plan->steps[0].hosts[0]->members[0].job.ramp_time_ns, 2000000000);
}

Test(plan, each_phase_has_its_own_ramp)
{
	_cleanup_(planned_fini) struct planned p =
		make("name: x\n"
		     "targets: {d: {simulated: {size: 1GiB}}}\n"
		     "defaults: {target: d, time_based: true, runtime: 5s, ramp_time: 5s}\n"
		     "phases:\n"
		     "  - {name: one, jobs: [{name: a}]}\n"
		     "  - {name: two, jobs: [{name: b}]}\n");

	cr_assert_eq(p.plan->nr_steps, 2);
	cr_assert_eq(p.plan->steps[1].duration_ns, 10000000000);
	cr_assert_eq(p.plan->duration_ns, 20000000000);
}

Test(plan, all_threads_of_a_phase_start_together)
{
	_cleanup_(planned_fini) struct planned p =
		make("name: x\n"
		     "targets: {d: {simulated: {size: 1GiB}}}\n"
		     "defaults: {target: d, rw: randread, time_based: true, runtime: 2s, "
		     "ramp_time: 1s}\n"
		     "jobs:\n"
		     "  - {name: many, numjobs: 50}\n"
		     "  - {name: late, ramp_time: 0, runtime: 1s}\n");

	cr_assert_eq(p.plan->nr_steps, 1);
	cr_assert_eq(assignment_threads(p.plan->steps[0].hosts[0]), 51);
	cr_assert_eq(p.plan->steps[0].duration_ns, 3000000000);
}

Test(plan, without_hosts_it_is_this_one)
{
	_cleanup_(planned_fini) struct planned p = make("name: x\n"
							"targets: {d: {simulated: {size: 1GiB}}}\n"
							"jobs: [{name: a, target: d}]\n");
	_cleanup_free_ char *text = plan_point_text(p.plan, 0);

	cr_assert(p.plan->embedded);
	cr_assert_eq(p.plan->hosts.nr_hosts, 1);
	cr_assert_str_eq(p.plan->hosts.hosts[0].name, "local");
	cr_assert_eq(p.plan->nr_points, 1);
	cr_assert_str_eq(text, "");
	cr_assert_str_eq(p.plan->steps[0].hosts[0]->run, "run-1");
}

Test(plan, threads_are_numbered_over_the_fleet)
{
	_cleanup_(planned_fini) struct planned p =
		make("name: x\n"
		     "hosts: \"n[1-3]\"\n"
		     "targets: {d: {simulated: {size: 1GiB}}, e: {simulated: {size: 1GiB}}}\n"
		     "jobs:\n"
		     "  - {name: a, target: [d, e], numjobs: 2}\n"
		     "  - {name: b, target: e, numjobs: 3, hosts: [n1, n3]}\n");
	struct assignment *const *hosts = p.plan->steps[0].hosts;

	cr_assert_eq(hosts[0]->nr_members, 3);
	cr_assert_eq(hosts[1]->nr_members, 2);
	cr_assert_eq(hosts[0]->members[0].first_thread, 0);
	cr_assert_eq(hosts[0]->members[1].first_thread, 2);
	cr_assert_eq(hosts[0]->members[2].first_thread, 4);
	cr_assert_eq(hosts[1]->members[0].first_thread, 7);
	cr_assert_eq(hosts[2]->members[0].first_thread, 11);
	cr_assert_eq(hosts[2]->members[2].first_thread, 15);
	cr_assert_eq(hosts[0]->members[2].job_index, 1);
	cr_assert_eq(assignment_threads(hosts[0]), 7);
	cr_assert_eq(hosts[0]->nr_targets, 2);
	cr_assert_eq(hosts[0]->members[2].target, 1);
	/* What a worker gets is of one target and of no other hosts. */
	cr_assert_eq(hosts[0]->members[1].job.nr_target, 1);
	cr_assert_str_eq(hosts[0]->members[1].job.target[0], "e");
	cr_assert_eq(hosts[0]->members[2].job.nr_hosts, 0);
}

Test(plan, a_host_without_work_is_idle)
{
	_cleanup_(planned_fini) struct planned p =
		make("name: x\n"
		     "hosts: [n1, n2]\n"
		     "targets: {d: {simulated: {size: 1GiB}}}\n"
		     "phases:\n"
		     "  - {name: one, jobs: [{name: a, target: d, hosts: n2}]}\n"
		     "  - {name: all, jobs: [{name: a, target: d}]}\n");

	cr_assert_null(p.plan->steps[0].hosts[0]);
	cr_assert_not_null(p.plan->steps[0].hosts[1]);
	cr_assert_eq(p.plan->steps[0].hosts[1]->members[0].first_thread, 0);
	cr_assert_not_null(p.plan->steps[1].hosts[0]);
}

Test(plan, an_observer_is_idle_in_all_steps)
{
	static const struct inventory_host observer = { .role = ROLE_OBSERVER };
	struct scenario *sc = good_text("name: x\n"
					"hosts: [n1, n2]\n"
					"targets: {d: {simulated: {size: 1GiB}}}\n"
					"jobs: [{name: a, target: d, numjobs: 2}]\n",
					&no_changes);
	struct hostlist hosts = { 0 };
	struct plan *plan = NULL;
	struct error *err = scenario_hosts(sc, &hosts);

	cr_assert_null(err);
	hosts.hosts[0].entry = &observer;
	err = plan_new(sc, &hosts, "run-1", 4711, &plan);
	cr_assert_null(err);
	cr_assert_null(plan->steps[0].hosts[0]);
	cr_assert_not_null(plan->steps[0].hosts[1]);
	cr_assert_eq(plan->steps[0].hosts[1]->members[0].first_thread, 0);
	plan_destroy(&plan);
	scenario_destroy(&sc);
}

Test(plan, partitions_are_of_one_host_and_one_range)
{
	_cleanup_(planned_fini) struct planned p =
		make("name: x\n"
		     "hosts: [n1, n2]\n"
		     "targets: {d: {device: /dev/a, destroy: true, share: partition}}\n"
		     "jobs:\n"
		     "  - {name: a, target: d, rw: randwrite, numjobs: 2, bs: 12k, size: 1GiB}\n"
		     "  - {name: b, target: d, rw: randread, numjobs: 3, bs: 8k, size: 1GiB}\n"
		     "  - {name: c, target: d, rw: write, numjobs: 4, offset: 1GiB, hosts: n2}\n");
	const struct work_member *one = p.plan->steps[0].hosts[0]->members;
	const struct work_member *two = p.plan->steps[0].hosts[1]->members;

	cr_assert_eq(one[0].part_first, 0);
	cr_assert_eq(one[0].nr_parts, 5);
	cr_assert_eq(one[0].part_align, 24576);
	cr_assert_eq(one[1].part_first, 2);
	cr_assert_eq(one[1].nr_parts, 5);
	cr_assert_eq(one[1].part_align, 24576);
	cr_assert_eq(two[0].nr_parts, 5);
	cr_assert_eq(two[2].part_first, 0);
	cr_assert_eq(two[2].nr_parts, 4);
	cr_assert_eq(two[2].part_align, 4096);
}

Test(plan, a_shared_range_is_whole_for_each)
{
	_cleanup_(planned_fini) struct planned p =
		make("name: x\n"
		     "targets: {d: {file: f, size: 1GiB, share: shared}}\n"
		     "jobs: [{name: a, target: d, rw: randwrite, numjobs: 4, bs: 16k}]\n");
	const struct work_member *m = p.plan->steps[0].hosts[0]->members;

	cr_assert_eq(m->nr_parts, 1);
	cr_assert_eq(m->part_first, 0);
	cr_assert_eq(m->part_align, 16384);
}

Test(plan, targets_are_what_they_are_on_that_host)
{
	_cleanup_(planned_fini) struct planned p =
		make("name: x\n"
		     "hosts: [n1, n2]\n"
		     "targets:\n"
		     "  d: {device: /dev/a, destroy: {uuid: u1}, share: partition, per_host: {n2: "
		     "{device: /dev/b}}}\n"
		     "  f: {file: f.dat, size: 1MiB}\n"
		     "  s: {simulated: {size: 2MiB, latency: 3us}}\n"
		     "  q: {simulated: {size: 1MiB, quantiles: {50: 3us, 99: 1ms}, stall: {at: 1s, "
		     "for: 2s}}}\n"
		     "jobs:\n"
		     "  - {name: w, target: d, rw: randwrite}\n"
		     "  - {name: r, target: [d, f, s, q], rw: randread}\n");
	const struct work_target *t = p.plan->steps[0].hosts[1]->targets;

	cr_assert_eq(p.plan->steps[0].hosts[1]->nr_targets, 4);
	cr_assert_str_eq(t[0].path, "/dev/b");
	cr_assert_eq(t[0].kind, TARGET_DEVICE);
	cr_assert(t[0].reads && t[0].writes);
	cr_assert_eq(t[0].destroy, DESTROY_FORCE);
	cr_assert_str_eq(t[0].destroy_uuid, "u1");
	cr_assert_str_eq(t[1].path, "f.dat");
	cr_assert(t[1].reads && !t[1].writes);
	cr_assert_eq(t[1].size, 1 << 20);
	cr_assert_null(t[2].path);
	cr_assert_eq(t[2].size, 2 << 20);
	cr_assert_eq(t[2].latency_ns, 3000);
	cr_assert_eq(t[2].nr_quantiles, 0);
	cr_assert_eq(t[3].nr_quantiles, 2);
	cr_assert_str_eq(t[3].quantiles[1].percent, "99");
	cr_assert_eq(t[3].quantiles[1].latency_ns, 1000000);
	cr_assert_eq(t[3].stall.for_ns, 2000000000);
	cr_assert_str_eq(p.plan->steps[0].hosts[0]->targets[0].path, "/dev/a");
	/* Each target has its own default of direct. */
	cr_assert(p.plan->steps[0].hosts[1]->members[1].job.direct);
	cr_assert_not(p.plan->steps[0].hosts[1]->members[2].job.direct);
}

Test(plan, a_job_without_a_seed_gets_that_of_the_run)
{
	_cleanup_(planned_fini) struct planned p =
		make("name: x\n"
		     "targets: {d: {simulated: {size: 1GiB}}}\n"
		     "jobs: [{name: a, target: d}, {name: b, target: d, randseed: 0}]\n");
	const struct work_member *m = p.plan->steps[0].hosts[0]->members;

	cr_assert_eq(m[0].job.randseed, 4711);
	cr_assert_eq(m[1].job.randseed, 0);
	cr_assert_eq(p.plan->seed, 4711);
}

Test(plan, survives_the_wire)
{
	_cleanup_(planned_fini) struct planned p =
		make("name: x\n"
		     "targets: {d: {device: /dev/a}}\n"
		     "jobs: [{name: a, target: d, rw: randread, group: g}]\n");
	_cleanup_(buf_fini) struct buf bytes = { 0 };
	struct assignment got;
	struct error *err;

	schema_pack(&assignment_schema, p.plan->steps[0].hosts[0], &bytes);
	err = schema_unpack(&assignment_schema, bytes.data, bytes.len, &got);
	cr_assert_null(err, "%s", err ? error_message(err) : "");
	cr_assert_str_eq(got.targets[0].path, "/dev/a");
	cr_assert(got.members[0].job.direct);
	cr_assert_str_eq(got.members[0].job.group, "g");
	cr_assert_eq(got.members[0].job.randseed, 4711);
	schema_fini(&assignment_schema, &got);
}

Test(plan, hosts_of_jobs_must_be_there)
{
	_cleanup_(scenario_destroy) struct scenario *sc =
		good_text("name: x\n"
			  "hosts: [n1, n2]\n"
			  "targets: {d: {simulated: {size: 1GiB}}}\n"
			  "jobs: [{name: a, target: d, hosts: n2}]\n",
			  &no_changes);
	char other[] = "n1";
	char *expressions[] = { other };
	struct hostlist hosts = { 0 };
	struct plan *plan = NULL;
	struct error *err = hostlist_expand(expressions, 1, &hosts);

	cr_assert_null(err);
	err = plan_new(sc, &hosts, "r", 1, &plan);
	cr_assert_not_null(err);
	cr_assert_str_eq(error_message(err), "job 'a': no host 'n2' among those of the run");
	error_destroy(&err);
}

Test(plan, has_a_limit)
{
	_cleanup_(scenario_destroy) struct scenario *sc =
		good_text("name: x\n"
			  "hosts: \"n[1-8000]\"\n"
			  "targets: {d: {simulated: {size: 1GiB}}}\n"
			  "jobs: [{name: a, target: d}]\n"
			  "repeat: 1000\n",
			  &no_changes);
	struct hostlist hosts = { 0 };
	struct plan *plan = NULL;
	struct error *err = hostlist_expand(sc->hosts, sc->nr_hosts, &hosts);

	cr_assert_null(err);
	err = plan_new(sc, &hosts, "r", 1, &plan);
	cr_assert_not_null(err);
	cr_assert_not_null(strstr(error_message(err), "1000 steps on 8000 hosts"));
	error_destroy(&err);
}
