/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/io/engine_rig.h"
#include "tests/unit/worker/io/rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEPTH = 16 };

static struct engine_rig rig;

static void setup(void)
{
	engine_rig_open(&rig, &engine_libaio, DEPTH, O_DIRECT);
	engine_rig_start(&rig);
}

static void teardown(void)
{
	engine_rig_fini(&rig);
}

TestSuite(engine_libaio, .init = setup, .fini = teardown, .timeout = 30);

Test(engine_libaio, moves_the_right_bytes)
{
	engine_moves_the_right_bytes(&rig);
}

Test(engine_libaio, gives_short_reads)
{
	engine_gives_short_reads(&rig);
}

Test(engine_libaio, moves_as_many_bytes_as_it_is_told)
{
	engine_moves_as_many_bytes_as_it_is_told(&rig);
}

Test(engine_libaio, syncs)
{
	engine_syncs(&rig);
}

Test(engine_libaio, waits_not_for_ever)
{
	engine_waits_not_for_ever(&rig);
}

Test(engine_libaio, errors_are_results)
{
	char *buffer = buffers_read(&rig.buffers, 0);

	cr_assert_eq(mprotect(buffer, ENGINE_RIG_BYTES, PROT_NONE), 0);
	cr_assert_eq(engine_rig_run(&rig, false, 0), -EFAULT);
	cr_assert_eq(mprotect(buffer, ENGINE_RIG_BYTES, PROT_READ | PROT_WRITE), 0);
	cr_assert_eq(engine_rig_run(&rig, false, 0), ENGINE_RIG_BYTES);
}

Test(engine_libaio, a_broken_descriptor_ends_it)
{
	struct io_cmd cmd = { .command = 0 };

	close(rig.env.fd);
	cr_assert_eq(rig.ops->submit(rig.state, &cmd, 1, clock_mono_ns()), -EBADF);
	rig.env.fd = dup(1);
}

/* Through the whole ring of completions several times over. */
Test(engine_libaio, goes_round_the_ring)
{
	uint64_t offsets[DEPTH];

	for (unsigned i = 0; i < DEPTH; i++)
		offsets[i] = (uint64_t)i * ENGINE_RIG_BYTES;
	for (int i = 0; i < 200; i++)
		engine_rig_run_all(&rig, i % 2, offsets, ENGINE_RIG_BYTES);
}

/* A descriptor without fsync in the kernel's queue (here: what is no file at all) is synced in the call. */
Test(engine_libaio, sync_falls_back_to_the_call)
{
	struct engine_rig other = rig;
	int pipe_fds[2];
	struct io_done done = { .result = 1 };
	uint64_t now;

	cr_assert_eq(pipe(pipe_fds), 0);
	other.env.fd = pipe_fds[0];
	other.state = NULL;
	engine_rig_start(&other);
	cr_assert_eq(other.ops->sync(other.state, false, clock_mono_ns()), 0);
	cr_assert_eq(other.ops->reap(other.state, &done, 1, &now), 1);
	cr_assert_eq(done.slot, 0);
	cr_assert_eq(done.result, -EINVAL); /* what fsync says of a pipe */
	other.ops->fini(other.state);
	free(other.state);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

Test(engine_libaio, says_which_limit_is_too_small)
{
	struct engine_env env = rig.env;
	_cleanup_(error_destroy) struct error *err = NULL;
	_cleanup_free_ void *state = calloc(1, engine_libaio.state_size);

	env.depth = 3u << 20; /* more than any fs.aio-max-nr */
	err = engine_libaio.init(state, &env);
	cr_assert_not_null(err);
	cr_assert_not_null(strstr(error_message(err), "fs.aio-max-nr"), "%s", error_message(err));
	engine_libaio.fini(state);
}

Test(engine_libaio_thread, obeys_littles_law_with_split_latency, .timeout = 60)
{
	struct direction_sum sum;
	struct rig thread;

	rig_init(&thread);
	rig_use_file(&thread, 1 << 20);
	thread.job.engine = ENGINE_LIBAIO;
	thread.job.iodepth = 8;
	thread.job.time_based = true;
	thread.job.ramp_time_ns = 20 * NS_PER_MS;
	thread.job.runtime_ns = 200 * NS_PER_MS;
	if (!rig_run(&thread))
		cr_skip_test("libaio is not allowed here");
	rig_assert_littles_law(&thread, DIR_READ, 8);
	sum = rig_sum(&thread, DIR_READ);
	cr_assert_eq(sum.slat.count, sum.lat.count);
	cr_assert_eq(sum.lat.sum, sum.slat.sum + sum.clat.sum);
	direction_sum_fini(&sum);
	rig_fini(&thread);
}
