/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/session.h"

#include "common/base/clock.h"
#include "worker/session_internal.h"

#include <stdarg.h>
#include <stdio.h>

static const char TOLD_TO_END[] = "the worker was told to end";

/* --- actions -------------------------------------------------------------------------------------- */

void session_actions_fini(struct session_actions *a)
{
	for (size_t i = 0; i < a->nr; i++) {
		if (a->items[i].type == ACTION_SEND)
			message_fini(&a->items[i].message);
		free(a->items[i].text);
	}
	free(a->items);
	*a = (struct session_actions) { 0 };
}

struct session_action *actions_add(struct session_actions *out, enum action_type type,
				   const struct peer *peer)
{
	if (out->nr == out->cap) {
		out->cap = out->cap ? 2 * out->cap : 8;
		out->items = xrealloc(out->items, out->cap, sizeof(*out->items));
	}
	out->items[out->nr] = (struct session_action) { .type = type };
	if (peer)
		out->items[out->nr].peer = *peer;
	return &out->items[out->nr++];
}

void actions_send(struct session_actions *out, const struct peer *peer, struct message m)
{
	actions_add(out, ACTION_SEND, peer)->message = m;
}

void actions_log(struct session_actions *out, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0)
		actions_add(out, ACTION_LOG, NULL)->text = text;
	va_end(ap);
}

void actions_error(struct session_actions *out, const struct peer *peer, uint64_t id,
		   enum error_code code, char *text)
{
	actions_add(out, ACTION_COMPLAIN, NULL)->text =
		xasprintf("answered with an error: %s", text);
	actions_send(out, peer,
		     (struct message) {
			     .type = MSG_ERROR,
			     .session = id,
			     .error = { .code = xstrdup(error_code_name(code)), .text = text },
		     });
}

void session_send_failed(const struct session *s, struct session_actions *out, struct error *err)
{
	struct message m = { .type = MSG_FAILED, .session = s->id };

	failed_from_error(err, &m.failed);
	error_destroy(&err);
	actions_send(out, &s->owner, m);
}

/* --- life ----------------------------------------------------------------------------------------- */

void session_drop_step(struct session *s)
{
	if (s->step.type == MSG_PREPARE)
		message_fini(&s->step);
	s->step = (struct message) { .type = MSG_COUNT };
	for (size_t i = 0; i < s->nr_paths; i++)
		free(s->paths[i]);
	freep(&s->paths);
	s->nr_paths = 0;
}

void session_drop_owner(struct session *s)
{
	freep(&s->owner_key);
	freep(&s->owner_text);
	freep(&s->doing);
}

struct session *session_new(const struct msg_welcome *welcome)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->welcome = welcome;
	s->step.type = MSG_COUNT;
	s->next_sample_ns = s->give_up_ns = s->window_end_ns = UINT64_MAX;
	return s;
}

static void stuck_fini(struct stuck_target *t)
{
	free(t->path);
	free(t->canonical);
	free(t->text);
}

void session_destroy(struct session **self_p)
{
	struct session *s = *self_p;

	if (!s)
		return;
	session_drop_step(s);
	session_drop_owner(s);
	for (size_t i = 0; i < s->nr_stuck; i++)
		stuck_fini(&s->stuck[i]);
	free(s->stuck);
	free(s);
	*self_p = NULL;
}

enum session_state session_state(const struct session *s)
{
	return s->state;
}

const char *session_state_name(enum session_state state)
{
	static const char *const names[] = {
		[SESSION_FREE] = "free",           [SESSION_OWNED] = "owned",
		[SESSION_PREPARING] = "preparing", [SESSION_READY] = "ready",
		[SESSION_ARMED] = "armed",         [SESSION_RUNNING] = "running",
		[SESSION_DRAINING] = "draining",
	};

	return names[state];
}

uint64_t session_id(const struct session *s)
{
	return s->id;
}

const struct assignment *session_step(const struct session *s)
{
	return s->step.type == MSG_PREPARE ? &s->step.prepare : NULL;
}

const char *session_target_path(const struct session *s, size_t target)
{
	return target < s->nr_paths ? s->paths[target] : NULL;
}

uint64_t session_start_ns(const struct session *s)
{
	return s->start_ns;
}

