/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/report/text.h"

#include "coordinator/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

/* "=== bs=4k, phase 'main', repeat 1, PARTIAL ===...": a line that is found when one leafs through. */
static void print_title(const struct result *r, const struct result_step *s, FILE *out)
{
	_cleanup_free_ char *point = text_point(s->point, s->nr_point);
	_cleanup_free_ char *repeat = NULL, *text = NULL, *title = NULL;

	if (has_repeats(r))
		repeat = xasprintf(", repeat %" PRIu64, s->repeat);
	text = xasprintf("=== %s%sphase '%s'%s%s%s%s ", point, *point ? ", " : "", s->phase,
			 repeat ? repeat : "", s->hosts_text ? ", " : "",
			 s->hosts_text ? s->hosts_text : "", s->partial ? ", PARTIAL" : "");
	title = str_printable(text);
	fputc('\n', out);
	if (text_width(title) >= REPORT_WIDTH) {
		text_wrap(out, title, 0, 4, REPORT_WIDTH);
		return;
	}
	fputs(title, out);
	for (size_t i = text_width(title); i < REPORT_WIDTH; i++)
		fputc('=', out);
	fputc('\n', out);
}

void text_line(FILE *out, const char *label, const char *text)
{
	enum { LABEL_WIDTH = 10 };
	_cleanup_free_ char *printable = str_printable(text);

	fprintf(out, "%-*s", LABEL_WIDTH, label);
	text_wrap(out, printable, LABEL_WIDTH, LABEL_WIDTH, REPORT_WIDTH);
}

/* "job       oltp: rw=randread, bs=4k, ... on lun0 of node[1-4]" */
static void print_jobs(const struct result_step *s, FILE *out)
{
	for (size_t i = 0; i < s->nr_jobs; i++) {
		const struct result_job *j = &s->jobs[i];
		_cleanup_free_ char *text = NULL;
		size_t len = 0;
		FILE *line = open_memstream(&text, &len);

		assert(line);
		fprintf(line, "%s:", j->name);
		for (size_t k = 0; k < j->nr_options; k++)
			fprintf(line, "%s %s=%s", k ? "," : "", j->options[k].key,
				j->options[k].value);
		if (j->targets)
			fprintf(line, "; on %s", j->targets);
		if (j->hosts && s->nr_groups && s->groups[0].nr_hosts > 1)
			fprintf(line, "; by %s", j->hosts);
		if (j->group)
			fprintf(line, "; group '%s'", j->group);
		fclose(line);
		text_line(out, i ? "" : "jobs", text);
	}
}

static void print_start(const struct result_step *s, FILE *out)
{
	_cleanup_free_ char *text = NULL, *overlap = NULL, *low = NULL;
	char spread[UNITS_TEXT], error[UNITS_TEXT];

	units_human_ns(spread, (double)s->start_spread_ns);
	units_human_ns(error, (double)s->start_error_ns);
	if (s->has_start && s->nr_groups && s->groups[0].nr_hosts > 1) {
		text = xasprintf(
			"first I/Os of the hosts within %s (clocks known to +-%s), last: %s",
			spread, error, s->start_last_host ? s->start_last_host : "-");
		text_line(out, "start", text);
	}
	if (!isfinite(s->overlap) || (s->nr_groups && s->groups[0].threads < 2))
		return;
	if (s->overlap < s->min_overlap)
		low = xasprintf("  < below the %g%% that are asked for", s->min_overlap * 100);
	overlap = xasprintf("all threads ran together for %.2f%% of the time%s", s->overlap * 100,
			    low ? low : "");
	text_line(out, "overlap", overlap);
}

static int compare_ages(const void *a, const void *b)
{
	const struct result_stuck *const *x = a, *const *y = b;

	if ((*x)->age_ns != (*y)->age_ns)
		return (*x)->age_ns > (*y)->age_ns ? -1 : 1;
	return *x < *y ? -1 : 1;
}

