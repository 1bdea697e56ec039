/* SPDX-License-Identifier: Apache-2.0 */
/* Results on disk: of runs that ended, and of runs that nobody ended. */
#include "coordinator/archive/stored.h"

#include "coordinator/archive/result_dir.h"
#include "coordinator/archive/result_json.h"
#include "coordinator/run/collector.h"

#include "tests/unit/common/model/scenario_text.h"

#include <math.h>
#include <sys/stat.h>

static const uint64_t S = 1000000000;

static const char text[] =
	"name: rebuilt\n"
	"hosts: \"h[0-1]\"\n"
	"targets: {d: {simulated: {size: 1GiB}}, e: {simulated: {size: 1GiB}}}\n"
	"jobs:\n"
	"  - {name: a, target: [d, e], rw: randread, time_based: true, runtime: 4s}\n"
	"  - {name: b, target: d, rw: randread, group: g, time_based: true, "
	"runtime: 4s, hosts: h1}\n"
	"repeat: 2\n";

static struct scenario *scenario;
static struct plan *plan;
static struct collector *collector;
static struct result_dir *dir;
static char path[] = "/tmp/salvo-test-XXXXXX";

static struct text_pair fact = { (char *)"kernel", (char *)"6.1" };

static void begin_run(void)
{
	struct msg_welcome w = { .facts = (struct fact *)&fact, .nr_facts = 1 };
	struct hostlist hosts = { 0 };
	char *yaml = NULL;
	size_t len;
	FILE *out = open_memstream(&yaml, &len);

	scenario = good_text(text, &no_changes);
	cr_assert_null(hostlist_expand(scenario->hosts, scenario->nr_hosts, &hosts));
	cr_assert_null(plan_new(scenario, &hosts, "20260131T115959Z-0123abcd", 7, &plan));
	collector = collector_new(plan, "20260131T115959Z-0123abcd", "0.1.0");
	collector_host_facts(collector, 1, &w);
	collector_clock(collector, 0, -5 * (int64_t)S, 20000, 0);
	cr_assert_not_null(mkdtemp(path));
	cr_assert_null(result_dir_create(path, &dir));
	scenario_print(scenario, 7, out);
	fclose(out);
	cr_assert_null(result_dir_write_scenario(dir, yaml));
	cr_assert_null(result_dir_write_plan(dir, plan, collector_result(collector)));
	free(yaml);
}

static void end_run(void)
{
	_cleanup_free_ char *command = xasprintf("rm -rf %s", path);

	result_dir_destroy(&dir);
	collector_destroy(&collector);
	plan_destroy(&plan);
	scenario_destroy(&scenario);
	cr_assert_eq(system(command), 0);
}

static void begin_step(size_t step)
{
	collector_begin(collector, step, 100 * S);
	cr_assert_null(
		result_dir_append_step(dir, plan, step, 100 * S, collector_result(collector)));
}

/* What a host did since its last reading, in all of its members. */
static void fill_rows(struct member_row *rows, size_t nr, uint64_t ios)
{
	for (size_t i = 0; i < nr; i++) {
		struct buf bytes = { 0 };
		struct hist lat = { 0 };

		hist_add(&lat, 1000000 + 1000 * i, ios);
		hist_encode(&lat, NULL, &bytes);
		hist_fini(&lat);
		rows[i] = (struct member_row) {
			.member = i,
			.direction = DIR_READ,
			.counts = { .ios = ios, .bytes = 4096 * ios },
			.lat = bytes.data,
			.lat_len = bytes.len,
		};
	}
}

static size_t members_of(size_t host)
{
	return host ? 3 : 2;
}

static void send(size_t step, size_t host, struct message *m)
{
	struct buf bytes = { 0 };

	message_encode(m, &bytes);
	if (m->type == MSG_SAMPLE) {
		cr_assert_null(collector_sample(collector, host, &m->sample));
		cr_assert_null(result_dir_append_sample(dir, step, host, 0, bytes.data, bytes.len));
	} else {
		cr_assert_null(collector_done(collector, host, &m->done));
		cr_assert_null(result_dir_append_totals(dir, step, host, bytes.data, bytes.len));
	}
	buf_fini(&bytes);
}

static void send_sample(size_t step, size_t host, uint64_t k)
{
	uint64_t start = host ? 100 * S : 95 * S; /* on the host's clock */
	struct member_row rows[3];
	struct message m = {
		.type = MSG_SAMPLE,
		.sample = { .sequence = k,
			    .interval = (int64_t)k,
			    .from_ns = start + k * S,
			    .to_ns = start + (k + 1) * S,
			    .running = members_of(host),
			    .rows = rows,
			    .nr_rows = members_of(host) },
	};

	fill_rows(rows, m.sample.nr_rows, 100 + k);
	send(step, host, &m);
	for (size_t i = 0; i < m.sample.nr_rows; i++)
		free(rows[i].lat);
}