uint64_t session_next_ns(const struct session *s)
{
	uint64_t next = UINT64_MAX;

	if (s->state == SESSION_FREE)
		return next;
	if (!s->ending)
		next = min_ns(next, s->lease_end_ns);
	if (s->state == SESSION_ARMED)
		next = min_ns(next, s->start_ns);
	if (s->state == SESSION_RUNNING)
		next = min_ns(next, s->window_end_ns);
	next = min_ns(next, s->next_sample_ns);
	return min_ns(next, s->give_up_ns);
}

/* --- stuck targets -------------------------------------------------------------------------------- */

void session_add_stuck(struct session *s, const char *path, const char *canonical, const char *text)
{
	s->stuck = xrealloc(s->stuck, s->nr_stuck + 1, sizeof(*s->stuck));
	s->stuck[s->nr_stuck++] = (struct stuck_target) {
		.path = xstrdup(path),
		.canonical = canonical ? xstrdup(canonical) : NULL,
		.text = xstrdup(text),
	};
}

void session_release_stuck(struct session *s, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr_stuck; i++) {
		if (streq(s->stuck[i].path, path))
			stuck_fini(&s->stuck[i]);
		else
			s->stuck[kept++] = s->stuck[i];
	}
	s->nr_stuck = kept;
}

struct error *session_refuse_stuck(const struct session *s, const struct assignment *a)
{
	struct error *errs = NULL;

	for (size_t i = 0; i < a->nr_targets; i++) {
		const char *path = a->targets[i].path;

		for (size_t k = 0; path && k < s->nr_stuck; k++) {
			const struct stuck_target *t = &s->stuck[k];

			if (streq(path, t->path) || (t->canonical && streq(path, t->canonical)))
				error_append(
					&errs,
					error_new(ERR_HUNG,
						  "target '%s': %s: is stuck since an earlier run: "
						  "%s; "
						  "it is usable again when its I/O has come back",
						  a->targets[i].name, path, t->text));
		}
	}
	return errs;
}

/* --- the end of steps and sessions ---------------------------------------------------------------- */

static void step_over(struct session *s)
{
	s->step_active = s->start_sent = s->stopped = false;
	s->next_sample_ns = s->give_up_ns = s->window_end_ns = UINT64_MAX;
	freep(&s->doing);
	if (!s->ending)
		s->state = SESSION_OWNED;
}

static void become_free(struct session *s, struct session_actions *out)
{
	if (s->state != SESSION_FREE) {
		if (s->ending == ENDING_BYE)
			actions_send(out, &s->owner,
				     (struct message) { .type = MSG_BYE, .session = s->id });
		if (s->ending == ENDING_SHUTDOWN)
			actions_error(out, &s->owner, s->id, ERR_LOST, xstrdup(TOLD_TO_END));
		actions_log(out, "session %016llx of %s is over", (unsigned long long)s->id,
			    s->owner_text);
	}
	s->state = SESSION_FREE;
	s->ending = ENDING_NOT;
	step_over(s);
	s->state = SESSION_FREE;
	session_drop_owner(s);
	if (s->shutdown)
		actions_add(out, ACTION_EXIT, NULL);
}

static void dismiss_child(struct session *s, uint64_t now, struct session_actions *out)
{
	actions_add(out, ACTION_DISMISS, NULL);
	s->next_sample_ns = UINT64_MAX;
	s->state = SESSION_DRAINING;
	s->give_up_ns = min_ns(s->give_up_ns, now + s->grace_ns);
}

void session_stop_step(struct session *s, uint64_t now, struct session_actions *out)
{
	actions_add(out, ACTION_STOP_CHILD, NULL);
	s->stopped = true;
	s->state = SESSION_DRAINING;
	s->give_up_ns = min_ns(s->give_up_ns, now + s->grace_ns);
}

void session_end(struct session *s, enum session_ending ending, uint64_t now,
		 struct session_actions *out)
{
	if (s->ending)
		return;
	s->ending = ending;
	if (!s->child) {
		become_free(s, out);
		return;
	}
	if (ending == ENDING_SHUTDOWN && s->step_active)
		session_stop_step(s, now, out); /* its DONE still goes to the owner */
	else
		dismiss_child(s, now, out);
}

