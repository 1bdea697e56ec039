/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/pattern.h"

#include "common/base/str.h"

#include <ctype.h>
#include <string.h>

static unsigned digit(char c)
{
	return isdigit((unsigned char)c) ? (unsigned)(c - '0')
					 : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

static struct error *parse_hex(const char *digits, struct pattern *ret)
{
	size_t nr = strlen(digits);

	if (!nr || nr % 2 || strspn(digits, "0123456789abcdefABCDEF") != nr)
		return error_new(ERR_CONFIG,
				 "after 0x stand two hex digits for each byte, as in 0xdeadbeef");
	if (nr / 2 > PATTERN_MAX)
		return error_new(ERR_CONFIG, "it has %zu bytes; at most %d are possible", nr / 2,
				 PATTERN_MAX);
	for (size_t i = 0; i < nr / 2; i++)
		ret->bytes[i] =
			(unsigned char)(digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]));
	ret->nr = nr / 2;
	return NULL;
}

struct error *pattern_parse(const char *text, struct pattern *ret)
{
	size_t nr = strlen(text);

	*ret = (struct pattern) { 0 };
	if (str_starts(text, "0x"))
		return parse_hex(text + 2, ret);
	if (!nr)
		return error_new(ERR_CONFIG, "it has no bytes");
	if (nr > PATTERN_MAX)
		return error_new(ERR_CONFIG, "it has %zu bytes; at most %d are possible", nr,
				 PATTERN_MAX);
	memcpy(ret->bytes, text, nr);
	ret->nr = nr;
	return NULL;
}
