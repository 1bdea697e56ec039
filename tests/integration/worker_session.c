/* SPDX-License-Identifier: Apache-2.0 */
/* The worker as a program, spoken to in its own protocol: whole sessions, and what may go wrong in one. */
#include "tests/integration/worker_client.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct worker_client c;

static void setup(void)
{
	client_start(&c, NULL);
}

static void teardown(void)
{
	client_end(&c);
}

TestSuite(worker_session, .init = setup, .fini = teardown, .timeout = 60);

static uint64_t total_ios(const struct message *done)
{
	uint64_t ios = 0;

	for (size_t i = 0; i < done->done.nr_rows; i++)
		ios += done->done.rows[i].counts.ios + done->done.rows[i].counts.drain_ios;
	return ios;
}

static void finish(struct message m)
{
	message_fini(&m);
}

static struct message stop(void)
{
	static char why[] = "test";

	return (struct message) { .type = MSG_STOP, .stop = { .why = why } };
}

static bool has_child(const struct worker_client *client)
{
	return client_child(client) != 0;
}

static bool has_no_child(const struct worker_client *client)
{
	return client_child(client) == 0;
}

Test(worker_session, steps_of_a_session_share_an_io_process_and_leave_nothing_behind)
{
	struct work_target simulated = client_simulated(), file = client_file(&c);
	struct job job = client_job(RW_RANDRW, 400);
	size_t files;
	pid_t child;

	client_hello(&c, 10000, 1000);
	files = client_open_files(&c);
	job.ramp_time_ns = 150 * NS_PER_MS;
	client_run(&c, &simulated, &job);
	child = client_child(&c);
	cr_assert_neq(child, 0);
	struct message done = client_done(&c);

	/* 2 threads of depth 4 at 1 ms for 400 ms. */
	cr_assert_float_eq((double)total_ios(&done), 3200, 320, "%llu",
			   (unsigned long long)total_ios(&done));
	cr_assert_eq(done.done.members[0].threads, 2);
	cr_assert_eq(done.done.members[0].effective_depth, 4);
	cr_assert_not(done.done.stopped);
	cr_assert_eq(c.last_interval, 3);
	cr_assert_gt(c.oldest_ns, 0);
	finish(done);
	client_run(&c, &file, &job);
	cr_assert_eq(client_child(&c), child, "the next step has the same process");
	done = client_done(&c);
	cr_assert_gt(total_ios(&done), 0);
	finish(done);
	client_bye(&c);
	cr_assert(has_no_child(&c));
	cr_assert_eq(client_open_files(&c), files);
	client_hello(&c, 10000, 1000);
	client_bye(&c);
}

Test(worker_session, job_that_ends_by_itself_says_done_at_once)
{
	struct work_target file = client_file(&c);
	struct job job = client_job(RW_WRITE, 0);

	job.time_based = false;
	job.numjobs = 1;
	client_hello(&c, 10000, 1000);
	client_run(&c, &file, &job);
	struct message done = client_done(&c);

	cr_assert_eq(total_ios(&done), 1024);
	finish(done);
}

Test(worker_session, done_comes_again_over_a_new_link)
{
	struct work_target simulated = client_simulated();
	struct job job = client_job(RW_READ, 100);
	uint64_t ios;

	client_hello(&c, 10000, 1000);
	client_run(&c, &simulated, &job);
	struct message done = client_done(&c);

	ios = total_ios(&done);
	finish(done);
	client_connect(&c);
	client_send(&c, (struct message) { .type = MSG_PING });
	done = client_expect(&c, MSG_DONE);
	cr_assert_eq(total_ios(&done), ios);
	finish(done);
	client_run(&c, &simulated, &job);
	finish(client_done(&c));
	client_bye(&c);
}

