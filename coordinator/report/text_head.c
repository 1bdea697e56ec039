/* SPDX-License-Identifier: Apache-2.0 */
/* text_head.c - the top of the report: what ran and what is suspicious about it. */
#include "coordinator/report/text.h"

#include "common/model/hostlist.h"

#include <inttypes.h>
#include <math.h>

enum {
	WARNINGS_SHOWN = 20, /* lines that say something else than the others */
	CHECKS_SHOWN = 20,   /* failed ones */
};

static void print_labels(const struct result *r, FILE *out)
{
	_cleanup_free_ char *labels = text_point(r->labels, r->nr_labels);

	if (r->nr_labels)
		text_line(out, "labels", labels);
}

/* --- hosts ------------------------------------------------------------------------------------------ */

static bool is_observer(const struct result_host *h)
{
	return h->role && streq(h->role, "observer");
}

static bool is_initiator(const struct result_host *h)
{
	return !is_observer(h);
}

/* "4: node[1-4]" of the hosts that the question is true of. */
static void print_hosts(const struct result *r, const char *label,
			bool (*question)(const struct result_host *h), FILE *out)
{
	_cleanup_free_ const char **names = xcalloc(r->nr_hosts, sizeof(*names));
	_cleanup_free_ char *folded = NULL, *line = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_hosts; i++)
		if (question(&r->hosts[i]))
			names[nr++] = r->hosts[i].name;
	if (!nr)
		return;
	folded = hostlist_fold(names, nr);
	line = xasprintf("%zu: %s", nr, folded);
	text_line(out, label, line);
}

static bool same_labels(const struct result_host *a, const struct result_host *b)
{
	_cleanup_free_ char *of_a = text_point(a->labels, a->nr_labels);
	_cleanup_free_ char *of_b = text_point(b->labels, b->nr_labels);

	return streq(of_a, of_b);
}

/* "rack=a: node[1-2]", a line for each set of labels that hosts have. */
static void print_host_labels(const struct result *r, FILE *out)
{
	_cleanup_free_ const char **names = xcalloc(r->nr_hosts, sizeof(*names));

	for (size_t i = 0; i < r->nr_hosts; i++) {
		const struct result_host *h = &r->hosts[i];
		_cleanup_free_ char *labels = text_point(h->labels, h->nr_labels);
		_cleanup_free_ char *folded = NULL, *line = NULL;
		bool is_first = true;
		size_t nr = 0;

		for (size_t k = 0; k < r->nr_hosts; k++) {
			if (!same_labels(h, &r->hosts[k]))
				continue;
			is_first &= nr || k == i;
			names[nr++] = r->hosts[k].name;
		}
		if (!h->nr_labels || !is_first)
			continue;
		folded = hostlist_fold(names, nr);
		line = xasprintf("%s: %s", labels, folded);
		text_line(out, "", line);
	}
}

/* "lost      2: node[3-4], the first one 3.2 s after the start" */
static void print_gone(const struct result *r, int state, FILE *out)
{
	_cleanup_free_ const char **names = xcalloc(r->nr_hosts, sizeof(*names));
	_cleanup_free_ char *folded = NULL, *when = NULL, *line = NULL;
	uint64_t first_ns = UINT64_MAX;
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_hosts; i++) {
		const struct result_host *h = &r->hosts[i];

		if (h->state != state)
			continue;
		names[nr++] = h->name;
		first_ns = h->lost_at_ns < first_ns ? h->lost_at_ns : first_ns;
	}
	if (!nr)
		return;
	folded = hostlist_fold(names, nr);
	if (first_ns <= 1) /* an instant that stands for "before it" */
		when = xstrdup("before the start");
	else
		when = xasprintf("%.1f s after the start", (double)first_ns / 1e9);
	line = xasprintf("%zu: %s, %s%s", nr, folded, nr > 1 ? "the first one " : "", when);
	text_line(out, host_state_names[state], line);
}

