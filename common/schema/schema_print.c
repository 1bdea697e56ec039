/* SPDX-License-Identifier: Apache-2.0 */
/* schema_print.c - an object as YAML that loads to an equal object. */
#include "common/schema/schema_impl.h"

enum { INDENT = 2 };

/* A code point at `s` and its length; length 0: not UTF-8. */
static unsigned decode_utf8(const unsigned char *s, unsigned *ret_len)
{
	unsigned n = *s < 0x80   ? 1
		     : *s < 0xc2 ? 0
		     : *s < 0xe0 ? 2
		     : *s < 0xf0 ? 3
		     : *s < 0xf5 ? 4
				 : 0;
	unsigned c = n == 1 ? *s : n ? *s & (0x7fu >> n) : 0;

	for (unsigned i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			n = 0;
		c = c << 6 | (s[i] & 0x3fu);
	}
	if ((n == 3 && (c < 0x800 || (c >= 0xd800 && c < 0xe000))) ||
	    (n == 4 && (c < 0x10000 || c > 0x10ffff)))
		n = 0;
	*ret_len = n;
	return c;
}

static void print_quoted(const char *text, FILE *out)
{
	fputc('"', out);
	while (*text) {
		unsigned len, c = decode_utf8((const unsigned char *)text, &len);

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", (int)c);
		else if (c == '\n')
			fputs("\\n", out);
		else if (c == '\t')
			fputs("\\t", out);
		else if (!len || c < 0x20 || (c >= 0x7f && c < 0xa0))
			fprintf(out, "\\x%02X", len ? c : (unsigned char)*text);
		else if (c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff)
			fprintf(out, "\\u%04X", c);
		else
			fwrite(text, 1, len, out);
		text += len ? len : 1;
	}
	fputc('"', out);
}

/* Only what no reader of YAML could take for anything but this text stands without quotes. */
static void print_text(const char *text, FILE *out)
{
	static const char *const words[] = { "null", "true", "false", "yes", "no",
					     "on",   "off",  "y",     "n" };
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./";
	bool quote = !*text || strchr("0123456789-.", *text) || text[strspn(text, plain)];

	for (size_t i = 0; i < array_size(words); i++)
		quote = quote || strcasecmp(words[i], text) == 0;
	if (quote)
		print_quoted(text, out);
	else
		fputs(text, out);
}

static bool is_number(const struct field *f)
{
	return f->type == FIELD_COUNT || f->type == FIELD_SIZE || f->type == FIELD_DURATION;
}

static bool prints_any(const struct schema *s, const void *obj, bool named);

static bool prints(const struct schema *s, const void *obj, const struct field *f)
{
	bool given = field_is_set(s, obj, f) || !value_is_default(f, obj);

	if (f->flags & FIELD_HIDDEN)
		return false;
	switch (f->type) {
	case FIELD_STRING:
		return *(char **)field_at(f, obj) != NULL;
	case FIELD_STRLIST:
	case FIELD_BYTES:
	case FIELD_LIST:
	case FIELD_MAP:
		return *field_count(f, obj) > 0;
	case FIELD_OBJECT:
		return (given || !(f->flags & FIELD_OPTIONAL)) &&
		       prints_any(f->sub, field_at(f, obj), false);
	case FIELD_CHOICE:
		return (given || f->def) && value_choice_name(f, *(int *)field_at(f, obj));
	case FIELD_BOOL:
	case FIELD_COUNT:
	case FIELD_INT:
	case FIELD_SIZE:
	case FIELD_DURATION:
	case FIELD_PERCENT:
	case FIELD_REAL:
		break;
	}
	if (is_number(f) && !given) {
		/* A default outside of the bounds means "not given" and cannot be written. */
		struct error *err = value_check_number(f, *(uint64_t *)field_at(f, obj), "");
		bool wrong = err != NULL;

		error_destroy(&err);
		return f->def && !wrong;
	}
	return given || f->def;
}

static bool prints_any(const struct schema *s, const void *obj, bool named)
{
	for (const struct field *f = s->fields + named; f->name; f++)
		if (prints(s, obj, f))
			return true;
	return false;
}

/* The shorthand field when it is all that there is to print. */
static const struct field *prints_short(const struct schema *s, const void *obj, bool named)
{
	const struct field *shorthand = schema_shorthand(s);

	for (const struct field *f = s->fields + named; shorthand && f->name; f++)
		if (f != shorthand && prints(s, obj, f))
			return NULL;
	return shorthand && prints(s, obj, shorthand) ? shorthand : NULL;
}

static void print_value(const struct field *f, const void *obj, unsigned depth, FILE *out);

static void print_fields(const struct schema *s, const void *obj, unsigned depth, bool named,
			 bool first_inline, FILE *out)
{
	for (const struct field *f = s->fields + named; f->name; f++) {
		if (!prints(s, obj, f))
			continue;
		fprintf(out, "%*s%s:", first_inline ? 0 : (int)depth * INDENT, "", f->name);
		print_value(f, obj, depth, out);
		first_inline = false;
	}
}

/* What stands behind "key:" for an object, its line's end included. */
static void print_object(const struct schema *s, const void *obj, unsigned depth, bool named,
			 FILE *out)
{
	const struct field *shorthand = prints_short(s, obj, named);

	if (shorthand) {
		print_value(shorthand, obj, depth, out);
	} else if (!prints_any(s, obj, named)) {
		fputs(" {}\n", out);
	} else {
		fputc('\n', out);
		print_fields(s, obj, depth + 1, named, false, out);
	}
}

static void print_list(const struct field *f, const void *obj, unsigned depth, FILE *out)
{
	fputc('\n', out);
	for (size_t i = 0; i < *field_count(f, obj); i++) {
		const void *entry = field_entry(f, obj, i);

		if (f->type == FIELD_MAP) {
			fprintf(out, "%*s", (int)(depth + 1) * INDENT, "");
			print_text(*(char **)field_at(f->sub->fields, entry), out);
			fputc(':', out);
			print_object(f->sub, entry, depth + 1, true, out);
		} else if (prints_short(f->sub, entry, false)) {
			fprintf(out, "%*s-", (int)(depth + 1) * INDENT, "");
			print_object(f->sub, entry, depth + 1, false, out);
		} else if (!prints_any(f->sub, entry, false)) {
			fprintf(out, "%*s- {}\n", (int)(depth + 1) * INDENT, "");
		} else {
			fprintf(out, "%*s- ", (int)(depth + 1) * INDENT, "");
			print_fields(f->sub, entry, depth + 2, false, true, out);
		}
	}
}

/* What stands behind "key:", its line's end included. */
static void print_value(const struct field *f, const void *obj, unsigned depth, FILE *out)
{
	if (f->type == FIELD_OBJECT) {
		print_object(f->sub, field_at(f, obj), depth, false, out);
	} else if (field_is_list(f)) {
		print_list(f, obj, depth, out);
	} else if (f->type == FIELD_STRLIST) {
		fputs(" [", out);
		for (size_t i = 0; i < *field_count(f, obj); i++) {
			fputs(i ? ", " : "", out);
			print_text((*(char ***)field_at(f, obj))[i], out);
		}
		fputs("]\n", out);
	} else if (f->type == FIELD_STRING) {
		fputc(' ', out);
		print_text(*(char **)field_at(f, obj), out);
		fputc('\n', out);
	} else {
		_cleanup_free_ char *text = schema_format(f, obj);

		fprintf(out, " %s\n", text);
	}
}

void schema_print_yaml(const struct schema *s, const void *obj, FILE *out)
{
	print_fields(s, obj, 0, false, false, out);
}
