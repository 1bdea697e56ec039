/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Design notes. One supervisor thread takes commands from the control pair, opens targets and makes the I/O
 * threads; those own their rings and statistics. The pair's end is a command as well: stop, drain, leave. While
 * PREPARE works, the pair is looked at whenever a layout tells of its progress; a target whose open hangs
 * cannot be helped, and the control process leaves this process alone then.
 */
#include "worker/ioproc.h"

#include "common/base/clock.h"
#include "common/base/limits.h"
#include "worker/deadman.h"
#include "worker/iostep.h"

#include <errno.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

/* How often targets that nothing uses any more are looked for while others hang. */
#define RELEASE_EVERY_NS  (200 * NS_PER_MS)
#define PROGRESS_EVERY_NS (100 * NS_PER_MS)

struct ioproc {
	struct control_pair pair;
	struct io_env env;
	bool has_setup;
	bool leaving; /* the control process has closed the pair, or nonsense came through it */
	struct message prepare; /* of the step; MSG_COUNT: none */
	struct iostep *step;
	uint64_t session;
	bool stop_asked; /* during PREPARE */
	uint64_t
		deadline_ns; /* of the lease during PREPARE; later the threads look for it in the block */
	uint64_t next_progress_ns;
	struct deadman deadman; /* awake from a step's start to its end */
};

/* --- answers -------------------------------------------------------------------------------------- */

static void answer(struct ioproc *p, struct message m)
{
	m.session = p->session;
	control_pair_send_message(&p->pair, &m);
	if (!control_pair_flush_wait(&p->pair))
		p->leaving = true;
}

static void drop_step(struct ioproc *p)
{
	deadman_rest(&p->deadman);
	iostep_destroy(&p->step);
	if (p->prepare.type == MSG_PREPARE)
		message_fini(&p->prepare);
	p->prepare.type = MSG_COUNT;
	p->stop_asked = false;
}

/* A step that will not run: the threads at the gate just end. */
static void fail_step(struct ioproc *p, struct error *err)
{
	struct message m = { .type = MSG_FAILED };

	failed_from_error(err, &m.failed);
	error_destroy(&err);
	answer(p, m);
	message_fini(&m);
	if (p->step)
		iostep_stop(p->step);
	drop_step(p);
}

static void end_step(struct ioproc *p)
{
	struct message m = { .type = MSG_DONE };

	if (p->step)
		iostep_finish(p->step, &m.done);
	else
		m.done.stopped = true;
	answer(p, m);
	message_fini(&m);
	drop_step(p);
}

/* --- PREPARE -------------------------------------------------------------------------------------- */

static void handle_frame(struct ioproc *p, const uint8_t *data, size_t len);

/* Takes what is on the pair; during PREPARE that is a STOP, or the end. */
static void take_frames(struct ioproc *p)
{
	bool open = control_pair_fill(&p->pair);
	const uint8_t *data;
	size_t len;
	int rc;

	while ((rc = control_pair_next(&p->pair, &data, &len)) > 0)
		handle_frame(p, data, len);
	if (!open || rc < 0)
		p->leaving = true;
}

static bool on_progress(void *arg, const char *doing, uint64_t done)
{
	struct ioproc *p = arg;
	uint64_t now = clock_mono_ns();

	if (doing && now >= p->next_progress_ns) {
		struct message m = { .type = MSG_PONG };

		m.pong.state = xstrdup("preparing");
		m.pong.doing = xstrdup(doing);
		m.pong.progress = done;
		answer(p, m);
		message_fini(&m);
		p->next_progress_ns = now + PROGRESS_EVERY_NS;
	}
	take_frames(p);
	return !p->stop_asked && !p->leaving && now < p->deadline_ns;
}

static void on_prepare(struct ioproc *p, struct message *m)
{
	struct message ready = { .type = MSG_READY };
	struct error *err;

	if (p->prepare.type == MSG_PREPARE) {
		message_fini(m);
		return; /* the control process never does this */
	}
	p->prepare = *m;
	p->session = m->session;
	p->deadline_ns = UINT64_MAX; /* until it comes, right behind PREPARE */
	err = iostep_new(&p->env, &p->prepare.prepare, &p->step);
	if (p->stop_asked) {
		error_destroy(&err);
		if (p->step)
			iostep_stop(p->step);
		end_step(p);
		return;
	}
	if (err && error_code(err) == ERR_INTERRUPTED) { /* by nobody else */
		error_destroy(&err);
		err = error_new(ERR_LOST, "the lease ended in PREPARE");
	}
	if (err) {
		fail_step(p, err);
		return;
	}
	iostep_ready(p->step, &ready.ready);
	answer(p, ready);
	free(ready.ready.devices); /* its texts are the step's */
	if (p->prepare.prepare.probe)
		drop_step(p);
}

