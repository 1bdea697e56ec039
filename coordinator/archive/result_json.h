/* SPDX-License-Identifier: Apache-2.0 */
/* result_json.h - result.json: every number of a result, in the shape that docs/reference/result.md fixes.
 *
 * What was not measured is absent, never 0; integers are exact to 63 bits; only ASCII is written, so
 * that no text of a peer reaches a terminal unescaped.
 */
#ifndef SALVO_ARCHIVE_RESULT_JSON_H
#define SALVO_ARCHIVE_RESULT_JSON_H

#include "common/base/error.h"
#include "common/model/result.h"

#include <stdio.h>

enum { RESULT_JSON_FORMAT = 1 };

/* ERR_OUTPUT when the stream could not take it. */
struct error *result_json_write(const struct result *r, FILE *out) _must_check_;

#endif
