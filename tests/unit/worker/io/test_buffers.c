/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/buffers.h"

#include "worker/io/contents.h"

#include <criterion/criterion.h>
#include <unistd.h>

static struct contents contents;

static struct buffers_spec spec_of(unsigned depth, uint64_t io_bytes)
{
	return (struct buffers_spec) {
		.depth = depth,
		.reads = true,
		.writes = true,
		.io_bytes = io_bytes,
		.block_bytes = 512,
		.writer = 3,
		.contents = &contents,
	};
}

static void make(struct buffers *b, const struct buffers_spec *spec)
{
	const struct job job = { .rw = RW_WRITE, .scramble_buffers = true };
	struct error *err;

	contents_init(&contents, &job, 1);
	err = buffers_init(b, spec);

	cr_assert_null(err);
}

Test(buffers, are_aligned_to_page_and_block)
{
	struct buffers_spec spec = spec_of(3, 4096);
	struct buffers b;

	spec.block_bytes = 64 << 10;
	make(&b, &spec);
	for (unsigned slot = 0; slot < 3; slot++) {
		cr_assert_eq((uintptr_t)buffers_read(&b, slot) % spec.block_bytes, 0);
		cr_assert_eq((uintptr_t)buffers_write(&b, slot) % spec.block_bytes, 0);
	}
	cr_assert(buffers_write(&b, 2) + 4096 <= (char *)b.map + b.map_bytes);
	buffers_fini(&b);
}

Test(buffers, of_one_direction_have_no_other)
{
	struct buffers_spec spec = spec_of(4, 4096), both = spec;
	struct buffers b;

	spec.writes = false;
	cr_assert_eq(2 * buffers_need(&spec), buffers_need(&both));
	make(&b, &spec);
	cr_assert_eq(b.nr_write, 0);
	buffers_fini(&b);
}

Test(buffers, need_that_overflows_is_the_largest_number)
{
	struct buffers_spec spec = spec_of(4096, 1ull << 53);

	cr_assert_eq(buffers_need(&spec), UINT64_MAX);
}

Test(buffers, stamp_marks_every_chunk_with_its_own_number)
{
	struct buffers_spec spec = spec_of(2, 3 * STAMP_CHUNK);
	struct buffers b;
	uint64_t sequence = 10;

	make(&b, &spec);
	sequence = stamp_write(b.stamps[1], b.nr_stamps, sequence);
	cr_assert_eq(sequence, 13);
	for (unsigned i = 0; i < 3; i++) {
		const struct stamp *s = (void *)(buffers_write(&b, 1) + i * STAMP_CHUNK);

		cr_assert_eq(s->writer, 3);
		cr_assert_eq(s->sequence, 11 + i);
	}
	buffers_fini(&b);
}

Test(buffers, stamp_stays_within_a_write)
{
	/* A tail of less than a stamp carries none; a write smaller than a stamp neither. */
	struct buffers_spec tail = spec_of(1, STAMP_CHUNK + 8), tiny = spec_of(1, 8);
	struct buffers b;

	make(&b, &tail);
	cr_assert_eq(b.nr_stamps, 1);
	buffers_fini(&b);
	make(&b, &tiny);
	cr_assert_eq((void *)b.stamps[0], (void *)&b.nowhere);
	buffers_fini(&b);
}

Test(buffers, written_data_is_not_compressible)
{
	struct buffers_spec spec = spec_of(1, 64 << 10);
	const unsigned char *data;
	unsigned histogram[256] = { 0 };
	struct buffers b;

	make(&b, &spec);
	data = (const unsigned char *)buffers_write(&b, 0);
	for (unsigned i = 0; i < 64 << 10; i++)
		if (i % STAMP_CHUNK >= sizeof(struct stamp))
			histogram[data[i]]++;
	for (unsigned i = 0; i < 256; i++) /* 256 each, standard deviation 16 */
		cr_assert(histogram[i] > 160 && histogram[i] < 352, "%u: %u", i, histogram[i]);
	buffers_fini(&b);
}
