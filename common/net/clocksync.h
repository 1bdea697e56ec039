/* SPDX-License-Identifier: Apache-2.0 */
/* clocksync.h - the offset between a worker's monotonic clock and the coordinator's, from PING/PONG.
 *
 * offset = worker's clock - coordinator's clock. An exchange tells it to within half its round trip (the
 * classic argument: the worker's reading lies somewhere between the two of ours), as of its time; the clocks
 * drift apart afterwards, by at most CLOCKSYNC_DRIFT_PPM. Of the exchanges in a sliding window the one that bounds
 * the offset best as of the newest counts: the smallest round trip, unless it is old. Pure: time is an argument.
 */
#ifndef SALVO_NET_CLOCKSYNC_H
#define SALVO_NET_CLOCKSYNC_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CLOCKSYNC_WINDOW = 64,
	CLOCKSYNC_DRIFT_PPM = 50, /* two quartz clocks without NTP */
};

struct clocksync_exchange {
	uint64_t sent_ns, received_ns; /* coordinator's clock */
	int64_t offset_ns;
	uint64_t round_trip_ns; /* without the worker's own time */
};

struct clocksync {
	struct clocksync_exchange window[CLOCKSYNC_WINDOW];
	unsigned nr, next;
	uint64_t exchanges; /* ever */
};

/* One exchange: sent t0, received by the worker t1, answered t2, back t3 (t0, t3 ours; t1, t2 the worker's).
 * Impossible ones (t3 < t0, t2 < t1, t2 - t1 > t3 - t0) are dropped: false. */
bool clocksync_add(struct clocksync *c, uint64_t t0, uint64_t t1, uint64_t t2, uint64_t t3);
bool clocksync_ready(const struct clocksync *c);
/* The best exchange's figures, as of the newest; call only when ready. The true offset is within offset +- error. */
int64_t clocksync_offset_ns(const struct clocksync *c);
uint64_t clocksync_error_ns(const struct clocksync *c);
uint64_t clocksync_round_trip_ns(const struct clocksync *c); /* smallest */
/* Slope of the offsets over time, parts per billion; 0 with fewer than 8 exchanges over 1 s. */
double clocksync_drift_ppb(const struct clocksync *c);
static inline uint64_t clocksync_to_worker(const struct clocksync *c, uint64_t coordinator_ns)
{
	return coordinator_ns + (uint64_t)clocksync_offset_ns(c);
}
static inline uint64_t clocksync_to_coordinator(const struct clocksync *c, uint64_t worker_ns)
{
	return worker_ns - (uint64_t)clocksync_offset_ns(c);
}

#endif
