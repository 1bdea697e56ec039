/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Design notes. One thread, one zloop: the link, the questions about keys, the I/O process (its pair and its
 * pidfd), signals, and one timer. Everything becomes an event of session.c; what it answers is carried out here,
 * in order, and nothing here decides. No target is ever opened: a device that hangs takes only the I/O process
 * along. Instants come from a timerfd (zloop's own timers count milliseconds).
 */
#include "worker/agent.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/child.h"
#include "worker/complaints.h"
#include "worker/endpoint.h"
#include "worker/graveyard.h"
#include "worker/host/facts.h"
#include "worker/notify.h"
#include "worker/sampler.h"
#include "worker/session.h"
#include "worker/statedir.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* An embedded worker that nobody wants ends by itself: its coordinator may have died before they met. */
#define EMBEDDED_IDLE_NS (30 * NS_PER_S)
/* How often the stuck targets are asked whether they have come back. */
#define STUCK_EVERY_NS NS_PER_S
/* Messages that are taken in one go, before the other sources have their turn. */
enum { RECEIVE_BATCH = 64 };

struct agent {
	const struct worker_config *config;
	struct msg_welcome welcome;
	struct io_setup setup; /* borrows from the configuration; `below` is owned */
	struct endpoint *endpoint;
	struct session *session;
	zloop_t *loop;
	int timer_fd, signal_fd;
	struct child *child; /* of the session; NULL: none */
	struct sampler sampler;
	struct graveyard graveyard;
	struct complaints complaints;
	uint64_t stuck_check_ns, last_heard_ns;
	/* The event at hand, for actions that pass its bytes on. */
	const uint8_t *bytes;
	size_t bytes_len;
	struct message *message;
	char *child_failed; /* it could not be started or mapped; told to the session after the actions */
	bool told_to_end, over;
};

static int on_pair(zloop_t *loop, zmq_pollitem_t *item, void *arg);
static int on_child_end(zloop_t *loop, zmq_pollitem_t *item, void *arg);

/* --- sending -------------------------------------------------------------------------------------- */

static void send_message(struct agent *a, const struct peer *to, struct message *m)
{
	struct buf bytes = { 0 };

	if (m->type == MSG_PONG)
		m->pong.worker_sent_ns = clock_mono_ns();
	message_encode(m, &bytes);
	endpoint_send(a->endpoint, to, &bytes, m->type == MSG_DONE || m->type == MSG_FAILED);
	buf_fini(&bytes);
}

static void send_sample(struct agent *a, const struct peer *to, struct msg_sample *sample)
{
	struct message m = { .type = MSG_SAMPLE,
			     .session = session_id(a->session),
			     .sample = *sample };

	send_message(a, to, &m);
	message_fini(&m);
}

static void take_sample(struct agent *a, const struct session_action *action)
{
	struct msg_sample sample;

	if (!a->sampler.block)
		return;
	if (!a->sampler.last_ns)
		a->sampler.last_ns = session_start_ns(a->session);
	sampler_take(&a->sampler, clock_mono_ns(), action->interval, &sample);
	send_sample(a, &action->peer, &sample);
}

/* The threads have ended and the block stands still: the sum of the samples becomes that of DONE. */
static void finish(struct agent *a, const struct session_action *action)
{
	struct msg_sample rest;

	assert(a->message);
	if (a->sampler.block) {
		if (!a->sampler.last_ns)
			a->sampler.last_ns = session_start_ns(a->session);
		if (sampler_take_rest(&a->sampler, clock_mono_ns(), &rest))
			send_sample(a, &action->peer, &rest);
	}
	a->message->done.samples = a->sampler.sequence;
	if (action->text)
		a->message->done.stopped_by = xstrdup(action->text);
	send_message(a, &action->peer, a->message);
	sampler_fini(&a->sampler);
}

static void salvage(struct agent *a, const struct session_action *action)
{
	struct message m = { .type = MSG_DONE, .session = session_id(a->session) };
	uint64_t start_ns = session_start_ns(a->session);
	struct msg_sample rest;

	if (a->sampler.block) {
		if (!a->sampler.last_ns)
			a->sampler.last_ns = start_ns;
		sampler_salvage(&a->sampler, session_step(a->session), start_ns, clock_mono_ns(),
				&rest, &m.done);
		send_sample(a, &action->peer, &rest);
	}
	m.done.stopped = action->ns != 0;
	m.done.hangs = action->hangs;
	m.done.warnings = xcalloc(1, sizeof(char *));
	m.done.warnings[m.done.nr_warnings++] = xstrdup(action->text);
	m.done.failure = xstrdup(action->text);
	send_message(a, &action->peer, &m);
	message_fini(&m);
	sampler_fini(&a->sampler);
}

/* --- the I/O process ------------------------------------------------------------------------------ */

static void watch(struct agent *a, int fd, short events, zloop_fn *handler)
{
	zmq_pollitem_t item = { .fd = fd, .events = events };

	zloop_poller_end(a->loop, &item);
	zloop_poller(a->loop, &item, handler, a);
	zloop_poller_set_tolerant(a->loop, &item);
}

static void unwatch(struct agent *a, int fd)
{
	zmq_pollitem_t item = { .fd = fd };

	zloop_poller_end(a->loop, &item);
}

static void watch_pair(struct agent *a)
{
	short out = control_pair_has_output(&a->child->pair) ? ZMQ_POLLOUT : 0;

	watch(a, a->child->pair.fd, ZMQ_POLLIN | out, on_pair);
}

static void close_pair(struct agent *a)
{
	if (!a->child || a->child->pair.fd < 0)
		return;
	unwatch(a, a->child->pair.fd);
	control_pair_fini(&a->child->pair);
}

/* Before anything can hang; again when the targets' own names are known. An embedded worker has no successor. */
static void note_step(const struct agent *a)
{
	enum session_state state = session_state(a->session);

	if ((state == SESSION_PREPARING || state == SESSION_READY) && !a->config->embedded)
		graveyard_note(&a->graveyard, a->child->pid, a->session);
}

static void to_child(struct agent *a)
{
	if (!a->child) {
		struct error *err = child_start(&a->setup, &a->child);

		if (err) {
			a->child_failed = xasprintf("could not begin: %s", error_message(err));
			error_destroy(&err);
			return;
		}
		assert(a->child);
		watch(a, a->child->pidfd, ZMQ_POLLIN, on_child_end);
	}
	/* What the step before has laid out is about to be laid out anew. */
	if (session_state(a->session) == SESSION_PREPARING) {
		endpoint_forget_answer(a->endpoint);
		sampler_fini(&a->sampler);
		child_unmap(a->child);
	}
	control_pair_send(&a->child->pair, a->bytes, a->bytes_len);
	watch_pair(a);
	note_step(a);
}

static void stop_child(struct agent *a)
{
	struct message m = { .type = MSG_STOP,
			     .session = session_id(a->session),
			     .stop = { .why = (char[]) { "stop" } } };

	if (!a->child || a->child->pair.fd < 0)
		return;
	control_pair_send_message(&a->child->pair, &m);
	watch_pair(a);
}

static void map_block(struct agent *a)
{
	struct error *err = child_map(a->child);

	if (err) {
		a->child_failed = xasprintf("cannot be read: %s", error_message(err));
		error_destroy(&err);
		return;
	}
	note_step(a);
	sampler_begin(&a->sampler, a->child->block, session_step(a->session)->nr_members, 0);
}

static void forget_child(struct agent *a)
{
	if (!a->child)
		return;
	close_pair(a);
	if (a->child->pidfd >= 0)
		unwatch(a, a->child->pidfd);
	sampler_fini(&a->sampler);
	child_destroy(&a->child);
}

static void bury_child(struct agent *a, bool abandoned)
{
	if (!a->child || !session_step(a->session))
		return;
	if (abandoned)
		unwatch(a, a->child->pidfd);
	graveyard_bury(&a->graveyard, a->child, abandoned, a->session);
}

/* --- actions -------------------------------------------------------------------------------------- */

static void carry_out(struct agent *a, struct session_action *action)
{
	struct buf bytes = { .data = (uint8_t *)a->bytes, .len = a->bytes_len };

	switch (action->type) {
	case ACTION_SEND:
		send_message(a, &action->peer, &action->message);
		break;
	case ACTION_TO_CHILD:
		to_child(a);
		break;
	case ACTION_STOP_CHILD:
		stop_child(a);
		break;
	case ACTION_TO_OWNER:
		if (!a->child_failed)
			endpoint_send(a->endpoint, &action->peer, &bytes, true);
		break;
	case ACTION_RESEND:
		endpoint_send_again(a->endpoint, &action->peer);
		break;
	case ACTION_MAP:
		map_block(a);
		break;
	case ACTION_DEADLINE:
		if (a->child && child_set_deadline(a->child, action->ns))
			watch_pair(a);
		break;
	case ACTION_SAMPLE:
		take_sample(a, action);
		break;
	case ACTION_FINISH:
		finish(a, action);
		break;
	case ACTION_SALVAGE:
		salvage(a, action);
		break;
	case ACTION_DISMISS:
		close_pair(a);
		break;
	case ACTION_ABANDON:
		bury_child(a, true);
		forget_child(a);
		break;
	case ACTION_LOG:
		log_info("%s", action->text);
		break;
	case ACTION_COMPLAIN:
		complaint_log(&a->complaints, clock_mono_ns(), action->text);
		break;
	case ACTION_EXIT:
		a->over = true;
		break;
	}
}

static void arm_timer(struct agent *a)
{
	uint64_t next = session_next_ns(a->session);
	uint64_t idle = a->last_heard_ns + EMBEDDED_IDLE_NS;

	if (a->graveyard.nr && a->stuck_check_ns < next)
		next = a->stuck_check_ns;
	if (a->config->embedded && session_state(a->session) == SESSION_FREE && idle < next)
		next = idle;
	/* A value of 0 disarms; an instant that is over fires at once. */
	struct itimerspec when = { .it_value = clock_timespec(next == UINT64_MAX ? 0 : next) };

	timerfd_settime(a->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void handle(struct agent *a, struct session_event *event)
{
	struct session_actions actions = { 0 };

	a->message = event->message;
	session_handle(a->session, event, &actions);
	for (size_t i = 0; i < actions.nr; i++)
		carry_out(a, &actions.items[i]);
	session_actions_fini(&actions);
	if (session_state(a->session) == SESSION_FREE)
		endpoint_forget_answer(a->endpoint);
	if (a->child_failed) {
		_cleanup_free_ char *text = take_ptr(a->child_failed);
		struct session_event gone = { .type = EVENT_CHILD_GONE,
					      .now_ns = clock_mono_ns(),
					      .text = text };

		bury_child(a, true); /* it ends by itself, and is reaped there */
		forget_child(a);
		handle(a, &gone);
	}
	arm_timer(a);
}

static int loop_result(const struct agent *a)
{
	return a->over ? -1 : 0; /* -1 ends the zloop */
}

/* --- sources of events ---------------------------------------------------------------------------- */

static void on_received(struct agent *a, const struct received *r, uint64_t now)
{
	struct message m = { .type = MSG_COUNT };
	struct session_event event = {
		.now_ns = now,
		.peer = &r->peer,
		.key = r->key,
		.key_name = r->key_name,
		.message = &m,
	};
	struct error *err = NULL;

	if (r->frame)
		err = message_decode(zframe_data(r->frame), zframe_size(r->frame), &m);
	event.type = r->frame && !err ? EVENT_MESSAGE : EVENT_GARBAGE;
	event.text = err ? error_message(err) : "a message must be a single frame";
	if (event.type == EVENT_MESSAGE && m.type == MSG_HELLO)
		welcome_refresh(&a->welcome);
	if (event.type == EVENT_MESSAGE && m.type == MSG_PREPARE)
		graveyard_look(&a->graveyard, a->session); /* what has come back just now */
	a->bytes = r->frame ? zframe_data(r->frame) : NULL;
	a->bytes_len = r->frame ? zframe_size(r->frame) : 0;
	handle(a, &event);
	if (m.type != MSG_COUNT)
		message_fini(&m);
	error_destroy(&err);
}

static int on_router(_unused_ zloop_t *loop, _unused_ zsock_t *reader, void *arg)
{
	struct agent *a = arg;
	struct received r;

	for (int i = 0; i < RECEIVE_BATCH && !a->over && endpoint_receive(a->endpoint, &r); i++) {
		a->last_heard_ns = clock_mono_ns();
		on_received(a, &r, a->last_heard_ns);
		received_fini(&r);
	}
	return loop_result(a);
}

static int on_zap(_unused_ zloop_t *loop, _unused_ zsock_t *reader, void *arg)
{
	struct agent *a = arg;

	endpoint_answer_zap(a->endpoint);
	return 0;
}

static void on_child_frame(struct agent *a, const uint8_t *data, size_t len)
{
	struct message m = { .type = MSG_COUNT };
	struct session_event event = { .type = EVENT_FROM_CHILD,
				       .now_ns = clock_mono_ns(),
				       .message = &m };
	struct error *err = message_decode(data, len, &m);

	if (err) {
		log_err("the I/O process sent nonsense: %s", error_message(err));
		error_destroy(&err);
		return;
	}
	a->bytes = data;
	a->bytes_len = len;
	handle(a, &event);
	message_fini(&m);
}

static int on_pair(_unused_ zloop_t *loop, _unused_ zmq_pollitem_t *item, void *arg)
{
	struct agent *a = arg;
	const uint8_t *data;
	size_t len;

	if (!a->child || a->child->pair.fd < 0)
		return 0;
	bool open = control_pair_flush(&a->child->pair);

	open = control_pair_fill(&a->child->pair) && open;
	while (a->child && control_pair_next(&a->child->pair, &data, &len) > 0)
		on_child_frame(a, data, len);
	if (!a->child || a->child->pair.fd < 0)
		return loop_result(a);
	if (open)
		watch_pair(a);
	else
		close_pair(a); /* its end itself comes by the pidfd */
	return loop_result(a);
}

static int on_child_end(_unused_ zloop_t *loop, _unused_ zmq_pollitem_t *item, void *arg)
{
	struct agent *a = arg;
	_cleanup_free_ char *text = a->child ? child_reap(a->child->pidfd) : NULL;
	struct session_event event = { .type = EVENT_CHILD_GONE, .text = text };

	if (!text)
		return 0;
	child_log_words(a->child);
	on_pair(a->loop, NULL, a); /* its last messages first */
	if (!a->child)
		return loop_result(a);
	event.now_ns = clock_mono_ns();
	graveyard_strike_out(&a->graveyard, a->child->pid);
	bury_child(a, false);
	/* DONE may have to be made from the block, which stays until after the event. */
	unwatch(a, a->child->pidfd);
	close_pair(a);
	child_close(a->child);
	handle(a, &event);
	forget_child(a);
	return loop_result(a);
}

static int on_timer(_unused_ zloop_t *loop, _unused_ zmq_pollitem_t *item, void *arg)
{
	struct agent *a = arg;
	struct session_event event = { .type = EVENT_TICK };
	uint64_t expirations;

	if (read(a->timer_fd, &expirations, sizeof(expirations)) < 0)
		return 0;
	event.now_ns = clock_mono_ns();
	if (event.now_ns >= a->stuck_check_ns) {
		graveyard_look(&a->graveyard, a->session);
		a->stuck_check_ns = event.now_ns + STUCK_EVERY_NS;
	}
	if (a->config->embedded && session_state(a->session) == SESSION_FREE &&
	    event.now_ns >= a->last_heard_ns + EMBEDDED_IDLE_NS)
		event.type = EVENT_SHUTDOWN;
	handle(a, &event);
	return loop_result(a);
}

static int on_signal(_unused_ zloop_t *loop, _unused_ zmq_pollitem_t *item, void *arg)
{
	struct agent *a = arg;
	struct session_event event = { .type = EVENT_SHUTDOWN };
	struct signalfd_siginfo info;

	if (read(a->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return 0;
	/* A second signal is a person's impatience, the coordinator's death is not. */
	if (a->told_to_end && info.ssi_signo == AGENT_ORPHANED)
		return 0;
	a->told_to_end = true;
	log_info("told to end by signal %u", info.ssi_signo);
	notify_manager("STOPPING=1");
	event.now_ns = clock_mono_ns();
	handle(a, &event);
	return loop_result(a);
}

/* --- life ----------------------------------------------------------------------------------------- */

static void agent_fini(struct agent *a)
{
	forget_child(a);
	if (a->config->embedded) /* nobody will read it */
		graveyard_forget(&a->graveyard);
	graveyard_fini(&a->graveyard);
	session_destroy(&a->session);
	zloop_destroy(&a->loop);
	endpoint_close(&a->endpoint);
	closep(&a->timer_fd);
	closep(&a->signal_fd);
	welcome_fini(&a->welcome);
	free(a->setup.below);
}

void agent_signals(const struct worker_config *c, sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGINT);
	if (c->embedded)
		sigaddset(ret, AGENT_ORPHANED);
}

static struct error *make_descriptors(struct agent *a)
{
	sigset_t mask;

	agent_signals(a->config, &mask);
	a->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	a->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (a->signal_fd < 0 || a->timer_fd < 0)
		return error_new(ERR_INTERNAL, "cannot make a descriptor: %s", strerror(errno));
	return NULL;
}

static struct error *begin(struct agent *a)
{
	struct error *err = io_setup_make(a->config, &a->setup);

	welcome_init(&a->welcome, SALVO_VERSION);
	if (!err)
		err = make_descriptors(a);
	if (!err)
		err = endpoint_open(a->config, &a->endpoint);
	if (err)
		return err;
	a->session = session_new(&a->welcome);
	graveyard_init(&a->graveyard, a->config->state, a->session);
	a->last_heard_ns = a->stuck_check_ns = clock_mono_ns();
	a->loop = zloop_new();
	zloop_reader(a->loop, endpoint_router(a->endpoint), on_router, a);
	if (endpoint_zap(a->endpoint))
		zloop_reader(a->loop, endpoint_zap(a->endpoint), on_zap, a);
	watch(a, a->timer_fd, ZMQ_POLLIN, on_timer);
	watch(a, a->signal_fd, ZMQ_POLLIN, on_signal);
	arm_timer(a);
	return NULL;
}

struct error *agent_run(const struct worker_config *c)
{
	struct agent a = { .config = c, .timer_fd = -1, .signal_fd = -1 };
	struct statedir lock;
	struct error *err;

	zsys_handler_set(NULL);
	zsys_set_logstream(stderr); /* czmq's own choice is stdout */
	err = statedir_lock(c, &lock);
	if (err)
		return err;
	err = begin(&a);
	if (!err) {
		log_info("salvo-worker %s listens on %s", SALVO_VERSION, c->listen);
		if (c->insecure && worker_config_is_tcp(c) && !c->keys)
			log_warn("no keys: whoever reaches %s may use what the allow-lists name",
				 c->listen);
		notify_manager("READY=1");
		zloop_start(a.loop);
	}
	agent_fini(&a);
	statedir_unlock(&lock);
	if (c->embedded)
		rmdir(c->state); /* its coordinator's folder: who may have died, and can do it no more */
	return err;
}
