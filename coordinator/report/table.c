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

static void print_row(const struct table *t, FILE *out, size_t first, const size_t *width)
{
	size_t last = t->nr_columns, pending = 0;

	while (last > 0 && !*t->cells[first + last - 1])
		last--;
	for (size_t c = 0; c < last; c++) {
		const char *cell = t->cells[first + c];
		size_t pad = width[c] - text_width(cell);
		bool is_left = t->align[c] == 'l';

		fprintf(out, "%*s%s", (int)(pending + (is_left ? 0 : pad)), "", cell);
		pending = (is_left ? pad : 0) + 2;
	}
	fputc('\n', out);
}

void table_print(const struct table *t, FILE *out, unsigned indent)
{
	size_t width[TABLE_COLUMNS_MAX] = { 0 };

	for (size_t i = 0; i < t->nr_cells; i++) {
		size_t w = text_width(t->cells[i]);

		if (w > width[i % t->nr_columns])
			width[i % t->nr_columns] = w;
	}
	for (size_t i = 0; i + t->nr_columns <= t->nr_cells; i += t->nr_columns) {
		fprintf(out, "%*s", (int)indent, "");
		print_row(t, out, i, width);
	}
}

void text_wrap(FILE *out, const char *text, size_t column, size_t indent, size_t width)
{
	bool is_first = true;

	while (*text) {
		size_t len = strcspn(text, " ");
		_cleanup_free_ char *word = xstrndup(text, len);

		if (!is_first && column + 1 + text_width(word) > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!is_first) {
			fputc(' ', out);
			column++;
		}
		fputs(word, out);
		column += text_width(word);
		is_first = false;
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}
