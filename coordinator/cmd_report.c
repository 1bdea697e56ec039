/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/stored.h"
#include "coordinator/commands.h"
#include "coordinator/report/report.h"

struct error *cmd_report(const struct options *opts, FILE *out)
{
	const struct report_format *format =
		report_format_find(opts->format == FORMAT_JSON ? "json" : "text");
	_cleanup_(stored_destroy) struct stored *stored = NULL;
	struct error *err = stored_open(opts->args[0], &stored);

	return err ? err : format->write(stored_result(stored), out);
}
