/* SPDX-License-Identifier: Apache-2.0 */
/* step_finish.c - the end of a step: members become groups, and what went wrong becomes warnings. */
#include "coordinator/run/step_devices.h"

#include <inttypes.h>

/* What a generator may be late by itself, of the median latency. */
static const double LATE_SHARE = 0.05;
/* What may be left unissued, of the I/Os that were done. */
static const double UNISSUED_SHARE = 0.01;
#include <limits.h>

#include <math.h>
#include <stdio.h>

static char *point_text(const struct point *p)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert(out);
	for (size_t i = 0; i < p->nr_values; i++)
		fprintf(out, "%s%s=%s", i ? " " : "", p->values[i].key, p->values[i].value);
	fclose(out);
	return text;
}

char *step_label(const struct plan *plan, const struct step *step)
{
	const struct scenario *sc = plan->scenario;
	_cleanup_free_ char *point = point_text(&plan->points[step->point]);
	_cleanup_free_ char *repeat = NULL, *phase = NULL;

	if (sc->repeat > 1)
		repeat = xasprintf("%srepeat %" PRIu64, *point ? ", " : "", step->repeat + 1);
	if (sc->nr_phases > 1)
		phase = xasprintf("%sphase '%s'", *point || repeat ? ", " : "", step->phase_name);
	return xasprintf("%s%s%s%s", point, repeat ? repeat : "", phase ? phase : "",
			 *point || repeat || phase ? ": " : "");
}

/* --- members ---------------------------------------------------------------------------------------- */

static void instants_from_done(struct member_totals *t, const struct member_done *d)
{
	const uint64_t ends[DIR_COUNT] = {
		[DIR_READ] = d->read_end_ns,
		[DIR_WRITE] = d->write_end_ns,
		[DIR_SYNC] = d->sync_end_ns,
	};

	t->begin_ns = d->begin_ns;
	t->end_ns = d->end_ns > d->begin_ns ? d->end_ns : d->begin_ns;
	t->first_io_ns = d->first_io_ns;
	t->all_begin_ns = d->all_begin_ns;
	t->all_end_ns = d->all_end_ns;
	member_set_ends(t, ends);
}

/* Of a host that was lost: its window ends with its last reading. */
static void instants_from_samples(struct member_totals *t, uint64_t last_read_ns)
{
	uint64_t begin = t->job->ramp_time_ns, end = last_read_ns > begin ? last_read_ns : begin;
	const uint64_t ends[DIR_COUNT] = { end, end, end, end };

	t->begin_ns = begin;
	t->end_ns = end;
	t->all_end_ns = last_read_ns;
	member_set_ends(t, ends);
}

/* Moves the member's sums to *ret; the texts stay where they are. */
static void member_take(const struct host_sums *h, struct member_sums *m, struct member_totals *ret)
{
	const struct member_done *d = &m->done;

	*ret = (struct member_totals) {
		.host = h->name,
		.target = m->target,
		.job = &m->work->job,
		.threads = m->work->job.numjobs,
		.is_buffered = !m->work->job.direct &&
			       h->work->targets[m->work->target].kind != TARGET_SIMULATED,
	};
	memcpy(ret->dir, m->dir, sizeof(ret->dir));
	memset(m->dir, 0, sizeof(m->dir));
	if (!m->is_done) {
		instants_from_samples(ret, h->last_read_ns);
		return;
	}
	instants_from_done(ret, d);
	ret->threads = d->threads;
	ret->has_cpu = !h->is_salvaged; /* it was to be read at the end */
	ret->cpu_usr_ns = d->cpu_usr_ns;
	ret->cpu_sys_ns = d->cpu_sys_ns;
	ret->iowq_ns = d->iowq_ns;
	ret->ctx = d->ctx;
	ret->majf = d->majf;
	ret->minf = d->minf;
	ret->effective_depth = d->effective_depth;
	ret->has_depths = m->has_depths;
	ret->depths = m->depths;
	ret->submits = m->submits;
	ret->completes = m->completes;
	ret->errors = m->errors;
	ret->nr_errors = m->nr_errors;
}

/* --- warnings --------------------------------------------------------------------------------------- */

/* "job 'x': 12 I/Os ..."; owned by the caller. */
static char *count_text(const struct step_sums *s, const struct member_sums *m, uint64_t nr,
			const char *what)
{
	_cleanup_free_ char *label = step_label(s->plan, s->step);

	return xasprintf("%sjob '%s': %" PRIu64 " %s", label, m->work->job.name, nr, what);
}

static void warn_count(struct step_sums *s, const struct host_sums *h, const struct member_sums *m,
		       uint64_t nr, const char *what)
{
	_cleanup_free_ char *text = count_text(s, m, nr, what);

	if (nr)
		result_fault(s->result, h->name, m->target, text);
}

/* "Input/output error", where the worker's errno means here what it means there. */
static const char *errno_text(const struct error_row *e)
{
	const char *name = e->number < INT_MAX ? strerrorname_np((int)e->number) : NULL;

	if (name && (!e->name || streq(name, e->name)))
		return strerrordesc_np((int)e->number);
	return e->name ? e->name : "another error";
}

