/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - the parts of the text report that share a page; report.h is what others use. */
#ifndef SALVO_REPORT_TEXT_H
#define SALVO_REPORT_TEXT_H

#include "common/base/units.h"
#include "common/model/result.h"
#include "coordinator/report/table.h"

enum { REPORT_WIDTH = 100 };

/* One group of a step: directions, CPU, run status, and a table each of its hosts, targets and jobs. */
void text_group(const struct result *r, const struct result_group *g, FILE *out);
/* Statistics over the repeats of each point; nothing when there is only one value of everything. */
void text_summary(const struct result *r, FILE *out);
/* "bs=4k numjobs=8"; "" for no sweep; owned by the caller. */
char *text_point(const struct text_pair *point, size_t nr) _returns_nonnull_;

/* Numbers for reading; '-' for what was not measured. */
void text_iops(char text[UNITS_TEXT], double iops);
void text_mib(char text[UNITS_TEXT], double bytes); /* number of MiB, without the unit */
void text_mb(char text[UNITS_TEXT], double bytes);  /* of MB */

#endif
