/* SPDX-License-Identifier: Apache-2.0 */
/* io_uring in every mode and on every set-up that it falls back to: each must do what any engine does. */
#include "tests/unit/worker/io/engine_rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { DEPTH = 16 };

static struct engine_rig rig;

static void setup(void)
{
	engine_rig_open(&rig, &engine_uring, DEPTH, O_DIRECT);
}

static void teardown(void)
{
	engine_rig_fini(&rig);
}

TestSuite(uring_setup, .init = setup, .fini = teardown, .timeout = 60);

/* Everything at once; the wait last, with nothing in flight. */
static void run_all_cases(void)
{
	engine_rig_start(&rig);
	engine_moves_the_right_bytes(&rig);
	engine_moves_as_many_bytes_as_it_is_told(&rig);
	engine_gives_short_reads(&rig);
	engine_syncs(&rig);
	engine_waits_not_for_ever(&rig);
}

Test(uring_setup, as_this_kernel_has_it)
{
	run_all_cases();
}

Test(uring_setup, without_defer_taskrun)
{
	rig.env.pretend = PRETEND_NO_DEFER_TASKRUN;
	run_all_cases();
}

Test(uring_setup, without_single_issuer)
{
	rig.env.pretend = PRETEND_NO_DEFER_TASKRUN | PRETEND_NO_SINGLE_ISSUER;
	run_all_cases();
}

Test(uring_setup, without_coop_taskrun_and_registered_ring)
{
	rig.env.pretend = PRETEND_NO_DEFER_TASKRUN | PRETEND_NO_SINGLE_ISSUER |
			  PRETEND_NO_COOP_TASKRUN | PRETEND_NO_REGISTERED_RING;
	run_all_cases();
}

static void pretend_old_kernel(void)
{
	rig.env.pretend = PRETEND_NO_DEFER_TASKRUN | PRETEND_NO_SINGLE_ISSUER |
			  PRETEND_NO_COOP_TASKRUN | PRETEND_NO_REGISTERED_RING | PRETEND_NO_EXT_ARG;
}

Test(uring_setup, without_timed_wait)
{
	pretend_old_kernel();
	run_all_cases();
}

Test(uring_setup, without_fixed_file_and_buffers)
{
	rig.env.pretend = PRETEND_NO_FIXED_FILE;
	rig.env.locks_buffers = false;
	run_all_cases();
}

Test(uring_setup, with_a_kernel_thread_that_submits)
{
	rig.ops = &engine_uring_wishes;
	rig.env.sqthread_poll = true;
	run_all_cases();
}

/* The thread sleeps after a second without work, and must be woken. */
Test(uring_setup, a_kernel_thread_that_sleeps_is_woken)
{
	uint64_t until;

	rig.ops = &engine_uring_wishes;
	rig.env.sqthread_poll = true;
	rig.env.sqthread_cpu = 0;
	engine_rig_start(&rig);
	cr_assert_eq(engine_rig_run(&rig, true, 0), ENGINE_RIG_BYTES);
	for (until = clock_mono_ns() + 1300 * NS_PER_MS; clock_mono_ns() < until;) {
		struct io_done done;
		uint64_t now;

		cr_assert_eq(rig.ops->reap(rig.state, &done, 1, &now), 0);
	}
	cr_assert_eq(engine_rig_run(&rig, false, 0), ENGINE_RIG_BYTES);
}

static void expect_refusal(const char *flag, const char *why)
{
	_cleanup_(error_destroy) struct error *err = NULL;
	_cleanup_free_ void *state = calloc(1, engine_uring.state_size);
	struct utsname kernel;

	uname(&kernel);
	err = engine_uring.init(state, &rig.env);
	engine_uring.fini(state);
	cr_assert_not_null(err);
	if (strstr(error_message(err), "it is not allowed here"))
		cr_skip_test("io_uring is not allowed here");
	cr_expect_eq(error_code(err), ERR_REFUSED);
	cr_expect_not_null(strstr(error_message(err), "engine io_uring"), "%s", error_message(err));
	cr_expect_not_null(strstr(error_message(err), kernel.release), "%s", error_message(err));
	cr_expect_not_null(strstr(error_message(err), flag), "%s", error_message(err));
	cr_expect_not_null(strstr(error_message(err), why), "%s", error_message(err));
}

Test(uring_setup, an_absent_cpu_is_named)
{
	rig.ops = &engine_uring_wishes;
	rig.env.sqthread_poll = true;
	rig.env.sqthread_cpu = 1000;
	expect_refusal("sqthread_poll_cpu", "CPU 1000");
}

Test(uring_setup, a_kernel_thread_needs_a_timed_wait)
{
	pretend_old_kernel();
	rig.ops = &engine_uring_wishes;
	rig.env.sqthread_poll = true;
	expect_refusal("sqthread_poll", "Linux 5.11");
}

Test(uring_setup, hipri_without_poll_queues_is_refused)
{
	rig.ops = &engine_uring_wishes;
	rig.env.hipri = true;
	expect_refusal("hipri (IORING_SETUP_IOPOLL)", "leave hipri out");
}

/* On a device without poll queues a kernel polls for nothing that comes by itself, or fails the I/O. The ring must
 * work either way. */
static void run_polled(void)
{
	struct io_done done;
	uint64_t now;

	rig.ops = &engine_uring_wishes;
	rig.env.hipri = true;
	rig.env.pretend = PRETEND_POLL_QUEUES;
	engine_rig_start(&rig);
	engine_waits_not_for_ever(&rig);
	for (uint64_t i = 0; i < 20; i++) {
		int32_t ret = engine_rig_run(&rig, i % 2, i * ENGINE_RIG_BYTES);

		cr_assert(ret == ENGINE_RIG_BYTES || ret == -EOPNOTSUPP, "%d", ret);
	}
	for (int data_only = 0; data_only < 2; data_only++) {
		cr_assert_eq(rig.ops->sync(rig.state, data_only, clock_mono_ns()), 0);
		cr_assert_eq(rig.ops->reap(rig.state, &done, 1, &now), 1);
		cr_assert_eq(done.slot, 0);
		cr_assert_eq(done.result, 0);
	}
}

Test(uring_setup, hipri_polls)
{
	run_polled();
}

Test(uring_setup, hipri_with_a_kernel_thread)
{
	rig.ops = &engine_uring_wishes;
	rig.env.sqthread_poll = true;
	run_polled();
}
