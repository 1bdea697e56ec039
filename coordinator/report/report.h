/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - a finished run as something to read: one table of formats, one file per format.
 *
 * A report cannot tell whether its result was just measured or read from disk. Pure but for the stream.
 */
#ifndef SALVO_REPORT_REPORT_H
#define SALVO_REPORT_REPORT_H

#include "common/base/error.h"
#include "common/model/result.h"

#include <stdio.h>

struct report_format {
	const char *name, *help;
	/* Writes the whole report; ERR_OUTPUT when the stream could not take it. */
	struct error *(*write)(const struct result *r, FILE *out);
};

extern const struct report_format report_formats[];
extern const size_t nr_report_formats;

/* The format of that name; NULL: there is none. */
const struct report_format *report_format_find(const char *name);
/* "text, json": for help and messages; owned by the caller. */
char *report_format_names(void) _returns_nonnull_;

struct error *report_text(const struct result *r, FILE *out) _must_check_;
struct error *report_json(const struct result *r, FILE *out) _must_check_;

#endif
