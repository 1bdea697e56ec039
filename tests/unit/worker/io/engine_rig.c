/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/io/engine_rig.h"

#include "worker/io/contents.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = ENGINE_RIG_BYTES, DEPTH_MAX = ENGINE_RIG_BLOCKS };

void engine_rig_open(struct engine_rig *rig, const struct engine_ops *ops, unsigned depth,
		     int flags)
{
	struct contents contents = { .random = 1, .random_percent = 100, .chunk_bytes = BYTES };
	struct buffers_spec spec = { .depth = depth,
				     .reads = true,
				     .writes = true,
				     .io_bytes = BYTES,
				     .block_bytes = 4096,
				     .writer = 1,
				     .contents = &contents };
	char path[] = "engine-XXXXXX";
	int scratch = mkstemp(path), fd;

	cr_assert(scratch >= 0, "a scratch file: %s", strerror(errno));
	cr_assert_eq(ftruncate(scratch, (off_t)ENGINE_RIG_BLOCKS * BYTES), 0);
	fd = open(path, O_RDWR | O_CLOEXEC | flags);
	unlink(path);
	close(scratch);
	if (fd < 0 && flags & O_DIRECT)
		cr_skip_test("no direct I/O in this folder");
	cr_assert(fd >= 0);
	*rig = (struct engine_rig) { .ops = ops };
	cr_assert_null(buffers_init(&rig->buffers, &spec));
	rig->env = (struct engine_env) {
		.target = "file",
		.fd = fd,
		.depth = depth,
		.io_bytes = BYTES,
		.buffers = &rig->buffers,
		.locks_buffers = true,
		.sqthread_cpu = -1,
		.warnings = &rig->warnings,
	};
}

void engine_rig_start(struct engine_rig *rig)
{
	_cleanup_(error_destroy) struct error *err = NULL;
	size_t bytes = (rig->ops->state_size + CACHELINE - 1) / CACHELINE * CACHELINE;

	rig->state = aligned_alloc(CACHELINE, bytes);
	memset(rig->state, 0, bytes);
	err = rig->ops->init(rig->state, &rig->env);
	if (err && error_code(err) == ERR_REFUSED)
		cr_skip_test("%s is not allowed here", rig->ops->name);
	cr_assert_null(err, "%s", err ? error_message(err) : "");
}

void engine_rig_fini(struct engine_rig *rig)
{
	if (rig->state)
		rig->ops->fini(rig->state);
	free(rig->state);
	rig->state = NULL;
	buffers_fini(&rig->buffers);
	closep(&rig->env.fd);
	error_destroy(&rig->warnings);
}

/* Until `nr` have completed; 3 s are enough for any of these. */
static void reap_all(struct engine_rig *rig, struct io_done *done, unsigned nr)
{
	uint64_t begin = clock_mono_ns(), now = begin, last = begin;
	unsigned got = 0;

	while (got < nr) {
		int ret = rig->ops->reap(rig->state, done + got, nr - got, &now);

		cr_assert_geq(ret, 0, "%s", strerror(-ret));
		cr_assert_geq(now, last);
		cr_assert_lt(now - begin, 3 * NS_PER_S, "%u of %u have completed", got, nr);
		last = now;
		got += (unsigned)ret;
	}
	cr_assert_eq(got, nr);
}

int32_t engine_rig_run(struct engine_rig *rig, bool write, uint64_t offset)
{
	struct io_cmd cmd = { .offset = offset, .command = write, .bytes = BYTES };
	struct io_done done = { .slot = 1 };

	cr_assert_eq(rig->ops->submit(rig->state, &cmd, 1, clock_mono_ns()), 0);
	reap_all(rig, &done, 1);
	cr_assert_eq(done.slot, 0);
	return done.result;
}

void engine_rig_run_all(struct engine_rig *rig, bool write, const uint64_t *offsets, int32_t result)
{
	unsigned depth = rig->env.depth, seen[DEPTH_MAX] = { 0 };
	struct io_cmd cmds[DEPTH_MAX];
	struct io_done done[DEPTH_MAX];

	for (unsigned i = 0; i < depth; i++)
		cmds[i] = (struct io_cmd) { .offset = offsets[i],
					    .command = io_command(i, write),
					    .bytes = BYTES };
	cr_assert_eq(rig->ops->submit(rig->state, cmds, depth, clock_mono_ns()), 0);
	reap_all(rig, done, depth);
	for (unsigned i = 0; i < depth; i++) {
		cr_assert_eq(done[i].result, result, "slot %u: %d", done[i].slot, done[i].result);
		cr_assert_lt(done[i].slot, depth);
		cr_assert_eq(seen[done[i].slot]++, 0);
	}
}