Test(worker_session, stop_ends_a_run_before_its_time)
{
	struct work_target simulated = client_simulated();
	struct job job = client_job(RW_READ, 60000);
	uint64_t start;

	client_hello(&c, 10000, 1000);
	start = client_run(&c, &simulated, &job);
	client_ping_until(&c, start + 200 * NS_PER_MS);
	client_send(&c, stop());
	struct message done = client_done(&c);

	cr_assert(done.done.stopped);
	cr_assert_gt(total_ios(&done), 0);
	finish(done);
	client_prepare(&c, &simulated, &job);
	finish(client_expect(&c, MSG_READY));
	client_send(&c, stop());
	done = client_done(&c);
	cr_assert(done.done.stopped);
	cr_assert_eq(total_ios(&done), 0, "threads at the gate just end");
	finish(done);
}

Test(worker_session, start_that_comes_too_late_starts_nothing)
{
	struct work_target simulated = client_simulated();
	struct job job = client_job(RW_READ, 100);

	client_hello(&c, 10000, 1000);
	client_prepare(&c, &simulated, &job);
	finish(client_expect(&c, MSG_READY));
	client_send(&c, (struct message) { .type = MSG_START,
					   .start = { .start_ns = clock_mono_ns() } });
	struct message m = client_expect(&c, MSG_FAILED);

	cr_assert_not_null(strstr(m.failed.reasons[0].text, "too late"));
	finish(m);
	client_run(&c, &simulated, &job);
	finish(client_done(&c));
}

Test(worker_session, all_reasons_come_at_once)
{
	struct work_target simulated = client_simulated();
	struct job job = client_job(RW_READ, 100);

	client_hello(&c, 10000, 1000);
	job.numjobs = 300;
	job.offset = 2 << 20;
	client_prepare(&c, &simulated, &job);
	struct message m = client_expect(&c, MSG_FAILED);

	cr_assert_geq(m.failed.nr_reasons, 2);
	cr_assert_not_null(strstr(m.failed.reasons[0].text, "limits.threads"));
	cr_assert_not_null(strstr(m.failed.reasons[1].text, "offset"));
	finish(m);
}

Test(worker_session, lease_that_ends_stops_the_threads_and_frees_the_worker)
{
	struct work_target simulated = client_simulated();
	struct job job = client_job(RW_READ, 60000);

	client_hello(&c, 800, 1000);
	client_run(&c, &simulated, &job);
	cr_assert(wait_until(has_no_child, &c, 3000));
	client_send(&c, stop());
	/* The threads stop a little before the lease's end: DONE may still get out. */
	struct message m = client_expect_either(&c, MSG_ERROR, MSG_DONE);

	if (m.type == MSG_DONE) {
		cr_assert(m.done.stopped);
		finish(m);
		m = client_expect(&c, MSG_ERROR);
	}
	cr_assert_str_eq(m.error.code, "LOST");
	finish(m);
	client_hello(&c, 10000, 1000);
	client_bye(&c);
}

/* Bytes that the process has read by now. */
static unsigned long long bytes_read(pid_t pid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/io", (int)pid);
	FILE *file = fopen(path, "re");
	char line[64] = "";

	cr_assert_not_null(file);
	cr_assert_not_null(fgets(line, sizeof(line), file)); /* "rchar: N" */
	fclose(file);
	return strtoull(line + strlen("rchar: "), NULL, 10);
}

Test(worker_session, lease_is_kept_by_the_threads_when_the_control_process_stands_still)
{
	struct work_target file = client_file(&c);
	struct job job = client_job(RW_READ, 60000);
	unsigned long long at_start, after;
	uint64_t start;
	pid_t child;

	job.engine = ENGINE_PSYNC;
	client_hello(&c, 1000, 1000);
	start = client_run(&c, &file, &job);
	child = client_child(&c);
	client_ping_until(&c, start + 100 * NS_PER_MS);
	at_start = bytes_read(child);
	kill(c.worker, SIGSTOP);
	zclock_sleep(1500);
	after = bytes_read(child);
	cr_assert_gt(after, at_start, "it went on until the lease's end");
	zclock_sleep(300);
	cr_assert_eq(bytes_read(child), after, "and not longer");
	kill(c.worker, SIGCONT);
	cr_assert(wait_until(has_no_child, &c, 3000));
	client_hello(&c, 10000, 1000);
	client_bye(&c);
}

