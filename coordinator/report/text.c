/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/report/text.h"

#include "common/model/hostlist.h"
#include "coordinator/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

/* "label     text", wrapped. */
static void print_line(FILE *out, const char *label, const char *text)
{
	enum { LABEL_WIDTH = 10 };
	_cleanup_free_ char *printable = str_printable(text);

	fprintf(out, "%-*s", LABEL_WIDTH, label);
	text_wrap(out, printable, LABEL_WIDTH, LABEL_WIDTH, REPORT_WIDTH);
}

static void print_labels(const struct result *r, FILE *out)
{
	_cleanup_free_ char *labels = text_point(r->labels, r->nr_labels);

	if (r->nr_labels)
		print_line(out, "labels", labels);
}

static void print_hosts(const struct result *r, FILE *out)
{
	_cleanup_free_ const char **names = xcalloc(r->nr_hosts, sizeof(*names));
	_cleanup_free_ char *folded = NULL, *line = NULL;

	for (size_t i = 0; i < r->nr_hosts; i++)
		names[i] = r->hosts[i].name;
	folded = hostlist_fold(names, r->nr_hosts);
	line = xasprintf("%zu: %s", r->nr_hosts, folded);
	print_line(out, "hosts", line);
}

static void print_header(const struct result *r, FILE *out)
{
	_cleanup_free_ char *name = str_printable(r->name ? r->name : "run");
	_cleanup_free_ char *run = xasprintf("%s, exit status %d, salvo %s", r->id, r->exit_status,
					     r->version ? r->version : "-");
	_cleanup_free_ char *when =
		xasprintf("%s to %s", r->started ? r->started : "-", r->ended ? r->ended : "-");

	fprintf(out, "%s: %s\n", name, run_status_names[r->status]);
	if (r->description && *r->description)
		print_line(out, "", r->description);
	print_line(out, "run", run);
	print_line(out, "time", when);
	print_hosts(r, out);
	print_labels(r, out);
}

static void print_warnings(const struct result *r, FILE *out)
{
	if (!r->nr_warnings)
		return;
	fprintf(out, "\nWARNINGS (%zu)\n", r->nr_warnings);
	for (size_t i = 0; i < r->nr_warnings; i++) {
		const struct result_warning *w = &r->warnings[i];
		_cleanup_free_ char *text =
			xasprintf("%s%s%s%s%s", w->host ? w->host : "", w->host ? ": " : "",
				  w->target ? w->target : "", w->target ? ": " : "", w->text);
		_cleanup_free_ char *printable = str_printable(text);

		fputs("  ! ", out);
		text_wrap(out, printable, 4, 4, REPORT_WIDTH);
	}
}

static bool has_repeats(const struct result *r)
{
	for (size_t i = 0; i < r->nr_steps; i++)
		if (r->steps[i].repeat > 1)
			return true;
	return false;
}

static void print_title(const struct result *r, const struct result_step *s, FILE *out)
{
	_cleanup_free_ char *point = text_point(s->point, s->nr_point);
	_cleanup_free_ char *phase = str_printable(s->phase);
	_cleanup_free_ char *repeat =
		has_repeats(r) ? xasprintf(", repeat %" PRIu64, s->repeat) : xstrdup("");
	_cleanup_free_ char *title =
		xasprintf("%s%sphase '%s'%s%s%s%s", point, *point ? ", " : "", phase, repeat,
			  s->hosts_text ? ", " : "", s->hosts_text ? s->hosts_text : "",
			  s->partial ? ", PARTIAL" : "");

	fputc('\n', out);
	text_wrap(out, title, 0, 0, REPORT_WIDTH);
	for (size_t i = 0; i < text_width(title) && i < REPORT_WIDTH; i++)
		fputc('=', out);
	fputc('\n', out);
}

