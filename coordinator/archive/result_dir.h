/* SPDX-License-Identifier: Apache-2.0 */
/* result_dir.h - the directory in which a run is kept: scenario.yaml, samples.msgpack, result.json, report.txt.
 *
 * samples.msgpack is appended to as samples arrive, each record with one write, so a crash loses at most
 * the last interval. Its first object is a map that says what follows (docs/reference/result.md).
 *
 * A full disk must not end a run: the first call that cannot write returns ERR_OUTPUT, which the caller
 * says once; from then on samples are dropped without a word. result_dir_finish tries to write
 * nevertheless. The directory belongs to one thread.
 */
#ifndef SALVO_ARCHIVE_RESULT_DIR_H
#define SALVO_ARCHIVE_RESULT_DIR_H

#include "common/model/result.h"
#include "coordinator/run/plan.h"

#include <time.h>

struct result_dir;

/* Makes the directory: its parent must exist, itself not, or be empty and in no other run's hands. To be
 * called before any I/O; ERR_USAGE or ERR_OUTPUT says what is in the way. Path NULL: nothing is kept
 * (--no-archive), and every call below succeeds. */
struct error *result_dir_create(const char *path, struct result_dir **ret) _must_check_;
/* The same with "./salvo-results/NAME-20260131T235959Z", or -2, -3, ... behind it when that is taken. What is
 * not [A-Za-z0-9._-] in the name becomes '_'; ./salvo-results is made when it is not there. */
struct error *result_dir_create_default(const char *name, time_t now,
					struct result_dir **ret) _must_check_;
/* The directory's path as it was given; NULL when nothing is kept. */
const char *result_dir_path(const struct result_dir *dir);
/* Was anything written to it? */
bool result_dir_is_used(const struct result_dir *dir);
/* scenario.yaml as resolved. */
struct error *result_dir_write_scenario(struct result_dir *dir, const char *yaml) _must_check_;
/* Starts samples.msgpack with its header: hosts, interval, steps. Once, before the first step. `so_far`: what is
 * known of the hosts. */
struct error *result_dir_write_plan(struct result_dir *dir, const struct plan *plan,
				    const struct result *so_far) _must_check_;
/* A step starts at start_ns of the coordinator's clock: what the members in its samples are. */
struct error *result_dir_append_step(struct result_dir *dir, const struct plan *plan, size_t step,
				     uint64_t start_ns, const struct result *so_far) _must_check_;
/* A SAMPLE of plan host `host`, as the bytes that came and were decoded without an error. offset_ns: the
 * host's clock minus the coordinator's. */
struct error *result_dir_append_sample(struct result_dir *dir, size_t step, size_t host,
				       int64_t offset_ns, const uint8_t *bytes,
				       size_t len) _must_check_;
/* A DONE, the same way. */
struct error *result_dir_append_totals(struct result_dir *dir, size_t step, size_t host,
				       const uint8_t *bytes, size_t len) _must_check_;
/* Writes result.json and report.txt and syncs everything; each file appears complete or not at all. */
struct error *result_dir_finish(struct result_dir *dir, const struct result *r) _must_check_;
/* Closes it; files stay. Directories that were made and in which nothing was written are removed again. */
void result_dir_destroy(struct result_dir **self_p);

#endif
