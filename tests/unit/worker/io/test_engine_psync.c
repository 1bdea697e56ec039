/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/engine.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 4096 };

static void *state;
static struct buffers buffers;
static struct engine_env env;

static void setup(void)
{
	struct buffers_spec spec = { .depth = 1,
				     .reads = true,
				     .writes = true,
				     .io_bytes = BYTES,
				     .block_bytes = 512,
				     .writer = 1 };
	char path[] = "psync-XXXXXX";
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	unlink(path);
	cr_assert_null(buffers_init(&buffers, &spec));
	env = (struct engine_env) {
		.target = "file", .fd = fd, .depth = 1, .io_bytes = BYTES, .buffers = &buffers
	};
	state = calloc(1, engine_psync.state_size);
	cr_assert_null(engine_psync.init(state, &env));
}

static void teardown(void)
{
	engine_psync.fini(state);
	free(state);
	buffers_fini(&buffers);
	close(env.fd);
}

TestSuite(engine_psync, .init = setup, .fini = teardown);

static int32_t run_bytes(uint32_t command, uint64_t offset, uint32_t bytes)
{
	struct io_cmd cmd = { .offset = offset, .command = command, .bytes = bytes };
	struct io_done done;
	uint64_t before = clock_mono_ns(), now;

	cr_assert_eq(engine_psync.submit(state, &cmd, 1, before), 0);
	cr_assert_eq(engine_psync.reap(state, &done, 1, &now), 1);
	cr_assert_eq(done.slot, 0);
	cr_assert_geq(now, before);
	return done.result;
}

static int32_t run(uint32_t command, uint64_t offset)
{
	return run_bytes(command, offset, BYTES);
}

Test(engine_psync, reads_what_it_wrote)
{
	cr_assert_eq(run(1, 3 * BYTES), BYTES);
	cr_assert_eq(run(0, 3 * BYTES), BYTES);
	cr_assert_eq(memcmp(buffers_read(&buffers, 0), buffers_write(&buffers, 0), BYTES), 0);
}

Test(engine_psync, end_of_file_and_errors_are_results)
{
	cr_assert_eq(run(0, 1 << 20), 0);
	close(env.fd);
	cr_assert_eq(run(0, 0), -EBADF);
	env.fd = dup(1);
}

Test(engine_psync, moves_as_many_bytes_as_the_command_says)
{
	cr_assert_eq(run_bytes(1, 0, 512), 512);
	cr_assert_eq(lseek(env.fd, 0, SEEK_END), 512);
	cr_assert_eq(run_bytes(0, 0, 256), 256);
}

Test(engine_psync, sync_is_a_completion)
{
	struct io_done done;
	uint64_t now;

	for (int data_only = 0; data_only < 2; data_only++) {
		done.result = -1;
		cr_assert_eq(engine_psync.sync(state, data_only, clock_mono_ns()), 0);
		cr_assert_eq(engine_psync.reap(state, &done, 1, &now), 1);
		cr_assert_eq(done.result, 0);
	}
	cr_assert_eq(engine_psync.reap(state, &done, 1, &now), 0);
}
