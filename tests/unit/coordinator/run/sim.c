/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/coordinator/run/sim.h"

#include "common/base/clock.h"

enum { SESSION = 4711, TICK_MS = 20, WORKER_WORK_NS = 10000, IOS_PER_SAMPLE = 1000 };
#define STEP_NS     (2 * NS_PER_S)
#define PROGRESS_NS (NS_PER_S / 2)

enum event_kind {
	TO_WORKER,
	TO_COORDINATOR,
	LINK_UP,
	LINK_FAILED,
	STEP_DONE,
	STEP_SAMPLE,
	LAID_OUT
};

struct sim_event {
	enum event_kind kind;
	uint64_t at_ns;
	size_t host;
	unsigned generation;
	struct message m;
};

/* --- the queue ------------------------------------------------------------------------------------ */

static struct sim_event *post(struct sim *s, enum event_kind kind, size_t host, uint64_t at_ns)
{
	if (s->nr_events == s->cap_events) {
		s->cap_events = s->cap_events ? 2 * s->cap_events : 64;
		s->events = xrealloc(s->events, s->cap_events, sizeof(*s->events));
	}
	s->events[s->nr_events] = (struct sim_event) { .kind = kind,
						       .at_ns = at_ns,
						       .host = host,
						       .generation = s->workers[host].generation };
	return &s->events[s->nr_events++];
}

/* The earliest; of equal ones the first posted, so that a link keeps its order. */
static size_t earliest(const struct sim *s)
{
	size_t best = 0;

	for (size_t i = 1; i < s->nr_events; i++)
		if (s->events[i].at_ns < s->events[best].at_ns)
			best = i;
	return best;
}

static struct sim_event take(struct sim *s, size_t i)
{
	struct sim_event e = s->events[i];

	s->nr_events--;
	memmove(&s->events[i], &s->events[i + 1], (s->nr_events - i) * sizeof(*s->events));
	return e;
}

/* --- a worker ------------------------------------------------------------------------------------- */

static bool is_dead(const struct sim *s, size_t host)
{
	const struct sim_worker *w = &s->workers[host];

	return w->dies_at_ns && s->now_ns >= w->dies_at_ns && w->fault != SIM_RESTARTS;
}

static void reply(struct sim *s, size_t host, struct message m)
{
	m.session = SESSION + host;
	post(s, TO_COORDINATOR, host, s->now_ns + s->workers[host].latency_ns)->m = m;
}

static uint64_t own_clock(const struct sim *s, size_t host)
{
	return s->now_ns + (uint64_t)s->workers[host].offset_ns;
}

static void on_hello(struct sim *s, size_t host, const struct message *m)
{
	struct sim_worker *w = &s->workers[host];
	struct message answer = { .type = MSG_WELCOME };

	if (w->fault == SIM_MUTE)
		return;
	if ((w->fault == SIM_BUSY || w->fault == SIM_TWICE) && !m->hello.observe) {
		answer = (struct message) { .type = MSG_BUSY };
		answer.busy.owner =
			xstrdup(w->fault == SIM_TWICE ? m->hello.owner : "somebody@else pid 1");
		answer.busy.owned_for_ns = 60 * NS_PER_S;
		reply(s, host, answer);
		return;
	}
	w->owned = !m->hello.observe;
	answer.welcome.protocol = PROTOCOL_MAJOR + (w->fault == SIM_OLD_PROTOCOL);
	answer.welcome.version = xstrdup("1.0");
	answer.welcome.hostname = xstrdup("sim");
	reply(s, host, answer);
}

static void on_ping(struct sim *s, size_t host, const struct message *m)
{
	const struct sim_worker *w = &s->workers[host];
	struct message answer = { .type = MSG_PONG };

	answer.pong.sequence = m->ping.sequence;
	answer.pong.sent_ns = m->ping.sent_ns;
	answer.pong.received_ns = own_clock(s, host);
	answer.pong.worker_sent_ns = own_clock(s, host) + WORKER_WORK_NS;
	answer.pong.state = xstrdup("simulated");
	if (w->prepare_ns && w->fault != SIM_STALLS) {
		answer.pong.progress = (s->now_ns - w->prepare_ns) / PROGRESS_NS;
		answer.pong.doing = xstrdup("laying out");
	}
	reply(s, host, answer);
}

