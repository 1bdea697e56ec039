/* SPDX-License-Identifier: Apache-2.0 */
/* result.json read back: the same reports, byte for byte; and whatever else the file is, an error that says what. */
#include "coordinator/archive/result_read.h"

#include "coordinator/report/report.h"
#include "tests/unit/coordinator/report/results.h"

#include <criterion/criterion.h>
#include <math.h>
#include <unistd.h>

static void add_pair(struct text_pair **pairs, size_t *nr, const char *key, const char *value)
{
	*pairs = xrealloc(*pairs, *nr + 1, sizeof(**pairs));
	(*pairs)[(*nr)++] = (struct text_pair) { .key = xstrdup(key), .value = xstrdup(value) };
}

static void add_errors(struct result_group *g)
{
	g->errors = xrealloc(g->errors, g->nr_errors + 2, sizeof(*g->errors));
	g->errors[g->nr_errors++] = (struct result_error) {
		.direction = DIR_SYNC,
		.number = 28,
		.count = 7,
		.first_offset = UINT64_MAX,
	};
	g->errors[g->nr_errors++] = (struct result_error) {
		.direction = DIR_READ,
		.number = 5,
		.name = xstrdup("EIO"),
		.count = 1,
		.first_host = xstrdup("initiator02"),
		.first_target = xstrdup("lun \xc3\xa4"),
		.first_ns = 12345,
	};
}

static void add_checks(struct result *r)
{
	r->checks = xcalloc(2, sizeof(*r->checks));
	r->nr_checks = 2;
	for (size_t i = 0; i < 2; i++) {
		struct result_check *c = &r->checks[i];

		*c = (struct result_check) {
			.text = xstrdup("lat.p99 < 2ms"),
			.repeat = i + 1,
			.phase = xstrdup("main"),
			.state = i ? CHECK_SKIPPED : CHECK_FAILED,
			.value = i ? NAN : 2310000.5,
			.why = i ? NULL : xstrdup("lat.p99 is 2.31 ms"),
		};
		add_pair(&c->point, &c->nr_point, "bs", "4k");
	}
}

/* Everything that a result can hold. */
static void results_full(struct result *r)
{
	struct result_step *s;
	struct result_group *all;
	struct result_device *d;
	struct result_job *j;

	results_single(r);
	r->hosts[0].role = xstrdup("observer");
	add_pair(&r->hosts[0].labels, &r->hosts[0].nr_labels, "rack", "a");
	add_checks(r);
	s = &r->steps[0];
	s->partial = true;
	s->min_overlap = 0.99;
	s->hosts_text = xstrdup("3 of 4 hosts");
	s->jobs = xrealloc(s->jobs, s->nr_jobs + 1, sizeof(*s->jobs));
	j = &s->jobs[s->nr_jobs++];
	*j = (struct result_job) {
		.name = xstrdup("oltp"),
		.group = xstrdup("bulk"),
		.hosts = xstrdup("initiator[01-04]"),
		.targets = xstrdup("lun0, lun1"),
	};
	add_pair(&j->options, &j->nr_options, "rw", "randread");
	all = &s->groups[0];
	all->cpu_iowq = 12.25;
	all->has_depths = true;
	all->depths = all->submits = all->completes = (struct pow2_counts) { 0 };
	all->depths.bucket[5] = 1000;
	all->depths.bucket[12] = 1;
	all->submits.bucket[0] = 7;
	add_errors(all);
	s->devices = xrealloc(s->devices, s->nr_devices + 1, sizeof(*s->devices));
	d = &s->devices[s->nr_devices++];
	*d = (struct result_device) {
		.host = xstrdup("local"),
		.target = xstrdup("lun1"),
		.util = NAN,
		.disk = xstrdup("sda"),
		.is_file = true,
		.elapsed_ns = 31000000000,
		.flush_ios = 4,
		.has_foreign = true,
		.foreign_ios = 3,
		.has_cached = true,
	};
	r->exit_status = -1;
}

static void (*const fills[])(struct result *r) = {
	results_single, results_fleet, results_lost, results_repeats, results_many,
	results_short,  results_fsync, results_hung, results_full,    results_empty,
};

