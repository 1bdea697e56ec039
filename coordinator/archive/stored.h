/* SPDX-License-Identifier: Apache-2.0 */
/* stored.h - a result that is on disk: read from its result.json, or, where the coordinator did not live to
 * write that, added up again from scenario.yaml and samples.msgpack.
 *
 * The latter is what was known until then, and says so: it is partial, has a warning, and what no sample
 * tells (CPU times of hosts that had not ended, for one) is not in it.
 */
#ifndef SALVO_ARCHIVE_STORED_H
#define SALVO_ARCHIVE_STORED_H

#include "common/base/error.h"
#include "common/model/result.h"

struct stored;

/* `path`: a result directory, or the result.json of one. ERR_USAGE when it is neither. */
struct error *stored_open(const char *path, struct stored **ret) _must_check_;
const struct result *stored_result(const struct stored *s);
void stored_destroy(struct stored **self_p);

#endif
