/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with --wrap: between the gate and its end an I/O thread must not allocate. */
#include "tests/unit/worker/io/rig.h"

#include "common/base/clock.h"

#include <criterion/criterion.h>

static struct rig rig;
static bool watches;
static unsigned nr_calls;

/* An I/O thread that is on its way counts; the pool has one. */
static void note_call(void)
{
	uint64_t state;

	if (!__atomic_load_n(&watches, __ATOMIC_ACQUIRE))
		return;
	state = cell_get(&stats_thread(rig.stats, 0)->state);
	if (state == THREAD_RUNNING || state == THREAD_DRAINING)
		__atomic_add_fetch(&nr_calls, 1, __ATOMIC_RELAXED);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);

void *__wrap_malloc(size_t size)
{
	note_call();
	return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	note_call();
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	note_call();
	return __real_realloc(p, size);
}

void __wrap_free(void *p)
{
	note_call();
	__real_free(p);
}

static unsigned calls_of_a_run(void)
{
	_cleanup_(error_destroy) struct error *err = rig_new(&rig);

	if (err && error_code(err) == ERR_REFUSED)
		cr_skip_test("io_uring is not allowed here");
	cr_assert_null(err);
	__atomic_store_n(&watches, true, __ATOMIC_RELEASE);
	rig_start(&rig);
	rig_wait(&rig);
	__atomic_store_n(&watches, false, __ATOMIC_RELEASE);
	cr_assert_gt(rig_counts(&rig, DIR_WRITE).ios, 0);
	cr_assert_gt(rig_counts(&rig, DIR_SYNC).ios, 0);
	return nr_calls;
}

static void setup(void)
{
	rig_init(&rig);
	rig.job.rw = RW_RANDRW;
	rig.job.iodepth = 16;
	rig.job.time_based = true;
	rig.job.ramp_time_ns = 10 * NS_PER_MS;
	rig.job.runtime_ns = 50 * NS_PER_MS;
	rig.job.fsync = 20;
	rig.job.end_fsync = true;
}

static void teardown(void)
{
	rig_fini(&rig);
}

TestSuite(loop, .init = setup, .fini = teardown, .timeout = 60);

Test(loop, allocates_nothing_simulated)
{
	cr_assert_eq(calls_of_a_run(), 0);
}

Test(loop, allocates_nothing_psync)
{
	rig_use_file(&rig, 1 << 20);
	rig.job.engine = ENGINE_PSYNC;
	cr_assert_eq(calls_of_a_run(), 0);
}

Test(loop, allocates_nothing_io_uring)
{
	rig_use_file(&rig, 1 << 20);
	cr_assert_eq(calls_of_a_run(), 0);
}

Test(loop, the_watch_sees_an_allocation)
{
	_cleanup_(error_destroy) struct error *err = rig_new(&rig);

	cr_assert_null(err);
	cell_set(&stats_thread(rig.stats, 0)->state, THREAD_RUNNING);
	watches = true;
	free(xcalloc(1, 1));
	watches = false;
	cr_assert_geq(nr_calls, 2);
}
