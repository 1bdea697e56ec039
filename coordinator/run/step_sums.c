/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/step_devices.h"

#include <inttypes.h>

/* A sample that was taken so much later than the interval asks for is called late. */
static const double LATE_SAMPLE = 1.2;
/* Larger numbers of intervals are no measurement (an interval of 100 ms: 13 years). */
enum { INTERVAL_MAX = INT32_MAX };

/* --- set-up: which member is in which group -------------------------------------------------------- */

static struct tally *named_tally(struct tally *tallies, size_t *nr, const char *name)
{
	for (size_t i = 0; i < *nr; i++)
		if (streq(tallies[i].name, name))
			return &tallies[i];
	tallies[*nr].name = name;
	return &tallies[(*nr)++];
}

static size_t count_targets(const struct step *step)
{
	size_t nr = 0;

	for (size_t i = 0; i < step->nr_jobs; i++)
		nr += step->jobs[i].nr_target;
	return nr;
}

/* `all` and the named groups in file order, each with room for all that can be below it. */
static void make_groups(struct step_sums *s)
{
	const struct step *step = s->step;
	size_t nr_targets = count_targets(step);

	s->groups = xcalloc(step->nr_jobs + 1, sizeof(*s->groups));
	named_tally(s->groups, &s->nr_groups, "all");
	for (size_t i = 0; i < step->nr_jobs; i++)
		if (step->jobs[i].group)
			named_tally(s->groups, &s->nr_groups, step->jobs[i].group);
	for (size_t i = 0; i < s->nr_groups; i++) {
		struct tally *g = &s->groups[i];

		g->nr_hosts = s->plan->hosts.nr_hosts;
		g->hosts = xcalloc(g->nr_hosts, sizeof(*g->hosts));
		for (size_t h = 0; h < g->nr_hosts; h++)
			g->hosts[h].name = s->plan->hosts.hosts[h].name;
		g->targets = xcalloc(nr_targets, sizeof(*g->targets));
		g->jobs = xcalloc(step->nr_jobs, sizeof(*g->jobs));
		g->nr_jobs = step->nr_jobs;
		for (size_t j = 0; j < step->nr_jobs; j++)
			g->jobs[j].name = step->jobs[j].name;
	}
}

/* The host's intervals count for this tally. */
static void join_tally(struct step_sums *s, struct host_sums *h, struct tally *t)
{
	struct series *series = &t->series;

	for (size_t i = 0; i < h->nr_tallies; i++)
		if (h->tallies[i] == t)
			return;
	h->tallies = xrealloc(h->tallies, h->nr_tallies + 1, sizeof(*h->tallies));
	h->tallies[h->nr_tallies++] = t;
	series->interval_ns = s->plan->scenario->interval_ns;
	series->start_ns = series->interval_ns ? h->ramp_ns % series->interval_ns : 0;
	series->nr_hosts++;
}

static void join_group(struct step_sums *s, size_t host, struct member_sums *m, struct tally *g)
{
	struct tally *t[] = {
		g,
		&g->hosts[host],
		named_tally(g->targets, &g->nr_targets, m->target),
		&g->jobs[m->work->job_index],
	};

	for (size_t i = 0; i < array_size(t); i++) {
		m->tallies[m->nr_tallies++] = t[i];
		join_tally(s, &s->hosts[host], t[i]);
	}
}

static void set_windows(struct host_sums *h)
{
	h->ramp_ns = h->work->nr_members ? UINT64_MAX : 0;
	h->all_to_ns = UINT64_MAX;
	for (size_t i = 0; i < h->work->nr_members; i++) {
		const struct job *job = &h->work->members[i].job;
		uint64_t end = job->runtime_ns ? job->ramp_time_ns + job->runtime_ns : UINT64_MAX;

		h->ramp_ns = job->ramp_time_ns < h->ramp_ns ? job->ramp_time_ns : h->ramp_ns;
		h->all_from_ns =
			job->ramp_time_ns > h->all_from_ns ? job->ramp_time_ns : h->all_from_ns;
		h->all_to_ns = end < h->all_to_ns ? end : h->all_to_ns;
	}
}

