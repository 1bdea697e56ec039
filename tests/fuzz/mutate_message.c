/* SPDX-License-Identifier: Apache-2.0 */
/* mutate_message [COUNT [SEED]] - COUNT mutated messages, all types in turn, through the decoder.
 *
 * Needs no special compiler, so it runs wherever the unit tests run; libFuzzer (fuzz_message) goes deeper. Ends with
 * 1 when memory grew beyond what messages of this length may take, or when the mutations proved nothing: every type
 * must have been accepted and refused.
 */
#include "tests/fuzz/messages.h"

#include <stdio.h>
#include <sys/resource.h>

enum {
	MAX_BYTES = 8192,
/* A decoded message of MAX_BYTES and its histograms take less than 2 MiB. Sanitizers keep freed memory, and
	 * are slow. */
#ifdef __SANITIZE_ADDRESS__
	DEFAULT_COUNT = 200000,
	MAX_GROWTH_KIB = 1024 * 1024,
#else
	DEFAULT_COUNT = 1000000,
	MAX_GROWTH_KIB = 16 * 1024,
#endif
};

static uint64_t state;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dull;
}

static size_t below(size_t n)
{
	return n ? next_random() % n : 0;
}

/* Headers that claim much, and the edges of every form. */
static const uint8_t headers[] = { 0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1,
				   0xc2, 0xc3, 0xc4, 0xc6, 0xc9, 0xca, 0xcb, 0xcf, 0xd3, 0xd8,
				   0xd9, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xe0, 0xff };

struct input {
	uint8_t bytes[MAX_BYTES];
	size_t len;
};

static void remove_range(struct input *in, size_t at, size_t n)
{
	memmove(in->bytes + at, in->bytes + at + n, in->len - at - n);
	in->len -= n;
}

/* Puts n bytes of `from` in at `at`; too long an input stays as it is. */
static void insert(struct input *in, size_t at, const uint8_t *from, size_t n)
{
	uint8_t copy[MAX_BYTES];

	if (in->len + n > MAX_BYTES)
		return;
	memcpy(copy, from, n);
	memmove(in->bytes + at + n, in->bytes + at, in->len - at);
	memcpy(in->bytes + at, copy, n);
	in->len += n;
}

static void mutate(struct input *in, const struct buf *other)
{
	size_t at = below(in->len), n = 1 + below(8), from;
	uint64_t noise = next_random();

	switch (below(10)) {
	case 0:
		in->bytes[at] ^= (uint8_t)(1u << below(8));
		break;
	case 1:
		in->bytes[at] = (uint8_t)noise;
		break;
	case 2:
		in->bytes[at] = headers[below(sizeof(headers))];
		break;
	case 3: /* a length or a value near an edge */
		in->bytes[at] += (uint8_t)(noise & 1 ? 1 : -1);
		break;
	case 4:
		insert(in, at, (const uint8_t *)&noise, n);
		break;
	case 5:
		remove_range(in, at, n < in->len - at ? n : in->len - at);
		break;
	case 6: /* repeat a part */
		from = below(in->len);
		n = below(in->len - from);
		insert(in, at, in->bytes + from, n);
		break;
	case 7: /* a part of another message */
		from = below(other->len);
		n = below(other->len - from);
		insert(in, at, other->data + from, n);
		break;
	case 8:
		in->len = at;
		break;
	default: /* a header with a huge count */
		in->bytes[at] = headers[below(sizeof(headers))];
		for (size_t i = at + 1; i < in->len && i < at + 5; i++)
			in->bytes[i] = (uint8_t)(noise >> (8 * (i - at)));
		break;
	}
}

static long max_rss_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

struct tally {
	unsigned long accepted, refused;
};

static void run(unsigned long count, const struct buf *seeds, struct tally *tally)
{
	static struct input in;

	for (unsigned long i = 0; i < count; i++) {
		unsigned type = (unsigned)(i % MSG_COUNT);
		size_t changes = 1 + below(4);

		in.len = seeds[type].len;
		memcpy(in.bytes, seeds[type].data, in.len);
		while (changes-- && in.len)
			mutate(&in, &seeds[below(MSG_COUNT)]);
		if (try_message(in.bytes, in.len))
			tally[type].accepted++;
		else
			tally[type].refused++;
	}
}

static bool judge(const struct tally *tally, long growth_kib)
{
	bool good = growth_kib <= MAX_GROWTH_KIB;

	for (int type = 0; type < MSG_COUNT; type++) {
		printf("%-8s %8lu accepted %8lu refused\n", message_name((enum message_type)type),
		       tally[type].accepted, tally[type].refused);
		good = good && tally[type].accepted && tally[type].refused;
	}
	printf("memory grew by %ld KiB, the most is %d\n", growth_kib, MAX_GROWTH_KIB);
	return good;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : DEFAULT_COUNT;
	struct tally tally[MSG_COUNT] = { 0 };
	struct buf seeds[MSG_COUNT] = { 0 };
	long before;
	bool good;

	state = argc > 2 ? strtoull(argv[2], NULL, 10) | 1 : 1;
	for (int type = 0; type < MSG_COUNT; type++) {
		seed_message((enum message_type)type, &seeds[type]);
		assert(seeds[type].len <= MAX_BYTES / 2);
		assert(try_message(seeds[type].data, seeds[type].len));
	}
	before = max_rss_kib();
	run(count, seeds, tally);
	good = judge(tally, max_rss_kib() - before);
	for (int type = 0; type < MSG_COUNT; type++)
		buf_fini(&seeds[type]);
	return good ? 0 : 1;
}