/* Bytes that the I/O process has written so far. */
static uint64_t written(pid_t pid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/io", (int)pid);
	FILE *file = fopen(path, "re");
	unsigned long long bytes = 0;

	cr_assert_not_null(file);
	cr_assert_eq(fscanf(file, "rchar: %*u wchar: %llu", &bytes), 1);
	fclose(file);
	return bytes;
}

Test(worker_session, layout_leaves_off_at_the_leases_end_without_the_control_process)
{
	struct work_target file = client_file(&c);
	struct job job = client_job(RW_READ, 100);
	uint64_t after;
	pid_t child;

	file.size = 1 << 30; /* more than is laid out before the lease's end */
	client_hello(&c, 200, 1000);
	client_prepare(&c, &file, &job);
	cr_assert(wait_until(has_child, &c, 3000));
	child = client_child(&c);
	kill(c.worker, SIGSTOP);
	zclock_sleep(600);
	after = written(child);
	zclock_sleep(500);
	cr_assert_eq(written(child), after);
	kill(c.worker, SIGCONT);
	cr_assert(wait_until(has_no_child, &c, 3000));
	client_hello(&c, 10000, 1000);
	client_bye(&c);
}

Test(worker_session, io_process_that_dies_leaves_its_figures_and_the_session)
{
	struct work_target simulated = client_simulated();
	struct job job = client_job(RW_READ, 60000);
	uint64_t start;

	client_hello(&c, 10000, 1000);
	start = client_run(&c, &simulated, &job);
	client_ping_until(&c, start + 250 * NS_PER_MS);
	kill(client_child(&c), SIGKILL);
	struct message done = client_done(&c);

	cr_assert_not_null(strstr(done.done.warnings[0], "signal 9"));
	cr_assert_gt(total_ios(&done), 0);
	finish(done);
	job = client_job(RW_READ, 100);
	client_run(&c, &simulated, &job);
	finish(client_done(&c));
	client_bye(&c);
}

Test(worker_session, bytes_of_any_kind_do_not_hurt_it)
{
	static const uint8_t junk[] = { 0xdd, 4, 0, 0, 0 };
	struct work_target simulated = client_simulated();
	struct job job = client_job(RW_READ, 200);
	void *socket = zsock_resolve(c.dealer);

	c.session = 0;
	zmq_send(socket, junk, sizeof(junk), 0);
	finish(client_expect(&c, MSG_ERROR));
	zmq_send(socket, "", 0, 0);
	finish(client_expect(&c, MSG_ERROR));
	zmq_send(socket, "one", 3, ZMQ_SNDMORE);
	zmq_send(socket, "two", 3, ZMQ_SNDMORE);
	zmq_send(socket, "three", 5, 0);
	struct message m = client_expect(&c, MSG_ERROR);

	cr_assert_not_null(strstr(m.error.text, "single frame"));
	finish(m);
	client_hello(&c, 10000, 1000);
	client_run(&c, &simulated, &job);
	finish(client_done(&c));
}

Test(worker_session, sigterm_lets_the_result_out_and_ends_with_status_0)
{
	struct work_target simulated = client_simulated();
	struct job job = client_job(RW_READ, 60000);
	uint64_t start;
	int status;

	client_hello(&c, 10000, 1000);
	start = client_run(&c, &simulated, &job);
	client_ping_until(&c, start + 150 * NS_PER_MS);
	kill(c.worker, SIGTERM);
	struct message done = client_done(&c);

	cr_assert(done.done.stopped);
	cr_assert_gt(total_ios(&done), 0);
	finish(done);
	finish(client_expect(&c, MSG_ERROR));
	cr_assert_eq(waitpid(c.worker, &status, 0), c.worker);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	c.worker = 0;
}

