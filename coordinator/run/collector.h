/* SPDX-License-Identifier: Apache-2.0 */
/* collector.h - adds up what the workers send and makes the result: the one place where numbers of
 * threads, jobs, hosts and targets become totals. Pure: no socket, no clock, no file.
 *
 * Life: collector_new; per step collector_begin, any number of _sample/_done/_lost, collector_end; last
 * collector_finish. Memory grows with hosts and groups, not with time.
 */
#ifndef SALVO_RUN_COLLECTOR_H
#define SALVO_RUN_COLLECTOR_H

#include "common/model/result.h"
#include "common/net/message.h"
#include "coordinator/run/plan.h"

struct collector;

/* The plan is borrowed for the collector's life. */
struct collector *collector_new(const struct plan *plan, const char *run_id,
				const char *version) _returns_nonnull_;
void collector_destroy(struct collector **self_p);

void collector_host_facts(struct collector *c, size_t host, const struct msg_welcome *w);
void collector_warn(struct collector *c, const char *host, const char *target, const char *text);
void collector_fault(struct collector *c, const char *host, const char *target, const char *text);
void collector_clock(struct collector *c, size_t host, int64_t offset_ns, uint64_t error_ns,
		     double drift_ppb);

/* A step begins; start_ns: the agreed instant on the coordinator's clock. */
void collector_begin(struct collector *c, size_t step, uint64_t start_ns);
void collector_ready(struct collector *c, size_t host, const struct msg_ready *ready);
/* A sample: added to the host's sums; a gap in the sequence is remembered. An error is the peer's (member out
 * of range, bytes that are no histogram): the caller ends that host's session. */
struct error *collector_sample(struct collector *c, size_t host,
			       const struct msg_sample *s) _must_check_;
/* The host's exact totals replace its sums; a difference between the two becomes a warning. */
struct error *collector_done(struct collector *c, size_t host,
			     const struct msg_done *d) _must_check_;
/* The host is gone: its samples up to now stay. at_ns: on the coordinator's clock. `state`: HOST_LOST or HOST_HUNG. */
void collector_lost(struct collector *c, size_t host, enum host_state state, uint64_t at_ns);
/* The step ends before its time: it is partial, whatever its hosts say. */
void collector_cut(struct collector *c);
/* The step's samples end here although its hosts may have gone on: nobody was there to hear them. */
void collector_abandon(struct collector *c);
/* The step is over: its groups are computed. */
void collector_end(struct collector *c);

/* What progress shows: over all hosts, as of the last interval of each. */
struct live {
	double iops, bw_bytes;
	uint64_t errors, oldest_ns;
	size_t hosts_running, hosts_total;
	bool has_rates; /* of any host: before its first sample nothing is known */
};
void collector_live(const struct collector *c, struct live *ret);

/* I/O errors of all steps so far, those of unmeasured phases included: a run that has any exits with 1. */
uint64_t collector_errors(const struct collector *c);

/* Holds the scenario's checks against the steps, once, after the last of them; see checks.h. */
struct error *collector_check(struct collector *c) _must_check_;

/* The result as far as steps have ended. */
const struct result *collector_result(const struct collector *c);

/* Summaries over repeats, texts, statuses. `started`, `ended`: wall clock, RFC 3339. The result belongs to the collector. */
const struct result *collector_finish(struct collector *c, enum run_status status, int exit_status,
				      const char *started, const char *ended);
/* After that: something was written, or could not be. */
void collector_set_exit_status(struct collector *c, int exit_status);

#endif