static struct reason reason_of(const char *code, const char *text)
{
	return (struct reason) { .code = xstrdup(code), .text = xstrdup(text) };
}

static void laid_out(struct sim *s, size_t host)
{
	struct sim_worker *w = &s->workers[host];
	struct message answer = { .type = MSG_READY };

	if (w->fault == SIM_REFUSES) {
		answer = (struct message) { .type = MSG_FAILED };
		answer.failed.nr_reasons = 2;
		answer.failed.reasons = xcalloc(2, sizeof(*answer.failed.reasons));
		answer.failed.reasons[0] = reason_of("REFUSED", "target 'a': mounted on /srv");
		answer.failed.reasons[1] = reason_of("REFUSED", "target 'b': is swap");
	} else {
		answer.ready.nr_devices = 1;
		answer.ready.devices = xcalloc(1, sizeof(*answer.ready.devices));
		answer.ready.devices[0].path = xstrdup("/dev/sim");
		answer.ready.devices[0].identity = w->identity ? xstrdup(w->identity) : NULL;
	}
	w->prepare_ns = 0;
	reply(s, host, answer);
}

static void set_ios(struct member_row *row, uint64_t n)
{
	struct buf bytes = { 0 };
	struct hist h = { 0 };

	hist_add(&h, NS_PER_MS, n);
	hist_encode(&h, NULL, &bytes);
	hist_fini(&h);
	row->counts.ios = n;
	row->lat = bytes.data;
	row->lat_len = bytes.len;
}

static void send_done(struct sim *s, size_t host, bool stopped)
{
	struct sim_worker *w = &s->workers[host];
	struct message answer = { .type = MSG_DONE };
	struct msg_done *d = &answer.done;

	w->running = false;
	w->generation++;
	d->samples = w->samples;
	d->stopped = stopped;
	d->nr_members = 1;
	d->members = xcalloc(1, sizeof(*d->members));
	d->members[0].threads = 1;
	d->members[0].end_ns = STEP_NS;
	d->nr_rows = 1;
	d->rows = xcalloc(1, sizeof(*d->rows));
	set_ios(&d->rows[0], w->samples * IOS_PER_SAMPLE);
	d->rows[0].counts.errors = w->fault == SIM_IO_ERRORS ? SIM_ERRORS : 0;
	if (w->fault == SIM_RAMP_ERRORS) {
		d->members[0].nr_errors = 1;
		d->members[0].errors = xcalloc(1, sizeof(*d->members[0].errors));
		d->members[0].errors[0] = (struct error_row) {
			.number = 5, .name = xstrdup("EIO"), .count = 1, .first_offset = 4096
		};
	}
	if (w->fault == SIM_KILLED)
		d->failure = xstrdup("the I/O process was killed");
	if (w->fault == SIM_STUCK || w->fault == SIM_KILLED) {
		d->nr_stuck = 1;
		d->stuck = xcalloc(1, sizeof(*d->stuck));
		d->stuck[0] = (struct stuck_io) { .offset = 8192,
						  .bytes = 4096,
						  .age_ns = w->fault == SIM_STUCK ? NS_PER_S
										  : NS_PER_MS };
	}
	reply(s, host, answer);
}

