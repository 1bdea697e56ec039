/* SPDX-License-Identifier: Apache-2.0 */
/* schema_doc.c - a table explained: one key for `salvo help KEY`, or all of them as markdown. */
#include "common/schema/schema_impl.h"

enum { MAX_TABLES = 64 };

/* Texts in a cell of a markdown table. */
static void print_cell(const char *text, FILE *out)
{
	for (; text && *text; text++)
		fprintf(out, *text == '|' ? "\\|" : "%c", *text);
}

/* "1 to 100 entries", "at most 256 entries"; NULL without bounds; owned. */
static char *entries_text(const struct field *f)
{
	_cleanup_free_ char *bounds = value_bounds(f);

	if (f->max && !f->min)
		return xasprintf("at most %llu entries", (unsigned long long)f->max);
	return bounds ? xasprintf("%s entries", bounds) : NULL;
}

/* "a size, 512B to 1GiB, a power of two"; owned. */
static char *type_text(const struct field *f)
{
	_cleanup_free_ char *bounds = NULL;

	if (f->type == FIELD_COUNT || f->type == FIELD_SIZE || f->type == FIELD_DURATION)
		bounds = value_bounds(f);
	else if (field_is_list(f) || f->type == FIELD_STRLIST)
		bounds = entries_text(f);
	return xasprintf("%s%s%s%s", value_kind(f->type), bounds ? ", " : "", bounds ? bounds : "",
			 f->flags & FIELD_POW2 ? ", a power of two" : "");
}

static bool is_documented(const struct field *f, bool named, const struct schema *s)
{
	return !(f->flags & FIELD_HIDDEN) && !(named && f == s->fields);
}

/* --- one key ------------------------------------------------------------------------------------------ */

static void explain_keys(const struct schema *s, bool named, FILE *out)
{
	for (const struct field *f = s->fields; f->name; f++)
		if (is_documented(f, named, s))
			fprintf(out, "    %-16s %s\n", f->name, f->help ? f->help : "");
}

static void explain_field(const char *path, const struct field *f, FILE *out)
{
	_cleanup_free_ char *type = type_text(f);

	fprintf(out, "%s: %s\n", path, f->help ? f->help : "");
	if (f->choices) {
		fprintf(out, "  one of\n");
		for (const struct choice *c = f->choices; c->name; c++)
			fprintf(out, "    %-16s %s\n", c->name, c->help ? c->help : "");
	} else {
		fprintf(out, "  type: %s\n", type);
	}
	if (f->def)
		fprintf(out, "  default: %s\n", f->def);
	else if (f->flags & FIELD_REQUIRED)
		fprintf(out, "  must be given\n");
	if (f->sub && f->sub->shorthand)
		fprintf(out, "  short: %s: VALUE stands for %s: {%s: VALUE}\n", f->name, f->name,
			f->sub->shorthand);
	if (f->sub) {
		fprintf(out, "  keys:\n");
		explain_keys(f->sub, f->type == FIELD_MAP, out);
	}
}

/* The path of a key of that name anywhere below, or NULL; owned. */
static char *find_below(const struct schema *s, const char *name, unsigned depth)
{
	for (const struct field *f = s->fields; f->name; f++)
		if (streq(f->name, name) && is_documented(f, false, s))
			return xstrdup(name);
	for (const struct field *f = s->fields; depth < SCHEMA_MAX_DEPTH && f->name; f++) {
		_cleanup_free_ char *below = f->sub ? find_below(f->sub, name, depth + 1) : NULL;

		if (below)
			return xasprintf("%s.%s", f->name, below);
	}
	return NULL;
}

static struct error *explain_unknown(const struct schema *root, const struct schema *s,
				     const char *name)
{
	_cleanup_free_ char *elsewhere = find_below(root, name, 0);
	const char *guess = schema_guess(s, name);

	if (elsewhere)
		return error_new(ERR_USAGE, "unknown key '%s' in this %s; did you mean '%s'?", name,
				 s->name, elsewhere);
	if (guess)
		return error_new(ERR_USAGE, "unknown key '%s' in this %s; did you mean '%s'?", name,
				 s->name, guess);
	return error_new(ERR_USAGE, "unknown key '%s' in this %s", name, s->name);
}

/* Takes the next name off the path, passing over an index behind it. */
static char *next_name(const char **path)
{
	size_t len = strcspn(*path, ".[");
	char *name = xstrndup(*path, len);

	*path += len;
	if (**path == '[')
		*path += strcspn(*path, ".");
	if (**path == '.')
		(*path)++;
	return name;
}

struct error *schema_explain(const struct schema *s, const char *path, FILE *out)
{
	const struct schema *root = s;
	const char *rest = path;

	for (;;) {
		_cleanup_free_ char *name = next_name(&rest);
		const struct field *f = schema_field(s, name);

		if (!f || (f->flags & FIELD_HIDDEN))
			return explain_unknown(root, s, name);
		if (!*rest) {
			explain_field(path, f, out);
			return NULL;
		}
		if (!f->sub)
			return error_new(ERR_USAGE, "'%s' has no keys below it", f->name);
		s = f->sub;
	}
}

