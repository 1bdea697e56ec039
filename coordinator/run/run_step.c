/* SPDX-License-Identifier: Apache-2.0 */
/* run_step.c - one step of a run: PREPARE, fresh clocks, START, the run itself, DONE. */
#include "coordinator/run/run_internal.h"

#include <inttypes.h>

/* --- PREPARE -------------------------------------------------------------------------------------- */

static bool has_work(const struct run *r, const struct step *s)
{
	/* What a probe would find does not change with the repeat. */
	if (r->o.mode == MODE_PROBE && s->repeat > 0)
		return false;
	for (size_t i = 0; i < r->nr_peers; i++)
		if (s->hosts[i] && peer_is_alive(&r->peers[i]))
			return true;
	return false;
}

static void prepare(struct run *r, uint64_t now_ns)
{
	r->deadline_ns = 0;
	run_enter(r, PHASE_PREPARING, now_ns);
	for (size_t i = 0; i < r->nr_peers; i++) {
		const struct assignment *work = run_step_of(r)->hosts[i];
		struct message m = { .type = MSG_PREPARE };
		struct peer *p = &r->peers[i];

		freep(&p->doing);
		p->takes_part = false;
		if (!work || !peer_is_alive(p))
			continue;
		p->takes_part = true;
		m.prepare = *work; /* lent for the length of the call */
		m.prepare.probe = r->o.mode == MODE_PROBE;
		peer_enter(p, PEER_PREPARING, now_ns);
		p->progress_ns = now_ns;
		run_send(r, i, &m);
	}
}

void step_begin(struct run *r, size_t step, uint64_t now_ns)
{
	const struct plan *plan = r->o.plan;
	uint64_t rest_ns = 0;

	/* Of a run whose first steps are left out the rest before them remains. */
	for (; step < plan->nr_steps; step++) {
		if (plan->steps[step].rest_ns)
			rest_ns = plan->steps[step].rest_ns;
		if (has_work(r, &plan->steps[step]))
			break;
	}
	r->start_ns = r->deadline_ns = 0;
	if (step >= plan->nr_steps) {
		run_leave(r, now_ns);
		return;
	}
	r->step = step;
	if (rest_ns && r->started) {
		r->deadline_ns = now_ns + rest_ns;
		run_enter(r, PHASE_RESTING, now_ns);
	} else {
		prepare(r, now_ns);
	}
}

static void ready(struct run *r, size_t host, struct message *m, uint64_t now_ns)
{
	struct peer *p = &r->peers[host];

	if (p->state != PEER_PREPARING)
		return;
	if (r->o.mode == MODE_PROBE) {
		if (r->out.probed)
			r->out.probed(r->out.arg, host, r->step, &m->ready);
		peer_enter(p, PEER_OWNED, now_ns);
		return;
	}
	if (p->ready.type != MSG_COUNT)
		message_fini(&p->ready);
	p->ready = *m;
	*m = (struct message) { .type = MSG_BYE };
	peer_enter(p, PEER_READY, now_ns);
}

static bool has_reason(const struct run *r, const char *text)
{
	for (const struct error *e = r->errors; e; e = error_next(e))
		if (streq(error_message(e), text))
			return true;
	return false;
}

/* An error of a run that has begun is in its report, too. */
static void add_fault(struct run *r, const struct peer *p, struct error *err, const char *text)
{
	if (r->started && r->o.collector)
		collector_fault(r->o.collector, p->name, NULL, text);
	error_append(&r->errors, err);
}

/* All reasons of a FAILED, with the host's name in front of each. */
static void add_reasons(struct run *r, const struct peer *p, const struct msg_failed *f)
{
	struct error *reasons = failed_to_error(f);

	for (const struct error *e = reasons; e; e = error_next(e)) {
		struct error *one =
			error_new(error_code(e), "host '%s': %s", p->name, error_message(e));

		/* A probe asks about the same target once for each point of a sweep. */
		if (has_reason(r, error_message(one)))
			error_destroy(&one);
		else
			add_fault(r, p, one, error_message(e));
	}
	error_destroy(&reasons);
}

