/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h - the records of samples.msgpack, which says itself what it holds: a stream of msgpack maps.
 *
 * The first has record "header", format, version and the hosts; then, as a run goes on, one of record
 * "step" for each step (what the members of each host are), one of record "sample" for each SAMPLE and one of
 * record "totals" for each DONE, with the message as the worker sent it. docs/reference/result.md explains
 * every key. samples_read.h reads them. Pure.
 */
#ifndef SALVO_ARCHIVE_SAMPLES_H
#define SALVO_ARCHIVE_SAMPLES_H

#include "common/model/result.h"
#include "coordinator/run/plan.h"

enum { SAMPLES_FORMAT = 1 };
#define SAMPLES_NAME "samples.msgpack"

/* Each appends one record. `so_far`: the run's result, of which the hosts and their clocks are known. */
void samples_header(struct buf *out, const struct plan *plan, const struct result *so_far);
void samples_step(struct buf *out, const struct plan *plan, size_t step, uint64_t start_ns,
		  const struct result *so_far);
/* `bytes` must be one whole msgpack object. */
void samples_totals(struct buf *out, size_t step, size_t host, const uint8_t *bytes, size_t len);
void samples_sample(struct buf *out, size_t step, size_t host, int64_t offset_ns,
		    const uint8_t *bytes, size_t len);

#endif