static const char *exit_status_meaning(int status)
{
	switch (status) {
	case 1:
		return " (errors, a failed check, or something that could not be kept)";
	case 3:
		return " (a worker was lost, hangs or refused)";
	case 130:
		return " (stopped by the user)";
	default:
		return "";
	}
}

static char *exit_status_text(int status)
{
	if (status < 0)
		return xstrdup("no exit status (it did not come to its end)");
	return xasprintf("exit status %d%s", status, exit_status_meaning(status));
}

void text_head(const struct result *r, FILE *out)
{
	_cleanup_free_ char *status = exit_status_text(r->exit_status);
	_cleanup_free_ char *first = xasprintf("%s: %s, %s", r->name ? r->name : "run",
					       run_status_names[r->status], status);
	_cleanup_free_ char *title = str_printable(first);
	_cleanup_free_ char *run =
		xasprintf("%s, salvo %s", r->id ? r->id : "-", r->version ? r->version : "-");
	_cleanup_free_ char *when =
		xasprintf("%s to %s", r->started ? r->started : "-", r->ended ? r->ended : "-");

	text_wrap(out, title, 0, 10, REPORT_WIDTH);
	if (r->description && *r->description)
		text_line(out, "", r->description);
	text_line(out, "run", run);
	text_line(out, "time", when);
	print_hosts(r, "hosts", is_initiator, out);
	print_host_labels(r, out);
	print_hosts(r, "observers", is_observer, out);
	print_gone(r, HOST_LOST, out);
	print_gone(r, HOST_HUNG, out);
	print_labels(r, out);
}

/* --- warnings --------------------------------------------------------------------------------------- */

/* Warnings that differ only in host and numbers. */
struct fold {
	const struct result_warning *first;
	size_t nr;
	bool is_same; /* in their numbers, too */
	const char **hosts;
	size_t nr_hosts;
};

static const char *skip_number(const char *text)
{
	while ((*text >= '0' && *text <= '9') || *text == '.')
		text++;
	return text;
}

