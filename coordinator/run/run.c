/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/run.h"

#include "common/model/inventory.h"
#include "coordinator/run/run_internal.h"

#include <inttypes.h>

struct run *run_new(const struct run_options *options, const struct run_outlet *outlet,
		    uint64_t now_ns)
{
	struct run *r = xcalloc(1, sizeof(*r));

	r->o = *options;
	r->out = *outlet;
	r->nr_peers = options->hosts->nr_hosts;
	r->peers = xcalloc(r->nr_peers, sizeof(*r->peers));
	r->begun_ns = r->phase_ns = now_ns;
	for (size_t i = 0; i < r->nr_peers; i++) {
		r->peers[i].name = options->hosts->hosts[i].name;
		r->peers[i].is_observer = host_is_observer(&options->hosts->hosts[i]);
		r->peers[i].since_ns = now_ns;
		r->peers[i].welcome.type = r->peers[i].ready.type = MSG_COUNT;
	}
	return r;
}

static void message_drop(struct message *m)
{
	if (m->type != MSG_COUNT)
		message_fini(m);
	m->type = MSG_COUNT;
}

void run_destroy(struct run **self_p)
{
	struct run *r = *self_p;

	if (!r)
		return;
	for (size_t i = 0; i < r->nr_peers; i++) {
		message_drop(&r->peers[i].welcome);
		message_drop(&r->peers[i].ready);
		free(r->peers[i].doing);
		free(r->peers[i].failure);
	}
	free(r->peers);
	error_destroy(&r->errors);
	free(r);
	*self_p = NULL;
}

void peer_enter(struct peer *p, enum peer_state state, uint64_t now_ns)
{
	p->state = state;
	p->since_ns = now_ns;
}

void run_enter(struct run *r, enum run_phase phase, uint64_t now_ns)
{
	r->phase = phase;
	r->phase_ns = now_ns;
}

/* Each host has a session of its own: a worker that is named twice says BUSY, and does not take the messages of
 * both links for those of one. */
static uint64_t session_of(const struct run *r, size_t host)
{
	return r->o.session + host;
}

void run_send(struct run *r, size_t host, struct message *m)
{
	m->session = session_of(r, host);
	r->out.send(r->out.arg, host, m);
}

void run_send_ping(struct run *r, size_t host, uint64_t now_ns)
{
	struct peer *p = &r->peers[host];
	struct message m = { .type = MSG_PING };

	m.ping.sequence = p->ping_sequence++;
	m.ping.sent_ns = now_ns;
	/* An observer has no lease to renew. */
	m.ping.last_pong_ns = r->o.mode == MODE_OBSERVE ? 0 : p->last_pong_ns;
	p->next_ping_ns = now_ns + PING_EVERY_NS;
	run_send(r, host, &m);
}

/* --- the end of a host, of a run ------------------------------------------------------------------ */

static void settle(struct run *r, uint64_t now_ns);

void run_drop(struct run *r, size_t host, enum host_state how, struct error *err, uint64_t now_ns)
{
	struct message bye = { .type = MSG_BYE };
	struct peer *p = &r->peers[host];

	if (p->state == PEER_GONE) {
		error_destroy(&err);
		return;
	}
	/* If it hears that, it stops at once and not with its lease. */
	if (p->state >= PEER_OWNED && r->o.mode != MODE_OBSERVE)
		run_send(r, host, &bye);
	freep(&p->failure);
	p->failure = xstrdup(error_message(err));
	p->failure_code = error_code(err);
	error_append(&r->errors, err);
	if (r->started && r->o.collector)
		collector_lost(r->o.collector, host, how, now_ns);
	peer_enter(p, PEER_GONE, now_ns);
	r->out.close(r->out.arg, host);
	/* Nothing of the load is missing without an observer; but before the load begins, all are to be there. */
	if (p->is_observer && r->started)
		return;
	r->incomplete = true;
	if (!r->started || r->o.fleet->on_loss == ON_LOSS_ABORT)
		r->failing = true;
}

