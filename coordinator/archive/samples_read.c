/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/samples_read.h"

#include "common/net/message.h"

#include <errno.h>
#include <inttypes.h>

enum {
	CHUNK_BYTES = 1 << 20,
	RECORD_MAX_BYTES = 2 * MESSAGE_MAX_BYTES, /* more is no record of ours */
};

/* --- values ------------------------------------------------------------------------------------------- */

/* The text at hand, which is passed over; NULL when it is none. Not terminated. */
static const char *take_text(struct token_reader *r, size_t *ret_len)
{
	struct token t;
	const char *text;

	if (!token_read(r, &t) || t.type != TOKEN_STR)
		return NULL;
	text = (const char *)r->data + r->pos;
	r->pos += t.n;
	*ret_len = t.n;
	return text;
}

bool record_find(const struct token_reader *map, const char *key, struct token_reader *ret)
{
	struct token_reader r = *map;
	struct token t;
	size_t len;

	if (!token_read(&r, &t) || t.type != TOKEN_MAP)
		return false;
	for (uint64_t i = 0; i < t.n; i++) {
		const char *name = take_text(&r, &len);

		if (!name)
			return false;
		if (len == strlen(key) && memcmp(name, key, len) == 0) {
			*ret = r;
			return true;
		}
		if (!token_skip(&r))
			return false;
	}
	return false;
}

bool record_count(const struct token_reader *map, const char *key, uint64_t *ret)
{
	struct token_reader r;
	struct token t;

	if (!record_find(map, key, &r) || !token_read(&r, &t) || t.type != TOKEN_UINT)
		return false;
	*ret = t.n;
	return true;
}

bool record_integer(const struct token_reader *map, const char *key, int64_t *ret)
{
	struct token_reader r;
	struct token t;

	if (!record_find(map, key, &r) || !token_read(&r, &t) ||
	    (t.type != TOKEN_UINT && t.type != TOKEN_INT))
		return false;
	*ret = (int64_t)t.n;
	return true;
}

/* A copy of the text at hand; NULL when it is none. */
static char *copy_text(struct token_reader *r)
{
	size_t len;
	const char *text = take_text(r, &len);

	return text ? xstrndup(text, len) : NULL;
}

char *record_text(const struct token_reader *map, const char *key)
{
	struct token_reader r;

	return record_find(map, key, &r) ? copy_text(&r) : NULL;
}

bool record_element(const struct token_reader *list, size_t i, struct token_reader *ret)
{
	struct token_reader r = *list;
	struct token t;

	if (!token_read(&r, &t) || t.type != TOKEN_ARRAY || i >= t.n)
		return false;
	while (i--)
		if (!token_skip(&r))
			return false;
	*ret = r;
	return true;
}

bool record_texts(const struct token_reader *map, const char *key, char ***ret, size_t *ret_nr)
{
	struct token_reader r;
	struct token t;

	if (!record_find(map, key, &r) || !token_read(&r, &t) || t.type != TOKEN_ARRAY)
		return false;
	*ret = xcalloc(t.n, sizeof(**ret));
	for (*ret_nr = 0; *ret_nr < t.n; (*ret_nr)++) {
		(*ret)[*ret_nr] = copy_text(&r);
		if (!(*ret)[*ret_nr])
			return false;
	}
	return true;
}

void record_pairs(const struct token_reader *map, struct text_pair **ret, size_t *ret_nr)
{
	struct token_reader r = *map;
	struct token t;

	*ret = NULL;
	*ret_nr = 0;
	if (!token_read(&r, &t) || t.type != TOKEN_MAP)
		return;
	*ret = xcalloc(t.n, sizeof(**ret));
	for (uint64_t i = 0; i < t.n; i++) {
		struct text_pair *pair = &(*ret)[*ret_nr];

		pair->key = copy_text(&r);
		pair->value = pair->key ? copy_text(&r) : NULL;
		if (!pair->value) {
			freep(&pair->key);
			return;
		}
		(*ret_nr)++;
	}
}

/* --- the stream ------------------------------------------------------------------------------------------ */

void samples_reader_fini(struct samples_reader *r)
{
	buf_fini(&r->buf);
}

static bool is_type(const struct token_reader *map, const char *name)
{
	_cleanup_free_ char *text = record_text(map, "record");

	return text && streq(text, name);
}

/* The message under a key, as its bytes. */
static bool take_message(const struct token_reader *map, const char *key, struct record *ret)
{
	struct token_reader r;
	size_t begin;

	if (!record_find(map, key, &r))
		return false;
	begin = r.pos;
	if (!token_skip(&r))
		return false;
	ret->message = r.data + begin;
	ret->message_len = r.pos - begin;
	return true;
}

static bool take_record(const struct token_reader *map, struct record *ret)
{
	*ret = (struct record) { .type = RECORD_OTHER, .map = *map };
	if (is_type(map, "header")) {
		ret->type = RECORD_HEADER;
		return true;
	}
	if (is_type(map, "step")) {
		ret->type = RECORD_STEP;
		return record_count(map, "step", &ret->step);
	}
	if (is_type(map, "sample"))
		ret->type = RECORD_SAMPLE;
	else if (is_type(map, "totals"))
		ret->type = RECORD_TOTALS;
	else
		return true;
	return record_count(map, "step", &ret->step) && record_count(map, "host", &ret->host) &&
	       (ret->type == RECORD_TOTALS || record_integer(map, "offset_ns", &ret->offset_ns)) &&
	       take_message(map, ret->type == RECORD_SAMPLE ? "sample" : "totals", ret);
}

/* More bytes behind those that are not read yet; false at the end, or when it makes no sense. */
static bool fill(struct samples_reader *r)
{
	_cleanup_free_ uint8_t *chunk = xcalloc(CHUNK_BYTES, 1);
	size_t n;

	if (r->buf.len - r->pos > RECORD_MAX_BYTES)
		return false;
	n = fread(chunk, 1, CHUNK_BYTES, r->in);
	if (!n)
		return false;
	if (r->pos)
		memmove(r->buf.data, r->buf.data + r->pos, r->buf.len - r->pos);
	r->buf.len -= r->pos;
	r->pos = 0;
	buf_add(&r->buf, chunk, n);
	return true;
}

struct error *samples_next(struct samples_reader *r, struct record *ret, bool *ret_end)
{
	struct token_reader all;

	*ret_end = false;
	for (;;) {
		all = (struct token_reader) {
			.data = r->buf.data,
			.len = r->buf.len,
			.pos = r->pos,
		};
		if (token_left(&all) && token_skip(&all))
			break;
		if (fill(r))
			continue;
		if (ferror(r->in))
			return error_new(ERR_IO, "%s: cannot be read: %s", r->name,
					 strerror(errno));
		r->was_cut = r->buf.len > r->pos;
		*ret_end = true;
		return NULL;
	}
	r->nr++;
	if (!take_record(&(struct token_reader) { r->buf.data, all.pos, r->pos }, ret))
		return error_new(ERR_CONFIG, "%s: record %" PRIu64 " is none of this program's",
				 r->name, r->nr);
	r->pos = all.pos;
	return NULL;
}
