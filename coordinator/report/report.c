/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/report/report.h"

#include "coordinator/archive/result_json.h"

const struct report_format report_formats[] = {
	{ "text", "for people, 100 columns", report_text },
	{ "json", "result.json: every number, for programs", report_json },
};
const size_t nr_report_formats = array_size(report_formats);

const struct report_format *report_format_find(const char *name)
{
	for (size_t i = 0; i < nr_report_formats; i++)
		if (streq(report_formats[i].name, name))
			return &report_formats[i];
	return NULL;
}

char *report_format_names(void)
{
	char *names = xstrdup(report_formats[0].name);

	for (size_t i = 1; i < nr_report_formats; i++) {
		char *longer = xasprintf("%s, %s", names, report_formats[i].name);

		free(names);
		names = longer;
	}
	return names;
}

struct error *report_json(const struct result *r, FILE *out)
{
	return result_json_write(r, out);
}