static void send_done(size_t step, size_t host, uint64_t nr_samples, uint64_t ios)
{
	struct member_done members[3];
	struct member_row rows[3];
	struct message m = {
		.type = MSG_DONE,
		.done = { .samples = nr_samples,
			  .members = members,
			  .nr_members = members_of(host),
			  .rows = rows,
			  .nr_rows = members_of(host) },
	};

	for (size_t i = 0; i < 3; i++)
		members[i] = (struct member_done) {
			.member = i,
			.threads = 1,
			.first_io_ns = 10 + host,
			.end_ns = 4 * S,
			.all_end_ns = 4 * S,
			.cpu_usr_ns = S / 10,
		};
	fill_rows(rows, m.done.nr_rows, ios);
	send(step, host, &m);
	for (size_t i = 0; i < m.done.nr_rows; i++)
		free(rows[i].lat);
}

static struct stored *opened(void)
{
	struct stored *s = NULL;
	struct error *err = stored_open(path, &s);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	return s;
}

/* The groups of a step, as result.json has them. */
static char *groups_of(const struct result *r, size_t step)
{
	struct result only = {
		.id = (char *)"x", .status = RUN_COMPLETE, .steps = &r->steps[step], .nr_steps = 1
	};
	char *json = NULL;
	size_t len;
	FILE *out = open_memstream(&json, &len);

	cr_assert_null(result_json_write(&only, out));
	fclose(out);
	return json;
}

static const struct result_warning *warning_of(const struct result *r, const char *what)
{
	for (size_t i = 0; i < r->nr_warnings; i++)
		if (strstr(r->warnings[i].text, what))
			return &r->warnings[i];
	cr_assert_fail("no warning of '%s'", what);
	return NULL;
}

/* The first repeat has ended, the second one was killed: the one is exact, the other reaches to the samples. */
Test(stored, a_killed_run_is_added_up_again)
{
	_cleanup_free_ char *want = NULL, *got = NULL;
	const struct result_group *all;
	const struct result *r;
	struct stored *s;

	begin_run();
	begin_step(0);
	for (uint64_t k = 0; k < 4; k++)
		for (size_t host = 0; host < 2; host++)
			send_sample(0, host, k);
	send_done(0, 0, 4, 406);
	send_done(0, 1, 4, 406);
	collector_end(collector);
	begin_step(1);
	for (size_t host = 0; host < 2; host++)
		for (uint64_t k = 0; k < 2 + host; k++)
			send_sample(1, host, k);
	s = opened();
	r = stored_result(s);
	cr_expect_str_eq(r->id, "20260131T115959Z-0123abcd");
	cr_expect_str_eq(r->started, "2026-01-31T11:59:59Z");
	cr_expect_null(r->ended);
	cr_expect_eq(r->status, RUN_PARTIAL);
	cr_expect_eq(r->exit_status, -1);
	cr_expect_str_eq(r->hosts[1].environment[0].value, "6.1");
	cr_expect_str_eq(r->hosts[0].address, "tcp://h0:7600");
	cr_expect_eq(r->hosts[0].clock_offset_ns, -5 * (int64_t)S);
	cr_assert_eq(r->nr_steps, 2);
	want = groups_of(collector_result(collector), 0);
	got = groups_of(r, 0);
	cr_expect_str_eq(got, want);
	cr_expect_not(r->steps[0].partial);
	cr_expect(r->steps[1].partial);
	cr_expect_null(r->steps[1].hosts_text, "all hosts are in it");
	all = &r->steps[1].groups[0];
	cr_expect_eq(all->total.sum.counts.ios, 2 * (100 + 101) + 3 * (100 + 101 + 102));
	cr_expect_eq(all->hosts[0].total.sum.counts.ios, 402);
	cr_expect_eq(all->nr_targets, 2);
	cr_expect_eq(all->targets[1].total.sum.counts.ios, 201 + 303);
	cr_expect_eq(all->jobs[1].total.sum.counts.ios, 303);
	cr_expect_eq(r->steps[1].groups[1].total.sum.counts.ios, 303);
	cr_expect_eq(all->runtime_ns, 3 * S);
	cr_expect_not(all->has_cpu);
	cr_expect_not_null(warning_of(r, "the numbers are added up from 2 of 2 steps"));
	stored_destroy(&s);
	end_run();
}