/* "read: Input/output error at offset 4096 (3 of them); write: ..."; "" for none. Owned by the caller. */
static char *errors_text(const struct member_totals *t)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert(out);
	for (size_t i = 0; i < t->nr_errors; i++) {
		const struct error_row *e = &t->errors[i];

		fprintf(out, "%s%s: %s", i ? "; " : "", direction_names[e->direction],
			errno_text(e));
		if (e->first_offset != UINT64_MAX)
			fprintf(out, " at offset %" PRIu64, e->first_offset);
		fprintf(out, " (%" PRIu64 " of them)", e->count);
	}
	fclose(out);
	return text;
}

/* I/Os of a generator that was late by itself: it measured itself. */
static uint64_t late_ios(const struct member_sums *m)
{
	uint64_t nr = 0;

	for (unsigned dir = 0; dir < DIR_COUNT; dir++) {
		const struct direction_sum *d = &m->dir[dir];
		double median = (double)hist_percentile(&d->lat, 50);

		if (d->late.count && (double)hist_percentile(&d->late, 99) > LATE_SHARE * median)
			nr += d->late.count;
	}
	return nr;
}

/* A rate that was not kept is no fault: it says what the target, or the host, can do. */
static void warn_pace(struct step_sums *s, const struct host_sums *h, const struct member_sums *m,
		      const struct counts *sum)
{
	_cleanup_free_ char *what =
		xasprintf("I/Os that the rate made due were not submitted before the window's end, "
			  "the oldest %.3f s late: the target is slower than the rate",
			  (double)sum->unissued_age_ns / 1e9);
	_cleanup_free_ char *unissued = count_text(s, m, sum->unissued_ios, what);
	_cleanup_free_ char *late = count_text(
		s, m, late_ios(m),
		"I/Os are of threads that were late themselves, with slots free, by more than 5 % "
		"of their median latency; lower the rate or numjobs, or give them CPUs");

	/* Some are due just before the end. */
	if ((double)sum->unissued_ios > UNISSUED_SHARE * (double)sum->ios)
		result_warn(s->result, h->name, m->target, unissued);
	if (late_ios(m))
		result_warn(s->result, h->name, m->target, late);
}

static void warn_member(struct step_sums *s, const struct host_sums *h, const struct member_sums *m,
			const struct member_totals *t)
{
	_cleanup_free_ char *errors = NULL, *first = NULL, *unfinished = NULL;
	struct counts sum = { 0 };

	for (unsigned dir = 0; dir < DIR_COUNT; dir++)
		counts_merge(&sum, &t->dir[dir].counts);
	warn_pace(s, h, m, &sum);
	if (!sum.errors && !sum.short_ios && !sum.unfinished_ios)
		return;
	first = errors_text(t);
	errors = xasprintf("I/O error%s%s%s", sum.errors == 1 ? "" : "s", *first ? "; first: " : "",
			   first);
	unfinished = xasprintf("I/Os never completed; the oldest was %.3f s old",
			       (double)sum.unfinished_age_ns / 1e9);
	warn_count(s, h, m, sum.errors, errors);
	warn_count(s, h, m, sum.short_ios, "I/Os moved fewer bytes than asked");
	warn_count(s, h, m, sum.unfinished_ios, unfinished);
}

static void warn_host(struct step_sums *s, const struct host_sums *h)
{
	_cleanup_free_ char *label = step_label(s->plan, s->step);

	if (h->nr_late) {
		_cleanup_free_ char *text =
			xasprintf("%s%" PRIu64 " of %" PRIu64 " samples were taken late; "
				  "their rates divide by the time that "
				  "really passed",
				  label, h->nr_late, h->nr_samples);

		result_warn(s->result, h->name, NULL, text);
	}
	if (!h->is_done && h->next_sequence > h->nr_samples) {
		_cleanup_free_ char *text = xasprintf(
			"%s%" PRIu64 " of %" PRIu64 " samples were lost, and no totals came", label,
			h->next_sequence - h->nr_samples, h->next_sequence);

		result_fault(s->result, h->name, NULL, text);
	}
}

/* What the worker found worth saying about a target that it let us use. */
static void warn_devices(struct step_sums *s, const struct host_sums *h,
			 const struct ready_devices *ready)
{
	for (size_t i = 0; h->work && i < ready->nr_devices; i++) {
		const struct ready_device *d = &ready->devices[i];

		if (d->warning && *d->warning && d->target < h->work->nr_targets)
			result_warn(s->result, h->name, h->work->targets[d->target].name,
				    d->warning);
	}
}

static void warn_overlap(struct step_sums *s, double overlap)
{
	_cleanup_free_ char *label = step_label(s->plan, s->step), *text = NULL;
	double min = s->plan->scenario->fleet.min_overlap;

	if (isnan(overlap) || overlap * 100 >= min)
		return;
	text = xasprintf(
		"%sall threads ran together for only %.1f %% of the time (fleet.min_overlap "
		"is %g %%), so the total mixes different loads",
		label, overlap * 100, min);
	result_warn(s->result, NULL, NULL, text);
}

