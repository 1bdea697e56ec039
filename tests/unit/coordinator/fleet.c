/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/coordinator/fleet.h"

static char *first_target[] = { (char *)"t0" };

struct job fleet_job(const char *name, int rw)
{
	return (struct job) {
		.name = (char *)name,
		.target = first_target,
		.nr_target = 1,
		.rw = rw,
		.rwmixread = 50,
		.bs = 4096,
		.iodepth = 1,
		.numjobs = 1,
	};
}

static struct assignment *make_assignment(const struct test_fleet *f)
{
	struct assignment *a = xcalloc(1, sizeof(*a));
	size_t nr = 0;

	for (size_t j = 0; j < f->nr_jobs; j++)
		nr += f->jobs[j].nr_target;
	a->interval_ns = f->scenario.interval_ns;
	a->targets = xcalloc(nr, sizeof(*a->targets));
	a->members = xcalloc(nr, sizeof(*a->members));
	for (size_t j = 0; j < f->nr_jobs; j++)
		for (size_t t = 0; t < f->jobs[j].nr_target; t++) {
			a->targets[a->nr_targets].name = f->jobs[j].target[t];
			a->members[a->nr_members++] = (struct work_member) {
				.target = a->nr_targets++,
				.job_index = j,
				.job = f->jobs[j],
			};
		}
	return a;
}

static void make_step(struct test_fleet *f, size_t point, uint64_t repeat)
{
	struct step *s = &f->plan.steps[f->plan.nr_steps++];

	*s = (struct step) {
		.point = point,
		.repeat = repeat,
		.phase_name = "main",
		.measured = true,
		.jobs = f->jobs,
		.nr_jobs = f->nr_jobs,
		.hosts = xcalloc(f->plan.hosts.nr_hosts, sizeof(*s->hosts)),
	};
	for (size_t h = 0; h < f->plan.hosts.nr_hosts; h++)
		s->hosts[h] = make_assignment(f);
}

static void free_steps(struct test_fleet *f)
{
	for (size_t i = 0; i < f->plan.nr_steps; i++) {
		for (size_t h = 0; h < f->plan.hosts.nr_hosts; h++) {
			free(f->plan.steps[i].hosts[h]->targets);
			free(f->plan.steps[i].hosts[h]->members);
			free(f->plan.steps[i].hosts[h]);
		}
		free(f->plan.steps[i].hosts);
	}
	f->plan.nr_steps = 0;
	for (size_t i = 0; i < f->plan.nr_points; i++) {
		free(f->plan.points[i].values->key);
		free(f->plan.points[i].values->value);
		free(f->plan.points[i].values);
	}
	free(f->plan.points);
}

void fleet_steps(struct test_fleet *f, size_t nr_points, size_t nr_repeats)
{
	free_steps(f);
	f->scenario.repeat = nr_repeats;
	f->plan.points = xcalloc(nr_points, sizeof(*f->plan.points));
	f->plan.nr_points = nr_points;
	for (size_t i = 0; i < nr_points; i++) {
		f->plan.points[i].values = xcalloc(1, sizeof(struct point_value));
		f->plan.points[i].nr_values = nr_points > 1;
		f->plan.points[i].values->key = xstrdup("bs");
		f->plan.points[i].values->value = xasprintf("%dk", 4 << i);
		for (size_t r = 0; r < nr_repeats; r++)
			make_step(f, i, r);
	}
}

void fleet_init(struct test_fleet *f, size_t nr_hosts, const struct job *jobs, size_t nr_jobs)
{
	*f = (struct test_fleet) { .nr_jobs = nr_jobs };
	f->jobs = xcalloc(nr_jobs, sizeof(*jobs));
	memcpy(f->jobs, jobs, nr_jobs * sizeof(*jobs));
	f->scenario.name = (char *)"test";
	f->scenario.interval_ns = 1000000000;
	f->scenario.fleet.min_overlap = 99;
	f->scenario.nr_phases = 1;
	f->plan.scenario = &f->scenario;
	f->plan.hosts.hosts = xcalloc(nr_hosts, sizeof(struct host));
	f->plan.hosts.nr_hosts = nr_hosts;
	for (size_t h = 0; h < nr_hosts; h++)
		f->plan.hosts.hosts[h].name = xasprintf("h%zu", h);
	f->plan.steps = xcalloc(FLEET_STEPS_MAX, sizeof(struct step));
	fleet_steps(f, 1, 1);
	f->collector = collector_new(&f->plan, "run-1", "0.1.0");
}

