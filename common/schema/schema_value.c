/* SPDX-License-Identifier: Apache-2.0 */
/* schema_value.c - single values: their texts, bounds and defaults. */
#include "common/schema/schema_impl.h"

#include "common/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

/* clang-format off */
static const struct {
	const char *kind, *example;
} types[] = {
	[FIELD_BOOL]     = { "true or false", NULL },
	[FIELD_COUNT]    = { "a number",      "32 or 10k" },
	[FIELD_INT]      = { "a whole number", "-1" },
	[FIELD_SIZE]     = { "a size",        "4k, 1MiB or 512" },
	[FIELD_DURATION] = { "a duration",    "250ms, 10s or 5m" },
	[FIELD_PERCENT]  = { "a percentage",  "70 or 70%" },
	[FIELD_REAL]     = { "a number",      "1.5" },
	[FIELD_CHOICE]   = { "a name",        NULL },
	[FIELD_STRING]   = { "a text",        NULL },
	[FIELD_STRLIST]  = { "a list of texts", NULL },
	[FIELD_BYTES]    = { "bytes",         NULL },
	[FIELD_OBJECT]   = { "a mapping",     NULL },
	[FIELD_LIST]     = { "a list",        NULL },
	[FIELD_MAP]      = { "a mapping of names", NULL },
};
/* clang-format on */

const char *value_kind(enum field_type type)
{
	return types[type].kind;
}

static char *number_text(const struct field *f, uint64_t n)
{
	char text[UNITS_TEXT];

	if (f->type == FIELD_SIZE)
		units_format_size(text, n);
	else if (f->type == FIELD_DURATION)
		units_format_duration(text, n);
	else
		snprintf(text, sizeof(text), "%" PRIu64, n);
	return xstrdup(text);
}

char *value_bounds(const struct field *f)
{
	_cleanup_free_ char *min = number_text(f, f->min), *max = number_text(f, f->max);

	if (f->max)
		return xasprintf("%s to %s", min, max);
	return f->min ? xasprintf("at least %s", min) : NULL;
}

struct error *value_check_number(const struct field *f, uint64_t n, const char *text)
{
	if (n < f->min || (f->max && n > f->max)) {
		_cleanup_free_ char *bounds = value_bounds(f);

		return error_new(ERR_CONFIG, "%s is out of range: %s", text, bounds);
	}
	if ((f->flags & FIELD_POW2) && (n & (n - 1)))
		return error_new(ERR_CONFIG, "%s is not a power of two", text);
	return NULL;
}

struct error *value_check_count(const struct field *f, size_t n)
{
	const char *what = f->min == 1 ? "y" : "ies";

	if (n < f->min)
		return error_new(ERR_CONFIG, "needs at least %" PRIu64 " entr%s", f->min, what);
	if (f->max && n > f->max)
		return error_new(ERR_CONFIG, "has %zu entries, the most is %" PRIu64, n, f->max);
	return NULL;
}

static char *choice_list(const struct field *f)
{
	char *list = xstrdup("");

	for (const struct choice *c = f->choices; c->name; c++) {
		char *longer = xasprintf("%s%s%s", list, *list ? ", " : "", c->name);

		free(list);
		list = longer;
	}
	return list;
}

struct error *value_choice(const struct field *f, const char *text, int *ret)
{
	_cleanup_free_ char *list = NULL;
	const char *best = NULL;
	unsigned best_d = 3;

	for (const struct choice *c = f->choices; c->name; c++) {
		if (streq(c->name, text)) {
			*ret = c->value;
			return NULL;
		}
	}
	for (const struct choice *c = f->choices; c->name; c++) {
		unsigned d = str_distance(c->name, text);

		if (d < best_d && d < strlen(c->name)) {
			best_d = d;
			best = c->name;
		}
	}
	list = choice_list(f);
	if (best)
		return error_new(ERR_CONFIG, "'%s' is not one of %s; did you mean '%s'?", text,
				 list, best);
	return error_new(ERR_CONFIG, "'%s' is not one of %s", text, list);
}