/* --- commands ------------------------------------------------------------------------------------- */

static uint64_t lease_end_ns(const struct ioproc *p)
{
	return cell_get(&p->env.block->deadline_ns);
}

static void on_start(struct ioproc *p, const struct msg_start *start)
{
	struct error *err;

	if (!p->step)
		return; /* it has failed meanwhile */
	err = iostep_start(p->step, start->start_ns);
	if (err) {
		fail_step(p, err);
		return;
	}
	deadman_tick(&p->deadman, lease_end_ns(p), clock_mono_ns());
	answer(p, (struct message) { .type = MSG_ARMED });
}

/* So that nobody takes an fsync that has much to write for one that hangs. */
static void tell_of_syncs(struct ioproc *p)
{
	const char *target = iostep_sync_progress(p->step, clock_mono_ns());
	struct message m = { .type = MSG_PONG };

	if (!target || p->leaving)
		return;
	m.pong.state = xstrdup("draining");
	m.pong.doing = xasprintf("fsync of target '%s' is writing back", target);
	answer(p, m);
	message_fini(&m);
}

static void on_stop(struct ioproc *p)
{
	if (p->step)
		iostep_stop(p->step);
	else if (p->prepare.type == MSG_PREPARE)
		p->stop_asked = true;
}

static void take_setup(struct ioproc *p, const uint8_t *data, size_t len)
{
	struct io_setup setup;
	struct error *err = schema_unpack(&io_setup_schema, data, len, &setup);

	if (!err)
		io_env_setup(&p->env, &setup);
	p->has_setup = !err;
	p->leaving = p->leaving || err;
	error_destroy(&err);
}

static void handle_frame(struct ioproc *p, const uint8_t *data, size_t len)
{
	struct message m = { .type = MSG_COUNT };
	struct error *err;

	if (!p->has_setup) {
		take_setup(p, data, len);
		return;
	}
	err = message_decode(data, len, &m);
	if (err) {
		error_destroy(&err);
		p->leaving = true;
		return;
	}
	if (m.type == MSG_PREPARE) {
		on_prepare(p, &m); /* keeps it */
		return;
	}
	if (m.type == MSG_START)
		on_start(p, &m.start);
	else if (m.type == MSG_STOP)
		on_stop(p);
	else if (m.type == MSG_PING)
		p->deadline_ns = m.ping.last_pong_ns;
	message_fini(&m);
}

/* --- the loop ------------------------------------------------------------------------------------- */

static struct timespec wait_time(const struct ioproc *p)
{
	uint64_t next = p->step ? iostep_next_ns(p->step) : UINT64_MAX;
	uint64_t now = clock_mono_ns();

	if (p->leaving && next > now + RELEASE_EVERY_NS)
		next = now + RELEASE_EVERY_NS;
	if (p->deadman.next_ns < next)
		next = p->deadman.next_ns;
	return clock_timespec(next > now ? next - now : 0);
}

static void wait_for_something(struct ioproc *p, bool *ret_commands)
{
	struct pollfd items[] = {
		{ .fd = p->leaving ? -1 : p->pair.fd, .events = POLLIN },
		{ .fd = p->step ? iostep_done_fd(p->step) : -1, .events = POLLIN },
	};
	struct timespec wait = wait_time(p);

	if (ppoll(items, array_size(items), &wait, NULL) < 0 && errno != EINTR)
		p->leaving = true;
	*ret_commands = items[0].revents != 0;
}

static void serve(struct ioproc *p)
{
	while (!p->leaving || p->step) {
		bool commands;

		wait_for_something(p, &commands);
		if (clock_mono_ns() >= p->deadman.next_ns)
			deadman_tick(&p->deadman, lease_end_ns(p), clock_mono_ns());
		if (p->step) {
			iostep_tick(p->step, clock_mono_ns());
			tell_of_syncs(p);
		}
		if (commands)
			take_frames(p);
		if (p->leaving && p->step) {
			iostep_stop(p->step);
			iostep_release_idle(p->step);
		}
		if (p->step && iostep_is_done(p->step))
			end_step(p);
	}
}

int ioproc_main(void)
{
	struct ioproc p = { .prepare = { .type = MSG_COUNT } };

	prctl(PR_SET_NAME, "salvo-io");
	limits_raise_files();
	control_pair_init(&p.pair, CHILD_PAIR_FD);
	deadman_init(&p.deadman);
	p.env.stats_fd = CHILD_STATS_FD;
	p.env.progress = on_progress;
	p.env.progress_arg = &p;
	serve(&p);
	drop_step(&p);
	deadman_fini(&p.deadman);
	io_env_fini(&p.env);
	control_pair_fini(&p.pair);
	return 0;
}