/* --- the step --------------------------------------------------------------------------------------- */

/* Spread of the hosts' first I/Os. START was each host's own image of one instant, so instants relative to
 * it are comparable, within the clocks' error. */
static void fill_start(const struct step_sums *s, struct result_step *ret)
{
	uint64_t first = UINT64_MAX, last = 0;
	size_t nr_hosts = 0, nr_known = 0;

	for (size_t i = 0; i < s->plan->hosts.nr_hosts; i++) {
		const struct host_sums *h = &s->hosts[i];
		uint64_t own = UINT64_MAX;

		nr_hosts += h->work && h->work->nr_members;
		for (size_t m = 0; h->work && m < h->work->nr_members; m++) {
			uint64_t at = h->members[m].done.first_io_ns;

			if (at && at < own)
				own = at;
		}
		if (own == UINT64_MAX)
			continue;
		nr_known++;
		if (h->clock_error_ns > ret->start_error_ns)
			ret->start_error_ns = h->clock_error_ns;
		first = own < first ? own : first;
		if (own < last)
			continue;
		last = own;
		free(ret->start_last_host);
		ret->start_last_host = xstrdup(h->name);
	}
	/* Of many hosts one alone has no spread: the others were lost. */
	ret->has_start = nr_known && (nr_known > 1 || nr_hosts == 1);
	ret->start_spread_ns = ret->has_start ? last - first : 0;
}

static double overlap_of(const struct tally *all)
{
	uint64_t from = all->first_io_ns ? all->first_io_ns : all->begin_ns;

	if (!all->nr_members || all->end_ns <= from)
		return NAN;
	if (all->all_end_ns <= all->all_begin_ns)
		return 0;
	return fmin(1.0,
		    (double)(all->all_end_ns - all->all_begin_ns) / (double)(all->end_ns - from));
}

static void fill_hosts(const struct step_sums *s, struct result_step *ret)
{
	size_t nr = 0, done = 0, present = 0;

	ret->partial = s->is_cut;
	for (size_t i = 0; i < s->plan->hosts.nr_hosts; i++) {
		const struct host_sums *h = &s->hosts[i];

		nr += h->work != NULL;
		done += h->is_done;
		present += h->is_done || (s->is_abandoned && h->nr_samples);
		ret->partial |= h->was_stopped || h->is_salvaged;
	}
	if (done == nr)
		return;
	ret->partial = true;
	if (present < nr)
		ret->hosts_text = xasprintf("%zu of %zu hosts", present, nr);
}

static void fill_groups(struct step_sums *s, struct result_step *ret)
{
	ret->groups = xcalloc(s->nr_groups, sizeof(*ret->groups));
	for (size_t i = 0; i < s->nr_groups; i++)
		if (i == 0 || s->groups[i].nr_members)
			tally_finish(&s->groups[i], &ret->groups[ret->nr_groups++]);
}

static void fill_point(const struct step_sums *s, struct result_step *ret)
{
	const struct point *p = &s->plan->points[s->step->point];

	ret->point = xcalloc(p->nr_values, sizeof(*ret->point));
	ret->nr_point = p->nr_values;
	for (size_t i = 0; i < p->nr_values; i++)
		ret->point[i] = (struct text_pair) {
			.key = xstrdup(p->values[i].key),
			.value = xstrdup(p->values[i].value),
		};
	ret->repeat = s->step->repeat + 1;
	ret->phase = xstrdup(s->step->phase_name ? s->step->phase_name : "");
}

/* Every member goes to all the groups that it is in. */
static void add_members(struct step_sums *s, struct host_sums *h)
{
	for (size_t i = 0; h->work && i < h->work->nr_members; i++) {
		struct member_sums *m = &h->members[i];
		struct member_totals t;

		if (!m->nr_tallies)
			continue;
		member_take(h, m, &t);
		warn_member(s, h, m, &t);
		for (size_t k = 0; k < m->nr_tallies; k++)
			tally_add(m->tallies[k], &t);
		for (unsigned dir = 0; dir < DIR_COUNT; dir++)
			direction_sum_fini(&t.dir[dir]);
	}
}

bool step_sums_finish(struct step_sums *s, const struct ready_devices *ready,
		      struct result_step *ret)
{
	if (s->step->measured) {
		*ret = (struct result_step) { 0 };
		step_devices_finish(s, ready, ret);
	}
	for (size_t i = 0; i < s->plan->hosts.nr_hosts; i++) {
		add_members(s, &s->hosts[i]);
		warn_host(s, &s->hosts[i]);
		warn_devices(s, &s->hosts[i], &ready[i]);
	}
	if (!s->step->measured)
		return false;
	ret->overlap = overlap_of(&s->groups[0]);
	ret->min_overlap = s->plan->scenario->fleet.min_overlap / 100;
	fill_point(s, ret);
	step_fill_jobs(s->plan, s->step, ret);
	fill_hosts(s, ret);
	fill_start(s, ret);
	fill_groups(s, ret);
	if (!ret->partial)
		warn_overlap(s, ret->overlap);
	return true;
}
