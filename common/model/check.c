/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/check.h"

#include "common/base/units.h"

#include <ctype.h>
#include <math.h>

/* Longer ones first: "<=" is not "<" and something. */
static const struct {
	const char *text;
	enum check_op op;
} ops[] = {
	{ "<=", CHECK_LESS_EQUAL }, { ">=", CHECK_GREATER_EQUAL }, { "==", CHECK_EQUAL },
	{ "!=", CHECK_NOT_EQUAL },  { "<", CHECK_LESS },           { ">", CHECK_GREATER },
};

static const char *skip_blanks(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

/* A copy without blanks at its ends. */
static char *trimmed(const char *start, size_t len)
{
	const char *p = skip_blanks(start);

	len -= (size_t)(p - start) < len ? (size_t)(p - start) : len;
	while (len && isspace((unsigned char)p[len - 1]))
		len--;
	return xstrndup(p, len);
}

/* "2 ms" is "2ms". */
static char *without_blanks(const char *text)
{
	char *copy = xstrdup(text), *to = copy;

	for (const char *p = text; *p; p++)
		if (!isspace((unsigned char)*p))
			*to++ = *p;
	*to = '\0';
	return copy;
}

/* --- values --------------------------------------------------------------------------------------- */

/* Digits with a point in them, where a fraction is of use: "0.5", "99.9". */
static bool parse_real(const char *text, double *ret)
{
	char *end = NULL;

	if (!isdigit((unsigned char)*text) || text[strspn(text, "0123456789.")])
		return false;
	*ret = strtod(text, &end);
	return !*end && isfinite(*ret);
}

static bool parse_number(const char *text, double *ret)
{
	uint64_t n;

	if (parse_real(text, ret))
		return true;
	if (units_parse_count(text, &n))
		return false;
	*ret = (double)n;
	return true;
}

static bool parse_bytes(const char *text, bool per_second, double *ret)
{
	size_t len = strlen(text);
	_cleanup_free_ char *size = NULL;
	uint64_t n;

	if (per_second && len > 2 && streq(text + len - 2, "/s"))
		len -= 2;
	size = xstrndup(text, len);
	if (units_parse_size(size, &n))
		return false;
	*ret = (double)n;
	return true;
}

static bool parse_percent(const char *text, double *ret)
{
	size_t len = strlen(text);
	_cleanup_free_ char *number = xstrndup(text, len && text[len - 1] == '%' ? len - 1 : len);

	return parse_real(number, ret);
}

static struct error *bad_value(const struct check *c, const char *text)
{
	static const char *const wanted[] = {
		[PATH_NUMBER] = "is a number; write for example 0, 250 or 10k",
		[PATH_BYTES] = "is in bytes; write for example 512MiB",
		[PATH_BYTES_PER_S] = "is in bytes per second; write for example 500MiB/s",
		[PATH_NS] = "is a time; write for example 500us or 2ms",
		[PATH_PERCENT] = "is in percent; write for example 99%",
	};

	if (!*text)
		return error_new(ERR_CONFIG, "has no value; '%s' %s", c->metric,
				 wanted[c->path.metric->unit]);
	return error_new(ERR_CONFIG, "'%s' is no value for '%s', which %s", text, c->metric,
			 wanted[c->path.metric->unit]);
}

static struct error *parse_value(struct check *c, const char *text)
{
	uint64_t ns = 0;
	bool good = false;

	switch (c->path.metric->unit) {
	case PATH_NUMBER:
		good = parse_number(text, &c->limit);
		break;
	case PATH_BYTES:
		good = parse_bytes(text, false, &c->limit);
		break;
	case PATH_BYTES_PER_S:
		good = parse_bytes(text, true, &c->limit);
		break;
	case PATH_NS:
		good = units_parse_duration(text, &ns) == 0;
		c->limit = (double)ns;
		break;
	case PATH_PERCENT:
		good = parse_percent(text, &c->limit);
		break;
	}
	return good ? NULL : bad_value(c, text);
}

/* --- the whole ------------------------------------------------------------------------------------ */

static struct error *unknown_metric(const char *name)
{
	_cleanup_free_ char *near = metric_path_nearest(name), *whole = NULL;
	const char *dot = strchr(name, '.');
	struct metric_path path;

	if (!*name)
		return error_new(ERR_CONFIG, "has no metric; write for example 'lat.p99 < 2ms'");
	whole = xasprintf("%s.p99", name);
	if (metric_path_parse(whole, &path))
		return error_new(ERR_CONFIG,
				 "'%s' is a distribution; say which of its numbers: %s.p99, "
				 "%s.mean or so",
				 name, name, name);
	if (dot && metric_path_parse(dot + 1, &path))
		return error_new(ERR_CONFIG, "'%.*s' is no direction of '%s'; write '%s'",
				 (int)(dot - name), name, dot + 1, dot + 1);
	if (near)
		return error_new(ERR_CONFIG, "unknown metric '%s'; did you mean '%s'?", name, near);
	return error_new(ERR_CONFIG,
			 "unknown metric '%s'; there are iops, bw_bytes, lat.p99, errors, cpu.usr "
			 "and others: see 'salvo help checks'",
			 name);
}

/* Finds the comparison; 0: there is none. */
static size_t find_op(const char *at, enum check_op *ret)
{
	for (size_t i = 0; i < array_size(ops); i++)
		if (str_starts(at, ops[i].text)) {
			*ret = ops[i].op;
			return strlen(ops[i].text);
		}
	return 0;
}

static struct error *parse(const char *text, struct check *c)
{
	const char *colon = strchr(text, ':'), *at;
	_cleanup_free_ char *value = NULL;
	size_t len;

	if (colon) {
		c->group = trimmed(text, (size_t)(colon - text));
		text = colon + 1;
		if (!*c->group)
			return error_new(ERR_CONFIG, "has no group in front of the ':'");
		if (streq(c->group, "all"))
			freep(&c->group);
	}
	at = text + strcspn(text, "<>=!");
	c->metric = trimmed(text, (size_t)(at - text));
	if (!*at)
		return error_new(ERR_CONFIG,
				 "'%s' has no comparison; write for example 'lat.p99 < 2ms', with "
				 "one of < <= > >= == !=",
				 c->metric);
	if (!metric_path_parse(c->metric, &c->path))
		return unknown_metric(c->metric);
	len = find_op(at, &c->op);
	if (!len)
		return error_new(ERR_CONFIG,
				 "'%c' is no comparison; use one of < <= > >= == !=", *at);
	value = without_blanks(at + len);
	return parse_value(c, value);
}

struct error *check_parse(const char *text, struct check *ret)
{
	_cleanup_(check_fini) struct check c = { 0 };
	struct error *err = parse(text, &c);

	if (err)
		return err;
	*ret = c;
	c = (struct check) { 0 };
	return NULL;
}

void check_fini(struct check *c)
{
	free(c->group);
	free(c->metric);
	*c = (struct check) { 0 };
}

bool check_holds(const struct check *c, double value)
{
	switch (c->op) {
	case CHECK_LESS:
		return value < c->limit;
	case CHECK_LESS_EQUAL:
		return value <= c->limit;
	case CHECK_GREATER:
		return value > c->limit;
	case CHECK_GREATER_EQUAL:
		return value >= c->limit;
	case CHECK_EQUAL:
		return value == c->limit;
	case CHECK_NOT_EQUAL:
		return value != c->limit;
	}
	return false;
}

struct scale {
	const char *unit;
	double factor;
};

/* The largest unit of which the value is one at least; the first one of which smaller values are written, too. */
static struct scale scale_of(enum path_unit unit, double value)
{
	static const struct scale times[] = {
		{ " ns", 1 }, { " us", 1e3 }, { " ms", 1e6 }, { " s", 1e9 }, { NULL, 0 }
	};
	static const struct scale sizes[] = { { " B", 1 },
					      { " KiB", 1024.0 },
					      { " MiB", 1048576.0 },
					      { " GiB", 1073741824.0 },
					      { " TiB", 1099511627776.0 },
					      { NULL, 0 } };
	static const struct scale percent[] = { { " %", 1 }, { NULL, 0 } };
	static const struct scale plain[] = { { "", 1 }, { NULL, 0 } };
	const struct scale *s = unit == PATH_NS        ? times
				: unit == PATH_PERCENT ? percent
				: unit == PATH_NUMBER  ? plain
						       : sizes;

	while (s[1].unit && value >= s[1].factor)
		s++;
	return *s;
}

/* -1, 0 or 1: below the limit, at it, above. */
static int side(const struct check *c, double value)
{
	return (value > c->limit) - (value < c->limit);
}

char *check_value_text(const struct check *c, double value)
{
	enum { MOST_DECIMALS = 17 };
	enum path_unit unit = c->path.metric->unit;
	struct scale scale = scale_of(unit, value);
	double v = value / scale.factor;
	int decimals = v == floor(v) || v >= 1000 ? 0 : v >= 100 ? 1 : v >= 10 ? 2 : 3;
	char number[64] = "";

	for (; decimals <= MOST_DECIMALS; decimals++) {
		snprintf(number, sizeof(number), "%.*f", decimals, v);
		if (side(c, strtod(number, NULL) * scale.factor) == side(c, value))
			break;
	}
	return xasprintf("%s%s%s", number, scale.unit, unit == PATH_BYTES_PER_S ? "/s" : "");
}