static char *print(const struct result *r,
		   struct error *(*write)(const struct result *r, FILE *out))
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	cr_assert_null(write(r, out));
	cr_assert_eq(fclose(out), 0);
	return text;
}

static char *json_of(void (*fill)(struct result *r))
{
	struct result r;
	char *json;

	fill(&r);
	json = print(&r, report_json);
	result_fini(&r);
	return json;
}

static void expect_same(const char *got, const char *want)
{
	size_t same = 0;

	while (got[same] && got[same] == want[same])
		same++;
	cr_expect(streq(got, want), "differs at byte %zu:\n%.200s\ninstead of\n%.200s", same,
		  got + same, want + same);
}

Test(result_read, every_report_is_the_same_again)
{
	for (size_t i = 0; i < array_size(fills); i++) {
		_cleanup_free_ char *text = NULL, *json = NULL, *text2 = NULL, *json2 = NULL;
		struct result r;

		fills[i](&r);
		text = print(&r, report_text);
		json = print(&r, report_json);
		result_fini(&r);
		cr_assert_null(result_read_text("r", json, strlen(json), &r));
		text2 = print(&r, report_text);
		json2 = print(&r, report_json);
		expect_same(json2, json);
		expect_same(text2, text);
		result_fini(&r);
	}
}

/* The names that others rely on. */
Test(result_read, new_fields_have_their_names)
{
	static const char *const wants[] = {
		"\"iowq\":12.25",
		"\"depths\":[[32,1000],[4096,1]],\"submits\":[[1,7]],\"completes\":[]",
		"{\"direction\":\"sync\",\"errno\":28,\"count\":7,\"first\":{}}",
		"{\"direction\":\"read\",\"errno\":5,\"name\":\"EIO\",\"count\":1,\"first\":{"
		"\"host\":\"initiator02\",\"target\":\"lun "
		"\\u00E4\",\"offset\":0,\"at_ns\":12345}}",
		"\"role\":\"observer\"",
		"\"labels\":{\"rack\":\"a\"}",
		"{\"name\":\"oltp\",\"group\":\"bulk\",\"hosts\":\"initiator[01-04]\","
		"\"targets\":\"lun0, lun1\",\"options\":{\"rw\":\"randread\"}}",
		"\"disk\":\"sda\",\"file\":true",
		"\"foreign_ios\":3,\"foreign_bytes\":0,\"cached_bytes\":0",
		"\"state\":\"failed\",\"value\":2310000.5,\"why\":\"lat.p99 is 2.31 ms\"",
	};
	_cleanup_free_ char *json = json_of(results_full);

	for (size_t i = 0; i < array_size(wants); i++)
		cr_expect_not_null(strstr(json, wants[i]), "%s", wants[i]);
	cr_expect_null(strstr(json, "exit_status"));
}

static void expect_error(const char *json, const char *want)
{
	struct result r;
	struct error *err = result_read_text("r", json, strlen(json), &r);

	cr_assert_not_null(err, "%.100s", json);
	cr_expect_eq(error_code(err), ERR_CONFIG);
	cr_expect_not_null(strstr(error_message(err), want), "'%s' instead of '%s'",
			   error_message(err), want);
	cr_expect_null(r.id);
	error_destroy(&err);
}