static bool same_shape(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		if (*a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
			a = skip_number(a);
			b = skip_number(b);
		}
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
	return *a == *b;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

static bool is_like(const struct result_warning *a, const struct result_warning *b)
{
	return a->is_fault == b->is_fault && same_text(a->target, b->target) &&
	       !a->host == !b->host && same_shape(a->text, b->text);
}

static void fold_add(struct fold *f, const struct result_warning *w)
{
	f->nr++;
	f->is_same &= streq(f->first->text, w->text);
	if (!w->host)
		return;
	for (size_t i = 0; i < f->nr_hosts; i++)
		if (streq(f->hosts[i], w->host))
			return;
	f->hosts = xrealloc(f->hosts, f->nr_hosts + 1, sizeof(*f->hosts));
	f->hosts[f->nr_hosts++] = w->host;
}

static void print_fold(const struct fold *f, FILE *out)
{
	const struct result_warning *w = f->first;
	_cleanup_free_ char *folded = f->nr_hosts ? hostlist_fold(f->hosts, f->nr_hosts) : NULL;
	_cleanup_free_ char *more =
		f->is_same ? xstrdup("")
			   : xasprintf(" (%s%s%zu more with other numbers: result.json)",
				       f->nr_hosts > 1 ? f->hosts[0] : "",
				       f->nr_hosts > 1 ? "'s; " : "", f->nr - 1);
	_cleanup_free_ char *text =
		xasprintf("%s%s%s%s%s%s", folded ? folded : "", folded ? ": " : "",
			  w->target ? w->target : "", w->target ? ": " : "", w->text, more);
	_cleanup_free_ char *printable = str_printable(text);

	fputs(w->is_fault ? "  ! " : "  - ", out);
	text_wrap(out, printable, 4, 4, REPORT_WIDTH);
}

static void print_folds(const struct fold *folds, size_t nr, bool faults, size_t *shown,
			size_t *left_out, FILE *out)
{
	for (size_t i = 0; i < nr; i++) {
		if (folds[i].first->is_fault != faults)
			continue;
		if (*shown < WARNINGS_SHOWN)
			print_fold(&folds[i], out);
		else
			*left_out += folds[i].nr;
		(*shown)++;
	}
}

void text_warnings(const struct result *r, FILE *out)
{
	struct fold *folds = xcalloc(r->nr_warnings, sizeof(*folds));
	size_t nr = 0, shown = 0, left_out = 0;

	for (size_t i = 0; i < r->nr_warnings; i++) {
		const struct result_warning *w = &r->warnings[i];
		size_t f = 0;

		while (f < nr && !is_like(folds[f].first, w))
			f++;
		if (f == nr)
			folds[nr++] = (struct fold) { .first = w, .is_same = true };
		fold_add(&folds[f], w);
	}
	if (nr)
		fprintf(out, "\nWARNINGS (%zu)\n", r->nr_warnings);
	print_folds(folds, nr, true, &shown, &left_out, out);
	print_folds(folds, nr, false, &shown, &left_out, out);
	if (left_out)
		fprintf(out, "  and %zu more: warnings[] of result.json\n", left_out);
	for (size_t i = 0; i < nr; i++)
		free(folds[i].hosts);
	free(folds);
}

/* --- checks ----------------------------------------------------------------------------------------- */

static void add_check(struct table *t, const struct result *r, const struct result_check *c)
{
	_cleanup_free_ char *where = text_label(r, c->point, c->nr_point, c->phase, c->repeat);

	table_cell(t, "%s", c->state == CHECK_FAILED ? "FAILED" : check_state_names[c->state]);
	table_text(t, c->text);
	if (c->why)
		table_text(t, c->why);
	else if (isfinite(c->value))
		table_cell(t, "it is %g", c->value);
	else
		table_cell(t, "%s", "");
	table_text(t, where);
}

/* The same check in the same state at an earlier step. */
static bool is_said(const struct result *r, size_t check)
{
	const struct result_check *c = &r->checks[check];

	for (size_t i = 0; i < check; i++)
		if (r->checks[i].state == c->state && streq(r->checks[i].text, c->text))
			return true;
	return false;
}

/* Of checks that passed or were skipped, one row for all steps. */
static void add_quiet_checks(struct table *t, const struct result *r, int state)
{
	for (size_t i = 0; i < r->nr_checks; i++) {
		const struct result_check *c = &r->checks[i];
		size_t nr = 0;

		if (c->state != state || is_said(r, i))
			continue;
		for (size_t k = i; k < r->nr_checks; k++)
			nr += r->checks[k].state == state && streq(r->checks[k].text, c->text);
		if (nr == 1) {
			add_check(t, r, c);
			continue;
		}
		table_cell(t, "%s", check_state_names[state]);
		table_text(t, c->text);
		table_text(t, state == CHECK_SKIPPED && c->why ? c->why : "");
		table_cell(t, "%zu times", nr);
	}
}

void text_checks(const struct result *r, FILE *out)
{
	size_t nr[CHECK_SKIPPED + 1] = { 0 }, shown = 0;
	_cleanup_(table_fini) struct table t = { 0 };

	if (!r->nr_checks)
		return;
	table_init(&t, "llll");
	for (size_t i = 0; i < r->nr_checks; i++) {
		nr[r->checks[i].state]++;
		if (r->checks[i].state == CHECK_FAILED && shown < CHECKS_SHOWN) {
			add_check(&t, r, &r->checks[i]);
			shown++;
		}
	}
	add_quiet_checks(&t, r, CHECK_SKIPPED);
	add_quiet_checks(&t, r, CHECK_PASSED);
	fprintf(out, "\nCHECKS: %zu passed, %zu failed", nr[CHECK_PASSED], nr[CHECK_FAILED]);
	if (nr[CHECK_SKIPPED])
		fprintf(out, ", %zu skipped", nr[CHECK_SKIPPED]);
	fputc('\n', out);
	table_print(&t, out, 2);
	if (nr[CHECK_FAILED] > shown)
		fprintf(out, "  and %zu more that failed: checks[] of result.json\n",
			nr[CHECK_FAILED] - shown);
}