static void make_host(struct step_sums *s, size_t host, uint64_t start_ns)
{
	const struct result_host *known = &s->result->hosts[host];
	struct host_sums *h = &s->hosts[host];

	h->name = known->name;
	h->last_interval = -1;
	h->work = s->step->hosts[host];
	if (!h->work)
		return;
	h->is_lost = known->state != HOST_COMPLETE;
	h->start_ns = start_ns + (uint64_t)known->clock_offset_ns;
	h->clock_error_ns = known->clock_error_ns;
	h->members = xcalloc(h->work->nr_members, sizeof(*h->members));
	set_windows(h);
	for (size_t i = 0; i < h->work->nr_members; i++) {
		struct member_sums *m = &h->members[i];

		m->work = &h->work->members[i];
		m->target = h->work->targets[m->work->target].name;
		h->threads += m->work->job.numjobs;
	}
	for (size_t i = 0; !h->is_lost && i < h->work->nr_members; i++) {
		struct member_sums *m = &h->members[i];
		const char *group = m->work->job.group;

		join_group(s, host, m, &s->groups[0]);
		if (group)
			join_group(s, host, m, named_tally(s->groups, &s->nr_groups, group));
	}
}

void step_sums_init(struct step_sums *s, const struct plan *plan, size_t step, uint64_t start_ns,
		    struct result *result)
{
	*s = (struct step_sums) {
		.plan = plan,
		.step = &plan->steps[step],
		.result = result,
		.hosts = xcalloc(plan->hosts.nr_hosts, sizeof(*s->hosts)),
	};
	make_groups(s);
	for (size_t i = 0; i < plan->hosts.nr_hosts; i++)
		make_host(s, i, start_ns);
}

void step_sums_clock(struct step_sums *s, size_t host, int64_t offset_ns, uint64_t error_ns,
		     uint64_t start_ns)
{
	struct host_sums *h = &s->hosts[host];

	if (h->nr_samples || h->is_done)
		return;
	h->start_ns = start_ns + (uint64_t)offset_ns;
	h->clock_error_ns = error_ns;
}

static void free_errors(struct member_sums *m)
{
	for (size_t i = 0; i < m->nr_errors; i++)
		free(m->errors[i].name);
	free(m->errors);
}

static void host_fini(struct host_sums *h)
{
	for (size_t i = 0; h->work && i < h->work->nr_members; i++) {
		for (unsigned dir = 0; dir < DIR_COUNT; dir++)
			direction_sum_fini(&h->members[i].dir[dir]);
		free_errors(&h->members[i]);
	}
	free(h->members);
	free(h->tallies);
	step_devices_fini(h);
}

void step_sums_fini(struct step_sums *s)
{
	for (size_t i = 0; s->plan && i < s->plan->hosts.nr_hosts; i++)
		host_fini(&s->hosts[i]);
	free(s->hosts);
	for (size_t i = 0; i < s->nr_groups; i++)
		tally_fini(&s->groups[i]);
	free(s->groups);
	*s = (struct step_sums) { 0 };
}

/* --- samples ---------------------------------------------------------------------------------------- */

/* The peer's bytes are checked before anything of them is added. */
static bool decode_hist(struct hist *to, const uint8_t *data, size_t len)
{
	_cleanup_(hist_fini) struct hist h = { 0 };

	if (!len)
		return true;
	if (!hist_decode_add(&h, data, len))
		return false;
	hist_merge(to, &h);
	/* A difference may hold a sum whose counts came with the one before. */
	if (!h.count)
		to->sum += h.sum;
	return true;
}

static struct error *add_row(const struct member_row *row, struct direction_sum *to)
{
	to += row->direction;
	counts_merge(&to->counts, &row->counts);
	if (!decode_hist(&to->lat, row->lat, row->lat_len) ||
	    !decode_hist(&to->clat, row->clat, row->clat_len) ||
	    !decode_hist(&to->slat, row->slat, row->slat_len) ||
	    !decode_hist(&to->service, row->service, row->service_len) ||
	    !decode_hist(&to->late, row->late, row->late_len))
		return error_new(ERR_PROTOCOL, "sent bytes that are no histogram");
	return NULL;
}

static struct error *check_row(const struct host_sums *h, const struct member_row *row)
{
	if (row->member >= h->work->nr_members)
		return error_new(ERR_PROTOCOL, "sent numbers of a member that it does not have");
	if (row->direction < 0 || row->direction >= DIR_COUNT)
		return error_new(ERR_PROTOCOL, "sent numbers of an unknown direction");
	return NULL;
}

