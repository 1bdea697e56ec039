/* SPDX-License-Identifier: Apache-2.0 */
/* run_faults.c - what samples and totals say of I/O that went wrong. */
#include "coordinator/run/run_internal.h"

#include <inttypes.h>

const struct job *run_job_failed(const struct assignment *work, const struct member_row *rows,
				 size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (rows[i].counts.errors && rows[i].member < work->nr_members &&
		    work->members[rows[i].member].job.on_error == ON_ERROR_STOP_ALL)
			return &work->members[rows[i].member].job;
	return NULL;
}

const struct job *run_job_failed_done(const struct assignment *work, const struct msg_done *d)
{
	for (size_t i = 0; i < d->nr_members; i++)
		if (d->members[i].nr_errors && d->members[i].member < work->nr_members &&
		    work->members[d->members[i].member].job.on_error == ON_ERROR_STOP_ALL)
			return &work->members[d->members[i].member].job;
	return run_job_failed(work, d->rows, d->nr_rows);
}

/* The oldest I/O of the target that never came back, and how many they are; NULL: none. */
static const struct stuck_io *oldest_stuck(const struct msg_done *d, uint64_t target, size_t *nr)
{
	const struct stuck_io *oldest = NULL;

	*nr = 0;
	for (size_t i = 0; i < d->nr_stuck; i++) {
		const struct stuck_io *s = &d->stuck[i];

		if (s->target != target)
			continue;
		++*nr;
		if (!oldest || s->age_ns > oldest->age_ns)
			oldest = s;
	}
	return oldest;
}

/* The device as the host found it. */
static const char *path_of(const struct peer *p, uint64_t target)
{
	const struct msg_ready *ready = &p->ready.ready;

	for (size_t i = 0; p->ready.type == MSG_READY && i < ready->nr_devices; i++)
		if (ready->devices[i].target == target && ready->devices[i].path)
			return ready->devices[i].path;
	return "its path is not known";
}

/* "a read of 4096 bytes at offset 8192"; an fsync has neither. Owned by the caller. */
static char *stuck_text(const struct stuck_io *s)
{
	bool known = s->direction >= 0 && s->direction < DIR_COUNT;

	if (s->direction == DIR_SYNC)
		return xstrdup("an fsync");
	return xasprintf("a %s of %" PRIu64 " bytes at offset %" PRIu64,
			 known ? direction_names[s->direction] : "transfer", s->bytes, s->offset);
}

struct error *run_hung_targets(const struct run *r, size_t host, const struct msg_done *d)
{
	const struct assignment *work = run_step_of(r)->hosts[host];
	struct error *errors = NULL;

	for (size_t t = 0; t < work->nr_targets; t++) {
		size_t nr;
		const struct stuck_io *s = oldest_stuck(d, t, &nr);
		_cleanup_free_ char *text = NULL;

		if (!s || s->age_ns < STUCK_AGE_NS)
			continue;
		text = stuck_text(s);
		error_append(&errors,
			     error_new(ERR_HUNG,
				       "host '%s': target '%s' (%s) hangs: %zu I/Os have not come "
				       "back, the oldest, %s, for %.1f s",
				       r->peers[host].name, work->targets[t].name,
				       path_of(&r->peers[host], t), nr, text,
				       (double)s->age_ns / NS_PER_S));
	}
	return errors;
}