void run_leave(struct run *r, uint64_t now_ns)
{
	run_enter(r, PHASE_LEAVING, now_ns);
	for (size_t i = 0; i < r->nr_peers; i++) {
		struct message m = { .type = MSG_BYE };
		struct peer *p = &r->peers[i];

		if (!peer_is_alive(p))
			continue;
		/* Of an observed worker nothing is owned, and of one that was not greeted neither. */
		if (p->state == PEER_CONNECTING || r->o.mode == MODE_OBSERVE) {
			peer_enter(p, PEER_GONE, now_ns);
			r->out.close(r->out.arg, i);
			continue;
		}
		run_send(r, i, &m);
		peer_enter(p, PEER_LEAVING, now_ns);
	}
}

static bool all_left(const struct run *r)
{
	for (size_t i = 0; i < r->nr_peers; i++)
		if (r->peers[i].state != PEER_GONE)
			return false;
	return true;
}

/* --- the beginning -------------------------------------------------------------------------------- */

static bool is_settling(const struct run *r, const struct peer *p)
{
	switch (p->state) {
	case PEER_CONNECTING:
	case PEER_GREETING:
		return true;
	case PEER_OWNED:
		return p->clock.exchanges < EXCHANGES_WANTED &&
		       !(r->o.mode == MODE_OBSERVE && p->next_ping_ns == 0);
	case PEER_PREPARING:
	case PEER_READY:
	case PEER_ARMING:
	case PEER_ARMED:
	case PEER_LEAVING:
	case PEER_GONE:
		return false;
	}
	return false;
}

static void connecting_advance(struct run *r, uint64_t now_ns)
{
	for (size_t i = 0; i < r->nr_peers; i++)
		if (is_settling(r, &r->peers[i]))
			return;
	if (r->failing || r->o.mode == MODE_OBSERVE)
		run_leave(r, now_ns);
	else
		step_begin(r, 0, now_ns);
}

static void connecting_tick(struct run *r, size_t host, uint64_t now_ns)
{
	struct peer *p = &r->peers[host];
	struct error *err = NULL;

	if (p->state == PEER_GREETING && now_ns > p->since_ns + GREETING_LIMIT_NS)
		err = error_new(
			ERR_UNREACHABLE,
			"host '%s': the link is up, but nothing answers; is it a salvo-worker?",
			p->name);
	else if (p->state == PEER_OWNED && r->o.mode == MODE_OBSERVE &&
		 now_ns > p->since_ns + OBSERVE_CLOCK_NS)
		p->next_ping_ns = 0; /* enough: its clock stays unknown */
	else if (is_settling(r, p) && now_ns > r->begun_ns + START_LIMIT_NS)
		err = error_new(ERR_UNREACHABLE, "host '%s': no answer within 10 s", p->name);
	if (err)
		run_drop(r, host, HOST_LOST, err, now_ns);
}

static void greeted(struct run *r, size_t host, struct message *m, uint64_t now_ns)
{
	struct peer *p = &r->peers[host];
	const struct msg_welcome *w = &m->welcome;

	if (p->state != PEER_GREETING)
		return;
	if (w->protocol != PROTOCOL_MAJOR) {
		struct message bye = { .type = MSG_BYE };

		run_send(r, host, &bye);
		run_drop(r, host, HOST_LOST,
			 error_new(ERR_PROTOCOL,
				   "host '%s': speaks version %" PRIu64
				   " of the protocol (salvo-worker "
				   "%s), this program %d; install the same version on both",
				   p->name, w->protocol, w->version, PROTOCOL_MAJOR),
			 now_ns);
		return;
	}
	peer_enter(p, PEER_OWNED, now_ns);
	p->pong_ns = now_ns;
	p->exchanges_wanted = EXCHANGES_WANTED;
	message_drop(&p->welcome);
	p->welcome = *m;
	*m = (struct message) { .type = MSG_BYE };
	if (r->o.collector)
		collector_host_facts(r->o.collector, host, &p->welcome.welcome);
	run_send_ping(r, host, now_ns);
}