static void failed(struct run *r, size_t host, const struct msg_failed *f, uint64_t now_ns)
{
	struct peer *p = &r->peers[host];

	if (!p->takes_part || !peer_is_alive(p) || p->state == PEER_OWNED)
		return;
	add_reasons(r, p, f);
	peer_enter(p, PEER_OWNED, now_ns);
	r->failing = r->incomplete = true;
	if (r->phase == PHASE_STARTING || r->phase == PHASE_RUNNING)
		step_stop(r, "another host failed", now_ns);
}

static void prepared(struct run *r, uint64_t now_ns)
{
	struct error *err;

	if (r->o.mode == MODE_PROBE) {
		step_begin(r, r->step + 1, now_ns);
		return;
	}
	err = run_refuse_shared(r);
	if (err) {
		error_append(&r->errors, err);
		r->failing = r->incomplete = true;
		run_leave(r, now_ns);
		return;
	}
	run_enter(r, PHASE_SYNCING, now_ns);
	for (size_t i = 0; i < r->nr_peers; i++) {
		struct peer *p = &r->peers[i];

		if (p->state != PEER_READY)
			continue;
		p->exchanges_wanted = p->clock.exchanges + EXCHANGES_WANTED;
		run_send_ping(r, i, now_ns);
	}
}

/* --- START ---------------------------------------------------------------------------------------- */

static void note_clock(struct run *r, size_t host)
{
	struct peer *p = &r->peers[host];
	uint64_t error_ns = clocksync_error_ns(&p->clock);
	_cleanup_free_ char *text = NULL;

	collector_clock(r->o.collector, host, clocksync_offset_ns(&p->clock), error_ns,
			clocksync_drift_ppb(&p->clock));
	if (error_ns <= r->o.fleet->max_clock_error_ns || p->warned_clock)
		return;
	p->warned_clock = true;
	text = xasprintf("its clock is known to +-%.3f ms only, more than fleet.max_clock_error "
			 "(%.3f ms): the start spread is no better than that",
			 (double)error_ns / NS_PER_MS,
			 (double)r->o.fleet->max_clock_error_ns / NS_PER_MS);
	collector_warn(r->o.collector, p->name, NULL, text);
	if (r->o.fleet->strict)
		error_append(&r->errors, error_new(ERR_CHECK, "host '%s': %s; fleet.strict is set",
						   p->name, text));
}

/* Of hosts that have nothing to do in the step: their clocks are in the result, but no start depends on them. */
static void note_idle_clocks(struct run *r)
{
	for (size_t i = 0; i < r->nr_peers; i++) {
		const struct peer *p = &r->peers[i];

		if (peer_is_alive(p) && !p->takes_part && clocksync_ready(&p->clock))
			collector_clock(r->o.collector, i, clocksync_offset_ns(&p->clock),
					clocksync_error_ns(&p->clock),
					clocksync_drift_ppb(&p->clock));
	}
}

static uint64_t start_ahead_ns(const struct run *r)
{
	uint64_t ahead = START_AHEAD_NS;

	for (size_t i = 0; i < r->nr_peers; i++) {
		const struct peer *p = &r->peers[i];
		uint64_t want;

		if (p->state != PEER_READY)
			continue;
		want = START_ROUND_TRIPS * clocksync_round_trip_ns(&p->clock);
		if (want > ahead)
			ahead = want;
	}
	return ahead;
}