static void on_start(struct sim *s, size_t host, const struct message *m)
{
	struct sim_worker *w = &s->workers[host];
	struct message answer = { .type = MSG_ARMED };

	if (w->fault == SIM_NEVER_ARMS)
		return;
	if (w->fault == SIM_LATE) {
		answer = (struct message) { .type = MSG_FAILED };
		answer.failed.nr_reasons = 1;
		answer.failed.reasons = xcalloc(1, sizeof(*answer.failed.reasons));
		answer.failed.reasons[0] = reason_of("LOST", "START came too late");
		reply(s, host, answer);
		return;
	}
	w->start_ns = m->start.start_ns - (uint64_t)w->offset_ns;
	w->running = true;
	w->samples = 0;
	reply(s, host, answer);
	post(s, STEP_SAMPLE, host, w->start_ns + NS_PER_S);
	if (w->fault != SIM_HANGS)
		post(s, STEP_DONE, host, w->start_ns + STEP_NS + NS_PER_S / 100);
}

static void send_sample(struct sim *s, size_t host)
{
	struct sim_worker *w = &s->workers[host];
	struct message answer = { .type = MSG_SAMPLE };

	answer.sample.sequence = w->samples++;
	answer.sample.from_ns = own_clock(s, host) - NS_PER_S;
	answer.sample.to_ns = own_clock(s, host);
	answer.sample.running = 1;
	answer.sample.nr_rows = 1;
	answer.sample.rows = xcalloc(1, sizeof(*answer.sample.rows));
	answer.sample.rows[0].member = w->fault == SIM_BAD_SAMPLE ? 99 : 0;
	if (w->fault != SIM_HANGS)
		set_ios(&answer.sample.rows[0], IOS_PER_SAMPLE);
	if (w->fault == SIM_IO_ERRORS && answer.sample.sequence == 0)
		answer.sample.rows[0].counts.errors = SIM_ERRORS;
	reply(s, host, answer);
}

static void on_message(struct sim *s, size_t host, const struct message *m)
{
	struct sim_worker *w = &s->workers[host];
	struct message answer = { .type = MSG_BYE };

	w->received[m->type]++;
	if (w->fault == SIM_RESTARTS && w->dies_at_ns && s->now_ns >= w->dies_at_ns) {
		w->running = w->owned = false;
		w->generation++;
		answer = (struct message) { .type = MSG_ERROR };
		answer.error.code = xstrdup("LOST");
		answer.error.text = xstrdup("there is no such session");
		reply(s, host, answer);
		return;
	}
	switch (m->type) {
	case MSG_HELLO:
		on_hello(s, host, m);
		return;
	case MSG_PING:
		on_ping(s, host, m);
		return;
	case MSG_PREPARE:
		w->prepare_ns = s->now_ns;
		if (w->fault == SIM_RUDE)
			reply(s, host, (struct message) { .type = MSG_STOP });
		if (w->fault != SIM_STALLS)
			post(s, LAID_OUT, host, s->now_ns + w->layout_ns);
		return;
	case MSG_START:
		on_start(s, host, m);
		return;
	case MSG_STOP:
		if (w->running && w->fault != SIM_HANGS)
			send_done(s, host, true);
		return;
	case MSG_BYE:
		w->running = w->owned = false;
		w->generation++;
		reply(s, host, answer);
		return;
	default:
		return;
	}
}

/* --- the coordinator's outlet --------------------------------------------------------------------- */

static void outlet_send(void *arg, size_t host, const struct message *m)
{
	struct sim *s = arg;

	/* Only plain values are looked at when it arrives: what it borrows may be gone. */
	post(s, TO_WORKER, host, s->now_ns + s->workers[host].latency_ns)->m = *m;
}

static void outlet_close(void *arg, size_t host)
{
	((struct sim *)arg)->workers[host].closed = true;
}

static void outlet_started(void *arg, _unused_ size_t step, _unused_ uint64_t start_ns)
{
	((struct sim *)arg)->started++;
}

static void outlet_sampled(void *arg, _unused_ size_t step, _unused_ size_t host,
			   _unused_ int64_t offset_ns)
{
	((struct sim *)arg)->sampled++;
}

static void outlet_probed(void *arg, _unused_ size_t host, _unused_ size_t step,
			  _unused_ struct msg_ready *ready)
{
	((struct sim *)arg)->probed++;
}

/* --- the plan ------------------------------------------------------------------------------------- */

static struct assignment *make_assignment(size_t step)
{
	struct assignment *a = xcalloc(1, sizeof(*a));