const char *value_choice_name(const struct field *f, int value)
{
	for (const struct choice *c = f->choices; c->name; c++)
		if (c->value == value)
			return c->name;
	return NULL;
}

static struct error *not_of_kind(const struct field *f, const char *text)
{
	if (!types[f->type].example)
		return error_new(ERR_CONFIG, "'%s' is not %s", text, types[f->type].kind);
	return error_new(ERR_CONFIG, "'%s' is not %s; write for example %s", text,
			 types[f->type].kind, types[f->type].example);
}

static struct error *parse_number(const struct field *f, const char *text, uint64_t *p)
{
	struct error *err;
	uint64_t n = 0;
	int rc;

	if (f->type == FIELD_SIZE)
		rc = units_parse_size(text, &n);
	else if (f->type == FIELD_DURATION)
		rc = units_parse_duration(text, &n);
	else
		rc = units_parse_count(text, &n);
	if (rc == -ERANGE)
		return error_new(ERR_CONFIG, "%s is too large", text);
	if (rc && f->type == FIELD_DURATION && *text && !text[strspn(text, "0123456789.")])
		return error_new(ERR_CONFIG, "'%s' needs a unit; write for example %ss or %sms",
				 text, text, text);
	if (rc)
		return not_of_kind(f, text);
	err = value_check_number(f, n, text);
	if (!err)
		*p = n;
	return err;
}

static struct error *parse_real(const struct field *f, const char *text, double *p)
{
	bool percent = f->type == FIELD_PERCENT;
	double v;
	char *end;

	/* strtod alone would take spaces, hex, "inf" and "nan". */
	if (!*text || strspn(text, "0123456789.+-eE%") != strlen(text))
		return not_of_kind(f, text);
	v = strtod(text, &end);
	if (end == text || (*end && !(percent && streq(end, "%"))))
		return not_of_kind(f, text);
	if (!isfinite(v))
		return error_new(ERR_CONFIG, "%s is too large", text);
	if (percent && !(v >= 0 && v <= 100))
		return error_new(ERR_CONFIG, "%s is out of range: 0 to 100", text);
	*p = v;
	return NULL;
}

static struct error *parse_int(const struct field *f, const char *text, int64_t *p)
{
	int64_t n;
	char *end;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (end == text || *end || errno)
		return not_of_kind(f, text);
	*p = n;
	return NULL;
}

static struct error *parse_bool(const struct field *f, const char *text, bool *p)
{
	if (streq(text, "true") || streq(text, "yes"))
		*p = true;
	else if (streq(text, "false") || streq(text, "no"))
		*p = false;
	else
		return not_of_kind(f, text);
	return NULL;
}

static struct error *parse_string(const struct field *f, const char *text, char **p)
{
	if (!*text && (f->flags & FIELD_NONEMPTY))
		return error_new(ERR_CONFIG, "may not be empty");
	if (strlen(text) > (f->max ? f->max : SCHEMA_MAX_TEXT))
		return error_new(ERR_CONFIG, "is longer than %" PRIu64 " bytes",
				 f->max ? f->max : (uint64_t)SCHEMA_MAX_TEXT);
	free(*p);
	*p = xstrdup(text);
	return NULL;
}

void strlist_append(const struct field *f, void *obj, const char *text, size_t len)
{
	char ***list = field_at(f, obj);
	size_t *n = field_count(f, obj);

	/* The capacity is the next power of two. */
	if ((*n & (*n - 1)) == 0)
		*list = xrealloc(*list, *n ? *n * 2 : 1, sizeof(char *));
	(*list)[(*n)++] = xstrndup(text, len);
}

struct error *value_parse(const struct field *f, const char *text, void *obj)
{
	void *p = field_at(f, obj);