static void start(struct run *r, uint64_t now_ns)
{
	const struct step *s = run_step_of(r);

	r->start_ns = now_ns + start_ahead_ns(r);
	r->deadline_ns = s->duration_ns ? r->start_ns + s->duration_ns + r->o.fleet->grace_ns +
						  DONE_MARGIN_NS
					: 0;
	run_enter(r, PHASE_STARTING, now_ns);
	r->started = r->collecting = true;
	/* The collector takes a host's clock as it is known at the beginning. */
	for (size_t i = 0; i < r->nr_peers; i++)
		if (r->peers[i].state == PEER_READY)
			note_clock(r, i);
	note_idle_clocks(r);
	collector_begin(r->o.collector, r->step, r->start_ns);
	if (r->out.started)
		r->out.started(r->out.arg, r->step, r->start_ns);
	for (size_t i = 0; i < r->nr_peers; i++) {
		struct message m = { .type = MSG_START };
		struct peer *p = &r->peers[i];

		if (p->state != PEER_READY)
			continue;
		collector_ready(r->o.collector, i, &p->ready.ready);
		m.start.start_ns = clocksync_to_worker(&p->clock, r->start_ns);
		peer_enter(p, PEER_ARMING, now_ns);
		p->active_ns = r->start_ns;
		run_send(r, i, &m);
	}
}

static void armed(struct run *r, size_t host, uint64_t now_ns)
{
	if (r->peers[host].state == PEER_ARMING)
		peer_enter(&r->peers[host], PEER_ARMED, now_ns);
}

/* --- the run itself ------------------------------------------------------------------------------- */

static bool shows_progress(const struct msg_sample *s)
{
	for (size_t i = 0; i < s->nr_rows; i++)
		if (!counts_is_zero(&s->rows[i].counts))
			return true;
	return false;
}

static void stop_all(struct run *r, const struct peer *p, const struct job *job, uint64_t now_ns)
{
	if (!job || r->stopped_by_error)
		return;
	r->stopped_by_error = true;
	error_append(&r->errors, error_new(ERR_IO,
					   "host '%s': job '%s' has on_error: stop_all and met an "
					   "I/O error: the run was stopped on all hosts",
					   p->name, job->name));
	if (r->phase == PHASE_STARTING || r->phase == PHASE_RUNNING)
		step_stop(r, "I/O error on a host, and on_error is stop_all", now_ns);
}

static void sampled(struct run *r, size_t host, const struct msg_sample *s, uint64_t now_ns)
{
	const struct assignment *work = run_step_of(r)->hosts[host];
	struct peer *p = &r->peers[host];
	struct error *err;

	if (!peer_is_busy(p) || !r->collecting)
		return;
	if (shows_progress(s))
		p->active_ns = now_ns;
	err = collector_sample(r->o.collector, host, s);
	if (err) {
		run_drop(r, host, HOST_LOST, error_context(err, "host '%s'", p->name), now_ns);
		return;
	}
	if (r->out.sampled)
		r->out.sampled(r->out.arg, r->step, host, clocksync_offset_ns(&p->clock));
	stop_all(r, p, run_job_failed(work, s->rows, s->nr_rows), now_ns);
}

static void count_errors(struct run *r, const struct peer *p, const struct msg_done *d)
{
	uint64_t errors = 0;

	for (size_t i = 0; i < d->nr_rows; i++)
		errors += d->rows[i].counts.errors;
	if (errors)
		error_append(&r->errors, error_new(ERR_IO, "host '%s': %" PRIu64 " I/O error%s",
						   p->name, errors, errors == 1 ? "" : "s"));
}

