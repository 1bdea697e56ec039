/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/compiler.h"
#include "common/base/units.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>

struct good {
	const char *text;
	uint64_t value;
};

static void expect_good(int (*parse)(const char *, uint64_t *), const struct good *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = 0;

		cr_expect_eq(parse(rows[i].text, &value), 0, "%s", rows[i].text);
		cr_expect_eq(value, rows[i].value, "%s: %lu", rows[i].text, value);
	}
}

static void expect_bad(int (*parse)(const char *, uint64_t *), const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = 77;

		cr_expect_eq(parse(texts[i], &value), -EINVAL, "'%s'", texts[i]);
		cr_expect_eq(value, 77, "'%s' left a value", texts[i]);
	}
}

Test(units, sizes_in_every_unit)
{
	static const struct good rows[] = {
		{ "0", 0 },
		{ "512", 512 },
		{ "512B", 512 },
		{ "4k", 4096 },
		{ "4K", 4096 },
		{ "4KiB", 4096 },
		{ "4kB", 4000 },
		{ "4KB", 4000 },
		{ "1M", 1048576 },
		{ "1m", 1048576 },
		{ "1MiB", 1048576 },
		{ "1MB", 1000000 },
		{ "1G", 1ull << 30 },
		{ "1g", 1ull << 30 },
		{ "4GiB", 4ull << 30 },
		{ "4GB", 4000000000ull },
		{ "2T", 2ull << 40 },
		{ "2TB", 2000000000000ull },
		{ "1P", 1ull << 50 },
		{ "1PB", 1000000000000000ull },
		{ "1.5k", 1536 },
		{ "0.5KiB", 512 },
		{ "1.0", 1 },
		{ "2.250kB", 2250 },
		{ "18446744073709551615", UINT64_MAX },
	};

	expect_good(units_parse_size, rows, array_size(rows));
}

Test(units, sizes_that_are_none)
{
	static const char *const texts[] = { "",     "-5",   "+5",       " 5",  "5 ",  "0x10",
					     "k",    "4kb",  "4kib",     "4mb", "4 k", "1e3",
					     "4kk",  "10.",  ".5",       "1.5", "4x",  "4Ki",
					     "4KIB", "1,5k", "0.0001kB", "nan" };

	expect_bad(units_parse_size, texts, array_size(texts));
}

Test(units, too_large_is_said)
{
	uint64_t value;

	cr_expect_eq(units_parse_size("18446744073709551616", &value), -ERANGE);
	cr_expect_eq(units_parse_size("16384P", &value), -ERANGE);
	cr_expect_eq(units_parse_size("99999999999999999999999999999k", &value), -ERANGE);
	cr_expect_eq(units_parse_count("18446744073710M", &value), -ERANGE);
	cr_expect_eq(units_parse_duration("999999999999d", &value), -ERANGE);
}

Test(units, counts_are_decimal)
{
	static const struct good rows[] = {
		{ "0", 0 }, { "32", 32 }, { "10k", 10000 }, { "1M", 1000000 }, { "2.5k", 2500 },
	};
	static const char *const texts[] = { "", "-1", "10K", "1m", "1G", "1KiB", "4B", "1.5" };

	expect_good(units_parse_count, rows, array_size(rows));
	expect_bad(units_parse_count, texts, array_size(texts));
}

Test(units, durations_need_a_unit)
{
	static const struct good rows[] = {
		{ "0", 0 },
		{ "1ns", 1 },
		{ "500us", 500000 },
		{ "10ms", 10000000 },
		{ "30s", 30000000000ull },
		{ "5m", 300000000000ull },
		{ "1h", 3600000000000ull },
		{ "1d", 86400000000000ull },
		{ "0.5s", 500000000 },
		{ "1.5h", 5400000000000ull },
	};
	static const char *const texts[] = { "",   "30",   "1",   "0.0",   "30S", "5M",
					     "1H", "10 s", "-1s", "0.5ns", "s" };

	expect_good(units_parse_duration, rows, array_size(rows));
	expect_bad(units_parse_duration, texts, array_size(texts));
}

Test(units, exact_texts_take_the_largest_unit_that_divides)
{
	static const struct good sizes[] = {
		{ "0", 0 },
		{ "1B", 1 },
		{ "1536B", 1536 },
		{ "4KiB", 4096 },
		{ "3MiB", 3 << 20 },
		{ "1GiB", 1 << 30 },
		{ "1025KiB", 1025 << 10 },
		{ "2PiB", 2ull << 50 },
	};
	static const struct good times[] = {
		{ "0", 0 },
		{ "1500ms", 1500000000 },
		{ "10s", 10000000000ull },
		{ "90s", 90000000000ull },
		{ "2d", 172800000000000ull },
		{ "7ns", 7 },
	};
	char text[UNITS_TEXT];

	for (size_t i = 0; i < array_size(sizes); i++) {
		units_format_size(text, sizes[i].value);
		cr_expect_str_eq(text, sizes[i].text);
	}
	for (size_t i = 0; i < array_size(times); i++) {
		units_format_duration(text, times[i].value);
		cr_expect_str_eq(text, times[i].text);
	}
}

Test(units, exact_texts_read_back)
{
	uint64_t value = 1, back;
	char text[UNITS_TEXT];

	for (int i = 0; i < 20000; i++) {
		/* Values of all magnitudes, round ones among them. */
		value = value * 6364136223846793005ull + 1442695040888963407ull;
		uint64_t v = (value >> (i % 60)) << (i % 7 == 0 ? i % 20 : 0);

		units_format_size(text, v);
		cr_assert_eq(units_parse_size(text, &back), 0, "%s", text);
		cr_assert_eq(back, v, "%s", text);
		units_format_duration(text, v);
		cr_assert_eq(units_parse_duration(text, &back), 0, "%s", text);
		cr_assert_eq(back, v, "%s", text);
	}
}

static void expect_human(void (*format)(char *, double), double v, const char *want)
{
	char text[UNITS_TEXT];

	format(text, v);
	cr_expect_str_eq(text, want, "%g: %s, not %s", v, text, want);
}

Test(units, texts_for_people)
{
	expect_human(units_human_ns, 0, "0 ns");
	expect_human(units_human_ns, 950, "950 ns");
	expect_human(units_human_ns, 999.6, "1.00 us");
	expect_human(units_human_ns, 12345, "12.3 us");
	expect_human(units_human_ns, 1214000, "1.21 ms");
	expect_human(units_human_ns, 99960000, "100 ms");
	expect_human(units_human_ns, 133e9, "133 s");
	expect_human(units_human_bytes, 512, "512 B");
	expect_human(units_human_bytes, 1023, "1023 B");
	expect_human(units_human_bytes, 4096, "4.00 KiB");
	expect_human(units_human_bytes, 4294967296.0, "4.00 GiB");
	expect_human(units_human_bytes_si, 3280000, "3.28 MB");
	expect_human(units_human_bytes_si, 999999, "1.00 MB");
	expect_human(units_human_count, 950, "950");
	expect_human(units_human_count, 12345, "12.3k");
	expect_human(units_human_count, 4560000, "4.56M");
	expect_human(units_human_count, 9.5, "9.50");
	expect_human(units_human_ns, NAN, "-");
	expect_human(units_human_bytes, INFINITY, "-");
}