static void print_start(const struct result_step *s, FILE *out)
{
	_cleanup_free_ char *text = NULL, *overlap = NULL;
	char spread[UNITS_TEXT], error[UNITS_TEXT];

	units_human_ns(spread, (double)s->start_spread_ns);
	units_human_ns(error, (double)s->start_error_ns);
	if (!s->has_start)
		text = xstrdup("-");
	else if (s->groups[0].nr_hosts < 2)
		text = xstrdup("one host");
	else
		text = xasprintf(
			"first I/Os of the hosts within %s (clocks known to +-%s), last: %s",
			spread, error, s->start_last_host);
	print_line(out, "start", text);
	if (!isfinite(s->overlap))
		return;
	overlap = xasprintf("all threads ran together for %.2f %% of the time", s->overlap * 100);
	print_line(out, "overlap", overlap);
}

static void print_devices(const struct result_step *s, FILE *out)
{
	static const char *const heads[] = { "host", "target", "path",    "reads",
					     "read", "writes", "written", "util" };
	_cleanup_(table_fini) struct table t = { 0 };

	if (!s->nr_devices)
		return;
	table_init(&t, "lllrrrrr");
	for (size_t i = 0; i < array_size(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < s->nr_devices; i++) {
		const struct result_device *d = &s->devices[i];
		char read[UNITS_TEXT], written[UNITS_TEXT];

		units_human_bytes(read, (double)d->read_bytes);
		units_human_bytes(written, (double)d->write_bytes);
		table_text(&t, d->host);
		table_text(&t, d->target);
		table_text(&t, d->path ? d->path : "-");
		table_cell(&t, "%" PRIu64, d->read_ios);
		table_cell(&t, "%s", read);
		table_cell(&t, "%" PRIu64, d->write_ios);
		table_cell(&t, "%s", written);
		if (isfinite(d->util))
			table_cell(&t, "%.1f %%", d->util);
		else
			table_cell(&t, "-");
	}
	fputs("\nDevices, by their own counters (ramp and drain included):\n", out);
	table_print(&t, out, 2);
}

static void print_stuck(const struct result_step *s, FILE *out)
{
	if (s->nr_stuck)
		fputs("\nI/Os that never came back:\n", out);
	for (size_t i = 0; i < s->nr_stuck; i++) {
		const struct result_stuck *k = &s->stuck[i];
		_cleanup_free_ char *host = str_printable(k->host);
		_cleanup_free_ char *target = str_printable(k->target);

		fprintf(out,
			"  %s: %s: %s of %" PRIu64 " bytes at offset %" PRIu64 ", %.3f s old\n",
			host, target,
			k->direction >= 0 && k->direction < DIR_COUNT
				? direction_names[k->direction]
				: "I/O",
			k->bytes, k->offset, (double)k->age_ns / 1e9);
	}
}

static bool any_cpu(const struct result *r)
{
	for (size_t i = 0; i < r->nr_steps; i++)
		for (size_t g = 0; g < r->steps[i].nr_groups; g++)
			if (r->steps[i].groups[g].has_cpu)
				return true;
	return false;
}

struct error *report_text(const struct result *r, FILE *out)
{
	print_header(r, out);
	print_warnings(r, out);
	for (size_t i = 0; i < r->nr_steps; i++) {
		const struct result_step *s = &r->steps[i];

		print_title(r, s, out);
		print_start(s, out);
		for (size_t g = 0; g < s->nr_groups; g++)
			text_group(r, &s->groups[g], out);
		print_stuck(s, out);
		print_devices(s, out);
	}
	if (!r->nr_steps)
		fputs("\nNothing was measured.\n", out);
	text_summary(r, out);
	if (any_cpu(r))
		fputs("\ncpu: of the I/O processes with their io-wq threads; kernel threads of the "
		      "devices are not in it.\n",
		      out);
	if (fflush(out) == EOF || ferror(out))
		return error_new(ERR_OUTPUT, "the report could not be written: %s",
				 strerror(errno));
	return NULL;
}
