/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static _noreturn_ void out_of_memory(void)
{
	static const char text[] = "out of memory\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
	abort();
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *xrealloc(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n ? n : 1, size);
	if (!p)
		out_of_memory();
	return p;
}

char *xstrndup(const char *text, size_t len)
{
	char *copy = strndup(text, len);

	if (!copy)
		out_of_memory();
	return copy;
}

char *xstrdup(const char *text)
{
	return xstrndup(text, strlen(text));
}

char *xasprintf(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0 || !text)
		out_of_memory();
	return text;
}

void freep(void *p)
{
	void **pp = p;

	free(*pp);
	*pp = NULL;
}

void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

enum { DISTANCE_MAX = 64, DISTANCE_FAR = 99 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

unsigned str_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned d[3][DISTANCE_MAX];

	if (la >= DISTANCE_MAX || lb >= DISTANCE_MAX)
		return DISTANCE_FAR;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned *row = d[i % 3], *prev = d[(i - 1) % 3];
		const unsigned *prev2 = d[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			row[j] = min3(prev[j] + 1, row[j - 1] + 1,
				      prev[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    prev2[j - 2] + 1 < row[j])
				row[j] = prev2[j - 2] + 1;
		}
	}
	return d[la % 3][lb];
}

enum { GUESS_DISTANCE = 3 };

void guess_try(struct guess *g, const char *name)
{
	unsigned d = str_distance(g->wanted, name);
	unsigned limit = g->found ? g->best : GUESS_DISTANCE;

	if (d >= limit || d >= strlen(g->wanted))
		return;
	g->best = d;
	g->found = name;
}

/* Length of the well-formed UTF-8 sequence at `s` that is not a control character, else 0. */
static size_t utf8_printable(const unsigned char *s)
{
	size_t n = s[0] < 0x80                   ? 1
		   : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		   : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		   : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						 : 0;

	if (n == 1)
		return s[0] >= 0x20 && s[0] != 0x7f;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if (n == 2 && s[0] == 0xc2 && s[1] < 0xa0) /* C1 controls */
		return 0;
	if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0)))
		return 0;
	/* What is invisible or turns the text around: U+200B-200F, U+2028-202E, U+2060-206F. */
	if (n == 3 && s[0] == 0xe2 && s[1] == 0x80 &&
	    ((s[2] >= 0x8b && s[2] <= 0x8f) || (s[2] >= 0xa8 && s[2] <= 0xae)))
		return 0;
	if (n == 3 && s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf)
		return 0;
	if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90)))
		return 0;
	return n;
}

char *str_printable(const char *text)
{
	size_t len = strlen(text);
	char *out = xcalloc(len + 1, 4), *w = out;

	for (size_t i = 0; i < len;) {
		size_t n = utf8_printable((const unsigned char *)text + i);

		if (n) {
			memcpy(w, text + i, n);
			w += n;
			i += n;
		} else {
			w += snprintf(w, 5, "\\x%02x", (unsigned char)text[i]);
			i++;
		}
	}
	*w = '\0';
	return out;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (b->len + len > b->cap) {
		b->cap = (b->len + len) * 2;
		b->data = xrealloc(b->data, b->cap, 1);
	}
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
}

void buf_add_varint(struct buf *b, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	do {
		bytes[n++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
	buf_add(b, bytes, n);
}

void buf_fini(struct buf *b)
{
	free(b->data);
	*b = (struct buf) { 0 };
}

bool varint_read(const uint8_t *data, size_t len, size_t *pos, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && *pos < len; shift += 7) {
		uint8_t byte = data[(*pos)++];

		if (shift == 63 && byte > 1)
			return false;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return true;
		}
	}
	return false;
}