void engine_moves_the_right_bytes(struct engine_rig *rig)
{
	unsigned depth = rig->env.depth;
	uint64_t offsets[DEPTH_MAX];

	for (int round = 1; round <= 3; round++) {
		for (unsigned i = 0; i < depth; i++) {
			memset(buffers_write(&rig->buffers, i), round * 50 + (int)i, BYTES);
			offsets[i] = (uint64_t)(i + (unsigned)round) * BYTES;
		}
		engine_rig_run_all(rig, true, offsets, BYTES);
		for (unsigned i = 0; i < depth; i++) /* the other way round */
			offsets[i] = (uint64_t)(depth - 1 - i + (unsigned)round) * BYTES;
		engine_rig_run_all(rig, false, offsets, BYTES);
		for (unsigned i = 0; i < depth; i++)
			cr_assert_eq(memcmp(buffers_read(&rig->buffers, i),
					    buffers_write(&rig->buffers, depth - 1 - i), BYTES),
				     0);
	}
}

void engine_gives_short_reads(struct engine_rig *rig)
{
	const uint64_t end = (uint64_t)ENGINE_RIG_BLOCKS * BYTES;

	cr_assert_eq(engine_rig_run(rig, false, end), 0);
	cr_assert_eq(engine_rig_run(rig, false, end - BYTES), BYTES);
	cr_assert_eq(engine_rig_run(rig, false, end - 512), 512);
}

void engine_moves_as_many_bytes_as_it_is_told(struct engine_rig *rig)
{
	const uint32_t last = rig->env.depth - 1, sizes[] = { 512, BYTES, 1024 };
	char *data = buffers_read(&rig->buffers, last);

	memset(buffers_write(&rig->buffers, last), 'b', BYTES);
	for (size_t i = 0; i < array_size(sizes); i++) {
		struct io_cmd cmd = { .command = io_command(last, DIR_WRITE), .bytes = sizes[i] };
		struct io_done done;

		cr_assert_eq(rig->ops->submit(rig->state, &cmd, 1, clock_mono_ns()), 0);
		reap_all(rig, &done, 1);
		cr_assert_eq(done.result, (int32_t)sizes[i]);
		cmd.command = io_command(last, DIR_READ);
		memset(data, 0, BYTES);
		cr_assert_eq(rig->ops->submit(rig->state, &cmd, 1, clock_mono_ns()), 0);
		reap_all(rig, &done, 1);
		cr_assert_eq(done.result, (int32_t)sizes[i]);
		cr_assert_eq(data[sizes[i] - 1], 'b');
		cr_assert(sizes[i] == BYTES || data[sizes[i]] == 0);
	}
}

void engine_syncs(struct engine_rig *rig)
{
	struct io_done done;
	uint64_t now;

	for (int i = 0; i < 2; i++) {
		done = (struct io_done) { .slot = 1, .result = -1 };
		cr_assert_eq(engine_rig_run(rig, true, 0), BYTES);
		cr_assert_eq(rig->ops->sync(rig->state, i, clock_mono_ns()), 0);
		reap_all(rig, &done, 1);
		cr_assert_eq(done.slot, 0);
		cr_assert_eq(done.result, 0);
	}
	if (rig->env.depth == 1) /* no second one of the same */
		cr_assert_eq(rig->ops->reap(rig->state, &done, 1, &now), 0);
}

void engine_waits_not_for_ever(struct engine_rig *rig)
{
	struct io_done done[DEPTH_MAX];
	uint64_t begin = clock_mono_ns(), now = 0;

	/* More than is in flight, which no thread asks for: so nothing comes. */
	cr_assert_eq(rig->ops->reap(rig->state, done, 1, &now), 0);
	cr_assert_geq(now, begin + ENGINE_WAIT_NS);
	cr_assert_lt(now, begin + 30 * ENGINE_WAIT_NS);
	begin = clock_mono_ns();
	cr_assert_eq(rig->ops->reap_until(rig->state, done, begin + 2 * NS_PER_MS, &now), 0);
	cr_assert_geq(now, begin + NS_PER_MS);
	cr_assert_lt(now, begin + ENGINE_WAIT_NS);
	/* A time that is over is no wait at all. */
	cr_assert_eq(rig->ops->reap_until(rig->state, done, begin, &now), 0);
	cr_assert_lt(now - begin, ENGINE_WAIT_NS);
}