static struct error *check_sample(const struct host_sums *h, const struct msg_sample *m)
{
	if (!h->work || h->is_done || h->is_lost)
		return error_new(ERR_PROTOCOL, "sent a sample out of turn");
	if (m->sequence < h->next_sequence)
		return error_new(ERR_PROTOCOL, "sent sample %" PRIu64 " again", m->sequence);
	if (m->to_ns < m->from_ns || m->interval < -1 || m->interval >= INTERVAL_MAX)
		return error_new(ERR_PROTOCOL, "sent a sample with impossible instants");
	for (size_t i = 0; i < m->nr_rows; i++) {
		struct error *err = check_row(h, &m->rows[i]);

		if (err)
			return err;
	}
	return NULL;
}

/* Puts a whole interval's rates into the series of all groups that the host is in. */
static void add_interval(struct step_sums *s, struct host_sums *h, const struct msg_sample *m,
			 bool is_full)
{
	uint64_t interval_ns = s->plan->scenario->interval_ns, index, from_ns;
	double seconds = (double)(m->to_ns - m->from_ns) / 1e9;
	bool is_whole;

	if (m->interval <= h->last_interval || m->to_ns == m->from_ns || !interval_ns)
		return;
	h->last_interval = m->interval;
	h->nr_late += seconds * 1e9 > LATE_SAMPLE * (double)interval_ns;
	index = (uint64_t)m->interval + h->ramp_ns / interval_ns;
	from_ns = h->ramp_ns + (uint64_t)m->interval * interval_ns;
	is_whole = h->was_full && is_full && from_ns >= h->all_from_ns &&
		   from_ns + interval_ns <= h->all_to_ns;
	for (size_t i = 0; i < m->nr_rows; i++) {
		const struct member_row *row = &m->rows[i];
		const struct member_sums *member = &h->members[row->member];

		for (size_t t = 0; t < member->nr_tallies; t++)
			series_add(&member->tallies[t]->series, index,
				   (enum direction)row->direction,
				   (double)row->counts.ios / seconds,
				   (double)row->counts.bytes / seconds);
	}
	for (size_t t = 0; t < h->nr_tallies; t++)
		series_arrive(&h->tallies[t]->series, index, is_whole);
}

/* What progress shows; I/Os of the ramp are work too. */
static void set_live(struct host_sums *h, const struct msg_sample *m)
{
	double seconds = (double)(m->to_ns - m->from_ns) / 1e9;
	uint64_t ios = 0, bytes = 0;

	h->running = m->running;
	h->oldest_ns = m->oldest_ns;
	if (m->to_ns == m->from_ns)
		return;
	for (size_t i = 0; i < m->nr_rows; i++) {
		if (m->rows[i].direction == DIR_SYNC)
			continue;
		ios += m->rows[i].counts.ios + m->rows[i].counts.ramp_ios;
		bytes += m->rows[i].counts.bytes + m->rows[i].counts.ramp_bytes;
	}
	h->iops = (double)ios / seconds;
	h->bw_bytes = (double)bytes / seconds;
}

struct error *step_sums_sample(struct step_sums *s, size_t host, const struct msg_sample *m)
{
	struct host_sums *h = &s->hosts[host];
	bool is_full = m->running >= h->threads;
	struct error *err = check_sample(h, m);

	if (err)
		return err;
	for (size_t i = 0; i < m->nr_rows; i++) {
		err = add_row(&m->rows[i], h->members[m->rows[i].member].dir);
		if (err)
			return err;
		s->errors += m->rows[i].counts.errors;
	}
	h->nr_samples++;
	h->next_sequence = m->sequence + 1;
	if (m->to_ns > h->start_ns)
		h->last_read_ns = m->to_ns - h->start_ns;
	set_live(h, m);
	add_interval(s, h, m, is_full);
	h->was_full = is_full;
	return NULL;
}

/* --- totals ----------------------------------------------------------------------------------------- */

/* What the samples and the totals disagree about, of one member and direction; NULL: nothing. MAX metrics
 * and the bounds of histograms are no sums and are not compared. */
