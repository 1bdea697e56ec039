/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/io/rig.h"

#include "common/base/clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct rig rig;

static void setup(void)
{
	rig_init(&rig);
}

static void teardown(void)
{
	rig_fini(&rig);
}

TestSuite(pool, .init = setup, .fini = teardown, .timeout = 60);

static const struct thread_stats *thread(void)
{
	return stats_thread(rig.stats, 0);
}

Test(pool, stop_at_the_gate_submits_nothing)
{
	_cleanup_(error_destroy) struct error *err = rig_new(&rig);

	cr_assert_null(err);
	pool_stop(rig.pool);
	rig_wait(&rig);
	cr_assert_eq(thread()->state, THREAD_DONE);
	cr_assert_eq(thread()->first_io_ns, 0);
}

Test(pool, stop_between_start_and_instant_submits_nothing)
{
	_cleanup_(error_destroy) struct error *err = rig_new(&rig);

	cr_assert_null(err);
	pool_start(rig.pool, clock_mono_ns() + 3600 * NS_PER_S);
	pool_stop(rig.pool);
	rig_wait(&rig);
	cr_assert_eq(thread()->first_io_ns, 0);
}

Test(pool, what_cannot_fit_into_memory_is_refused_with_the_sum)
{
	_cleanup_(error_destroy) struct error *err = NULL;

	rig.specs[0].simulated = false;
	rig.specs[0].range.bytes = 1ull << 40;
	rig.job.iodepth = 4096;
	rig.job.bs = 1 << 30;
	err = rig_new(&rig);
	cr_assert_not_null(err);
	cr_assert_eq(error_code(err), ERR_REFUSED);
	cr_assert_not_null(strstr(error_message(err), "4096 buffers of 1.00 GiB need 4.00 TiB"));
	cr_assert_not_null(strstr(error_message(err), "lower iodepth"));
	cr_assert_null(rig.pool);
}

Test(pool, range_without_a_block_is_refused)
{
	_cleanup_(error_destroy) struct error *err = NULL;

	rig.specs[0].range.bytes = 4095;
	err = rig_new(&rig);
	cr_assert_not_null(err);
	cr_assert_eq(error_code(err), ERR_CONFIG);
}

static struct error *new_with(uint64_t bs, uint64_t io_size)
{
	rig.job.bs = bs;
	rig.job.io_size = io_size;
	return rig_new(&rig);
}

Test(pool, io_size_must_be_whole_blocks)
{
	_cleanup_(error_destroy) struct error *err = new_with(4096, 10000);

	cr_assert_not_null(err);
	cr_assert_not_null(strstr(error_message(err), "io_size"));
}

Test(pool, tells_all_mistakes_at_once)
{
	_cleanup_(error_destroy) struct error *err = NULL;

	rig_split(&rig, 2);
	rig.specs[0].range.bytes = rig.specs[1].range.bytes = 100;
	err = rig_new(&rig);
	cr_assert_not_null(err);
	cr_assert_not_null(error_next(err));
}

Test(pool, thread_starts_in_time_and_reports_when)
{
	cr_assert(rig_run(&rig));
	cr_assert_geq(thread()->first_io_ns, rig.start_ns);
	cr_assert_eq(thread()->first_io_ns - rig.start_ns, thread()->late_wake_ns);
	cr_assert_neq(thread()->tid, 0);
	cr_assert_eq(thread()->state, THREAD_DONE);
	cr_assert_eq(thread()->nr_slots, 1);
}

Test(pool, slots_of_threads_are_disjoint)
{
	rig.job.iodepth = 5;
	rig_split(&rig, 3);
	cr_assert(rig_run(&rig));
	for (uint64_t i = 0; i < 3; i++) {
		cr_assert_eq(stats_thread(rig.stats, i)->first_slot, 5 * i);
		cr_assert_eq(stats_thread(rig.stats, i)->nr_slots, 5);
	}
	cr_assert(stats_block_valid(rig.stats, rig.stats->bytes));
}

Test(pool, an_engine_without_a_queue_has_one_in_flight)
{
	rig_use_file(&rig, 64 << 10);
	rig_split(&rig, 2);
	rig.job.engine = ENGINE_PSYNC;
	rig.job.iodepth = 32;
	cr_assert(rig_run(&rig));
	cr_assert_null(pool_warnings(rig.pool), "the scenario's check has said so");
	cr_assert_eq(thread()->depth_max, 1);
}
