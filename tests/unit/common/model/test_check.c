/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/check.h"

#include <criterion/criterion.h>
#include <math.h>

static struct check good(const char *text)
{
	struct check c;
	struct error *err = check_parse(text, &c);

	cr_assert_null(err, "%s: %s", text, err ? error_message(err) : "");
	return c;
}

static void check_wrong(const char *text, const char *part)
{
	struct check c = { 0 };
	struct error *err = check_parse(text, &c);

	cr_assert_not_null(err, "%s", text);
	cr_expect(strstr(error_message(err), part), "%s: %s", text, error_message(err));
	cr_expect_eq(error_code(err), ERR_CONFIG);
	error_destroy(&err);
}

Test(check, parts_of_it)
{
	struct check c = good("  oltp and more : read.lat.p99.9<=  2.5 ms ");

	cr_expect_str_eq(c.group, "oltp and more");
	cr_expect_str_eq(c.metric, "read.lat.p99.9");
	cr_expect_eq(c.op, CHECK_LESS_EQUAL);
	cr_expect_eq(c.limit, 2500000);
	cr_expect_eq(c.path.direction, DIR_READ);
	check_fini(&c);
	c = good("all:errors==0");
	cr_expect_null(c.group);
	cr_expect_eq(c.op, CHECK_EQUAL);
	check_fini(&c);
}

Test(check, values_have_the_unit_of_their_metric)
{
	static const struct {
		const char *text;
		double limit;
	} wanted[] = {
		{ "lat.mean < 0", 0 },
		{ "slat.max < 1.5us", 1500 },
		{ "write.bw_bytes > 100MiB", 104857600 },
		{ "bw_bytes > 100MB/s", 100000000 },
		{ "read.bytes != 4k", 4096 },
		{ "iops >= 10k", 10000 },
		{ "iops >= 0.5", 0.5 },
		{ "trim.ios > 1M", 1000000 },
		{ "cpu.usr < 250.5%", 250.5 },
		{ "overlap >= 99", 99 },
		{ "start.spread < 1ms", 1000000 },
	};

	for (size_t i = 0; i < array_size(wanted); i++) {
		struct check c = good(wanted[i].text);

		cr_expect_eq(c.limit, wanted[i].limit, "%s", wanted[i].text);
		check_fini(&c);
	}
	check_wrong("lat.p99 < 2", "is a time");
	check_wrong("lat.p99 < 2m s s", "is a time");
	check_wrong("iops > 10ms", "is a number");
	check_wrong("iops > 1.2.3", "is a number");
	check_wrong("iops > -1", "is a number");
	check_wrong("iops > inf", "is a number");
	check_wrong("bytes > 4k/s", "is in bytes");
	check_wrong("cpu.sys < %", "is in percent");
	check_wrong("errors ==", "has no value");
}

Test(check, what_is_no_check)
{
	check_wrong("", "has no comparison");
	check_wrong("lat.p99", "has no comparison");
	check_wrong("lat.p99 = 2ms", "'=' is no comparison");
	check_wrong("lat.p99 ! 2ms", "'!' is no comparison");
	check_wrong("< 2ms", "has no metric");
	check_wrong(":errors == 0", "no group in front");
	check_wrong("iosp > 1", "did you mean 'iops'?");
	check_wrong("read.iosp > 1", "did you mean 'read.iops'?");
	check_wrong("read.lat < 1ms", "is a distribution");
	check_wrong("total.iops > 1", "'total' is no direction of 'iops'; write 'iops'");
	check_wrong("read.cpu.usr < 1%", "'read' is no direction of 'cpu.usr'");
	check_wrong("sys.softirq.TIMER > 1", "unknown metric");
}

Test(check, comparisons)
{
	static const struct {
		const char *text;
		bool below, at, above;
	} wanted[] = {
		{ "iops < 5", true, false, false },  { "iops <= 5", true, true, false },
		{ "iops > 5", false, false, true },  { "iops >= 5", false, true, true },
		{ "iops == 5", false, true, false }, { "iops != 5", true, false, true },
	};

	for (size_t i = 0; i < array_size(wanted); i++) {
		struct check c = good(wanted[i].text);

		cr_expect_eq(check_holds(&c, 4.999), wanted[i].below, "%s", wanted[i].text);
		cr_expect_eq(check_holds(&c, 5), wanted[i].at, "%s", wanted[i].text);
		cr_expect_eq(check_holds(&c, 5.001), wanted[i].above, "%s", wanted[i].text);
		check_fini(&c);
	}
}

static void check_text(const char *check, double value, const char *expected)
{
	struct check c = good(check);
	_cleanup_free_ char *text = check_value_text(&c, value);

	cr_expect_str_eq(text, expected);
	check_fini(&c);
}

/* A number that is on the wrong side of the limit does not look as if it were on the right one. */
Test(check, values_for_reading)
{
	check_text("lat.p99 < 2ms", 2310400, "2.310 ms");
	check_text("lat.p99 < 2ms", 2000000, "2 ms");
	check_text("lat.p99 < 2ms", 2000001, "2.000001 ms");
	check_text("lat.p99 < 2ms", 641, "641 ns");
	check_text("lat.mean < 2ms", 641.25, "641.2 ns");
	check_text("lat.max < 1s", 12345678901.0, "12.35 s");
	check_text("errors == 0", 3, "3");
	check_text("iops >= 10k", 9999.9996, "9999.9996");
	check_text("iops >= 10k", 12345678.4, "12345678");
	check_text("bw_bytes > 1GiB/s", 536870912.0, "512 MiB/s");
	check_text("bytes > 1GiB", 1500, "1.465 KiB");
	check_text("overlap >= 99%", 98.7654, "98.77 %");
}
