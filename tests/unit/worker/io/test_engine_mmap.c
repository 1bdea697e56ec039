/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/io/engine_rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static struct engine_rig rig;

static void setup(void)
{
	engine_rig_open(&rig, &engine_mmap, 1, 0);
	engine_rig_start(&rig);
}

static void teardown(void)
{
	engine_rig_fini(&rig);
}

TestSuite(engine_mmap, .init = setup, .fini = teardown, .timeout = 30);

Test(engine_mmap, moves_the_right_bytes)
{
	engine_moves_the_right_bytes(&rig);
}

Test(engine_mmap, gives_short_reads)
{
	engine_gives_short_reads(&rig);
}

Test(engine_mmap, moves_as_many_bytes_as_it_is_told)
{
	engine_moves_as_many_bytes_as_it_is_told(&rig);
}

Test(engine_mmap, syncs)
{
	engine_syncs(&rig);
}

/* A page that the device cannot give is a failed I/O; the process lives and goes on. */
Test(engine_mmap, errors_are_results)
{
	const uint64_t gone = (ENGINE_RIG_BLOCKS - 1) * ENGINE_RIG_BYTES;

	cr_assert_eq(ftruncate(rig.env.fd, ENGINE_RIG_BYTES), 0);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(engine_rig_run(&rig, false, gone), -EIO);
		cr_assert_eq(engine_rig_run(&rig, true, gone), -EIO);
		cr_assert_eq(engine_rig_run(&rig, false, 0), ENGINE_RIG_BYTES);
	}
}

Test(engine_mmap, a_bus_error_elsewhere_ends_the_process, .signal = SIGBUS)
{
	volatile char *map = mmap(NULL, ENGINE_RIG_BYTES, PROT_READ, MAP_SHARED, rig.env.fd, 0);

	cr_assert_eq(ftruncate(rig.env.fd, 0), 0);
	(void)*map;
}

Test(engine_mmap, the_file_has_what_was_written)
{
	char block[ENGINE_RIG_BYTES];

	memset(buffers_write(&rig.buffers, 0), 'w', ENGINE_RIG_BYTES);
	cr_assert_eq(engine_rig_run(&rig, true, 3 * ENGINE_RIG_BYTES), ENGINE_RIG_BYTES);
	cr_assert_eq(pread(rig.env.fd, block, sizeof(block), 3 * ENGINE_RIG_BYTES), sizeof(block));
	cr_assert_eq(memcmp(block, buffers_write(&rig.buffers, 0), sizeof(block)), 0);
}

Test(engine_mmap, says_why_it_cannot_map)
{
	struct engine_env env = rig.env;
	_cleanup_(error_destroy) struct error *err = NULL;
	_cleanup_free_ void *state = calloc(1, engine_mmap.state_size);
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	env.fd = fds[0];
	err = engine_mmap.init(state, &env);
	cr_assert_not_null(err);
	cr_assert_not_null(strstr(error_message(err), "cannot be mapped"), "%s",
			   error_message(err));
	engine_mmap.fini(state);
	close(fds[0]);
	close(fds[1]);
}