static char *difference(const struct direction_sum *samples, const struct direction_sum *totals)
{
	for (unsigned i = 0; i < NR_METRICS; i++) {
		uint64_t a = metric_value(&samples->counts, &metrics[i]);
		uint64_t b = metric_value(&totals->counts, &metrics[i]);

		if (metrics[i].merge == METRIC_SUM && a != b)
			return xasprintf("%s %" PRIu64 " in the samples, %" PRIu64 " in the totals",
					 metrics[i].name, a, b);
	}
	for (unsigned i = 0; i <= HIST_OVERFLOW; i++)
		if (hist_bucket(&samples->lat, i) != hist_bucket(&totals->lat, i))
			return xstrdup(
				"another latency histogram in the samples than in the totals");
	return NULL;
}

static void warn_difference(struct step_sums *s, const struct host_sums *h,
			    const struct member_sums *m, enum direction dir, const char *what)
{
	_cleanup_free_ char *label = step_label(s->plan, s->step);
	_cleanup_free_ char *text =
		xasprintf("%sjob '%s': the sum of the samples differs from the totals, which are "
			  "reported: %s: %s",
			  label, m->work->job.name, direction_names[dir], what);

	result_warn(s->result, h->name, m->target, text);
}

/* Every latency of the window and after it, and nothing else, is in the histogram. */
static void check_population(struct step_sums *s, const struct host_sums *h,
			     const struct member_sums *m, enum direction dir,
			     const struct direction_sum *d)
{
	_cleanup_free_ char *what = NULL;

	if (d->lat.count == d->counts.ios + d->counts.drain_ios)
		return;
	what = xasprintf("%" PRIu64 " latencies of %" PRIu64 " I/Os", d->lat.count,
			 d->counts.ios + d->counts.drain_ios);
	warn_difference(s, h, m, dir, what);
}

/* The exact totals take the place of the samples' sums. */
static void replace_sums(struct step_sums *s, struct host_sums *h, struct direction_sum *totals,
			 bool all_samples)
{
	for (size_t i = 0; i < h->work->nr_members * DIR_COUNT; i++) {
		struct member_sums *m = &h->members[i / DIR_COUNT];
		struct direction_sum *sum = &m->dir[i % DIR_COUNT];
		_cleanup_free_ char *what = all_samples ? difference(sum, &totals[i]) : NULL;

		if (what)
			warn_difference(s, h, m, (enum direction)(i % DIR_COUNT), what);
		check_population(s, h, m, (enum direction)(i % DIR_COUNT), &totals[i]);
		s->errors += totals[i].counts.errors - sum->counts.errors;
		direction_sum_fini(sum);
		*sum = totals[i];
		totals[i] = (struct direction_sum) { 0 };
	}
}

static void check_samples(struct step_sums *s, const struct host_sums *h, uint64_t sent)
{
	_cleanup_free_ char *label = step_label(s->plan, s->step), *text = NULL;

	if (sent <= h->nr_samples)
		return;
	text = xasprintf("%s%" PRIu64 " of %" PRIu64
			 " samples were lost; figures per interval lack them, totals "
			 "do not",
			 label, sent - h->nr_samples, sent);
	result_warn(s->result, h->name, NULL, text);
}

static struct error *take_rows(struct host_sums *h, const struct msg_done *m,
			       struct direction_sum *totals)
{
	for (size_t i = 0; i < m->nr_rows; i++) {
		struct error *err = check_row(h, &m->rows[i]);

		if (!err)
			err = add_row(&m->rows[i], totals + m->rows[i].member * DIR_COUNT);
		if (err)
			return err;
	}
	return NULL;
}

static bool is_pow2_row(const struct pow2_row *row)
{
	return row->from && row->from < 1u << POW2_BUCKETS && !(row->from & (row->from - 1));
}

static struct error *check_member(const struct host_sums *h, const struct member_done *m)
{
	bool good = true;

	if (m->member >= h->work->nr_members)
		return error_new(ERR_PROTOCOL, "sent totals of a member that it does not have");
	for (size_t i = 0; i < m->nr_depths; i++)
		good &= is_pow2_row(&m->depths[i]);
	for (size_t i = 0; i < m->nr_submits; i++)
		good &= is_pow2_row(&m->submits[i]);
	for (size_t i = 0; i < m->nr_completes; i++)
		good &= is_pow2_row(&m->completes[i]);
	if (!good)
		return error_new(ERR_PROTOCOL,
				 "sent a distribution whose buckets are no powers of two");
	for (size_t i = 0; i < m->nr_errors; i++)
		if (m->errors[i].direction < 0 || m->errors[i].direction >= DIR_COUNT)
			return error_new(ERR_PROTOCOL, "sent errors of an unknown direction");
	return NULL;
}

