/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/compiler.h"
#include "common/schema/token.h"

#include <criterion/criterion.h>
#include <msgpack.h>

static msgpack_sbuffer buffer;
static msgpack_packer packer;

static void setup(void)
{
	msgpack_sbuffer_init(&buffer);
	msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
}

static void teardown(void)
{
	msgpack_sbuffer_destroy(&buffer);
}

TestSuite(token, .init = setup, .fini = teardown);

static struct token_reader reader(void)
{
	return (struct token_reader) { .data = (const uint8_t *)buffer.data, .len = buffer.size };
}

Test(token, numbers_of_every_width)
{
	struct token_reader r;
	struct token t;

	for (unsigned shift = 0; shift < 64; shift++)
		msgpack_pack_uint64(&packer, 1ull << shift);
	for (unsigned shift = 0; shift < 63; shift++)
		msgpack_pack_int64(&packer, -(int64_t)(1ull << shift));
	msgpack_pack_int64(&packer, INT64_MIN);
	r = reader();
	for (unsigned shift = 0; shift < 64; shift++) {
		cr_assert(token_read(&r, &t));
		cr_expect_eq(t.type, TOKEN_UINT);
		cr_expect_eq(t.n, 1ull << shift);
	}
	for (unsigned shift = 0; shift < 64; shift++) {
		cr_assert(token_read(&r, &t));
		cr_expect_eq(t.type, TOKEN_INT);
		cr_expect_eq(t.i, (int64_t)(0 - (1ull << shift)));
	}
	cr_expect_eq(token_left(&r), 0);
	cr_expect_not(token_read(&r, &t));
}

/* Positive numbers may come in a signed form. */
Test(token, signed_forms_of_positive_numbers)
{
	static const uint8_t bytes[] = { 0xd0, 5, 0xd1, 1, 0, 0xd0, 0xff };
	struct token_reader r = { .data = bytes, .len = sizeof(bytes) };
	struct token t;

	cr_assert(token_read(&r, &t));
	cr_expect(t.type == TOKEN_UINT && t.n == 5);
	cr_assert(token_read(&r, &t));
	cr_expect(t.type == TOKEN_UINT && t.n == 256);
	cr_assert(token_read(&r, &t));
	cr_expect(t.type == TOKEN_INT && t.i == -1);
}

Test(token, everything_that_msgpack_can_write)
{
	static const enum token_type want[] = { TOKEN_NIL,  TOKEN_BOOL, TOKEN_BOOL, TOKEN_REAL,
						TOKEN_REAL, TOKEN_STR,  TOKEN_BIN,  TOKEN_EXT,
						TOKEN_EXT,  TOKEN_MAP };
	static const char zeros[70000];
	struct token_reader r;
	struct token t;

	msgpack_pack_nil(&packer);
	msgpack_pack_true(&packer);
	msgpack_pack_false(&packer);
	msgpack_pack_float(&packer, 1.5f);
	msgpack_pack_double(&packer, -2.25);
	msgpack_pack_str_with_body(&packer, zeros, 70000);
	msgpack_pack_bin_with_body(&packer, zeros, 300);
	msgpack_pack_ext_with_body(&packer, zeros, 4, 1);
	msgpack_pack_ext_with_body(&packer, zeros, 300, 1);
	msgpack_pack_map(&packer, 0);
	r = reader();
	for (size_t i = 0; i < array_size(want); i++) {
		size_t start = r.pos;

		cr_assert(token_read(&r, &t));
		cr_expect_eq(t.type, want[i], "%zu: %d", i, (int)t.type);
		if (t.type == TOKEN_REAL)
			cr_expect_float_eq(t.real, i == 3 ? 1.5 : -2.25, 0);
		r.pos = start;
		cr_assert(token_skip(&r));
	}
	cr_expect_eq(token_left(&r), 0);
}

static void refuse(const uint8_t *bytes, size_t len)
{
	struct token_reader r = { .data = bytes, .len = len };

	cr_expect_not(token_skip(&r), "%02x, %zu bytes", bytes[0], len);
}

Test(token, claims_beyond_the_end_are_refused)
{
	static const uint8_t array[] = { 0xdd, 0x04, 0, 0, 0, 1 };
	static const uint8_t map[] = { 0x82, 1, 2, 3 };
	static const uint8_t map32[] = { 0xdf, 0xff, 0xff, 0xff, 0xff, 1, 1 };
	static const uint8_t str[] = { 0xdb, 0xff, 0xff, 0xff, 0xff, 'a' };
	static const uint8_t bin[] = { 0xc4, 3, 1, 2 };
	static const uint8_t ext[] = { 0xc9, 0xff, 0xff, 0xff, 0xff, 1 };
	static const uint8_t fixext[] = { 0xd8, 1, 2 };
	static const uint8_t number[] = { 0xcf, 1, 2, 3, 4, 5, 6, 7 };
	static const uint8_t never[] = { 0xc1 };

	refuse(array, sizeof(array));
	refuse(map, sizeof(map));
	refuse(map32, sizeof(map32));
	refuse(str, sizeof(str));
	refuse(bin, sizeof(bin));
	refuse(ext, sizeof(ext));
	refuse(fixext, sizeof(fixext));
	refuse(number, sizeof(number));
	refuse(never, sizeof(never));
	refuse(never, 0);
}

Test(token, depth_is_limited)
{
	uint8_t bytes[64];
	struct token_reader r = { .data = bytes, .len = TOKEN_MAX_DEPTH + 1 };

	memset(bytes, 0x91, sizeof(bytes));
	bytes[TOKEN_MAX_DEPTH] = 0xc0;
	cr_expect(token_skip(&r));
	bytes[TOKEN_MAX_DEPTH] = 0x91;
	bytes[TOKEN_MAX_DEPTH + 1] = 0xc0;
	r = (struct token_reader) { .data = bytes, .len = TOKEN_MAX_DEPTH + 2 };
	cr_expect_not(token_skip(&r));
}
