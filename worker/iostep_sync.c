/* SPDX-License-Identifier: Apache-2.0 */
/* iostep_sync.c - an fsync that takes long: one that writes back is at work, one that does not hangs. */
#include "common/base/clock.h"
#include "worker/iostep_internal.h"
#include "worker/tally.h"

/* Younger ones need no attention. */
#define LONG_NS     (200 * NS_PER_MS)
#define LOOK_NS     (250 * NS_PER_MS)
#define WORTH_IT_NS NS_PER_S /* in a warning */

void iostep_watch_syncs(struct iostep *s)
{
	s->sync_look_ns = UINT64_MAX;
	for (size_t i = 0; i < s->a->nr_members; i++) {
		const struct job *job = &s->a->members[i].job;

		if (job_writes(job) &&
		    (job->end_fsync || job->fsync_on_close || job->fsync || job->fdatasync))
			s->sync_look_ns = s->start_ns + LONG_NS;
	}
}

/* The target of the oldest long fsync when nothing else is in flight; false: there is none, or other I/O waits, too. */
static bool only_syncs(const struct iostep *s, uint64_t now_ns, size_t *ret_target)
{
	struct stuck_io *ios;
	uint64_t oldest_ns = 0;
	bool only = true;
	size_t nr;

	tally_stuck(s->env->block, s->a, now_ns, &ios, &nr);
	for (size_t i = 0; i < nr; i++) {
		only = only && ios[i].direction == DIR_SYNC;
		if (ios[i].age_ns > oldest_ns) {
			oldest_ns = ios[i].age_ns;
			*ret_target = (size_t)ios[i].target;
		}
	}
	free(ios);
	return only && oldest_ns >= LONG_NS;
}

const char *iostep_sync_progress(struct iostep *s, uint64_t now_ns)
{
	struct device_stat st;
	uint64_t written;
	size_t target = 0;
	bool advanced;

	if (now_ns < s->sync_look_ns)
		return NULL;
	s->sync_look_ns = now_ns + LOOK_NS;
	if (!only_syncs(s, now_ns, &target) || !s->targets[target] ||
	    !target_stat(s->targets[target], &st))
		return NULL;
	written = st.write_ios + st.flush_ios;
	advanced = written != s->sync_written;
	s->sync_written = written;
	return advanced ? s->a->targets[target].name : NULL;
}

struct error *iostep_sync_warnings(const struct iostep *s)
{
	struct error *warnings = NULL;

	for (size_t m = 0; m < s->a->nr_members; m++) {
		const struct job *job = &s->a->members[m].job;
		uint64_t window_end = s->start_ns + job->ramp_time_ns + job->runtime_ns, late = 0;

		for (size_t i = 0; job->end_fsync && job->runtime_ns && i < s->nr_specs; i++) {
			uint64_t end = cell_get(&stats_thread(s->env->block, i)->end_ns);

			if (s->specs[i].member == m && minus(end, window_end) > late)
				late = minus(end, window_end);
		}
		if (late < WORTH_IT_NS)
			continue;
		error_append(
			&warnings,
			error_new(ERR_REFUSED,
				  "job '%s': end_fsync ended %.1f s after the window; that time "
				  "counts as run time",
				  job->name, (double)late / NS_PER_S));
	}
	return warnings;
}