	switch (f->type) {
	case FIELD_BOOL:
		return parse_bool(f, text, p);
	case FIELD_COUNT:
	case FIELD_SIZE:
	case FIELD_DURATION:
		return parse_number(f, text, p);
	case FIELD_INT:
		return parse_int(f, text, p);
	case FIELD_PERCENT:
	case FIELD_REAL:
		return parse_real(f, text, p);
	case FIELD_CHOICE:
		return value_choice(f, text, p);
	case FIELD_STRING:
		return parse_string(f, text, p);
	case FIELD_STRLIST:
		field_fini(f, obj);
		strlist_append(f, obj, text, strlen(text));
		return NULL;
	case FIELD_BYTES:
	case FIELD_OBJECT:
	case FIELD_LIST:
	case FIELD_MAP:
		break;
	}
	return error_new(ERR_CONFIG, "expected %s, got a single value", types[f->type].kind);
}

void value_set_default(const struct field *f, void *obj)
{
	struct field unbound = *f;
	struct error *err;

	if (!f->def || streq(f->def, "0"))
		return;
	unbound.min = unbound.max = 0; /* a default may stand outside: 0 for "not given" */
	unbound.flags = 0;
	err = value_parse(&unbound, f->def, obj);
	assert(!err);
}

/* Of a field that is no text, list, bytes or object: its size in the struct. */
static size_t scalar_size(enum field_type type)
{
	return type == FIELD_BOOL ? sizeof(bool) : type == FIELD_CHOICE ? sizeof(int) : 8;
}

static bool scalar_is_default(const struct field *f, const void *obj)
{
	static const char zero[8];
	size_t size = scalar_size(f->type);
	_Alignas(uint64_t) char word[sizeof(uint64_t)] = { 0 };
	struct field alone = *f;

	if (!f->def || streq(f->def, "0"))
		return memcmp(field_at(f, obj), zero, size) == 0;
	alone.offset = 0;
	value_set_default(&alone, word);
	return memcmp(field_at(f, obj), word, size) == 0;
}

static bool object_is_default(const struct schema *s, const void *obj)
{
	for (const struct field *f = s->fields; f->name; f++)
		if (field_is_set(s, obj, f) || !value_is_default(f, obj))
			return false;
	return true;
}

bool value_is_default(const struct field *f, const void *obj)
{
	switch (f->type) {
	case FIELD_STRING: {
		const char *text = *(char **)field_at(f, obj);

		return f->def && text ? streq(text, f->def) : !text;
	}
	case FIELD_STRLIST: {
		char **list = *(char ***)field_at(f, obj);

		if (f->def)
			return *field_count(f, obj) == 1 && streq(list[0], f->def);
		return *field_count(f, obj) == 0;
	}
	case FIELD_BYTES:
	case FIELD_LIST:
	case FIELD_MAP:
		return *field_count(f, obj) == 0;
	case FIELD_OBJECT:
		return object_is_default(f->sub, field_at(f, obj));
	case FIELD_BOOL:
	case FIELD_COUNT:
	case FIELD_INT:
	case FIELD_SIZE:
	case FIELD_DURATION:
	case FIELD_PERCENT:
	case FIELD_REAL:
	case FIELD_CHOICE:
		break;
	}
	return scalar_is_default(f, obj);
}

/* The shortest text that reads back as the same value. */
static char *real_text(double v, const char *unit)
{
	char text[40];

	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	return xasprintf("%s%s", text, unit);
}

char *schema_format(const struct field *f, const void *obj)
{
	const void *p = field_at(f, obj);
	const char *name;

	switch (f->type) {
	case FIELD_BOOL:
		return xstrdup(*(const bool *)p ? "true" : "false");
	case FIELD_COUNT:
	case FIELD_SIZE:
	case FIELD_DURATION:
		return number_text(f, *(const uint64_t *)p);
	case FIELD_INT:
		return xasprintf("%" PRId64, *(const int64_t *)p);
	case FIELD_PERCENT:
		return real_text(*(const double *)p, "%");
	case FIELD_REAL:
		return real_text(*(const double *)p, "");
	case FIELD_CHOICE:
		name = value_choice_name(f, *(const int *)p);
		return xstrdup(name ? name : "");
	case FIELD_STRING:
		return xstrdup(*(char *const *)p ? *(char *const *)p : "");
	case FIELD_STRLIST:
	case FIELD_BYTES:
	case FIELD_OBJECT:
	case FIELD_LIST:
	case FIELD_MAP:
		break;
	}
	return xstrdup("");
}