static void add_stuck(struct table *t, const struct result_stuck *k)
{
	char age[UNITS_TEXT];

	text_runtime(age, k->age_ns);
	table_text(t, k->host);
	table_text(t, k->target);
	table_text(t, k->path ? k->path : "-");
	table_cell(t, "%s",
		   k->direction >= 0 && k->direction < DIR_COUNT ? direction_names[k->direction]
								 : "I/O");
	table_cell(t, "%" PRIu64 " B", k->offset);
	table_cell(t, "%" PRIu64 " B", k->bytes);
	table_cell(t, "%s", age);
}

static void print_stuck(const struct result_step *s, FILE *out)
{
	static const char *const heads[] = { "host",      "target", "path", "",
					     "at offset", "bytes",  "age" };
	enum { STUCK_MAX = 10 };
	_cleanup_free_ const struct result_stuck **by_age = xcalloc(s->nr_stuck, sizeof(*by_age));
	_cleanup_(table_fini) struct table t = { 0 };
	size_t shown = s->nr_stuck > STUCK_MAX ? STUCK_MAX : s->nr_stuck;

	if (!s->nr_stuck)
		return;
	for (size_t i = 0; i < s->nr_stuck; i++)
		by_age[i] = &s->stuck[i];
	qsort(by_age, s->nr_stuck, sizeof(*by_age), compare_ages);
	table_init(&t, "llllrrr");
	for (size_t i = 0; i < array_size(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < shown; i++)
		add_stuck(&t, by_age[i]);
	fprintf(out, "\nI/Os that never came back (%zu, oldest first):\n", s->nr_stuck);
	table_print(&t, out, 2);
	if (shown < s->nr_stuck)
		fprintf(out, "  and %zu more: stuck[] of result.json\n", s->nr_stuck - shown);
}

/* What a reader might take two of the numbers for, and they are not. */
static void print_notes(const struct result *r, FILE *out)
{
	bool has_cpu = false, has_util = false;

	for (size_t i = 0; i < r->nr_steps; i++) {
		const struct result_step *s = &r->steps[i];

		for (size_t g = 0; g < s->nr_groups; g++)
			has_cpu |= s->groups[g].has_cpu;
		for (size_t d = 0; d < s->nr_devices; d++)
			has_util |= isfinite(s->devices[d].util);
	}
	if (has_cpu || has_util)
		fputc('\n', out);
	if (has_cpu)
		fputs("cpu: of the I/O processes with their io-wq threads; kernel threads of the "
		      "devices are not in it\n",
		      out);
	if (has_util)
		fputs("util: near 100% does not mean saturated on devices with queues\n", out);
}

/* Repeats have the same jobs: they are said once. */
static bool is_first_of_point(const struct result *r, const struct result_step *s)
{
	_cleanup_free_ char *own = text_label(r, s->point, s->nr_point, s->phase, 0);

	for (const struct result_step *other = r->steps; other < s; other++) {
		_cleanup_free_ char *label =
			text_label(r, other->point, other->nr_point, other->phase, 0);

		if (streq(label, own))
			return false;
	}
	return true;
}

static void print_step(const struct result *r, const struct result_step *s, FILE *out)
{
	print_title(r, s, out);
	if (is_first_of_point(r, s))
		print_jobs(s, out);
	print_start(s, out);
	print_stuck(s, out);
	for (size_t g = 0; g < s->nr_groups; g++)
		text_group(r, s, &s->groups[g], out);
	text_devices(s, out);
}

struct error *report_text(const struct result *r, FILE *out)
{
	text_head(r, out);
	text_warnings(r, out);
	text_checks(r, out);
	text_result(r, out);
	text_summary(r, out);
	for (size_t i = 0; i < r->nr_steps; i++)
		print_step(r, &r->steps[i], out);
	if (!r->nr_steps)
		fputs("\nNothing was measured.\n", out);
	print_notes(r, out);
	if (fflush(out) == EOF || ferror(out))
		return error_new(ERR_OUTPUT, "the report could not be written: %s",
				 strerror(errno));
	return NULL;
}
