/* SPDX-License-Identifier: Apache-2.0 */
#include "common/schema/token.h"

#include <string.h>

static bool read_big_endian(struct token_reader *r, unsigned bytes, uint64_t *ret)
{
	uint64_t n = 0;

	if (token_left(r) < bytes)
		return false;
	while (bytes--)
		n = n << 8 | r->data[r->pos++];
	*ret = n;
	return true;
}

static bool read_signed(struct token_reader *r, unsigned bytes, struct token *t)
{
	unsigned shift = 64 - 8 * bytes;

	if (!read_big_endian(r, bytes, &t->n))
		return false;
	t->i = (int64_t)(t->n << shift) >> shift;
	t->n = (uint64_t)t->i;
	t->type = t->i < 0 ? TOKEN_INT : TOKEN_UINT;
	return true;
}

static bool read_real(struct token_reader *r, unsigned bytes, struct token *t)
{
	if (!read_big_endian(r, bytes, &t->n))
		return false;
	t->type = TOKEN_REAL;
	if (bytes == sizeof(float)) {
		uint32_t bits = (uint32_t)t->n;
		float value;

		memcpy(&value, &bits, sizeof(value));
		t->real = (double)value;
	} else {
		memcpy(&t->real, &t->n, sizeof(t->real));
	}
	return true;
}

static bool read_sized(struct token_reader *r, enum token_type type, unsigned bytes,
		       struct token *t)
{
	t->type = type;
	return read_big_endian(r, bytes, &t->n);
}

/* The forms with a first byte of 0xc0 to 0xdf. */
static bool read_marked(struct token_reader *r, uint8_t mark, struct token *t)
{
	switch (mark) {
	case 0xc0:
		t->type = TOKEN_NIL;
		return true;
	case 0xc2:
	case 0xc3:
		t->type = TOKEN_BOOL;
		t->n = mark & 1;
		return true;
	case 0xc4:
	case 0xc5:
	case 0xc6:
		return read_sized(r, TOKEN_BIN, 1u << (mark - 0xc4), t);
	case 0xc7:
	case 0xc8:
	case 0xc9:
		return read_sized(r, TOKEN_EXT, 1u << (mark - 0xc7), t) && ++t->n;
	case 0xca:
	case 0xcb:
		return read_real(r, 4u << (mark - 0xca), t);
	case 0xcc:
	case 0xcd:
	case 0xce:
	case 0xcf:
		return read_sized(r, TOKEN_UINT, 1u << (mark - 0xcc), t);
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return read_signed(r, 1u << (mark - 0xd0), t);
	case 0xd4:
	case 0xd5:
	case 0xd6:
	case 0xd7:
	case 0xd8:
		t->type = TOKEN_EXT;
		t->n = (1u << (mark - 0xd4)) + 1;
		return true;
	case 0xd9:
	case 0xda:
	case 0xdb:
		return read_sized(r, TOKEN_STR, 1u << (mark - 0xd9), t);
	case 0xdc:
	case 0xdd:
		return read_sized(r, TOKEN_ARRAY, 2u << (mark - 0xdc), t);
	case 0xde:
	case 0xdf:
		return read_sized(r, TOKEN_MAP, 2u << (mark - 0xde), t);
	default:
		return false; /* 0xc1 is never used */
	}
}

bool token_read(struct token_reader *r, struct token *t)
{
	uint8_t first;

	if (!token_left(r))
		return false;
	*t = (struct token) { 0 };
	first = r->data[r->pos++];
	if (first < 0x80 || first >= 0xe0) {
		t->i = first < 0x80 ? first : first - 0x100;
		t->n = (uint64_t)t->i;
		t->type = t->i < 0 ? TOKEN_INT : TOKEN_UINT;
	} else if (first >= 0xc0) {
		if (!read_marked(r, first, t))
			return false;
	} else {
		t->type = first < 0x90 ? TOKEN_MAP : first < 0xa0 ? TOKEN_ARRAY : TOKEN_STR;
		t->n = first & (first < 0xa0 ? 0x0f : 0x1f);
	}
	if (t->type == TOKEN_MAP)
		return t->n <= token_left(r) / 2;
	return t->type < TOKEN_STR || t->n <= token_left(r);
}

static bool skip(struct token_reader *r, unsigned depth)
{
	struct token t;
	uint64_t values;

	if (depth > TOKEN_MAX_DEPTH || !token_read(r, &t))
		return false;
	if (t.type == TOKEN_STR || t.type == TOKEN_BIN || t.type == TOKEN_EXT)
		r->pos += t.n;
	if (t.type != TOKEN_ARRAY && t.type != TOKEN_MAP)
		return true;
	values = t.type == TOKEN_MAP ? 2 * t.n : t.n;
	while (values--)
		if (!skip(r, depth + 1))
			return false;
	return true;
}

bool token_skip(struct token_reader *r)
{
	return skip(r, 0);
}