/* The I/O process had its time to drain: it is left alone with what it holds. */
static void give_up(struct session *s, struct session_actions *out)
{
	bool tell = s->step_active && (!s->ending || s->ending == ENDING_SHUTDOWN);

	actions_log(out, "the I/O process does not end within its grace; its targets are stuck");
	if (tell) {
		struct session_action *a = actions_add(out, ACTION_SALVAGE, &s->owner);

		a->text = xstrdup("the I/O process did not end within its grace");
		a->hangs = true;
		a->ns = s->stopped;
	}
	actions_add(out, ACTION_ABANDON, NULL);
	s->child = false;
	step_over(s);
	if (s->ending)
		become_free(s, out);
}

static void child_gone(struct session *s, const struct session_event *e,
		       struct session_actions *out)
{
	enum session_state was = s->state;
	bool active = s->step_active, stopped = s->stopped;

	if (!s->child)
		return;
	s->child = false;
	if (s->ending && s->ending != ENDING_SHUTDOWN) {
		become_free(s, out);
		return;
	}
	if (active)
		actions_log(out, "the I/O process %s", e->text);
	step_over(s);
	if (active && (was == SESSION_RUNNING || was == SESSION_DRAINING)) {
		struct session_action *a = actions_add(out, ACTION_SALVAGE, &s->owner);

		a->text = xasprintf("the I/O process %s", e->text);
		a->ns = stopped;
	} else if (active) {
		session_send_failed(s, out, error_new(ERR_LOST, "the I/O process %s", e->text));
	}
	if (s->ending)
		become_free(s, out);
}

/* --- time ----------------------------------------------------------------------------------------- */

/* The grid of readings: every interval of the ramp, its end, and every interval after it. */
static uint64_t sample_after(const struct session *s, uint64_t t)
{
	uint64_t interval = s->step.prepare.interval_ns;
	uint64_t base = t < s->grid_ns ? s->start_ns : s->grid_ns;
	uint64_t next = base + ((t - base) / interval + 1) * interval;

	return t < s->grid_ns ? min_ns(next, s->grid_ns) : next;
}

static void take_sample(struct session *s, uint64_t now, struct session_actions *out)
{
	uint64_t interval = s->step.prepare.interval_ns;
	struct session_action *a = actions_add(out, ACTION_SAMPLE, &s->owner);

	a->interval = -1;
	if (now >= add_sat(s->grid_ns, interval)) {
		uint64_t k = (now - s->grid_ns) / interval;

		if (s->grid_ns + k * interval <= s->window_end_ns)
			a->interval = (int64_t)k - 1;
	}
	s->next_sample_ns = sample_after(s, now);
}

static void check_time(struct session *s, uint64_t now, struct session_actions *out)
{
	if (s->state == SESSION_FREE)
		return;
	if (!s->ending && now >= s->lease_end_ns) {
		actions_log(out, "the lease of %s has ended", s->owner_text);
		session_end(s, ENDING_LEASE, now, out);
	}
	if (s->state == SESSION_ARMED && now >= s->start_ns)
		s->state = SESSION_RUNNING;
	if (now >= s->next_sample_ns)
		take_sample(s, now, out);
	if (s->state == SESSION_RUNNING && now >= s->window_end_ns) {
		s->state = SESSION_DRAINING;
		s->give_up_ns = add_sat(s->window_end_ns, s->grace_ns);
	}
	if (now >= s->give_up_ns)
		give_up(s, out);
}

/* --- messages of the I/O process ------------------------------------------------------------------ */

static void on_child_ready(struct session *s, const struct session_event *e,
			   struct session_actions *out)
{
	const struct msg_ready *ready = &e->message->ready;

	for (size_t i = 0; i < ready->nr_devices; i++) {
		const struct device_info *d = &ready->devices[i];

		if (d->target < s->nr_paths && d->path) {
			free(s->paths[d->target]);
			s->paths[d->target] = xstrdup(d->path);
		}
	}
	if (s->state != SESSION_PREPARING)
		return; /* a STOP went the other way; DONE will follow */
	freep(&s->doing);
	if (s->step.prepare.probe) {
		actions_add(out, ACTION_TO_OWNER, &s->owner);
		step_over(s);
		return;
	}
	s->state = SESSION_READY;
	actions_add(out, ACTION_MAP, NULL);
	actions_add(out, ACTION_DEADLINE, NULL)->ns = s->lease_end_ns;
	actions_add(out, ACTION_TO_OWNER, &s->owner);
}

