/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/report/text.h"

#include "coordinator/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

enum { LABEL_WIDTH = 10 };

/* "=== bs=4k, phase 'main', repeat 1, PARTIAL ===...": a line that is found when one leafs through. */
static void print_title(const struct result *r, const struct result_step *s, FILE *out)
{
	_cleanup_free_ char *point = text_point(s->point, s->nr_point);
	_cleanup_free_ char *phase = str_printable(s->phase), *repeat = NULL, *title = NULL;

	if (has_repeats(r))
		repeat = xasprintf(", repeat %" PRIu64, s->repeat);
	title = xasprintf("=== %s%sphase '%s'%s%s%s%s ", point, *point ? ", " : "", phase,
			  repeat ? repeat : "", s->hosts_text ? ", " : "",
			  s->hosts_text ? s->hosts_text : "", s->partial ? ", PARTIAL" : "");
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

static void print_line(FILE *out, const char *label, const char *text)
{
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
			fprintf(line, " on %s", j->targets);
		if (j->hosts)
			fprintf(line, " of %s", j->hosts);
		if (j->group)
			fprintf(line, ", group '%s'", j->group);
		fclose(line);
		print_line(out, i ? "" : "jobs", text);
	}
}

static void print_start(const struct result_step *s, FILE *out)
{
	_cleanup_free_ char *text = NULL, *overlap = NULL;
	char spread[UNITS_TEXT], error[UNITS_TEXT];

	units_human_ns(spread, (double)s->start_spread_ns);
	units_human_ns(error, (double)s->start_error_ns);
	if (s->has_start && s->nr_groups && s->groups[0].nr_hosts > 1) {
		text = xasprintf(
			"first I/Os of the hosts within %s (clocks known to +-%s), last: %s",
			spread, error, s->start_last_host ? s->start_last_host : "-");
		print_line(out, "start", text);
	}
	if (!isfinite(s->overlap))
		return;
	overlap = xasprintf("all threads ran together for %.2f%% of the time%s", s->overlap * 100,
			    s->overlap < s->min_overlap ? "  < TOO LITTLE: the totals mix "
							  "different loads"
							: "");
	print_line(out, "overlap", overlap);
}

static void print_stuck(const struct result_step *s, FILE *out)
{
	static const char *const heads[] = { "host",      "target", "path", "",
					     "at offset", "bytes",  "age" };
	enum { STUCK_MAX = 20 };
	_cleanup_(table_fini) struct table t = { 0 };
	size_t shown = s->nr_stuck > STUCK_MAX ? STUCK_MAX : s->nr_stuck;

	if (!s->nr_stuck)
		return;
	table_init(&t, "llllrrr");
	for (size_t i = 0; i < array_size(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < shown; i++) {
		const struct result_stuck *k = &s->stuck[i];
		char age[UNITS_TEXT];

		text_runtime(age, k->age_ns);
		table_text(&t, k->host);
		table_text(&t, k->target);
		table_text(&t, k->path ? k->path : "-");
		table_cell(&t, "%s",
			   k->direction >= 0 && k->direction < DIR_COUNT
				   ? direction_names[k->direction]
				   : "I/O");
		table_cell(&t, "%" PRIu64 " B", k->offset);
		table_cell(&t, "%" PRIu64 " B", k->bytes);
		table_cell(&t, "%s", age);
	}
	fprintf(out, "\nI/Os that never came back (%zu):\n", s->nr_stuck);
	table_print(&t, out, 2);
	if (shown < s->nr_stuck)
		fprintf(out, "  and %zu more: stuck[] of result.json\n", s->nr_stuck - shown);
}

static bool any_cpu(const struct result *r)
{
	for (size_t i = 0; i < r->nr_steps; i++)
		for (size_t g = 0; g < r->steps[i].nr_groups; g++)
			if (r->steps[i].groups[g].has_cpu)
				return true;
	return false;
}

static void print_step(const struct result *r, const struct result_step *s, FILE *out)
{
	print_title(r, s, out);
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
	if (any_cpu(r))
		fputs("\ncpu: of the I/O processes with their io-wq threads; kernel threads of the "
		      "devices are not in it.\n",
		      out);
	if (fflush(out) == EOF || ferror(out))
		return error_new(ERR_OUTPUT, "the report could not be written: %s",
				 strerror(errno));
	return NULL;
}