static void ponged(struct run *r, size_t host, struct message *m, uint64_t now_ns)
{
	struct peer *p = &r->peers[host];
	struct msg_pong *pong = &m->pong;

	if (!peer_is_alive(p) || pong->sequence >= p->ping_sequence)
		return;
	clocksync_add(&p->clock, pong->sent_ns, pong->received_ns, pong->worker_sent_ns, now_ns);
	p->pong_ns = now_ns;
	/* A PONG that overtook nothing can still come late: the lease never runs backwards. */
	if (pong->worker_sent_ns > p->last_pong_ns)
		p->last_pong_ns = pong->worker_sent_ns;
	if (pong->progress != p->progress) {
		p->progress = pong->progress;
		p->progress_ns = now_ns;
	}
	free(p->doing);
	p->doing = take_ptr(pong->doing);
	if (p->clock.exchanges < p->exchanges_wanted)
		run_send_ping(r, host, now_ns);
}

static struct error *told(const struct peer *p, const struct msg_error *e)
{
	return error_new(error_code_from_name(e->code), "host '%s': %s", p->name, e->text);
}

static void busy(struct run *r, size_t host, const struct msg_busy *b, uint64_t now_ns)
{
	const struct peer *p = &r->peers[host];

	struct error *err;

	if (p->state != PEER_GREETING)
		return;
	if (b->owner && streq(b->owner, r->o.owner))
		err = error_new(ERR_USAGE,
				"host '%s': is the same worker as another host of this run; name "
				"each worker once",
				p->name);
	else
		err = error_new(ERR_BUSY,
				"host '%s': belongs to %s since %.0f s; wait, or ask them", p->name,
				b->owner ? b->owner : "another coordinator",
				(double)b->owned_for_ns / NS_PER_S);
	run_drop(r, host, HOST_LOST, err, now_ns);
}

/* --- events --------------------------------------------------------------------------------------- */

void run_link_up(struct run *r, size_t host, uint64_t now_ns)
{
	struct peer *p = &r->peers[host];
	struct message m = { .type = MSG_HELLO };

	if (p->state != PEER_CONNECTING || r->phase != PHASE_CONNECTING)
		return;
	m.hello.protocol = PROTOCOL_MAJOR;
	m.hello.version = (char *)r->o.version;
	m.hello.owner = (char *)r->o.owner;
	m.hello.observe = r->o.mode == MODE_OBSERVE;
	m.hello.lease_ns = r->o.fleet->lease_ns;
	m.hello.grace_ns = r->o.fleet->grace_ns;
	peer_enter(p, PEER_GREETING, now_ns);
	run_send(r, host, &m);
}

void run_host_failed(struct run *r, size_t host, struct error *err, uint64_t now_ns)
{
	struct peer *p = &r->peers[host];

	if (p->state == PEER_LEAVING) { /* it was to go anyway */
		error_destroy(&err);
		peer_enter(p, PEER_GONE, now_ns);
		r->out.close(r->out.arg, host);
	} else {
		run_drop(r, host, HOST_LOST, err, now_ns);
	}
	settle(r, now_ns);
}