	a->run = xstrdup("sim");
	a->step = step;
	a->interval_ns = NS_PER_S;
	a->nr_targets = 1;
	a->targets = xcalloc(1, sizeof(*a->targets));
	a->targets[0].name = xstrdup("disk");
	a->targets[0].path = xstrdup("/dev/sim");
	a->targets[0].writes = true;
	a->nr_members = 1;
	a->members = xcalloc(1, sizeof(*a->members));
	schema_init(&job_schema, &a->members[0].job);
	a->members[0].nr_parts = 1;
	return a;
}

static void make_step(struct sim *s, struct step *step, size_t index)
{
	size_t nr_hosts = s->plan->hosts.nr_hosts;

	step->phase_name = "main";
	step->measured = true;
	step->duration_ns = STEP_NS;
	step->nr_jobs = 1;
	step->jobs = xcalloc(1, sizeof(*step->jobs));
	schema_init(&job_schema, &step->jobs[0]);
	step->jobs[0].name = xstrdup("job");
	step->jobs[0].nr_target = 1;
	step->jobs[0].target = xcalloc(1, sizeof(char *));
	step->jobs[0].target[0] = xstrdup("disk");
	step->hosts = xcalloc(nr_hosts, sizeof(struct assignment *));
	for (size_t i = 0; i < nr_hosts; i++)
		step->hosts[i] = make_assignment(index);
}

void sim_init(struct sim *s, size_t nr_hosts, size_t nr_steps)
{
	*s = (struct sim) { .now_ns = 1000 * NS_PER_S };
	s->scenario.name = xstrdup("sim");
	s->scenario.interval_ns = NS_PER_S;
	s->scenario.repeat = 1;
	s->scenario.fleet = (struct fleet) { .on_loss = ON_LOSS_ABORT,
					     .lease_ns = 10 * NS_PER_S,
					     .grace_ns = 5 * NS_PER_S,
					     .max_clock_error_ns = NS_PER_MS };
	s->plan = xcalloc(1, sizeof(*s->plan));
	s->plan->scenario = &s->scenario;
	s->plan->nr_points = 1;
	s->plan->points = xcalloc(1, sizeof(*s->plan->points));
	s->plan->hosts.nr_hosts = nr_hosts;
	s->plan->hosts.hosts = xcalloc(nr_hosts, sizeof(*s->plan->hosts.hosts));
	for (size_t i = 0; i < nr_hosts; i++) {
		s->plan->hosts.hosts[i].name = xasprintf("w%zu", i);
		s->plan->hosts.hosts[i].address = xasprintf("tcp://w%zu:7600", i);
		s->workers[i].latency_ns = (i + 1) * 100 * NS_PER_US;
		s->workers[i].offset_ns = ((int64_t)i - 1) * 500 * (int64_t)NS_PER_S;
	}
	s->plan->nr_steps = nr_steps;
	s->plan->steps = xcalloc(nr_steps, sizeof(*s->plan->steps));
	for (size_t i = 0; i < nr_steps; i++)
		make_step(s, &s->plan->steps[i], i);
}

static void free_plan(struct plan *plan)
{
	for (size_t i = 0; i < plan->nr_steps; i++) {
		struct step *step = &plan->steps[i];

		for (size_t h = 0; h < plan->hosts.nr_hosts; h++) {
			if (!step->hosts[h])
				continue;
			schema_fini(&assignment_schema, step->hosts[h]);
			free(step->hosts[h]);
		}
		free(step->hosts);
		schema_fini(&job_schema, &step->jobs[0]);
		free(step->jobs);
	}
	free(plan->steps);
	free(plan->points);
	for (size_t i = 0; i < plan->hosts.nr_hosts; i++) {
		free(plan->hosts.hosts[i].name);
		free(plan->hosts.hosts[i].address);
	}
	free(plan->hosts.hosts);
	free(plan);
}