static void done(struct run *r, size_t host, const struct msg_done *d, uint64_t now_ns)
{
	struct peer *p = &r->peers[host];
	struct error *err;

	if (!peer_is_busy(p) || !r->collecting)
		return;
	err = collector_done(r->o.collector, host, d);
	if (err) {
		run_drop(r, host, HOST_LOST, error_context(err, "host '%s'", p->name), now_ns);
		return;
	}
	if (r->out.totalled)
		r->out.totalled(r->out.arg, r->step, host);
	count_errors(r, p, d);
	peer_enter(p, PEER_OWNED, now_ns);
	stop_all(r, p, run_job_failed_done(run_step_of(r)->hosts[host], d), now_ns);
	/* Its totals count, but there is nothing more to be had from it. */
	err = d->failure && !d->hangs ? NULL : run_hung_targets(r, host, d);
	if (err)
		run_drop(r, host, HOST_HUNG, err, now_ns);
	else if (d->failure)
		run_drop(r, host, HOST_LOST,
			 error_new(ERR_LOST, "host '%s': %s", p->name, d->failure), now_ns);
	else if (d->stopped_by)
		run_drop(r, host, HOST_LOST,
			 error_new(ERR_LOST,
				   "host '%s': %s; what it had measured until then is kept",
				   p->name, d->stopped_by),
			 now_ns);
	else if (d->stopped && r->phase != PHASE_STOPPING)
		run_drop(
			r, host, HOST_LOST,
			error_new(ERR_LOST,
				  "host '%s': stopped before its time; its lease or the worker has "
				  "ended",
				  p->name),
			now_ns);
}

void step_stop(struct run *r, const char *why, uint64_t now_ns)
{
	run_enter(r, PHASE_STOPPING, now_ns);
	r->failing = r->incomplete = true;
	collector_cut(r->o.collector);
	r->deadline_ns = now_ns + r->o.fleet->grace_ns + DONE_MARGIN_NS;
	for (size_t i = 0; i < r->nr_peers; i++) {
		struct message m = { .type = MSG_STOP };

		if (!peer_is_busy(&r->peers[i]))
			continue;
		m.stop.why = (char *)why;
		run_send(r, i, &m);
	}
}

static void end(struct run *r, uint64_t now_ns)
{
	for (size_t i = 0; i < r->nr_peers; i++)
		if (r->peers[i].takes_part && peer_is_alive(&r->peers[i]))
			note_clock(r, i);
	note_idle_clocks(r);
	collector_end(r->o.collector);
	r->collecting = false;
	if (r->failing)
		run_leave(r, now_ns);
	else
		step_begin(r, r->step + 1, now_ns);
}

void step_message(struct run *r, size_t host, struct message *m, uint64_t now_ns)
{
	if (r->o.mode == MODE_OBSERVE || r->phase < PHASE_PREPARING || r->phase > PHASE_STOPPING)
		return;
	switch (m->type) {
	case MSG_READY:
		ready(r, host, m, now_ns);
		return;
	case MSG_FAILED:
		failed(r, host, &m->failed, now_ns);
		return;
	case MSG_ARMED:
		armed(r, host, now_ns);
		return;
	case MSG_SAMPLE:
		sampled(r, host, &m->sample, now_ns);
		return;
	case MSG_DONE:
		done(r, host, &m->done, now_ns);
		return;
	default: /* run.c passes no others on */
		return;
	}
}

/* --- transitions and limits ----------------------------------------------------------------------- */

static size_t count_state(const struct run *r, enum peer_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < r->nr_peers; i++)
		if (r->peers[i].takes_part && r->peers[i].state == state)
			n++;
	return n;
}

static bool clocks_are_fresh(const struct run *r)
{
	for (size_t i = 0; i < r->nr_peers; i++)
		if (r->peers[i].state == PEER_READY &&
		    r->peers[i].clock.exchanges < r->peers[i].exchanges_wanted)
			return false;
	return true;
}