static struct error *check_done(const struct host_sums *h, const struct msg_done *m)
{
	if (!h->work || h->is_done || h->is_lost)
		return error_new(ERR_PROTOCOL, "sent totals out of turn");
	for (size_t i = 0; i < m->nr_members; i++) {
		struct error *err = check_member(h, &m->members[i]);

		if (err)
			return err;
	}
	for (size_t i = 0; i < m->nr_devices; i++)
		if (m->devices[i].target >= h->work->nr_targets)
			return error_new(ERR_PROTOCOL, "sent counters of an unknown target");
	for (size_t i = 0; i < m->nr_stuck; i++)
		if (m->stuck[i].target >= h->work->nr_targets)
			return error_new(ERR_PROTOCOL, "sent I/Os of an unknown target");
	return NULL;
}

static void add_pow2(struct pow2_counts *to, const struct pow2_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		to->bucket[pow2_bucket(rows[i].from)] += rows[i].count;
}

static void take_errors(struct member_sums *to, const struct member_done *from)
{
	free_errors(to);
	to->errors = xcalloc(from->nr_errors, sizeof(*to->errors));
	to->nr_errors = from->nr_errors;
	for (size_t i = 0; i < from->nr_errors; i++) {
		to->errors[i] = from->errors[i];
		if (to->errors[i].name)
			to->errors[i].name = xstrdup(to->errors[i].name);
	}
}

/* A member that moved nothing has no distributions, and lacks none. */
static bool has_any_io(const struct member_sums *m)
{
	for (unsigned dir = 0; dir < DIR_SYNC; dir++)
		if (m->dir[dir].counts.ios || m->dir[dir].counts.drain_ios)
			return true;
	return false;
}

static void take_member(struct member_sums *to, const struct member_done *from)
{
	to->done = *from;
	to->done.depths = to->done.submits = to->done.completes = NULL;
	to->done.errors = NULL;
	to->depths = to->submits = to->completes = (struct pow2_counts) { 0 };
	add_pow2(&to->depths, from->depths, from->nr_depths);
	add_pow2(&to->submits, from->submits, from->nr_submits);
	add_pow2(&to->completes, from->completes, from->nr_completes);
	to->has_depths = from->nr_depths || !has_any_io(to);
	take_errors(to, from);
	to->is_done = true;
}

static void totals_free(struct direction_sum *totals, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		direction_sum_fini(&totals[i]);
	free(totals);
}

/* They are about this step, whatever they say of it. */
static void warn_done(struct step_sums *s, const struct host_sums *h, const struct msg_done *m)
{
	_cleanup_free_ char *label = step_label(s->plan, s->step);

	for (size_t i = 0; i < m->nr_warnings; i++) {
		_cleanup_free_ char *text = xasprintf("%s%s", label, m->warnings[i]);

		result_warn(s->result, h->name, NULL, text);
	}
}

struct error *step_sums_done(struct step_sums *s, size_t host, const struct msg_done *m)
{
	struct host_sums *h = &s->hosts[host];
	struct error *err = check_done(h, m);
	struct direction_sum *totals;
	size_t nr;

	if (err)
		return err;
	nr = h->work->nr_members * DIR_COUNT;
	totals = xcalloc(nr, sizeof(*totals));
	err = take_rows(h, m, totals);
	if (!err) {
		check_samples(s, h, m->samples);
		replace_sums(s, h, totals, m->samples == h->nr_samples);
		for (size_t i = 0; i < m->nr_members; i++)
			take_member(&h->members[m->members[i].member], &m->members[i]);
		h->is_done = true;
		h->was_stopped = m->stopped;
		h->is_salvaged = m->failure != NULL;
		step_devices_take(h, m);
		warn_done(s, h, m);
	}
	totals_free(totals, nr);
	return err;
}

void step_sums_lost(struct step_sums *s, size_t host)
{
	struct host_sums *h = &s->hosts[host];

	h->is_lost = !h->is_done;
}
