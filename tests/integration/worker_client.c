/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/worker_client.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 20000, MAX_ARGS = 32 };

static uint64_t next_session = 1;

/* --- the program ---------------------------------------------------------------------------------- */

static pid_t spawn(const struct worker_client *c, const char *const *args)
{
	const char *program = getenv("SALVO_WORKER_BIN");
	_cleanup_free_ char *log = xasprintf("%s/log", c->dir);
	posix_spawn_file_actions_t actions;
	/* A test that breaks leaves no worker behind. */
	char *argv[MAX_ARGS + 5] = { (char[]) { "setpriv" }, (char[]) { "--pdeathsig" },
				     (char[]) { "TERM" }, (char *)program };
	pid_t pid;

	cr_assert_not_null(program, "SALVO_WORKER_BIN is not set");
	for (size_t i = 0; args[i]; i++)
		argv[i + 4] = (char *)args[i];
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log,
					 O_WRONLY | O_CREAT | O_APPEND, 0600);
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	cr_assert_eq(posix_spawnp(&pid, "setpriv", &actions, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

int run_worker(const struct worker_client *c, const char *const *args)
{
	pid_t pid = spawn(c, args);
	int status;

	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static bool socket_is_there(const struct worker_client *c)
{
	_cleanup_free_ char *path = xasprintf("%s/w.sock", c->dir);

	return access(path, F_OK) == 0;
}

bool wait_until(bool (*condition)(const struct worker_client *c), const struct worker_client *c,
		uint64_t ms)
{
	uint64_t end = clock_mono_ns() + ms * NS_PER_MS;

	while (!condition(c)) {
		if (clock_mono_ns() > end)
			return false;
		zclock_sleep(5);
	}
	return true;
}

void client_connect(struct worker_client *c)
{
	zsock_destroy(&c->dealer);
	c->dealer = zsock_new(ZMQ_DEALER);
	zsock_set_linger(c->dealer, 0);
	zsock_set_rcvtimeo(c->dealer, WAIT_MS);
	cr_assert_eq(zsock_connect(c->dealer, "ipc://%s/w.sock", c->dir), 0);
}

void client_start_worker(struct worker_client *c, const char *const *extra)
{
	_cleanup_free_ char *listen = xasprintf("ipc://%s/w.sock", c->dir);
	_cleanup_free_ char *pattern = xasprintf("%s/*", c->dir);
	const char *args[MAX_ARGS + 1] = { "--listen",     listen,  "--state",       c->dir,
					   "--allow-read", pattern, "--allow-write", pattern };
	size_t nr = 8;

	for (size_t i = 0; extra && extra[i]; i++)
		args[nr++] = extra[i];
	c->worker = spawn(c, args);
	cr_assert(wait_until(socket_is_there, c, WAIT_MS), "the worker does not listen");
	client_connect(c);
}

void client_start(struct worker_client *c, const char *const *extra)
{
	char name[] = "/tmp/salvo-test-worker-XXXXXX";

	zsys_handler_set(NULL);
	cr_assert_not_null(mkdtemp(name));
	*c = (struct worker_client) { .dir = xstrdup(name) };
	client_start_worker(c, extra);
}

static bool worker_is_gone(const struct worker_client *c)
{
	return waitpid(c->worker, NULL, WNOHANG) == c->worker;
}

static int remove_entry(const char *path, _unused_ const struct stat *st, _unused_ int type,
			_unused_ struct FTW *ftw)
{
	return remove(path);
}

void client_end(struct worker_client *c)
{
	zsock_destroy(&c->dealer);
	if (c->worker) {
		kill(c->worker, SIGTERM);
		if (!wait_until(worker_is_gone, c, WAIT_MS)) {
			kill(c->worker, SIGKILL);
			waitpid(c->worker, NULL, 0);
		}
	}
	for (size_t i = 0; i < array_size(c->sums); i++)
		for (int dir = 0; dir < DIR_COUNT; dir++)
			direction_sum_fini(&c->sums[i][dir]);
	nftw(c->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	freep(&c->dir);
}

pid_t client_child(const struct worker_client *c)
{
	_cleanup_free_ char *path =
		xasprintf("/proc/%d/task/%d/children", (int)c->worker, (int)c->worker);
	FILE *file = fopen(path, "re");
	char line[64] = "";

	cr_assert_not_null(file);
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return (pid_t)strtol(line, NULL, 10);
}

size_t client_open_files(const struct worker_client *c)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/fd", (int)c->worker);
	DIR *dir = opendir(path);
	size_t nr = 0;

	cr_assert_not_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

/* --- talking -------------------------------------------------------------------------------------- */

void client_send(struct worker_client *c, struct message m)
{
	struct buf bytes = { 0 };

	if (!m.session)
		m.session = c->session;
	message_encode(&m, &bytes);
	cr_assert_eq(zmq_send(zsock_resolve(c->dealer), bytes.data, bytes.len, 0), (int)bytes.len);
	buf_fini(&bytes);
}

static void add_row(struct worker_client *c, const struct member_row *row)
{
	struct direction_sum *to = &c->sums[row->member][row->direction];

	cr_assert_lt(row->member, array_size(c->sums));
	counts_merge(&to->counts, &row->counts);
	cr_assert(hist_decode_add(&to->lat, row->lat, row->lat_len));
}

static void count_sample(struct worker_client *c, const struct msg_sample *sample)
{
	cr_assert_eq(sample->sequence, c->nr_samples);
	cr_assert_leq(sample->from_ns, sample->to_ns);
	c->nr_samples++;
	if (sample->oldest_ns > c->oldest_ns)
		c->oldest_ns = sample->oldest_ns;
	if (sample->interval >= 0)
		c->last_interval = sample->interval;
	for (size_t i = 0; i < sample->nr_rows; i++)
		add_row(c, &sample->rows[i]);
}

/* The next message of the session; of an earlier one there may still be some. */
static struct message receive(struct worker_client *c)
{
	for (;;) {
		_cleanup_(zframe_destroy) zframe_t *frame = zframe_recv(c->dealer);
		struct message m;
		struct error *err;

		cr_assert_not_null(frame, "nothing comes");
		err = message_decode(zframe_data(frame), zframe_size(frame), &m);
		cr_assert_null(err, "%s", err ? error_message(err) : "");
		if (m.session == c->session)
			return m;
		message_fini(&m);
	}
}

static const char *reason_of(const struct message *m)
{
	return m->type == MSG_FAILED  ? m->failed.reasons[0].text
	       : m->type == MSG_ERROR ? m->error.text
				      : "";
}

struct message client_expect_either(struct worker_client *c, enum message_type type,
				    enum message_type other)
{
	for (;;) {
		struct message m = receive(c);

		if (m.type == type || m.type == other)
			return m;
		if (m.type == MSG_SAMPLE)
			count_sample(c, &m.sample);
		else
			cr_assert_eq(m.type, MSG_PONG, "%s where %s was expected: %s",
				     message_name(m.type), message_name(type), reason_of(&m));
		message_fini(&m);
	}
}

struct message client_expect(struct worker_client *c, enum message_type type)
{
	return client_expect_either(c, type, type);
}

void client_hello(struct worker_client *c, uint64_t lease_ms, uint64_t grace_ms)
{
	c->session = next_session++;
	client_send(c, (struct message) { .type = MSG_HELLO,
					  .hello = { .protocol = PROTOCOL_MAJOR,
						     .version = (char[]) { "test" },
						     .owner = (char[]) { "a test" },
						     .lease_ns = lease_ms * NS_PER_MS,
						     .grace_ns = grace_ms * NS_PER_MS } });
	struct message m = client_expect(c, MSG_WELCOME);

	message_fini(&m);
}

void client_prepare(struct worker_client *c, const struct work_target *target,
		    const struct job *job)
{
	struct work_target targets[] = { *target };
	struct work_member members[] = { { .job = *job, .nr_parts = 1, .part_align = job->bs } };

	targets[0].reads = job_reads(job);
	targets[0].writes = job_writes(job);
	for (size_t i = 0; i < array_size(c->sums); i++)
		for (int dir = 0; dir < DIR_COUNT; dir++)
			direction_sum_fini(&c->sums[i][dir]);
	c->nr_samples = c->oldest_ns = 0;
	c->last_interval = -1;
	client_send(c, (struct message) { .type = MSG_PREPARE,
					  .prepare = { .run = (char[]) { "test" },
						       .interval_ns = 100 * NS_PER_MS,
						       .targets = targets,
						       .nr_targets = 1,
						       .members = members,
						       .nr_members = 1 } });
}

uint64_t client_run(struct worker_client *c, const struct work_target *target,
		    const struct job *job)
{
	struct message m;
	uint64_t start;

	client_prepare(c, target, job);
	m = client_expect(c, MSG_READY);
	message_fini(&m);
	start = clock_mono_ns() + 300 * NS_PER_MS;
	client_send(c, (struct message) { .type = MSG_START, .start = { .start_ns = start } });
	m = client_expect(c, MSG_ARMED);
	message_fini(&m);
	return start;
}

static void check_row(const struct worker_client *c, const struct member_row *row)
{
	const struct direction_sum *sum = &c->sums[row->member][row->direction];
	struct hist lat = { 0 };

	for (unsigned i = 0; i < NR_METRICS; i++)
		cr_assert_eq(metric_value(&row->counts, &metrics[i]),
			     metric_value(&sum->counts, &metrics[i]), "%s", metrics[i].name);
	cr_assert(hist_decode_add(&lat, row->lat, row->lat_len));
	cr_assert(hist_equal(&lat, &sum->lat), "latencies of member %llu",
		  (unsigned long long)row->member);
	hist_fini(&lat);
}

struct message client_done(struct worker_client *c)
{
	struct message m = client_expect(c, MSG_DONE);

	cr_assert_eq(m.done.samples, c->nr_samples);
	for (size_t i = 0; i < m.done.nr_rows; i++)
		check_row(c, &m.done.rows[i]);
	return m;
}

void client_ping_until(struct worker_client *c, uint64_t ns)
{
	uint64_t last_pong = 0;

	for (uint64_t now = clock_mono_ns(); now < ns; now = clock_mono_ns()) {
		struct message m;

		client_send(c, (struct message) { .type = MSG_PING,
						  .ping = { .last_pong_ns = last_pong } });
		m = client_expect(c, MSG_PONG);
		last_pong = m.pong.worker_sent_ns;
		message_fini(&m);
		zclock_sleep(20);
	}
}

void client_bye(struct worker_client *c)
{
	struct message m;

	client_send(c, (struct message) { .type = MSG_BYE });
	m = client_expect(c, MSG_BYE);
	message_fini(&m);
}

/* --- things to work on ---------------------------------------------------------------------------- */

static char target_name[] = "t", job_name[] = "job";

struct job client_job(int rw, uint64_t runtime_ms)
{
	static char *targets[] = { target_name };

	struct job job;

	schema_init(&job_schema, &job); /* what is not set here has its default */
	job.name = job_name;
	job.target = targets;
	job.nr_target = 1;
	job.rw = rw;
	job.iodepth = 4;
	job.numjobs = 2;
	job.runtime_ns = runtime_ms * NS_PER_MS;
	job.time_based = true;
	job.randseed = 7;
	return job;
}

struct work_target client_simulated(void)
{
	return (struct work_target) {
		.name = target_name,
		.kind = TARGET_SIMULATED,
		.size = 1 << 20,
		.latency_ns = NS_PER_MS,
	};
}

struct work_target client_file(const struct worker_client *c)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/file", c->dir);
	return (struct work_target) {
		.name = target_name,
		.kind = TARGET_FILE,
		.path = path,
		.size = 4 << 20,
	};
}