static void dispatch(struct run *r, size_t host, struct message *m, uint64_t now_ns)
{
	struct peer *p = &r->peers[host];

	switch (m->type) {
	case MSG_WELCOME:
		greeted(r, host, m, now_ns);
		return;
	case MSG_BUSY:
		busy(r, host, &m->busy, now_ns);
		return;
	case MSG_PONG:
		ponged(r, host, m, now_ns);
		return;
	case MSG_ERROR:
		run_drop(r, host, HOST_LOST, told(p, &m->error), now_ns);
		return;
	case MSG_BYE:
		if (p->state == PEER_LEAVING) {
			peer_enter(p, PEER_GONE, now_ns);
			r->out.close(r->out.arg, host);
		}
		return;
	case MSG_READY:
	case MSG_FAILED:
	case MSG_ARMED:
	case MSG_SAMPLE:
	case MSG_DONE:
		step_message(r, host, m, now_ns);
		return;
	case MSG_HELLO:
	case MSG_PING:
	case MSG_PREPARE:
	case MSG_START:
	case MSG_STOP:
	case MSG_COUNT:
		run_drop(r, host, HOST_LOST,
			 error_new(ERR_PROTOCOL, "host '%s': sent %s, which only a coordinator may",
				   p->name, message_name(m->type)),
			 now_ns);
		return;
	}
}

void run_message(struct run *r, size_t host, struct message *m, uint64_t now_ns)
{
	bool ours = m->session == session_of(r, host) || (m->type == MSG_ERROR && m->session == 0);
	struct peer *p = &r->peers[host];
	enum peer_state before = p->state;

	/* What was meant for an earlier session on that port is nobody's business any more. */
	if (!ours || p->state == PEER_GONE)
		return;
	dispatch(r, host, m, now_ns);
	/* Looking at all hosts after each sample of each would cost their square. */
	if (p->state != before || p->clock.exchanges == p->exchanges_wanted)
		settle(r, now_ns);
}

static void lease_tick(struct run *r, size_t host, uint64_t now_ns)
{
	struct peer *p = &r->peers[host];
	struct error *err;

	if (!peer_is_alive(p) || p->state < PEER_OWNED || r->o.mode == MODE_OBSERVE)
		return;
	if (now_ns <= p->pong_ns + r->o.fleet->lease_ns)
		return;
	if (r->collecting && now_ns > r->start_ns)
		err = error_new(ERR_LOST,
				"host '%s' was lost %.1f s after the start: no answer for %.1f s",
				p->name, (double)(now_ns - r->start_ns) / NS_PER_S,
				(double)(now_ns - p->pong_ns) / NS_PER_S);
	else
		err = error_new(ERR_LOST, "host '%s' was lost: no answer for %.1f s", p->name,
				(double)(now_ns - p->pong_ns) / NS_PER_S);
	run_drop(r, host, HOST_LOST, err, now_ns);
}

/* After such a time nothing can be said of the hosts: they may have answered all along. */
static void notice_standstill(struct run *r, uint64_t now_ns)
{
	uint64_t gap = r->tick_ns && now_ns > r->tick_ns ? now_ns - r->tick_ns : 0;
	_cleanup_free_ char *text = NULL;

	r->tick_ns = now_ns;
	if (!r->collecting || gap <= r->o.fleet->lease_ns / 2)
		return;
	text = xasprintf("the coordinator itself did not run for %.1f s (it was stopped, or had no "
			 "processor): what was lost then is no fault of the hosts",
			 (double)gap / NS_PER_S);
	collector_warn(r->o.collector, NULL, NULL, text);
}

void run_tick(struct run *r, uint64_t now_ns)
{
	notice_standstill(r, now_ns);
	for (size_t i = 0; i < r->nr_peers; i++) {
		struct peer *p = &r->peers[i];

		if (r->phase == PHASE_CONNECTING)
			connecting_tick(r, i, now_ns);
		lease_tick(r, i, now_ns);
		if (peer_is_alive(p) && p->next_ping_ns && now_ns >= p->next_ping_ns)
			run_send_ping(r, i, now_ns);
	}
	step_tick(r, now_ns);
	settle(r, now_ns);
}

/* No answer is waited for, but those whom the BYE reaches need not wait for the end of their lease. */
static void leave_at_once(struct run *r)
{
	for (size_t i = 0; i < r->nr_peers; i++) {
		struct message bye = { .type = MSG_BYE };
		const struct peer *p = &r->peers[i];

		if (p->state >= PEER_OWNED && p->state < PEER_LEAVING && r->o.mode != MODE_OBSERVE)
			run_send(r, i, &bye);
	}
}

