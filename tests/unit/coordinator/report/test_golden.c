/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of fixed results, byte for byte. SALVO_GOLDEN=write makes the files anew: read the difference
 * before it is committed. */
#include "coordinator/report/report.h"
#include "coordinator/report/table.h"
#include "tests/unit/coordinator/report/results.h"
#include "tests/unit/coordinator/report/rig.h"

#include <criterion/criterion.h>

static char *read_file(const char *path)
{
	char *text = NULL;
	size_t cap = 0;
	FILE *in = fopen(path, "r");

	if (!in)
		return NULL;
	if (getdelim(&text, &cap, '\0', in) < 0)
		freep(&text);
	fclose(in);
	return text;
}

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	cr_assert_not_null(out, "%s", path);
	cr_assert(fputs(text, out) >= 0);
	cr_assert_eq(fclose(out), 0);
}

static char *print(void (*fill)(struct result *r), const char *format)
{
	const struct report_format *f = report_format_find(format);
	struct result r;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	cr_assert_not_null(f);
	fill(&r);
	cr_assert_null(f->write(&r, out));
	cr_assert_eq(fclose(out), 0);
	cr_assert_eq(strlen(text), len);
	result_fini(&r);
	return text;
}

static void expect_golden(void (*fill)(struct result *r), const char *name, const char *format)
{
	_cleanup_free_ char *got = print(fill, format), *want = NULL;
	_cleanup_free_ char *path = xasprintf("tests/golden/report/%s.%s", name,
					      streq(format, "text") ? "txt" : format);
	const char *mode = getenv("SALVO_GOLDEN");
	size_t same = 0;

	if (mode && streq(mode, "write"))
		write_file(path, got);
	want = read_file(path);
	cr_assert_not_null(want, "%s: cannot be read", path);
	while (got[same] && got[same] == want[same])
		same++;
	cr_expect_str_eq(got, want, "%s: differs at byte %zu:\n%.300s", path, same, got + same);
}

Test(golden, single_text)
{
	expect_golden(results_single, "single", "text");
}

Test(golden, single_json)
{
	expect_golden(results_single, "single", "json");
}

Test(golden, fleet_text)
{
	expect_golden(results_fleet, "fleet", "text");
}

Test(golden, lost_text)
{
	expect_golden(results_lost, "lost", "text");
}

Test(golden, lost_json)
{
	expect_golden(results_lost, "lost", "json");
}

Test(golden, repeats_text)
{
	expect_golden(results_repeats, "repeats", "text");
}

Test(golden, many_text)
{
	expect_golden(results_many, "many", "text");
}

Test(golden, fsync_text)
{
	expect_golden(results_fsync, "fsync", "text");
}

Test(golden, hung_text)
{
	expect_golden(results_hung, "hung", "text");
}

Test(golden, empty_text)
{
	expect_golden(results_empty, "empty", "text");
}

/* A pass over a small file is over in less than the milliseconds that other run times have. */
Test(golden, a_short_run_has_a_run_time)
{
	_cleanup_free_ char *text = print(results_short, "text");

	cr_expect_not_null(strstr(text, ", ios=256, run=431 us\n"), "%s", text);
	cr_expect_not_null(strstr(text, "\n  buffered: I/O goes through the page cache"), "%s",
			   text);
}

/* Nothing that a peer chose reaches a terminal as it came, and no line is too long for it. */
Test(golden, every_report_is_printable_and_fits)
{
	void (*const fills[])(struct result * r) = { results_single,  results_fleet, results_lost,
						     results_repeats, results_many,  results_fsync,
						     results_hung,    results_empty };

	for (size_t i = 0; i < array_size(fills); i++) {
		_cleanup_free_ char *text = print(fills[i], "text");
		_cleanup_free_ char *json = print(fills[i], "json");
		size_t column = 0;

		for (const char *p = text; *p; p++) {
			column = *p == '\n' ? 0 : column + 1;
			cr_assert(*p == '\n' || (*p >= 0x20 && *p < 0x7f));
			cr_assert_leq(column, REPORT_WIDTH, "%.120s", p - column + 1);
		}
		for (const char *p = json; *p; p++)
			cr_assert(*p == '\n' || (*p >= 0x20 && *p < 0x7f));
	}
}

/* Five files on the disk of the quick start's one. */
static void results_files(struct result *r)
{
	static const char *const names[] = { "b", "c", "d", "e" };

	results_single(r);
	for (size_t i = 0; i < array_size(names); i++)
		rig_add_device(&r->steps[0], "local", names[i], "vda")->is_file = true;
}

/* The counters of a disk are shown once, however many targets lie on it. */
Test(golden, a_disk_has_one_row)
{
	_cleanup_free_ char *text = print(results_files, "text");
	const char *row = strstr(text, "  scratch, b, c and        vda (file)  r ");

	cr_assert_not_null(row, "%s", text);
	cr_expect_not_null(strstr(row, "\n  2 more\n"), "%s", row);
	cr_expect_null(strstr(strstr(row, "vda") + 1, "vda"), "%s", row);
}

static void results_even(struct result *r)
{
	struct result_group *hosts;

	results_many(r);
	hosts = r->steps[0].groups[0].hosts;
	for (size_t h = 0; h < r->steps[0].groups[0].nr_hosts; h++)
		hosts[h].dir[DIR_READ].iops = hosts[h].total.iops = 1000 - (double)(h % 7);
}

/* One of many hosts is always the slowest: not every run needs to be told of it. */
Test(golden, hosts_that_are_alike_have_no_slowest)
{
	_cleanup_free_ char *text = print(results_even, "text");

	cr_expect_null(strstr(text, "slowest host"));
}

/* Of many hosts the worst ones are shown, and the one that lags is first but for those with errors. */
Test(golden, a_long_table_shows_its_worst_rows)
{
	_cleanup_free_ char *text = print(results_many, "text");
	const char *table = strstr(text, "hosts of group 'all', worst first");
	size_t rows = 0;

	cr_assert_not_null(table, "%s", text);
	cr_expect_not_null(strstr(text,
				  "\nslowest host: node50, 50.1% below the median host's IOPS "
				  "per thread\n"));
	cr_expect_not_null(strstr(text, "\nerrors:       1 on node60\n"));
	for (const char *p = table; (p = strstr(p, "\n    node")); p++)
		rows++;
	cr_expect_eq(rows, 20);
	cr_expect_not_null(strstr(table, "< slowest: -50%"));
	cr_expect_not_null(strstr(table, "node50 "));
	cr_expect_lt(strstr(table, "node60 "), strstr(table, "node50 "));
	cr_expect_not_null(strstr(table, "and 44 more with 1002 to 1006 IOPS per thread"));
}

Test(golden, formats_have_names)
{
	_cleanup_free_ char *names = report_format_names();

	cr_expect_str_eq(names, "text, json");
	cr_expect_null(report_format_find("yaml"));
}
