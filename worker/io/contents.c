/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/contents.h"

#include "worker/io/offsets.h"

#include <string.h>

bool contents_refills(const struct job *job)
{
	if (!(job_directions(job) & 1u << DIR_WRITE) || job->zero_buffers)
		return false;
	/* Or equal random bytes in one write after the other would compress as well. */
	if (job->buffer_compress_percentage > 0)
		return job->buffer_compress_percentage < 100;
	return job->refill_buffers && !job->buffer_pattern;
}

void contents_init(struct contents *c, const struct job *job, uint64_t seed)
{
	bool is_fixed = job->zero_buffers || job->buffer_pattern;
	bool has_share = job->buffer_compress_percentage > 0;

	*c = (struct contents) {
		.chunk_bytes = has_share ? job->buffer_compress_chunk : UINT64_MAX,
		.random_percent = has_share  ? 100 - job->buffer_compress_percentage
				  : is_fixed ? 0
					     : 100,
		.random = seed | 1,
		.refills = contents_refills(job),
		.stamps = job->scramble_buffers && (has_share || !is_fixed),
	};
	if (job->buffer_pattern) {
		_cleanup_(error_destroy) struct error *err =
			pattern_parse(job->buffer_pattern, &c->fixed);
	}
}

static size_t random_bytes(const struct contents *c, size_t chunk_bytes)
{
	return (size_t)((double)chunk_bytes * c->random_percent / 100);
}

static void put_random(uint64_t *state, char *at, size_t bytes)
{
	uint64_t word;

	for (; bytes >= sizeof(word); at += sizeof(word), bytes -= sizeof(word)) {
		word = random_next(state);
		memcpy(at, &word, sizeof(word));
	}
	word = random_next(state);
	memcpy(at, &word, bytes);
}

void contents_refill(struct contents *c, char *at, size_t bytes)
{
	uint64_t state = c->random;

	while (bytes) {
		size_t chunk = bytes < c->chunk_bytes ? bytes : (size_t)c->chunk_bytes;

		put_random(&state, at, random_bytes(c, chunk));
		at += chunk;
		bytes -= chunk;
	}
	c->random = state;
}

void contents_fill(struct contents *c, char *at, size_t bytes)
{
	const struct pattern *fixed = &c->fixed;

	if (!fixed->nr)
		memset(at, 0, bytes);
	for (size_t i = 0; fixed->nr && i < bytes; i++)
		at[i] = (char)fixed->bytes[i % fixed->nr];
	contents_refill(c, at, bytes);
}