static void on_child_armed(struct session *s, struct session_actions *out)
{
	const struct assignment *a = &s->step.prepare;
	uint64_t ramp = UINT64_MAX, end = 0;

	if (s->state != SESSION_READY || !s->start_sent)
		return;
	for (size_t i = 0; i < a->nr_members; i++) {
		const struct job *job = &a->members[i].job;

		ramp = min_ns(ramp, job->ramp_time_ns);
		uint64_t length =
			job->runtime_ns ? add_sat(job->ramp_time_ns, job->runtime_ns) : UINT64_MAX;
		end = length > end ? length : end;
	}
	s->grid_ns = add_sat(s->start_ns, a->nr_members ? ramp : 0);
	s->window_end_ns = end ? add_sat(s->start_ns, end) : UINT64_MAX;
	s->state = SESSION_ARMED;
	s->next_sample_ns = sample_after(s, s->start_ns);
	actions_add(out, ACTION_TO_OWNER, &s->owner);
}

static void on_child_failed(struct session *s, const struct session_event *e,
			    struct session_actions *out)
{
	for (size_t i = 0; i < e->message->failed.nr_reasons; i++)
		actions_log(out, "refused: %s", e->message->failed.reasons[i].text);
	if (s->stopped)
		/* The owner asked for an end and gets one. */
		actions_send(out, &s->owner,
			     (struct message) { .type = MSG_DONE,
						.session = s->id,
						.done = { .stopped = true } });
	else
		actions_add(out, ACTION_TO_OWNER, &s->owner);
	step_over(s);
}

static void on_from_child(struct session *s, const struct session_event *e,
			  struct session_actions *out)
{
	bool deaf = s->ending && s->ending != ENDING_SHUTDOWN;
	struct session_action *a;

	if (!s->child || !s->step_active || deaf)
		return;
	switch (e->message->type) {
	case MSG_PONG:
		s->progress++;
		free(s->doing);
		s->doing = e->message->pong.doing ? xstrdup(e->message->pong.doing) : NULL;
		/* An fsync with much to write back; when it is to stop, its time is the grace. */
		if (s->state == SESSION_DRAINING && !s->stopped && !s->ending)
			s->give_up_ns = e->now_ns + s->grace_ns;
		return;
	case MSG_READY:
		on_child_ready(s, e, out);
		return;
	case MSG_ARMED:
		on_child_armed(s, out);
		return;
	case MSG_FAILED:
		on_child_failed(s, e, out);
		break;
	case MSG_DONE:
		a = actions_add(out, ACTION_FINISH, &s->owner);
		if (s->ending == ENDING_SHUTDOWN)
			a->text = xstrdup(TOLD_TO_END);
		step_over(s);
		break;
	default:
		return;
	}
	if (s->ending == ENDING_SHUTDOWN)
		dismiss_child(s, e->now_ns, out);
}

/* --- all together --------------------------------------------------------------------------------- */

static void on_shutdown(struct session *s, uint64_t now, struct session_actions *out)
{
	bool again = s->shutdown;

	s->shutdown = true;
	if (s->state == SESSION_FREE) {
		actions_add(out, ACTION_EXIT, NULL);
	} else if (again) {
		actions_add(out, ACTION_ABANDON, NULL);
		actions_add(out, ACTION_EXIT, NULL);
	} else if (!s->ending) {
		session_end(s, ENDING_SHUTDOWN, now, out);
	}
}

void session_handle(struct session *s, const struct session_event *event,
		    struct session_actions *ret)
{
	check_time(s, event->now_ns, ret);
	switch (event->type) {
	case EVENT_MESSAGE:
		session_on_message(s, event, ret);
		break;
	case EVENT_GARBAGE:
		session_on_garbage(s, event, ret);
		break;
	case EVENT_FROM_CHILD:
		on_from_child(s, event, ret);
		break;
	case EVENT_CHILD_GONE:
		child_gone(s, event, ret);
		break;
	case EVENT_TICK:
		break;
	case EVENT_SHUTDOWN:
		on_shutdown(s, event->now_ns, ret);
		break;
	}
}
