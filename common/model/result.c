/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/result.h"

const char *const run_status_names[] = {
	[RUN_COMPLETE] = "complete",
	[RUN_PARTIAL] = "partial",
	[RUN_ABORTED] = "aborted",
	[RUN_FAILED] = "failed",
};

const char *const host_state_names[] = {
	[HOST_COMPLETE] = "complete",
	[HOST_LOST] = "lost",
	[HOST_HUNG] = "hung",
};

const char *const check_state_names[] = {
	[CHECK_PASSED] = "passed",
	[CHECK_FAILED] = "failed",
	[CHECK_SKIPPED] = "skipped",
};

/* A peer that warns without end must neither fill memory nor drown what others say: so many are kept of each host,
 * and of all, and one that says that there were more. */
enum { WARNINGS_OF_HOST = 1000, WARNINGS_MAX = 20000 };

static void pairs_fini(struct text_pair *pairs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(pairs[i].key);
		free(pairs[i].value);
	}
	free(pairs);
}

static void groups_fini(struct result_group *groups, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		result_group_fini(&groups[i]);
	free(groups);
}

void result_group_fini(struct result_group *g)
{
	free(g->name);
	for (size_t i = 0; i < g->nr_errors; i++) {
		free(g->errors[i].name);
		free(g->errors[i].first_host);
		free(g->errors[i].first_target);
	}
	free(g->errors);
	for (unsigned dir = 0; dir < DIR_COUNT; dir++)
		direction_sum_fini(&g->dir[dir].sum);
	direction_sum_fini(&g->total.sum);
	groups_fini(g->hosts, g->nr_hosts);
	groups_fini(g->targets, g->nr_targets);
	groups_fini(g->jobs, g->nr_jobs);
	*g = (struct result_group) { 0 };
}

static void device_fini(struct result_device *d)
{
	free(d->host);
	free(d->target);
	free(d->path);
	free(d->identity);
	free(d->transport);
	free(d->disk);
}

static void job_fini(struct result_job *j)
{
	free(j->name);
	free(j->group);
	pairs_fini(j->options, j->nr_options);
	free(j->hosts);
	free(j->targets);
}

static void check_fini(struct result_check *c)
{
	free(c->text);
	pairs_fini(c->point, c->nr_point);
	free(c->phase);
	free(c->why);
}

static void step_fini(struct result_step *s)
{
	pairs_fini(s->point, s->nr_point);
	free(s->phase);
	free(s->start_last_host);
	free(s->hosts_text);
	for (size_t i = 0; i < s->nr_jobs; i++)
		job_fini(&s->jobs[i]);
	free(s->jobs);
	groups_fini(s->groups, s->nr_groups);
	for (size_t i = 0; i < s->nr_devices; i++)
		device_fini(&s->devices[i]);
	free(s->devices);
	for (size_t i = 0; i < s->nr_stuck; i++) {
		free(s->stuck[i].host);
		free(s->stuck[i].target);
		free(s->stuck[i].path);
	}
	free(s->stuck);
}

static void summary_fini(struct result_summary *s)
{
	pairs_fini(s->point, s->nr_point);
	free(s->phase);
	free(s->group);
	for (size_t i = 0; i < s->nr_metrics; i++) {
		free(s->metrics[i].name);
		free(s->metrics[i].values);
	}
	free(s->metrics);
}

static void host_fini(struct result_host *h)
{
	free(h->name);
	free(h->address);
	free(h->role);
	pairs_fini(h->labels, h->nr_labels);
	pairs_fini(h->environment, h->nr_environment);
}

static void warning_fini(struct result_warning *w)
{
	free(w->host);
	free(w->target);
	free(w->text);
}

void result_fini(struct result *r)
{
	free(r->id);
	free(r->name);
	free(r->description);
	free(r->version);
	free(r->started);
	free(r->ended);
	pairs_fini(r->labels, r->nr_labels);
	for (size_t i = 0; i < r->nr_hosts; i++)
		host_fini(&r->hosts[i]);
	free(r->hosts);
	for (size_t i = 0; i < r->nr_warnings; i++)
		warning_fini(&r->warnings[i]);
	free(r->warnings);
	for (size_t i = 0; i < r->nr_steps; i++)
		step_fini(&r->steps[i]);
	free(r->steps);
	for (size_t i = 0; i < r->nr_summary; i++)
		summary_fini(&r->summary[i]);
	free(r->summary);
	for (size_t i = 0; i < r->nr_checks; i++)
		check_fini(&r->checks[i]);
	free(r->checks);
	*r = (struct result) { 0 };
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

static char *copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static void append_warning(struct result *r, const char *host, const char *target, const char *text,
			   bool is_fault)
{
	r->warnings = xrealloc(r->warnings, r->nr_warnings + 1, sizeof(*r->warnings));
	r->warnings[r->nr_warnings++] = (struct result_warning) {
		.host = copy_text(host),
		.target = copy_text(target),
		.text = xstrdup(text),
		.is_fault = is_fault,
	};
}

static void add_warning(struct result *r, const char *host, const char *target, const char *text,
			bool is_fault)
{
	size_t nr_of_host = 0;

	for (size_t i = 0; i < r->nr_warnings; i++) {
		const struct result_warning *w = &r->warnings[i];
		bool is_of_host = same_text(w->host, host);

		if (is_of_host && streq(w->text, text) && same_text(w->target, target))
			return;
		nr_of_host += is_of_host;
	}
	if (r->nr_warnings > WARNINGS_MAX || nr_of_host > WARNINGS_OF_HOST)
		return;
	if (r->nr_warnings == WARNINGS_MAX)
		append_warning(r, NULL, NULL, "further warnings were not kept", false);
	else if (nr_of_host == WARNINGS_OF_HOST)
		append_warning(r, host, NULL, "further warnings of it were not kept", false);
	else
		append_warning(r, host, target, text, is_fault);
}

void result_warn(struct result *r, const char *host, const char *target, const char *text)
{
	add_warning(r, host, target, text, false);
}

void result_fault(struct result *r, const char *host, const char *target, const char *text)
{
	add_warning(r, host, target, text, true);
}