void sim_fini(struct sim *s)
{
	for (size_t i = 0; i < s->nr_events; i++)
		if (s->events[i].kind == TO_COORDINATOR)
			message_fini(&s->events[i].m);
	free(s->events);
	run_destroy(&s->run);
	collector_destroy(&s->collector);
	free_plan(s->plan);
	free(s->scenario.name);
}

/* --- time ----------------------------------------------------------------------------------------- */

void sim_begin(struct sim *s, enum run_mode mode)
{
	s->begun_ns = s->now_ns;
	if (mode == MODE_RUN)
		s->collector = collector_new(s->plan, "id", "1.0");
	s->run = run_new(&(struct run_options) { .mode = mode,
						 .hosts = &s->plan->hosts,
						 .plan = mode == MODE_OBSERVE ? NULL : s->plan,
						 .collector = s->collector,
						 .fleet = &s->scenario.fleet,
						 .session = SESSION,
						 .version = "1.0",
						 .owner = "me" },
			 &(struct run_outlet) { .arg = s,
						.send = outlet_send,
						.close = outlet_close,
						.started = outlet_started,
						.sampled = outlet_sampled,
						.probed = outlet_probed },
			 s->now_ns);
	for (size_t i = 0; i < s->plan->hosts.nr_hosts; i++)
		post(s, s->workers[i].fault == SIM_NO_LINK ? LINK_FAILED : LINK_UP, i,
		     s->now_ns + (s->workers[i].fault == SIM_NO_LINK ? NS_PER_S : NS_PER_MS));
}

static void deliver(struct sim *s, struct sim_event *e)
{
	s->deliveries++;
	if (!s->workers[e->host].closed)
		run_message(s->run, e->host, &e->m, s->now_ns);
	message_fini(&e->m);
	if (s->deliveries == s->interrupt_at || s->deliveries == s->again_at)
		run_interrupt(s->run, s->now_ns);
	if (s->deliveries == s->die_at)
		s->workers[s->die_host].dies_at_ns = s->now_ns;
}

static void happen(struct sim *s, struct sim_event *e)
{
	bool dead = is_dead(s, e->host), old = e->generation != s->workers[e->host].generation;

	switch (e->kind) {
	case TO_WORKER:
		if (!dead)
			on_message(s, e->host, &e->m);
		return;
	case TO_COORDINATOR: /* what was under way when the worker died still comes */
		deliver(s, e);
		return;
	case LINK_UP:
		run_link_up(s->run, e->host, s->now_ns);
		return;
	case LINK_FAILED:
		run_host_failed(s->run, e->host,
				error_new(ERR_UNREACHABLE, "host 'w%zu': no link", e->host),
				s->now_ns);
		return;
	case STEP_DONE:
		if (!dead && !old)
			send_done(s, e->host, false);
		return;
	case STEP_SAMPLE:
		if (!dead && !old)
			send_sample(s, e->host);
		return;
	case LAID_OUT:
		if (!dead && !old)
			laid_out(s, e->host);
		return;
	}
}

bool sim_go(struct sim *s, uint64_t limit_ns)
{
	uint64_t tick_ns = s->now_ns;

	while (!run_is_finished(s->run) && s->now_ns < s->begun_ns + limit_ns) {
		size_t next = earliest(s);

		if (s->nr_events && s->events[next].at_ns <= tick_ns) {
			struct sim_event e = take(s, next);

			s->now_ns = e.at_ns > s->now_ns ? e.at_ns : s->now_ns;
			happen(s, &e);
			continue;
		}
		s->now_ns = tick_ns;
		tick_ns += TICK_MS * NS_PER_MS;
		run_tick(s->run, s->now_ns);
	}
	return run_is_finished(s->run);
}

bool sim_has_error(const struct sim *s, enum error_code code, const char *part)
{
	for (const struct error *e = run_errors(s->run); e; e = error_next(e))
		if (error_code(e) == code && strstr(error_message(e), part))
			return true;
	return false;
}

int sim_exit_status(const struct sim *s)
{
	return error_exit_status(run_errors(s->run));
}
