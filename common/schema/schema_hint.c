/* SPDX-License-Identifier: Apache-2.0 */
/* schema_hint.c - the one mistake that users of host lists make in YAML: brackets without quotes. */
#include "common/schema/schema_impl.h"

#include <ctype.h>

struct span {
	const char *start, *end;
};

static struct span line_of(const char *text, size_t len, size_t line)
{
	struct span s = { text, text + len };

	for (; line; line--) {
		const char *nl = memchr(s.start, '\n', (size_t)(s.end - s.start));

		if (!nl)
			return (struct span) { s.end, s.end };
		s.start = nl + 1;
	}
	for (const char *p = s.start; p < s.end; p++)
		if (*p == '\n' || *p == '\r')
			s.end = p;
	return s;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* Is what stands in the brackets an IPv6 address? `open` points at '['. */
static bool is_address(const char *open, const char *end)
{
	unsigned colons = 0;
	const char *p = open + 1;

	for (; p < end && *p != ']'; p++) {
		if (!isxdigit((unsigned char)*p) && !strchr(":.%", *p))
			return false;
		colons += *p == ':';
	}
	return p < end && colons >= 2;
}

/* The end of the text that goes on behind '[': over its ']' to the next blank, comma or closing bracket. */
static const char *text_end(const char *open, const char *end)
{
	const char *p = open;
	int depth = 0;

	for (; p < end; p++) {
		if (*p == '[')
			depth++;
		else if ((*p == ']' && --depth < 0) || (depth == 0 && strchr(" \t,}", *p)))
			break;
	}
	return p;
}

/* The first text of the line that has brackets and no quotes around it. */
static struct span find_unquoted(struct span line)
{
	const char *word = line.start;

	for (const char *p = line.start; p < line.end; p++) {
		if ((*p == '"' || *p == '\'') && p == word) {
			const char *close = memchr(p + 1, *p, (size_t)(line.end - p - 1));

			if (!close)
				break;
			p = close;
		} else if (*p == '#' && p == word) {
			break;
		} else if (*p == '[' &&
			   ((p > word && is_name_char(p[-1])) || is_address(p, line.end))) {
			return (struct span) { word, text_end(p, line.end) };
		}
		if (strchr(" \t,[]{}", *p))
			word = p + 1;
	}
	return (struct span) { line.start, line.start };
}

/* The key that the line begins with, after "- " and "{". */
static struct span find_key(struct span line)
{
	const char *p = line.start, *start;

	while (p < line.end && strchr(" \t-{", *p))
		p++;
	for (start = p; p < line.end && is_name_char(*p); p++)
		;
	if (p == start || p == line.end || *p != ':')
		p = start;
	return (struct span) { start, p };
}

char *schema_hint_brackets(const char *text, size_t len, size_t line, size_t *ret_column)
{
	struct span whole = line_of(text, len, line);
	struct span word = find_unquoted(whole), key = find_key(whole);
	int word_len = (int)(word.end - word.start), key_len = (int)(key.end - key.start);
	bool hosts;

	if (!word_len)
		return NULL;
	*ret_column = (size_t)(word.start - whole.start) + 1;
	if (!key_len)
		return xasprintf("host names with brackets must be quoted: \"%.*s\"", word_len,
				 word.start);
	hosts = key_len >= 4 && strncmp(key.start, "host", 4) == 0;
	return xasprintf("%s with brackets must be quoted: %.*s: [\"%.*s\"]",
			 hosts ? "host names" : "texts", key_len, key.start, word_len, word.start);
}
