/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/report/text.h"

#include <inttypes.h>
#include <math.h>

char *text_point(const struct text_pair *point, size_t nr)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert(out);
	for (size_t i = 0; i < nr; i++) {
		_cleanup_free_ char *value = str_printable(point[i].value);

		fprintf(out, "%s%s=%s", i ? " " : "", point[i].key, value);
	}
	fclose(out);
	return text;
}

/* A metric's value with its unit, which its name tells. */
static void metric_text(char text[UNITS_TEXT], const char *name, double value)
{
	if (!isfinite(value))
		snprintf(text, UNITS_TEXT, "-");
	else if (strstr(name, "lat."))
		units_human_ns(text, value);
	else if (strstr(name, "bw_bytes"))
		units_human_bytes(text, value);
	else if (str_starts(name, "cpu."))
		snprintf(text, UNITS_TEXT, "%.2f %%", value);
	else if (fabs(value - round(value)) < 1e-9)
		snprintf(text, UNITS_TEXT, "%.0f", value);
	else
		text_iops(text, value);
}

static bool is_worth_it(const struct result *r)
{
	for (size_t i = 0; i < r->nr_summary; i++)
		for (size_t m = 0; m < r->summary[i].nr_metrics; m++)
			if (r->summary[i].metrics[m].nr_values > 1)
				return true;
	return false;
}

/* In a group with one direction the metrics without one only say the same again. */
static bool is_said(const struct result_summary *s, const char *name)
{
	unsigned directions = 0;

	for (size_t i = 0; i < s->nr_metrics; i++)
		for (unsigned dir = 0; dir < DIR_SYNC; dir++) {
			_cleanup_free_ char *iops = xasprintf("%s.iops", direction_names[dir]);

			directions += streq(s->metrics[i].name, iops);
		}
	return directions == 1 &&
	       (streq(name, "iops") || streq(name, "bw_bytes") || str_starts(name, "lat."));
}

static void print_summary(const struct result_summary *s, FILE *out)
{
	static const char *const heads[] = { "metric",  "n",   "mean", "stddev",
					     "of mean", "min", "max" };
	_cleanup_free_ char *point = text_point(s->point, s->nr_point);
	_cleanup_(table_fini) struct table t = { 0 };

	table_init(&t, "lrrrrrr");
	for (size_t i = 0; i < array_size(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < s->nr_metrics; i++) {
		const struct result_metric *m = &s->metrics[i];
		const double values[] = { m->mean, m->stddev, m->min, m->max };
		char text[4][UNITS_TEXT];

		if (is_said(s, m->name))
			continue;
		for (size_t v = 0; v < array_size(values); v++)
			metric_text(text[v], m->name, values[v]);
		table_cell(&t, "%s%s", m->name, strstr(m->name, "bw_bytes") ? " (per s)" : "");
		table_cell(&t, "%" PRIu64, m->n);
		table_cell(&t, "%s", text[0]);
		table_cell(&t, "%s", text[1]);
		if (isfinite(m->stddev) && m->mean > 0)
			table_cell(&t, "%.1f %%", 100 * m->stddev / m->mean);
		else
			table_cell(&t, "%s", "");
		table_cell(&t, "%s", text[2]);
		table_cell(&t, "%s", text[3]);
	}
	fprintf(out, "\n  %s%sphase '%s', group '%s':\n", point, *point ? ", " : "", s->phase,
		s->group);
	table_print(&t, out, 4);
}

void text_summary(const struct result *r, FILE *out)
{
	if (!is_worth_it(r))
		return;
	fputs("\nSummary over the repeats (stddev divides by n - 1; partial repeats are left "
	      "out):\n",
	      out);
	for (size_t i = 0; i < r->nr_summary; i++)
		print_summary(&r->summary[i], out);
}