/* --- all of them -------------------------------------------------------------------------------------- */

struct printed {
	const struct schema *tables[MAX_TABLES];
	size_t nr;
};

/* Each table is printed once, however many keys hold its objects. */
static bool is_new(struct printed *printed, const struct schema *s)
{
	for (size_t i = 0; i < printed->nr; i++)
		if (printed->tables[i] == s)
			return false;
	assert(printed->nr < MAX_TABLES);
	printed->tables[printed->nr++] = s;
	return true;
}

static void print_type_cell(const struct field *f, FILE *out)
{
	_cleanup_free_ char *type = type_text(f);

	if (!f->choices)
		print_cell(type, out);
	for (const struct choice *c = f->choices; c && c->name; c++)
		fprintf(out, "%s`%s`", c == f->choices ? "" : ", ", c->name);
	if (f->sub)
		fprintf(out, " ([%s](#%s))", f->sub->name, f->sub->name);
}

static void print_choices(const struct field *f, FILE *out)
{
	if (!f->choices || !f->choices[0].help)
		return;
	fprintf(out, "\n`%s`:\n\n", f->name);
	for (const struct choice *c = f->choices; c->name; c++)
		fprintf(out, "- `%s`: %s\n", c->name, c->help ? c->help : "");
}

static void print_table(const struct schema *s, bool named, struct printed *printed, FILE *out)
{
	if (!is_new(printed, s))
		return;
	fprintf(out, "## %s\n\n%s.\n", s->name, s->help);
	if (s->shorthand)
		fprintf(out, "A value in place of the mapping stands for `%s`.\n", s->shorthand);
	fprintf(out, "\n| key | type | default | meaning |\n|---|---|---|---|\n");
	for (const struct field *f = s->fields; f->name; f++) {
		if (!is_documented(f, named, s))
			continue;
		fprintf(out, "| `%s` | ", f->name);
		print_type_cell(f, out);
		fprintf(out, " | ");
		if (f->def)
			fprintf(out, "`%s`", f->def);
		else if (f->flags & FIELD_REQUIRED)
			fprintf(out, "must be given");
		fprintf(out, " | ");
		print_cell(f->help, out);
		fprintf(out, " |\n");
	}
	for (const struct field *f = s->fields; f->name; f++)
		if (is_documented(f, named, s))
			print_choices(f, out);
	fputc('\n', out);
	for (const struct field *f = s->fields; f->name; f++)
		if (f->sub && is_documented(f, named, s))
			print_table(f->sub, f->type == FIELD_MAP, printed, out);
}

void schema_print_markdown(const struct schema *s, FILE *out)
{
	struct printed printed = { .nr = 0 };

	print_table(s, false, &printed, out);
}

/* --- the wire ----------------------------------------------------------------------------------------- */

static void print_wire_type(const struct field *f, FILE *out)
{
	static const char *const names[] = {
		[FIELD_BOOL] = "bool",
		[FIELD_COUNT] = "uint",
		[FIELD_INT] = "int",
		[FIELD_SIZE] = "uint, bytes",
		[FIELD_DURATION] = "uint, ns",
		[FIELD_PERCENT] = "float, percent",
		[FIELD_REAL] = "float",
		[FIELD_CHOICE] = "str",
		[FIELD_STRING] = "str",
		[FIELD_STRLIST] = "array of str",
		[FIELD_BYTES] = "bin",
		[FIELD_OBJECT] = "map",
		[FIELD_LIST] = "array of maps",
		[FIELD_MAP] = "array of maps",
	};

	fprintf(out, "%s", names[f->type]);
	for (const struct choice *c = f->choices; c && c->name; c++)
		fprintf(out, "%s`%s`", c == f->choices ? ": " : ", ", c->name);
	if (f->sub)
		fprintf(out, " ([%s](#%s))", f->sub->name, f->sub->name);
}

static void print_wire_table(const struct schema *s, struct printed *printed, FILE *out)
{
	if (!is_new(printed, s))
		return;
	fprintf(out, "## %s\n\n%s.\n\n", s->name, s->help);
	if (!s->fields[0].name)
		fprintf(out, "No fields.\n\n");
	else
		fprintf(out, "| field | type | most | | meaning |\n|---|---|---|---|---|\n");
	for (const struct field *f = s->fields; f->name; f++) {
		fprintf(out, "| `%s` | ", f->name);
		print_wire_type(f, out);
		fprintf(out, " | ");
		if (f->max)
			fprintf(out, "%llu", (unsigned long long)f->max);
		fprintf(out, " | %s | ", f->flags & FIELD_OPTIONAL ? "optional" : "");
		print_cell(f->help, out);
		fprintf(out, " |\n");
	}
	fputc('\n', out);
	for (const struct field *f = s->fields; f->name; f++)
		if (f->sub)
			print_wire_table(f->sub, printed, out);
}

void schema_print_wire_markdown(const struct schema *const *tables, size_t nr, FILE *out)
{
	struct printed printed = { .nr = 0 };

	for (size_t i = 0; i < nr; i++)
		print_wire_table(tables[i], &printed, out);
}