/* The text with `from` replaced by `to`, once; owned by the caller. */
static char *replaced(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	cr_assert_not_null(at, "%s", from);
	return xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

Test(result_read, what_is_no_result_is_refused)
{
	expect_error("", "the file ends in the middle");
	expect_error("[]", "r: line 1: no '{'");
	expect_error("{}", "is no result of salvo");
	expect_error("{\"format\":2,\"run\":7}", "has format 2, and this program reads format 1");
	expect_error("{\"format\":\"1\"}", "is no result of salvo");
	expect_error("{\"format\":1}", "run: is missing");
	expect_error("{\"format\":1,\"run\":[]}", "run: is no object");
	expect_error("{\"format\":1,\"run\":{}}", "run.id: is missing");
	expect_error("{\"format\":1,\"run\":{\"id\":\"x\",\"status\":\"odd\"}}",
		     "run.status: is none of its names");
	expect_error("{\"format\":1,\"hosts\":{}}", "hosts: line 1: no '['");
	expect_error("{\"format\":1,\"results\":[{\"repeat\":1,\"phase\":\"p\"}]}",
		     "results[0]: has no groups");
	expect_error("{\"format\":1 \"run\":{}}", "line 1: no ','");
	expect_error("{\"format\":1,\"run\":{\"id\":\"a\",\"id\":\"b\"}}", "duplicate object key");
	expect_error("{\"format\":1,\"hosts\":[],\"hosts\":[]}", "hosts: is given twice");
	expect_error("{\"format\":1,\"run\":{\"id\":\"\xff\"}}", "unable to decode byte 0xff");
}

Test(result_read, a_mistake_is_found_by_its_path)
{
	static const struct {
		const char *from, *to, *want;
	} cases[] = {
		{ "\"threads\":16", "\"threads\":-16", "groups[0].threads: is no whole number" },
		{ "\"threads\":16", "\"threads\":16.5", "groups[0].threads: is no whole number" },
		{ "\"threads\":16", "\"threads\":1e999", "real number overflow" },
		{ "\"threads\":16", "\"threads\":NaN", "groups[0].threads: line" },
		{ "\"threads\":16,", "", "groups[0].threads: is missing" },
		{ "\"threads\":16", "\"threads\":99999999999999999999", "too big integer" },
		{ "\"histogram\":[[", "\"histogram\":[[1,", "histogram[0]: is no [lower, upper" },
		{ "\"lat_ns\":{\"n\":", "\"lat_ns\":{\"n\":1", "lat_ns: n: the histogram holds" },
		{ "\"min\":", "\"min\":99999", "lat_ns: min: is more than max" },
		{ "\"drain\":{", "\"drained\":{", ".drain.ios: is missing" },
		{ "\"drain\":{\"ios\":", "\"drain\":{\"ios\":{},\"x\":",
		  ".drain.ios: is no whole" },
		{ "\"state\":\"complete\"", "\"state\":\"dead\"", "hosts[0].state: is none of" },
		{ "\"name\":\"initiator01\"", "\"name\":null", "hosts[0].name: is no text" },
		{ "\"spread_ns\":", "\"spread\":", "results[0].start.spread_ns: is missing" },
	};
	_cleanup_free_ char *json = json_of(results_fleet);

	for (size_t i = 0; i < array_size(cases); i++) {
		_cleanup_free_ char *wrong = replaced(json, cases[i].from, cases[i].to);

		expect_error(wrong, cases[i].want);
	}
}

/* A newer program of the same format may know more; another order of keys means the same. */
Test(result_read, unknown_keys_are_passed_over)
{
	_cleanup_free_ char *json = json_of(results_single);
	_cleanup_free_ char *more =
		replaced(json, "{\"format\":1,",
			 "{\"a\":{\"]\":[1,\"}\\\"{\"]},\"news\":[[[]]],\"format\":1,");
	_cleanup_free_ char *again = NULL;
	struct result r;

	cr_assert_null(result_read_text("r", more, strlen(more), &r));
	again = print(&r, report_json);
	expect_same(again, json);
	result_fini(&r);
}

/* Laid out by another program, as people do to read it. */
Test(result_read, blanks_do_not_matter)
{
	_cleanup_free_ char *json = json_of(results_lost);
	char *wide = xcalloc(3, strlen(json) + 1), *to = wide;
	_cleanup_free_ char *again = NULL;
	bool in_text = false;
	struct result r;

	for (const char *p = json; *p; p++) {
		in_text ^= *p == '"' && (p == json || p[-1] != '\\');
		if (!in_text && strchr("{}[],:", *p))
			to = stpcpy(to, "\n ");
		*to++ = *p;
	}
	cr_assert_null(result_read_text("r", wide, strlen(wide), &r));
	again = print(&r, report_json);
	expect_same(again, json);
	result_fini(&r);
	free(wide);
}

Test(result_read, a_file_that_was_cut_is_refused)
{
	_cleanup_free_ char *json = json_of(results_single);
	size_t len = strlen(json);

	for (size_t cut = 0; cut + 2 < len; cut += 1 + cut / 64) {
		struct result r;
		struct error *err = result_read_text("r", json, cut, &r);

		cr_assert_not_null(err, "%zu of %zu bytes", cut, len);
		error_destroy(&err);
	}
}

Test(result_read, depth_is_limited)
{
	char *deep = xcalloc(1, 1 << 20);
	struct result r;
	struct error *err;

	strcpy(deep, "{\"format\":1,\"x\":");
	memset(deep + strlen(deep), '[', (1 << 20) - 32);
	err = result_read_text("r", deep, strlen(deep), &r);
	cr_assert_not_null(err);
	cr_expect_not_null(strstr(error_message(err), "depth"), "%s", error_message(err));
	error_destroy(&err);
	free(deep);
}

Test(result_read, files)
{
	char path[] = "/tmp/salvo-test-XXXXXX";
	_cleanup_free_ char *json = json_of(results_repeats), *again = NULL;
	int fd = mkstemp(path);
	struct result r;
	struct error *err;

	cr_assert_eq(write(fd, json, strlen(json)), (ssize_t)strlen(json));
	close(fd);
	cr_assert_null(result_read_file(path, &r));
	again = print(&r, report_json);
	expect_same(again, json);
	result_fini(&r);
	unlink(path);
	err = result_read_file(path, &r);
	cr_assert_not_null(err);
	cr_expect_eq(error_code(err), ERR_USAGE);
	cr_expect_not_null(strstr(error_message(err), "No such file"));
	error_destroy(&err);
}

/* --- mutations ------------------------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252ull;

static uint64_t random_below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

/* Small texts that say something in a JSON file. */
static const char *const words[] = {
	"-1",
	"0",
	"9223372036854775807",
	"1e308",
	"-0.0",
	"null",
	"true",
	"\"\"",
	"[]",
	"{}",
	",",
	"[",
	"]",
	"{",
	"}",
	"\"",
	"\\",
	"\\u0000",
	"\"\\ud800\"",
	"4398046511104",
	"\"hung\"",
	"\"common\":null,",
	"\"total\":{},",
	"[1,2,3],",
};

static char *mutated(const char *json, size_t *len)
{
	char *text = xcalloc(1, *len + 64);

	memcpy(text, json, *len);
	for (uint64_t i = random_below(4); i < 4; i++) {
		const char *word = words[random_below(array_size(words))];
		size_t at = random_below(*len), n = strlen(word);

		if (random_below(3) == 0) {
			text[at] = (char)random_below(256);
		} else if (random_below(2) == 0 && at + n < *len) {
			memcpy(text + at, word, n);
		} else {
			size_t cut = random_below(8), room = *len - at;

			cut = cut < room ? cut : room;
			memmove(text + at + n % 8, text + at + cut, room - cut);
			memcpy(text + at, word, n % 8);
			*len = *len - cut + n % 8;
		}
		if (*len > strlen(json) + 32)
			break;
	}
	return text;
}

/* Whatever the bytes are: an error, or something that every report can print. */
Test(result_read, mutated_files_do_no_harm, .timeout = 300)
{
	_cleanup_free_ char *json = json_of(results_full);
	FILE *null = fopen("/dev/null", "w");
	unsigned accepted = 0;

	cr_assert_not_null(null);
	for (unsigned i = 0; i < 4000; i++) {
		size_t len = strlen(json);
		_cleanup_free_ char *text = mutated(json, &len);
		struct result r;
		struct error *err = result_read_text("r", text, len, &r);

		if (err) {
			error_destroy(&err);
			continue;
		}
		accepted++;
		cr_assert_null(report_text(&r, null));
		cr_assert_null(report_json(&r, null));
		result_fini(&r);
	}
	cr_expect_gt(accepted, 40, "%u", accepted);
	fclose(null);
}