void step_advance(struct run *r, uint64_t now_ns)
{
	size_t arming = count_state(r, PEER_ARMING), busy = arming + count_state(r, PEER_ARMED);

	switch (r->phase) {
	case PHASE_RESTING:
		if (r->failing)
			run_leave(r, now_ns);
		else if (now_ns >= r->deadline_ns)
			prepare(r, now_ns);
		return;
	case PHASE_PREPARING:
		if (count_state(r, PEER_PREPARING))
			return;
		/* A probe goes on: it is there to find all reasons. */
		if (r->failing && r->o.mode != MODE_PROBE)
			run_leave(r, now_ns);
		else
			prepared(r, now_ns);
		return;
	case PHASE_SYNCING:
		if (r->failing)
			run_leave(r, now_ns);
		else if (clocks_are_fresh(r) || now_ns > r->phase_ns + SYNC_LIMIT_NS)
			start(r, now_ns);
		return;
	case PHASE_STARTING:
		if (r->failing)
			step_stop(r, "another host was lost", now_ns);
		else if (!arming)
			run_enter(r, PHASE_RUNNING, now_ns);
		return;
	case PHASE_RUNNING:
		if (!busy)
			end(r, now_ns);
		else if (r->failing)
			step_stop(r, "another host was lost", now_ns);
		return;
	case PHASE_STOPPING:
		if (!busy)
			end(r, now_ns);
		return;
	case PHASE_CONNECTING:
	case PHASE_LEAVING:
	case PHASE_FINISHED:
		return;
	}
}

static void check_preparing(struct run *r, size_t host, uint64_t now_ns)
{
	const struct peer *p = &r->peers[host];

	if (p->state != PEER_PREPARING || now_ns <= p->progress_ns + PREPARE_STALL_NS)
		return;
	run_drop(r, host, HOST_HUNG,
		 error_new(ERR_HUNG, "host '%s': no progress in preparing for %.0f s (%s)", p->name,
			   (double)(now_ns - p->progress_ns) / NS_PER_S,
			   p->doing ? p->doing : "it does not say at what"),
		 now_ns);
}

/* START was answered too late to be sure that nobody starts alone. */
static void check_armed(struct run *r, uint64_t now_ns)
{
	bool missing = false;

	if (now_ns + ARMED_BY_NS < r->start_ns)
		return;
	for (size_t i = 0; i < r->nr_peers; i++) {
		const struct peer *p = &r->peers[i];
		_cleanup_free_ char *text = NULL;

		if (p->state != PEER_ARMING)
			continue;
		missing = true;
		text = xasprintf("did not confirm the start in time (its best round trip is %.1f "
				 "ms); nothing was started",
				 (double)clocksync_round_trip_ns(&p->clock) / NS_PER_MS);
		add_fault(r, p, error_new(ERR_LOST, "host '%s': %s", p->name, text), text);
	}
	if (missing)
		step_stop(r, "a host did not confirm the start", now_ns);
}

static void check_done(struct run *r, size_t host, uint64_t now_ns)
{
	const struct peer *p = &r->peers[host];
	uint64_t limit = r->o.fleet->grace_ns + DONE_MARGIN_NS;

	if (!peer_is_busy(p) || now_ns < r->start_ns)
		return;
	/* One that does not even answer is not hung but lost: its lease tells. */
	if (now_ns > p->pong_ns + SILENT_NS)
		return;
	if (r->deadline_ns ? now_ns <= r->deadline_ns : now_ns <= p->active_ns + limit)
		return;
	/* It is still writing back what an fsync asks for. */
	if (r->phase == PHASE_RUNNING && now_ns <= p->progress_ns + limit)
		return;
	run_drop(r, host, HOST_HUNG,
		 error_new(ERR_HUNG,
			   "host '%s' hangs: it answers, but its I/O has not ended %.0f s after it "
			   "should have",
			   p->name, (double)limit / NS_PER_S),
		 now_ns);
}

void step_tick(struct run *r, uint64_t now_ns)
{
	if (r->phase == PHASE_STARTING)
		check_armed(r, now_ns);
	for (size_t i = 0; i < r->nr_peers; i++) {
		if (r->phase == PHASE_PREPARING)
			check_preparing(r, i, now_ns);
		else if (r->phase == PHASE_RUNNING || r->phase == PHASE_STOPPING)
			check_done(r, i, now_ns);
	}
}