void fleet_fini(struct test_fleet *f)
{
	collector_destroy(&f->collector);
	free_steps(f);
	free(f->plan.steps);
	for (size_t h = 0; h < f->plan.hosts.nr_hosts; h++)
		free(f->plan.hosts.hosts[h].name);
	free(f->plan.hosts.hosts);
	free(f->jobs);
}

void load_add(struct load *l, uint64_t ios, uint64_t bytes, uint64_t lat_ns)
{
	l->counts.ios += ios;
	l->counts.bytes += ios * bytes;
	hist_add(&l->lat, lat_ns, ios);
}

static struct member_row *make_rows(const struct load *loads, size_t nr)
{
	struct member_row *rows = xcalloc(nr, sizeof(*rows));

	for (size_t i = 0; i < nr; i++) {
		struct buf bytes = { 0 };

		hist_encode(&loads[i].lat, NULL, &bytes);
		rows[i] = (struct member_row) {
			.member = loads[i].member,
			.direction = (int)loads[i].dir,
			.counts = loads[i].counts,
			.lat = bytes.data,
			.lat_len = bytes.len,
		};
	}
	return rows;
}

static void free_rows(struct member_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(rows[i].lat);
	free(rows);
}

void fleet_done(struct test_fleet *f, size_t host, struct msg_done done, struct load *loads,
		size_t nr)
{
	struct error *err;

	done.rows = make_rows(loads, nr);
	done.nr_rows = nr;
	err = collector_done(f->collector, host, &done);
	assert(!err);
	free_rows(done.rows, nr);
	for (size_t i = 0; i < nr; i++)
		hist_fini(&loads[i].lat);
}

struct member_done fleet_member(uint64_t member, uint64_t threads, uint64_t begin_ns,
				uint64_t end_ns)
{
	return (struct member_done) {
		.member = member,
		.threads = threads,
		.first_io_ns = begin_ns + 1,
		.last_first_io_ns = begin_ns + 1,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.read_end_ns = end_ns,
		.write_end_ns = end_ns,
		.all_begin_ns = begin_ns,
		.all_end_ns = end_ns,
	};
}

void fleet_done_one(struct test_fleet *f, size_t host, struct load load, uint64_t begin_ns,
		    uint64_t end_ns)
{
	struct member_done member = fleet_member(load.member, 1, begin_ns, end_ns);

	fleet_done(f, host, (struct msg_done) { .members = &member, .nr_members = 1 }, &load, 1);
}

struct error *fleet_sample(struct test_fleet *f, size_t host, struct msg_sample sample,
			   const struct load *loads, size_t nr)
{
	struct error *err;

	sample.rows = make_rows(loads, nr);
	sample.nr_rows = nr;
	err = collector_sample(f->collector, host, &sample);
	free_rows(sample.rows, nr);
	return err;
}

/* A sample of interval k with these many I/Os of one member, all threads running. */
struct error *fleet_interval(struct test_fleet *f, size_t host, uint64_t k, uint64_t ios)
{
	struct msg_sample m = {
		.sequence = k,
		.interval = (int64_t)k,
		.from_ns = k * FLEET_INTERVAL_NS,
		.to_ns = (k + 1) * FLEET_INTERVAL_NS,
		.running = 1,
	};
	struct load l = { .dir = DIR_READ };
	struct error *err;

	load_add(&l, ios, 4096, 100000);
	err = fleet_sample(f, host, m, &l, 1);
	hist_fini(&l.lat);
	return err;
}

void fleet_intervals(struct test_fleet *f, size_t host, uint64_t nr, uint64_t ios)
{
	for (uint64_t k = 0; k < nr; k++) {
		struct error *err = fleet_interval(f, host, k, ios);

		assert(!err);
	}
}

void fleet_total(struct test_fleet *f, size_t host, uint64_t ios, uint64_t samples)
{
	struct member_done member = fleet_member(0, 1, 0, samples * FLEET_INTERVAL_NS);
	struct msg_done done = { .samples = samples, .members = &member, .nr_members = 1 };
	struct load l = { .dir = DIR_READ };

	load_add(&l, ios, 4096, 100000);
	fleet_done(f, host, done, &l, 1);
}

bool fleet_warned(const struct result *r, const char *text)
{
	for (size_t i = 0; i < r->nr_warnings; i++)
		if (strstr(r->warnings[i].text, text))
			return true;
	return false;
}

const struct result *fleet_finish(struct test_fleet *f)
{
	return collector_finish(f->collector, RUN_COMPLETE, 0, "2026-01-31T12:00:00Z",
				"2026-01-31T12:01:00Z");
}
