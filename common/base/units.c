/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/units.h"

#include "common/base/compiler.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

/* clang-format off */
#define KILO 1000ull
#define KIBI 1024ull

/* fio's users write 4k and 1g in lower case as well, so the bare letters count in both. */
static const struct unit size_units[] = {
	{ "", 1 }, { "B", 1 },
	{ "k", KIBI }, { "K", KIBI }, { "KiB", KIBI }, { "kB", KILO }, { "KB", KILO },
	{ "m", KIBI * KIBI }, { "M", KIBI * KIBI }, { "MiB", KIBI * KIBI }, { "MB", KILO * KILO },
	{ "g", 1ull << 30 }, { "G", 1ull << 30 }, { "GiB", 1ull << 30 }, { "GB", 1000000000ull },
	{ "t", 1ull << 40 }, { "T", 1ull << 40 }, { "TiB", 1ull << 40 }, { "TB", 1000000000000ull },
	{ "p", 1ull << 50 }, { "P", 1ull << 50 }, { "PiB", 1ull << 50 }, { "PB", 1000000000000000ull },
	{ NULL, 0 },
};
static const struct unit count_units[] = {
	{ "", 1 }, { "k", KILO }, { "M", KILO * KILO }, { NULL, 0 },
};
static const struct unit duration_units[] = {
	{ "ns", 1 }, { "us", 1000ull }, { "ms", 1000000ull }, { "s", 1000000000ull },
	{ "m", 60000000000ull }, { "h", 3600000000000ull }, { "d", 86400000000000ull },
	{ NULL, 0 },
};
/* Largest first: what the exact texts are written with. */
static const struct unit size_texts[] = {
	{ "PiB", 1ull << 50 }, { "TiB", 1ull << 40 }, { "GiB", 1ull << 30 }, { "MiB", 1ull << 20 },
	{ "KiB", 1ull << 10 }, { "B", 1 }, { NULL, 0 },
};
static const struct unit duration_texts[] = {
	{ "d", 86400000000000ull }, { "h", 3600000000000ull }, { "m", 60000000000ull },
	{ "s", 1000000000ull }, { "ms", 1000000ull }, { "us", 1000ull }, { "ns", 1 }, { NULL, 0 },
};
/* clang-format on */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads "12.50" as 125 with one decimal: trailing zeros of the fraction do not count. */
static int parse_decimal(const char **text, uint64_t *ret_digits, unsigned *ret_decimals)
{
	enum { MAX_DECIMALS = 18 };
	const char *p = *text, *last;
	uint64_t n = 0;
	unsigned decimals = 0;

	if (!is_digit(*p))
		return -EINVAL; /* no sign, no space, no hex */
	for (; is_digit(*p); p++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return -ERANGE;
	if (*p == '.') {
		if (!is_digit(*++p))
			return -EINVAL;
		last = p + strspn(p, "0123456789");
		*text = last;
		while (last > p && last[-1] == '0')
			last--;
		for (; p < last; p++, decimals++)
			if (decimals == MAX_DECIMALS || __builtin_mul_overflow(n, 10u, &n) ||
			    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
				return -EINVAL;
	} else {
		*text = p;
	}
	*ret_digits = n;
	*ret_decimals = decimals;
	return 0;
}

static int parse(const char *text, const struct unit *units, uint64_t *ret)
{
	unsigned __int128 value, divisor = 1;
	unsigned decimals;
	uint64_t digits;
	int rc = parse_decimal(&text, &digits, &decimals);

	if (rc)
		return rc;
	while (units->name && strcmp(units->name, text) != 0)
		units++;
	if (!units->name)
		return -EINVAL;
	while (decimals--)
		divisor *= 10;
	value = (unsigned __int128)digits * units->factor;
	if (value % divisor)
		return -EINVAL;
	if (value / divisor > UINT64_MAX)
		return -ERANGE;
	*ret = (uint64_t)(value / divisor);
	return 0;
}

int units_parse_size(const char *text, uint64_t *ret_bytes)
{
	return parse(text, size_units, ret_bytes);
}

int units_parse_count(const char *text, uint64_t *ret)
{
	return parse(text, count_units, ret);
}

int units_parse_duration(const char *text, uint64_t *ret_ns)
{
	if (strcmp(text, "0") == 0) {
		*ret_ns = 0;
		return 0;
	}
	return parse(text, duration_units, ret_ns);
}

static void format_exact(char text[UNITS_TEXT], const struct unit *units, uint64_t value)
{
	if (!value) {
		snprintf(text, UNITS_TEXT, "0");
		return;
	}
	while (value % units->factor)
		units++;
	snprintf(text, UNITS_TEXT, "%llu%s", (unsigned long long)(value / units->factor),
		 units->name);
}

void units_format_size(char text[UNITS_TEXT], uint64_t bytes)
{
	format_exact(text, size_texts, bytes);
}

void units_format_duration(char text[UNITS_TEXT], uint64_t ns)
{
	format_exact(text, duration_texts, ns);
}

/* Three significant digits, four where a whole number has them (1000 to 1023 of a binary unit). */
static void format_digits(char text[UNITS_TEXT], double v, const char *unit)
{
	int decimals = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;

	snprintf(text, UNITS_TEXT, "%.*f%s", decimals, v, unit);
}

/* Goes up the units while the rounded value would reach the next one. */
static void format_human(char text[UNITS_TEXT], double v, double step, const char *const *units,
			 bool whole_first)
{
	unsigned i = 0;

	if (!isfinite(v)) {
		snprintf(text, UNITS_TEXT, "-");
		return;
	}
	while (fabs(v) >= step - 0.5 && units[i + 1]) {
		v /= step;
		i++;
	}
	if (i == 0 && whole_first && fabs(v - round(v)) < 1e-9)
		snprintf(text, UNITS_TEXT, "%.0f%s", v, units[0]);
	else if (v < 0)
		snprintf(text, UNITS_TEXT, "%.3g%s", v, units[i]);
	else
		format_digits(text, v, units[i]);
}

void units_human_ns(char text[UNITS_TEXT], double ns)
{
	static const char *const small[] = { " ns", " us", " ms", " s", NULL };

	format_human(text, ns, 1000, small, true);
}

void units_human_bytes(char text[UNITS_TEXT], double bytes)
{
	static const char *const names[] = { " B", " KiB", " MiB", " GiB", " TiB", " PiB", NULL };

	format_human(text, bytes, 1024, names, true);
}

void units_human_bytes_si(char text[UNITS_TEXT], double bytes)
{
	static const char *const names[] = { " B", " kB", " MB", " GB", " TB", " PB", NULL };

	format_human(text, bytes, 1000, names, true);
}

void units_human_count(char text[UNITS_TEXT], double n)
{
	static const char *const names[] = { "", "k", "M", "G", "T", NULL };

	format_human(text, n, 1000, names, true);
}
