/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/settle.h"

#include "common/base/clock.h"
#include "common/base/units.h"
#include "worker/host/cache.h"
#include "worker/slow.h"

#include <errno.h>
#include <unistd.h>

/* Less than this left in the page cache is not worth a warning. */
enum { LEFT_WARN_BYTES = 4 << 20 };

/* --- waiting ---------------------------------------------------------------------------------------- */

/* One wait for one target. */
struct wait {
	struct settle *settle;
	const struct open_target *target; /* NULL: for the host's caches */
	const char *what;                 /* "to be written back" */
	bool has_counters;
	uint64_t written,
		first_written; /* bytes; by the device's counters, else by what the host still has */
	uint64_t moved_ns;     /* when that changed last */
	bool is_stalled;
};

static const char *path_of(const struct wait *w)
{
	return w->target ? target_info(w->target)->path : "the page cache";
}

static uint64_t read_written(struct wait *w)
{
	struct device_stat st;

	w->has_counters = w->target && target_stat(w->target, &st);
	return w->has_counters ? st.write_bytes : cache_unwritten(w->settle->root);
}

static struct wait wait_begin(struct settle *s, const struct open_target *t, const char *what)
{
	struct wait w = { .settle = s, .target = t, .what = what, .moved_ns = clock_mono_ns() };

	w.first_written = w.written = read_written(&w);
	return w;
}

/* A look at the world while a call is at work. */
static bool go_on(void *arg)
{
	struct wait *w = arg;
	uint64_t now = clock_mono_ns(), written = read_written(w);
	_cleanup_free_ char *doing = NULL;
	char bytes[UNITS_TEXT];

	if (written == w->written) {
		w->is_stalled = now - w->moved_ns > SETTLE_STALL_NS;
		return w->settle->progress(w->settle->arg, NULL, 0) && !w->is_stalled;
	}
	w->written = written;
	w->moved_ns = now;
	units_human_bytes(bytes, (double)(written - w->first_written));
	doing = w->has_counters ? xasprintf("waiting for %s %s: %s", path_of(w), w->what, bytes)
				: xasprintf("waiting for %s %s", path_of(w), w->what);
	return w->settle->progress(w->settle->arg, doing, written - w->first_written);
}

static struct error *left_alone(const struct wait *w)
{
	if (!w->is_stalled)
		return error_new(ERR_INTERRUPTED, "%s: the wait for it %s was stopped", path_of(w),
				 w->what);
	return error_new(ERR_HUNG,
			 "%s: waiting for it %s: no progress for %.0f s; look at the device",
			 path_of(w), w->what, (double)SETTLE_STALL_NS / NS_PER_S);
}

/* The call's own error becomes a warning: what is lost is lost, and the step can still run. */
static struct error *call(struct settle *s, const struct open_target *t, slow_function function,
			  int fd, const char *what)
{
	struct wait w = wait_begin(s, t, what);
	int rc = slow_call(function, fd, go_on, &w);

	if (rc == -ECANCELED)
		return left_alone(&w);
	if (rc < 0)
		error_append(&s->warnings, error_new(ERR_IO, "%s could not wait %s: %s",
						     path_of(&w), what, strerrordesc_np(-rc)));
	return NULL;
}

/* --- what was written ------------------------------------------------------------------------------- */

static struct error *wait_in_flight(struct settle *s, const struct open_target *t)
{
	enum { LOOK_MS = 10 };
	struct wait w = wait_begin(s, t, "to have nothing in flight");

	while (target_inflight(t)) {
		if (go_on(&w)) {
			host_pause_ms(LOOK_MS);
			continue;
		}
		if (!w.is_stalled || !target_info(t)->in_use)
			return left_alone(&w);
		error_append(&s->warnings,
			     error_new(ERR_HUNG, "%s: I/O of others is always in flight on it",
				       path_of(&w)));
		return NULL;
	}
	return NULL;
}

static struct error *sync_target(struct settle *s, const struct open_target *t)
{
	int fd = target_look_fd(t);
	bool is_file = target_kind_of(t) == TARGET_FILE;

	if (fd < 0)
		return NULL;
	/* A journal that is written later would be written into the next step. */
	return call(s, t, is_file ? cache_sync_system : cache_sync, fd, "to be written back");
}

struct error *settle_written(struct settle *s, struct held_targets *held)
{
	struct error *err = NULL;

	for (size_t i = 0; i < held->nr && !err; i++) {
		struct held_target *h = &held->items[i];

		if (!h->is_written)
			continue;
		err = sync_target(s, h->open);
		if (!err)
			err = wait_in_flight(s, h->open);
		h->is_written = err != NULL;
	}
	return err;
}