/* --- a device that hangs: the I/O process is stopped as a whole ------------------------------------- */

static bool is_refused(struct worker_client *client, const struct work_target *file,
		       const struct job *job)
{
	struct message m;
	bool refused;

	client_prepare(client, file, job);
	m = client_expect_either(client, MSG_READY, MSG_FAILED);
	refused = m.type == MSG_FAILED;
	if (refused)
		cr_assert_str_eq(m.failed.reasons[0].code, "HUNG", "%s", m.failed.reasons[0].text);
	message_fini(&m);
	return refused;
}

Test(worker_session, target_that_hangs_is_refused_until_its_io_is_back_also_after_a_restart)
{
	struct work_target file = client_file(&c), simulated = client_simulated();
	struct job job = client_job(RW_RANDREAD, 300), quick = client_job(RW_READ, 100);
	uint64_t start;
	pid_t hung;

	client_hello(&c, 10000, 500);
	start = client_run(&c, &file, &job);
	client_ping_until(&c, start + 100 * NS_PER_MS);
	hung = client_child(&c);
	kill(hung, SIGSTOP);
	struct message done = client_done(&c);

	cr_assert_eq(done.done.nr_warnings, 1);
	for (size_t i = 0; i < done.done.nr_stuck; i++)
		cr_assert_gt(done.done.stuck[i].age_ns, 0);
	finish(done);
	cr_assert(is_refused(&c, &file, &quick));
	client_run(&c, &simulated, &quick); /* everything else goes on */
	finish(client_done(&c));
	client_bye(&c);

	kill(c.worker, SIGKILL);
	waitpid(c.worker, NULL, 0);
	zsock_destroy(&c.dealer);
	_cleanup_free_ char *socket = xasprintf("%s/w.sock", c.dir);

	unlink(socket); /* so that the new one is waited for */
	client_start_worker(&c, NULL);
	client_hello(&c, 10000, 500);
	cr_assert(is_refused(&c, &file, &quick));
	kill(hung, SIGCONT);
	uint64_t end = clock_mono_ns() + 8 * NS_PER_S;

	while (is_refused(&c, &file, &quick)) {
		cr_assert_lt(clock_mono_ns(), end, "it is refused for ever");
		client_ping_until(&c, clock_mono_ns() + 200 * NS_PER_MS);
	}
	client_bye(&c);
}

/* --- one worker at a time ------------------------------------------------------------------------- */

static bool log_says(const char *text)
{
	_cleanup_free_ char *path = xasprintf("%s/log", c.dir);
	_cleanup_(zchunk_destroy) zchunk_t *log = zchunk_slurp(path, 1 << 20);

	return log && memmem(zchunk_data(log), zchunk_size(log), text, strlen(text));
}

Test(worker_session, folder_and_socket_belong_to_one_worker)
{
	_cleanup_free_ char *other = xasprintf("%s/other", c.dir);
	_cleanup_free_ char *socket = xasprintf("ipc://%s/w.sock", c.dir);
	const char *same_state[] = { "--listen", "ipc:///tmp/salvo-test-unused.sock", "--state",
				     c.dir, NULL };
	const char *same_socket[] = { "--listen", socket, "--state", other, NULL };

	cr_assert_eq(run_worker(&c, same_state), 2);
	cr_assert(log_says("another worker holds it"));
	cr_assert_eq(run_worker(&c, same_socket), 2);
	client_hello(&c, 10000, 1000);
	client_bye(&c);
}

Test(worker_session, tcp_without_keys_is_refused_before_anything_is_opened)
{
	const char *const loopback[] = { "--listen", "tcp://127.0.0.1:*", "--state", c.dir, NULL };

	cr_assert_eq(run_worker(&c, loopback), 2);
	cr_assert(log_says("spell out insecure: true"));
}
