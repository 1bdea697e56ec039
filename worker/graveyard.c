/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/graveyard.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/child.h"
#include "worker/tally.h"

#include <stdio.h>
#include <time.h>

static void add(struct graveyard *g, const struct corpse *corpse)
{
	g->items = xrealloc(g->items, g->nr + 1, sizeof(*g->items));
	g->items[g->nr++] = *corpse;
}

static void tell_session(const struct corpse *c, struct session *s)
{
	for (size_t i = 0; i < c->record.nr_targets; i++) {
		const struct stuck_target *t = &c->record.targets[i];

		session_add_stuck(s, t->path, t->canonical, t->text);
		log_warn("%s is stuck: %s", t->canonical ? t->canonical : t->path, t->text);
	}
}

void graveyard_init(struct graveyard *g, const char *state, struct session *s)
{
	struct stuck_record *records;
	size_t nr;

	*g = (struct graveyard) { .state = state };
	stuck_load(state, &records, &nr);
	for (size_t i = 0; i < nr; i++) {
		struct corpse c = { .pid = (pid_t)records[i].pid,
				    .pidfd = -1,
				    .record = records[i] };

		add(g, &c);
		tell_session(&c, s);
	}
	free(records); /* their content has moved */
}

void graveyard_fini(struct graveyard *g)
{
	for (size_t i = 0; i < g->nr; i++) {
		closep(&g->items[i].pidfd);
		stuck_record_fini(&g->items[i].record);
	}
	free(g->items);
	*g = (struct graveyard) { 0 };
}

void graveyard_forget(const struct graveyard *g)
{
	for (size_t i = 0; i < g->nr; i++)
		stuck_forget(g->state, &g->items[i].record);
}

static bool is_meant(size_t target, const struct stuck_io *ios, size_t nr_ios)
{
	for (size_t i = 0; i < nr_ios; i++)
		if (ios[i].target == target)
			return true;
	return nr_ios == 0;
}

static char *epitaph(const struct corpse *c)
{
	time_t now = time(NULL);
	char when[32];
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return xasprintf(
		"the I/O process %d %s at %s", (int)c->pid,
		c->abandoned ? "did not end and was left alone" : "died with I/O in flight", when);
}

static void save(const struct graveyard *g, const struct stuck_record *record)
{
	struct error *err = stuck_save(g->state, record);

	if (!err)
		return;
	log_err("%s; a worker that follows this one will not know of it", error_message(err));
	error_destroy(&err);
}

void graveyard_note(const struct graveyard *g, pid_t pid, const struct session *s)
{
	const struct assignment *step = session_step(s);
	struct stuck_record record;

	stuck_record_init(&record, pid);
	for (size_t i = 0; i < step->nr_targets; i++)
		if (step->targets[i].path)
			stuck_record_add(
				&record, step->targets[i].path, session_target_path(s, i),
				"the I/O process of a worker that was killed still holds it");
	if (record.nr_targets)
		save(g, &record);
	stuck_record_fini(&record);
}

void graveyard_strike_out(const struct graveyard *g, pid_t pid)
{
	struct stuck_record record = { .pid = (uint64_t)pid };

	stuck_forget(g->state, &record);
}

static void bury(struct graveyard *g, struct corpse *c, struct session *s,
		 const struct stuck_io *ios, size_t nr_ios)
{
	const struct assignment *step = session_step(s);
	_cleanup_free_ char *text = epitaph(c);

	stuck_record_init(&c->record, c->pid);
	for (size_t i = 0; i < step->nr_targets; i++)
		if (step->targets[i].path && is_meant(i, ios, nr_ios))
			stuck_record_add(&c->record, step->targets[i].path,
					 session_target_path(s, i), text);
	if (!c->abandoned) {
		stuck_prune(&c->record, NULL, NULL);
		if (!c->record.nr_targets) {
			stuck_record_fini(&c->record);
			return;
		}
	}
	save(g, &c->record);
	add(g, c);
	tell_session(c, s);
}

void graveyard_bury(struct graveyard *g, struct child *child, bool abandoned, struct session *s)
{
	struct corpse corpse = { .pid = child->pid, .pidfd = -1, .abandoned = abandoned };
	struct stuck_io *ios = NULL;
	size_t nr_ios = 0;

	if (child->block)
		tally_stuck(child->block, session_step(s), clock_mono_ns(), &ios, &nr_ios);
	if (abandoned) {
		corpse.pidfd = child->pidfd;
		child->pidfd = -1;
	}
	if (abandoned || nr_ios)
		bury(g, &corpse, s, ios, nr_ios);
	free(ios);
}

static void on_released(void *arg, const struct stuck_target *t)
{
	log_info("%s is no longer stuck", t->canonical ? t->canonical : t->path);
	session_release_stuck(arg, t->path);
}

/* Takes notice of its end; true: it has come. */
static bool reap(struct corpse *c)
{
	char *text = c->pidfd >= 0 ? child_reap(c->pidfd) : NULL;

	if (!text)
		return c->pidfd < 0;
	free(text);
	closep(&c->pidfd);
	return true;
}

void graveyard_look(struct graveyard *g, struct session *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->nr; i++) {
		struct corpse *c = &g->items[i];
		bool ended = reap(c);
		size_t released = stuck_prune(&c->record, on_released, s);

		if (released && c->record.nr_targets)
			save(g, &c->record);
		if (!c->record.nr_targets)
			stuck_forget(g->state, &c->record);
		if (ended && !c->record.nr_targets)
			stuck_record_fini(&c->record);
		else
			g->items[kept++] = *c; /* to be reaped, at least */
	}
	g->nr = kept;
}
