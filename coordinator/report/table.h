/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - columns of text that line up, and text that is broken into lines. Widths count characters, not
 * bytes. Cells that are given are freed by the table. */
#ifndef SALVO_REPORT_TABLE_H
#define SALVO_REPORT_TABLE_H

#include "common/base/str.h"

#include <stdio.h>

enum { REPORT_WIDTH = 100, TABLE_COLUMNS_MAX = 16 };

struct table {
	const char *align; /* one letter per column: 'l' or 'r' */
	size_t nr_columns;
	char **cells; /* row by row */
	size_t nr_cells;
};

/* align "lrr": three columns, the first on the left. Borrowed. */
void table_init(struct table *t, const char *align);
void table_fini(struct table *t);
/* Appends the next cell; texts that come from elsewhere are made printable. */
void table_text(struct table *t, const char *text);
void table_cell(struct table *t, const char *fmt, ...) _printf_(2, 3);
/* Prints all rows, each after `indent` spaces, columns two spaces apart, nothing behind the last. Where they
 * are wider than REPORT_WIDTH together, texts on the left are broken into several lines. */
void table_print(const struct table *t, FILE *out, unsigned indent);
/* Characters of UTF-8 text. */
size_t text_width(const char *text);
/* Prints text in lines of at most `width` characters: the first behind what stands on the line already
 * (`column` characters), the others after `indent` spaces. Breaks at spaces, and words that are longer than
 * a line. Ends the line. */
void text_wrap(FILE *out, const char *text, size_t column, size_t indent, size_t width);
/* Prints a line after `indent` spaces, or several where it is wider than REPORT_WIDTH: those after the first
 * are indented by two more. */
void text_print(FILE *out, size_t indent, const char *fmt, ...) _printf_(3, 4);

#endif
