/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/report/table.h"

#include <stdarg.h>

void table_init(struct table *t, const char *align)
{
	*t = (struct table) { .align = align, .nr_columns = strlen(align) };
	assert(t->nr_columns && t->nr_columns <= TABLE_COLUMNS_MAX);
}

void table_fini(struct table *t)
{
	for (size_t i = 0; i < t->nr_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	*t = (struct table) { 0 };
}

static void add_cell(struct table *t, char *text)
{
	t->cells = xrealloc(t->cells, t->nr_cells + 1, sizeof(*t->cells));
	t->cells[t->nr_cells++] = text;
}

void table_text(struct table *t, const char *text)
{
	add_cell(t, str_printable(text));
}

void table_cell(struct table *t, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	assert(n >= 0);
	add_cell(t, text);
}

size_t text_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* A number and its unit stay together. */
static bool is_breakable(const char *text, size_t space)
{
	bool is_number = space && text[space - 1] >= '0' && text[space - 1] <= '9';

	return text[space] == ' ' && !(is_number && text[space + 1] >= 'A');
}

/* Bytes of `text` that fit into `room` characters: up to a space if there is one, the whole if it fits. */
static size_t fitting(const char *text, size_t room)
{
	size_t end = 0, space = 0;

	for (size_t chars = 0; text[end]; end++) {
		chars += ((unsigned char)text[end] & 0xc0) != 0x80;
		if (chars > room)
			return is_breakable(text, end) || !space ? end : space;
		if (is_breakable(text, end))
			space = end;
	}
	return end;
}

/* Without the spaces at its end. */
static size_t trimmed(const char *text, size_t len)
{
	while (len && text[len - 1] == ' ')
		len--;
	return len;
}

/* One line of a row; `rest` moves on behind what was printed. */
static void print_line(const struct table *t, FILE *out, const char **rest, const size_t *width)
{
	size_t last = t->nr_columns, pending = 0;

	while (last > 0 && !*rest[last - 1])
		last--;
	for (size_t c = 0; c < last; c++) {
		bool is_left = t->align[c] == 'l';
		size_t len = is_left ? fitting(rest[c], width[c]) : strlen(rest[c]);
		_cleanup_free_ char *cell = xstrndup(rest[c], trimmed(rest[c], len));
		size_t cell_width = text_width(cell);
		size_t pad = width[c] > cell_width ? width[c] - cell_width : 0;

		fprintf(out, "%*s%s", (int)(pending + (is_left ? 0 : pad)), "", cell);
		pending = (is_left ? pad : 0) + 2;
		rest[c] += len;
		rest[c] += strspn(rest[c], " ");
	}
	fputc('\n', out);
}

static bool has_more(const struct table *t, const char *const *rest)
{
	for (size_t c = 0; c < t->nr_columns; c++)
		if (*rest[c])
			return true;
	return false;
}

/* Takes from the widest column on the left, one character at a time, until the row fits or nothing is left
 * to take. */
static void fit(const struct table *t, size_t *width, size_t indent)
{
	enum { NARROWEST = 4 };
	size_t total = indent + 2 * (t->nr_columns - 1);

	for (size_t c = 0; c < t->nr_columns; c++)
		total += width[c];
	for (; total > REPORT_WIDTH; total--) {
		size_t widest = t->nr_columns;

		for (size_t c = 0; c < t->nr_columns; c++)
			if (t->align[c] == 'l' && width[c] > NARROWEST &&
			    (widest == t->nr_columns || width[c] > width[widest]))
				widest = c;
		if (widest == t->nr_columns)
			return;
		width[widest]--;
	}
}

void table_print(const struct table *t, FILE *out, unsigned indent)
{
	size_t width[TABLE_COLUMNS_MAX] = { 0 };

	for (size_t i = 0; i < t->nr_cells; i++) {
		size_t w = text_width(t->cells[i]);

		if (w > width[i % t->nr_columns])
			width[i % t->nr_columns] = w;
	}
	fit(t, width, indent);
	for (size_t i = 0; i + t->nr_columns <= t->nr_cells; i += t->nr_columns) {
		const char *rest[TABLE_COLUMNS_MAX];

		for (size_t c = 0; c < t->nr_columns; c++)
			rest[c] = t->cells[i + c];
		do {
			fprintf(out, "%*s", (int)indent, "");
			print_line(t, out, rest, width);
		} while (has_more(t, rest));
	}
}

void text_wrap(FILE *out, const char *text, size_t column, size_t indent, size_t width)
{
	text += strspn(text, " ");
	while (*text) {
		size_t room = column < width ? width - column : 1;
		size_t len = fitting(text, room);
		bool is_broken = text[len] && text[len] != ' ';

		if (column > indent && (is_broken || column >= width)) {
			/* The word may fit into a line of its own. */
			len = 0;
		}
		fwrite(text, 1, trimmed(text, len), out);
		text += len;
		text += strspn(text, " ");
		if (*text)
			fprintf(out, "\n%*s", (int)indent, "");
		column = indent;
	}
	fputc('\n', out);
}

void text_print(FILE *out, size_t indent, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	assert(n >= 0);
	fprintf(out, "%*s", (int)indent, "");
	text_wrap(out, text, indent, indent + 2, REPORT_WIDTH);
}
