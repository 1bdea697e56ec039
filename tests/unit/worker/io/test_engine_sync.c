/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/io/engine_rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct engine_rig rig;

static void setup(void)
{
	engine_rig_open(&rig, &engine_sync, 1, 0);
	engine_rig_start(&rig);
}

static void teardown(void)
{
	engine_rig_fini(&rig);
}

TestSuite(engine_sync, .init = setup, .fini = teardown, .timeout = 30);

Test(engine_sync, moves_the_right_bytes)
{
	engine_moves_the_right_bytes(&rig);
}

Test(engine_sync, gives_short_reads)
{
	engine_gives_short_reads(&rig);
}

Test(engine_sync, moves_as_many_bytes_as_it_is_told)
{
	engine_moves_as_many_bytes_as_it_is_told(&rig);
}

Test(engine_sync, syncs)
{
	engine_syncs(&rig);
}

/* Threads share the target's descriptor, and with it the file position, but for this engine. */
Test(engine_sync, two_threads_have_two_positions)
{
	struct engine_rig other = rig;
	const uint64_t offset = 7 * ENGINE_RIG_BYTES;

	other.state = NULL;
	engine_rig_start(&other);
	for (uint64_t i = 0; i < 4; i++) {
		memset(buffers_write(&rig.buffers, 0), 'a' + (int)i, ENGINE_RIG_BYTES);
		cr_assert_eq(engine_rig_run(&rig, true, i * ENGINE_RIG_BYTES), ENGINE_RIG_BYTES);
		cr_assert_eq(engine_rig_run(&other, false, offset + i * ENGINE_RIG_BYTES),
			     ENGINE_RIG_BYTES);
	}
	for (uint64_t i = 0; i < 4; i++) {
		cr_assert_eq(engine_rig_run(&other, false, i * ENGINE_RIG_BYTES), ENGINE_RIG_BYTES);
		cr_assert_eq(*buffers_read(&rig.buffers, 0), 'a' + (int)i);
	}
	cr_assert_eq(lseek(rig.env.fd, 0, SEEK_CUR), 0, "the shared position is not touched");
	other.ops->fini(other.state);
	free(other.state);
}

/* A read that failed leaves the position unknown: the next one seeks. */
Test(engine_sync, goes_on_after_an_error)
{
	cr_assert_eq(engine_rig_run(&rig, false, UINT64_MAX), -EINVAL);
	memset(buffers_write(&rig.buffers, 0), 'x', ENGINE_RIG_BYTES);
	cr_assert_eq(engine_rig_run(&rig, true, 0), ENGINE_RIG_BYTES);
	cr_assert_eq(engine_rig_run(&rig, false, 0), ENGINE_RIG_BYTES);
	cr_assert_eq(*buffers_read(&rig.buffers, 0), 'x');
}

Test(engine_sync, says_why_it_cannot_open)
{
	struct engine_env env = rig.env;
	_cleanup_(error_destroy) struct error *err = NULL;
	_cleanup_free_ void *state = calloc(1, engine_sync.state_size);

	env.fd = 1 << 20;
	err = engine_sync.init(state, &env);
	cr_assert_not_null(err);
	cr_assert_str_eq(error_message(err),
			 "engine sync: target 'file' cannot be opened for each thread: Bad file "
			 "descriptor; use engine: psync");
	engine_sync.fini(state);
}