static void cut_samples(size_t bytes)
{
	_cleanup_free_ char *file = xasprintf("%s/samples.msgpack", path);
	struct stat st;

	cr_assert_eq(stat(file, &st), 0);
	cr_assert_eq(truncate(file, st.st_size - (off_t)bytes), 0);
}

Test(stored, a_record_that_was_cut_is_left_out)
{
	const struct result *r;
	struct stored *s;

	begin_run();
	begin_step(0);
	send_sample(0, 0, 0);
	send_sample(0, 1, 0);
	result_dir_destroy(&dir); /* the lock goes with it */
	cut_samples(3);
	s = opened();
	r = stored_result(s);
	cr_expect_eq(r->steps[0].groups[0].total.sum.counts.ios, 200);
	cr_expect_str_eq(r->steps[0].hosts_text, "1 of 2 hosts");
	cr_expect(warning_of(r, "the run was not brought to its end")->is_fault);
	cr_expect_not_null(warning_of(r, "whose last record is cut"));
	stored_destroy(&s);
	end_run();
}

Test(stored, a_run_that_goes_on_is_no_fault)
{
	struct stored *s;

	begin_run();
	begin_step(0);
	s = opened();
	cr_expect_not(warning_of(stored_result(s), "still going on")->is_fault);
	stored_destroy(&s);
	end_run();
}

static void expect_error(const char *where, enum error_code code, const char *want)
{
	struct stored *s = NULL;
	struct error *err = stored_open(where, &s);

	cr_assert_not_null(err);
	cr_assert_null(s);
	cr_expect_eq(error_code(err), code);
	cr_expect_not_null(strstr(error_message(err), want), "'%s'", error_message(err));
	error_destroy(&err);
}

Test(stored, what_is_no_result_is_refused)
{
	_cleanup_free_ char *file = NULL;

	expect_error("/no/such", ERR_USAGE, "/no/such: No such file");
	expect_error("/usr", ERR_USAGE, "/usr: is no result: it holds neither result.json nor");
	begin_run();
	result_dir_destroy(&dir);
	file = xasprintf("%s/samples.msgpack", path);
	cr_assert_eq(truncate(file, 0), 0);
	expect_error(path, ERR_CONFIG, "samples.msgpack: holds no whole record");
	cr_assert_eq(truncate(file, 5), 0); /* zeros: five integers */
	expect_error(path, ERR_CONFIG, "samples.msgpack: record 1: is no header");
	end_run();
}

/* Somebody has mixed the files of two runs. */
Test(stored, samples_of_another_scenario_are_refused)
{
	_cleanup_free_ char *file = NULL;
	FILE *out;

	begin_run();
	begin_step(1);
	result_dir_destroy(&dir);
	file = xasprintf("%s/scenario.yaml", path);
	out = fopen(file, "w");
	cr_assert_not_null(out);
	fputs("name: x\nhosts: \"h[0-1]\"\ntargets: {d: {simulated: {size: 1GiB}}}\n"
	      "jobs: [{name: a, target: d, rw: randread, runtime: 1s}]\nrepeat: 2\n",
	      out);
	fclose(out);
	expect_error(path, ERR_CONFIG, "record 2: its step is none of scenario.yaml's");
	end_run();
}

/* --- mutations ---------------------------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252ull;

static uint64_t random_below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

/* Whatever the bytes of samples.msgpack are: an error or a result, and no harm. */
Test(stored, mutated_samples_do_no_harm, .timeout = 300)
{
	_cleanup_free_ char *file = NULL;
	static uint8_t good[1 << 20], bad[1 << 20];
	unsigned opened_well = 0;
	size_t len;
	FILE *f;

	begin_run();
	begin_step(0);
	for (uint64_t k = 0; k < 4; k++)
		for (size_t host = 0; host < 2; host++)
			send_sample(0, host, k);
	send_done(0, 0, 4, 406);
	result_dir_destroy(&dir);
	file = xasprintf("%s/samples.msgpack", path);
	f = fopen(file, "r");
	len = fread(good, 1, sizeof(good), f);
	fclose(f);
	for (unsigned i = 0; i < 3000; i++) {
		struct stored *s = NULL;
		struct error *err;

		memcpy(bad, good, len);
		for (uint64_t k = random_below(3); k < 3; k++)
			bad[random_below(len)] = (uint8_t)random_below(256);
		f = fopen(file, "w");
		fwrite(bad, 1, random_below(8) ? len : random_below(len), f);
		fclose(f);
		err = stored_open(path, &s);
		opened_well += !err;
		error_destroy(&err);
		stored_destroy(&s);
	}
	cr_expect_gt(opened_well, 10, "%u", opened_well);
	end_run();
}
