/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/model/scenario_text.h"

static const char two_jobs[] = "name: two\n"
			       "targets: {disk: {file: f, size: 1GiB, share: shared}}\n"
			       "defaults: {target: disk, bs: 8k, iodepth: 8, runtime: 1s}\n"
			       "jobs:\n"
			       "  - {name: a}\n"
			       "  - {name: b, bs: 16k}\n"
			       "sweep: {iodepth: [1, 2], rw: [randread, randwrite]}\n";

Test(scenario, jobs_are_one_phase_with_the_defaults_in_them)
{
	_cleanup_(scenario_destroy) struct scenario *sc = good_text(two_jobs, &no_changes);
	const struct job *jobs = sc->phases[0].jobs;

	cr_assert_eq(sc->nr_phases, 1);
	cr_assert_eq(sc->nr_jobs, 0);
	cr_assert_str_eq(sc->phases[0].name, "main");
	cr_assert(sc->phases[0].measured);
	cr_assert_eq(jobs[0].bs, 8192);
	cr_assert_eq(jobs[1].bs, 16384);
	cr_assert_str_eq(jobs[1].target[0], "disk");
	cr_assert_eq(jobs[1].iodepth, 8);
	cr_assert_eq(jobs[1].numjobs, 1);
}

Test(scenario, the_last_axis_turns_fastest)
{
	_cleanup_(scenario_destroy) struct scenario *sc = good_text(two_jobs, &no_changes);
	static const char *const want[4][2] = {
		{ "1", "randread" }, { "1", "randwrite" }, { "2", "randread" }, { "2", "randwrite" }
	};

	cr_assert_eq(scenario_points(sc), 4);
	for (uint64_t p = 0; p < 4; p++)
		for (size_t axis = 0; axis < 2; axis++)
			cr_assert_str_eq(scenario_point_value(sc, p, axis), want[p][axis]);
}

Test(scenario, a_sweep_overrides_the_job_in_measured_phases_only)
{
	_cleanup_(scenario_destroy) struct scenario *sc = good_text(two_jobs, &no_changes);
	struct phase unmeasured = { .measured = false };
	struct job job;

	scenario_job_at(sc, &sc->phases[0], &sc->phases[0].jobs[0], 3, &job);
	cr_assert_eq(job.iodepth, 2);
	cr_assert_eq(job.rw, RW_RANDWRITE);
	schema_fini(&job_schema, &job);
	scenario_job_at(sc, &unmeasured, &sc->phases[0].jobs[0], 3, &job);
	cr_assert_eq(job.iodepth, 8);
	cr_assert_eq(job.rw, RW_READ);
	schema_fini(&job_schema, &job);
}

Test(scenario, set_wins_over_the_file)
{
	static const struct setting settings[] = { { "defaults.bs", "64k" },
						   { "jobs[1].bs", "32k" },
						   { "fleet.lease", "3s" } };
	struct scenario_changes changes = { .settings = settings, .nr_settings = 3 };
	_cleanup_(scenario_destroy) struct scenario *sc = good_text(two_jobs, &changes);

	cr_assert_eq(sc->phases[0].jobs[0].bs, 64 << 10);
	cr_assert_eq(sc->phases[0].jobs[1].bs, 32 << 10);
	cr_assert_eq(sc->fleet.lease_ns, 3000000000);
}

Test(scenario, options_of_the_command_line)
{
	static const struct setting labels[] = { { "rack", "a" }, { "rack", "b" } };
	static char host[] = "n[1-2]", *const hosts[] = { host };
	struct scenario_changes changes = {
		.labels = labels,
		.nr_labels = 2,
		.repeat = "7",
		.on_loss = "continue",
		.hosts = hosts,
		.nr_hosts = 1,
	};
	_cleanup_(scenario_destroy) struct scenario *sc = good_text(two_jobs, &changes);

	cr_assert_eq(sc->nr_labels, 1);
	cr_assert_str_eq(sc->labels[0].value, "b");
	cr_assert_eq(sc->repeat, 7);
	cr_assert_eq(sc->fleet.on_loss, ON_LOSS_CONTINUE);
	cr_assert_eq(sc->nr_hosts, 1);
	cr_assert_str_eq(sc->hosts[0], "n[1-2]");
}

Test(scenario, a_target_can_become_another_kind_by_set)
{
	static const struct setting settings[] = { { "targets.disk.device", "/dev/sdx" },
						   { "targets.disk.destroy", "true" },
						   { "targets.disk.share", "partition" } };
	struct scenario_changes changes = { .settings = settings, .nr_settings = 3 };
	_cleanup_(scenario_destroy) struct scenario *sc = good_text(two_jobs, &changes);
	const struct target *t = scenario_target(sc, "disk");

	cr_assert_eq(target_kind(t), TARGET_DEVICE);
	cr_assert_null(t->file);
	cr_assert_eq(target_size(t, "local"), 0);
	cr_assert_not(schema_is_set(&target_schema, t, "file"));
}