void run_interrupt(struct run *r, uint64_t now_ns)
{
	if (r->interrupted) {
		leave_at_once(r);
		if (r->collecting)
			collector_end(r->o.collector);
		r->collecting = false;
		run_enter(r, PHASE_FINISHED, now_ns);
		return;
	}
	r->interrupted = r->failing = r->incomplete = true;
	error_append(&r->errors, error_new(ERR_INTERRUPTED, "stopped by the user"));
	if (r->phase == PHASE_STARTING || r->phase == PHASE_RUNNING)
		step_stop(r, "stopped by the user", now_ns);
	else if (r->phase < PHASE_STARTING)
		run_leave(r, now_ns);
	settle(r, now_ns);
}

/* After every event: all transitions that are now possible, until none is. */
static void settle(struct run *r, uint64_t now_ns)
{
	enum run_phase before;

	do {
		before = r->phase;
		if (r->phase == PHASE_CONNECTING)
			connecting_advance(r, now_ns);
		else if (r->phase == PHASE_LEAVING) {
			if (all_left(r) || now_ns > r->phase_ns + BYE_LIMIT_NS)
				run_enter(r, PHASE_FINISHED, now_ns);
		} else if (r->phase != PHASE_FINISHED) {
			step_advance(r, now_ns);
		}
	} while (r->phase != before);
}

/* --- answers -------------------------------------------------------------------------------------- */

bool run_is_finished(const struct run *r)
{
	return r->phase == PHASE_FINISHED;
}

bool run_has_started(const struct run *r)
{
	return r->started;
}

const struct error *run_errors(const struct run *r)
{
	return r->errors;
}

enum run_status run_status(const struct run *r)
{
	if (!r->incomplete && !r->failing)
		return RUN_COMPLETE;
	if (r->stopped_by_error)
		return RUN_ABORTED;
	if (r->started)
		return RUN_PARTIAL;
	return r->interrupted ? RUN_ABORTED : RUN_FAILED;
}

struct error *run_take_errors(struct run *r)
{
	return take_ptr(r->errors);
}

void run_view(const struct run *r, struct run_view *ret)
{
	*ret = (struct run_view) { .phase = r->phase, .step = r->step, .start_ns = r->start_ns };
	if (r->o.plan) {
		ret->nr_steps = r->o.plan->nr_steps;
		if (r->start_ns && run_step_of(r)->duration_ns)
			ret->end_ns = r->start_ns + run_step_of(r)->duration_ns;
		if (r->phase == PHASE_RESTING)
			ret->end_ns = r->deadline_ns;
	}
	for (size_t i = 0; i < r->nr_peers; i++) {
		const struct peer *p = &r->peers[i];

		if (!peer_is_alive(p))
			continue;
		ret->hosts++;
		if (r->phase == PHASE_CONNECTING ? !is_settling(r, p) : p->state != PEER_PREPARING)
			ret->hosts_ready++;
		else if (p->doing && !ret->doing) {
			ret->doing = p->doing;
			ret->doing_host = p->name;
		}
	}
}

void run_peer_view(const struct run *r, size_t host, struct peer_view *ret)
{
	const struct peer *p = &r->peers[host];

	*ret = (struct peer_view) { .state = p->state,
				    .failure = p->failure,
				    .failure_code = p->failure_code };
	if (p->welcome.type == MSG_WELCOME)
		ret->welcome = &p->welcome.welcome;
	ret->has_clock = clocksync_ready(&p->clock);
	if (!ret->has_clock)
		return;
	ret->offset_ns = clocksync_offset_ns(&p->clock);
	ret->error_ns = clocksync_error_ns(&p->clock);
	ret->round_trip_ns = clocksync_round_trip_ns(&p->clock);
}