/* --- page cache ------------------------------------------------------------------------------------- */

static bool wants_all_dropped(const struct assignment *a)
{
	for (size_t i = 0; i < a->nr_members; i++)
		if (a->members[i].job.drop_caches)
			return true;
	return false;
}

struct error *settle_check(const struct settle *s, const struct assignment *a)
{
	int fd = -1;
	struct error *err = wants_all_dropped(a) ? cache_open_switch(s->root, &fd) : NULL;

	closep(&fd);
	return err;
}

/* Does a job want the target's cache dropped, and would it meet any? Direct I/O on a device that others use is no
 * reason to sync their file system; a file's cache costs direct I/O, too. */
static bool wants_dropped(const struct assignment *a, size_t target, const struct open_target *t)
{
	bool wants = false, is_buffered = false;

	for (size_t i = 0; i < a->nr_members; i++) {
		const struct work_member *m = &a->members[i];

		wants |= m->target == target && m->job.invalidate && !m->job.pre_read;
		is_buffered |= m->target == target && !m->job.direct;
	}
	return wants &&
	       (is_buffered || target_kind_of(t) == TARGET_FILE || !target_info(t)->in_use);
}

static void warn_left(struct settle *s, const struct open_target *t)
{
	const struct device_info *info = target_info(t);
	uint64_t left = cache_bytes(target_look_fd(t));
	char bytes[UNITS_TEXT];

	if (left == UINT64_MAX || left < LEFT_WARN_BYTES || left < info->size_bytes / 100)
		return;
	units_human_bytes(bytes, (double)left);
	error_append(&s->warnings,
		     error_new(ERR_REFUSED,
			       "%s of %s stay in the page cache although 'invalidate' is on: "
			       "something else uses them%s%s",
			       bytes, info->path, info->in_use ? ": " : "",
			       info->in_use ? info->in_use : ""));
}

static struct error *drop_target(struct settle *s, const struct open_target *t)
{
	int fd = target_look_fd(t);
	struct error *err;

	if (fd < 0 || cache_is_home(fd) || cache_bytes(fd) == 0)
		return NULL;
	err = call(s, t, cache_sync, fd, "to be written back");
	if (!err)
		err = call(s, t, cache_drop, fd, "to leave the page cache");
	if (!err)
		warn_left(s, t);
	return err;
}

static struct error *drop_all(struct settle *s, const struct assignment *a,
			      struct open_target *const *targets)
{
	_cleanup_close_ int fd = -1;
	struct error *err = cache_open_switch(s->root, &fd);

	for (size_t i = 0; i < a->nr_targets && !err; i++)
		err = sync_target(s, targets[i]);
	return err ? err : call(s, NULL, cache_drop_all, fd, "to be dropped");
}

/* The job's range, into the page cache. */
static struct error *read_range(struct settle *s, const struct open_target *t,
				const struct job *job)
{
	enum { CHUNK = 1 << 20, CHUNKS_PER_REPORT = 64 };
	_cleanup_free_ char *chunk = xcalloc(CHUNK, 1);
	uint64_t bytes = job->size ? job->size : target_info(t)->size_bytes - job->offset;
	int fd = target_look_fd(t);

	for (uint64_t at = 0, chunks = 0; fd >= 0 && at < bytes; at += CHUNK) {
		size_t len = bytes - at < CHUNK ? (size_t)(bytes - at) : CHUNK;
		_cleanup_free_ char *doing = NULL;
		char text[UNITS_TEXT];

		if (pread(fd, chunk, len, (off_t)(job->offset + at)) < 0)
			return error_new(ERR_IO, "%s: cannot be read before the job: %s",
					 target_info(t)->path, strerrordesc_np(errno));
		if (++chunks % CHUNKS_PER_REPORT != 0)
			continue;
		units_human_bytes(text, (double)at);
		doing = xasprintf("reading %s into the page cache: %s", target_info(t)->path, text);
		if (!s->progress(s->arg, doing, at))
			return error_new(ERR_INTERRUPTED, "%s: reading it was stopped",
					 target_info(t)->path);
	}
	return NULL;
}

struct error *settle_caches(struct settle *s, const struct assignment *a,
			    struct open_target *const *targets)
{
	struct error *err = NULL;

	for (size_t i = 0; i < a->nr_targets && !err; i++)
		if (wants_dropped(a, i, targets[i]))
			err = drop_target(s, targets[i]);
	if (!err && wants_all_dropped(a))
		err = drop_all(s, a, targets);
	for (size_t i = 0; i < a->nr_members && !err; i++)
		if (a->members[i].job.pre_read)
			err = read_range(s, targets[a->members[i].target], &a->members[i].job);
	return err;
}