Test(scenario, direct_is_the_default_for_devices)
{
	struct target device = { .device = (char *)"/dev/sdx" }, file = { .file = (char *)"f" };
	struct job job;
	struct error *err;

	schema_init(&job_schema, &job);
	cr_assert(target_direct(&device, &job));
	cr_assert_not(target_direct(&file, &job));
	err = schema_set(&job_schema, &job, "direct", "false");
	cr_assert_null(err);
	cr_assert_not(target_direct(&device, &job));
	err = schema_set(&job_schema, &job, "direct", "true");
	cr_assert_null(err);
	cr_assert(target_direct(&file, &job));
	schema_fini(&job_schema, &job);
}

Test(scenario, per_host_overrides_path_and_size)
{
	_cleanup_(scenario_destroy) struct scenario *sc = good_text(
		"name: x\n"
		"hosts: [n1, n2]\n"
		"targets:\n"
		"  disk: {device: /dev/a, per_host: {n2: {device: /dev/b}}}\n"
		"  file: {file: f, size: 1MiB, per_host: {n1: {size: 2MiB}, n2: {file: g}}}\n"
		"jobs: [{name: a, target: [disk, file], rw: randread}]\n",
		&no_changes);
	const struct target *disk = scenario_target(sc, "disk");
	const struct target *file = scenario_target(sc, "file");

	cr_assert_str_eq(target_path(disk, "n1"), "/dev/a");
	cr_assert_str_eq(target_path(disk, "n2"), "/dev/b");
	cr_assert_str_eq(target_path(file, "n1"), "f");
	cr_assert_str_eq(target_path(file, "n2"), "g");
	cr_assert_eq(target_size(file, "n1"), 2 << 20);
	cr_assert_eq(target_size(file, "n2"), 1 << 20);
}

Test(scenario, a_named_signature_may_be_destroyed_whatever_it_is)
{
	_cleanup_(scenario_destroy) struct scenario *sc =
		good_text("name: x\n"
			  "targets: {disk: {device: /dev/a, destroy: {uuid: 12-34}}}\n"
			  "jobs: [{name: a, target: disk, rw: randwrite}]\n",
			  &no_changes);

	cr_assert_eq(sc->targets[0].destroy.level, DESTROY_FORCE);
	cr_assert_str_eq(sc->targets[0].destroy.uuid, "12-34");
}

static char *print(const struct scenario *sc, uint64_t seed)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	scenario_print(sc, seed, out);
	fclose(out);
	return text;
}

Test(scenario, as_resolved_it_loads_again_and_is_the_same)
{
	static const struct setting settings[] = { { "jobs[0].numjobs", "3" } };
	static char host[] = "n[1-2]:7601", *const hosts[] = { host };
	struct scenario_changes changes = {
		.settings = settings, .nr_settings = 1, .hosts = hosts, .nr_hosts = 1
	};
	_cleanup_(scenario_destroy) struct scenario *sc = good_text(two_jobs, &changes);
	_cleanup_free_ char *first = print(sc, 42);
	_cleanup_(scenario_destroy) struct scenario *again = good_text(first, &no_changes);
	_cleanup_free_ char *second = print(again, 43);

	cr_assert_str_eq(first, second);
	cr_assert_null(strstr(first, "defaults"));
	cr_assert_not_null(strstr(first, "randseed: 42"));
	cr_assert_not_null(strstr(first, "direct: false"));
	cr_assert_not_null(strstr(first, "n[1-2]:7601"));
	cr_assert_eq(again->phases[0].jobs[0].numjobs, 3);
	cr_assert_eq(again->nr_warnings, 0);
}

Test(scenario, phases_are_printed_as_phases)
{
	_cleanup_(scenario_destroy) struct scenario *sc =
		good_text("name: x\n"
			  "targets: {disk: {simulated: {size: 1GiB, latency: 1ms}}}\n"
			  "phases:\n"
			  "  - {name: p, measured: false, jobs: [{name: a, target: disk}]}\n"
			  "  - {name: q, jobs: [{name: a, target: disk}]}\n",
			  &no_changes);
	_cleanup_free_ char *first = print(sc, 1);
	_cleanup_(scenario_destroy) struct scenario *again = good_text(first, &no_changes);

	cr_assert_eq(again->nr_phases, 2);
	cr_assert_not(again->phases[0].measured);
	cr_assert_eq(again->targets[0].simulated.latency_ns, 1000000);
}

Test(scenario, hosts_of_a_job_may_be_expressions_with_or_without_ports)
{
	_cleanup_(scenario_destroy) struct scenario *sc =
		good_text("name: x\n"
			  "hosts: [\"n[1-3]:7700\", \"m:[1-2]\"]\n"
			  "targets: {disk: {simulated: {size: 1GiB}}}\n"
			  "jobs:\n"
			  "  - {name: a, target: disk, hosts: \"n[1-2]\"}\n"
			  "  - {name: b, target: disk, hosts: [\"n3:7700\", \"m:2\"]}\n",
			  &no_changes);
	const struct job *jobs = sc->phases[0].jobs;

	cr_assert_eq(jobs[0].nr_hosts, 2);
	cr_assert_str_eq(jobs[0].hosts[1], "n2");
	cr_assert_eq(jobs[1].nr_hosts, 2);
	cr_assert_str_eq(jobs[1].hosts[0], "n3");
	cr_assert_str_eq(jobs[1].hosts[1], "m:2");
	cr_assert(job_on_host(&jobs[1], "n3"));
	cr_assert_not(job_on_host(&jobs[1], "m:1"));
}
