/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/clocksync.h"

#include <assert.h>

enum { DRIFT_MIN_EXCHANGES = 8 };
#define DRIFT_MIN_SPAN_NS 1000000000ull

bool clocksync_add(struct clocksync *c, uint64_t t0, uint64_t t1, uint64_t t2, uint64_t t3)
{
	uint64_t round_trip;
	int64_t there, back;

	if (t3 < t0 || t2 < t1 || t2 - t1 > t3 - t0)
		return false;
	round_trip = (t3 - t0) - (t2 - t1);
	/* Differences of clocks with far origins wrap and come out right as signed numbers. */
	there = (int64_t)(t1 - t0);
	back = (int64_t)(t2 - t3);
	c->window[c->next] = (struct clocksync_exchange) {
		.sent_ns = t0,
		.received_ns = t3,
		/* Halved apart: the sum of two large offsets would not fit. */
		.offset_ns = there / 2 + back / 2 + (there % 2 + back % 2) / 2,
		.round_trip_ns = round_trip,
	};
	c->next = (c->next + 1) % CLOCKSYNC_WINDOW;
	if (c->nr < CLOCKSYNC_WINDOW)
		c->nr++;
	c->exchanges++;
	return true;
}

bool clocksync_ready(const struct clocksync *c)
{
	return c->nr > 0;
}

static const struct clocksync_exchange *newest(const struct clocksync *c)
{
	return &c->window[(c->next + CLOCKSYNC_WINDOW - 1) % CLOCKSYNC_WINDOW];
}

/* How far the true offset, as of the newest exchange, can be from what this one says. */
static uint64_t bound_ns(const struct clocksync *c, const struct clocksync_exchange *e)
{
	uint64_t until = newest(c)->received_ns;
	uint64_t age = until > e->sent_ns ? until - e->sent_ns : 0;

	/* A nanosecond for the halves that integers lose. */
	return (e->round_trip_ns + 1) / 2 + 1 + age / 1000 * CLOCKSYNC_DRIFT_PPM / 1000;
}

/* A worker may say anything: its offsets are subtracted as unsigned numbers, which may wrap. */
static double offset_from(const struct clocksync_exchange *e, int64_t origin)
{
	return (double)(int64_t)((uint64_t)e->offset_ns - (uint64_t)origin);
}

static const struct clocksync_exchange *best(const struct clocksync *c)
{
	const struct clocksync_exchange *found = newest(c);

	assert(c->nr);
	for (unsigned i = 0; i < c->nr; i++)
		if (bound_ns(c, &c->window[i]) < bound_ns(c, found))
			found = &c->window[i];
	return found;
}

int64_t clocksync_offset_ns(const struct clocksync *c)
{
	return best(c)->offset_ns;
}

uint64_t clocksync_error_ns(const struct clocksync *c)
{
	return bound_ns(c, best(c));
}

uint64_t clocksync_round_trip_ns(const struct clocksync *c)
{
	uint64_t smallest = UINT64_MAX;

	assert(c->nr);
	for (unsigned i = 0; i < c->nr; i++)
		if (c->window[i].round_trip_ns < smallest)
			smallest = c->window[i].round_trip_ns;
	return smallest;
}

/* An exchange counts by the inverse square of its uncertainty; a microsecond of noise is in every one. */
static double weight(const struct clocksync_exchange *e)
{
	double sigma = 1000.0 + (double)e->round_trip_ns / 2;

	return 1 / (sigma * sigma);
}

double clocksync_drift_ppb(const struct clocksync *c)
{
	uint64_t first = UINT64_MAX, last = 0;
	double sum = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;
	int64_t origin = c->window[0].offset_ns;

	for (unsigned i = 0; i < c->nr; i++) {
		first = c->window[i].sent_ns < first ? c->window[i].sent_ns : first;
		last = c->window[i].sent_ns > last ? c->window[i].sent_ns : last;
	}
	if (c->nr < DRIFT_MIN_EXCHANGES || last - first < DRIFT_MIN_SPAN_NS)
		return 0;
	for (unsigned i = 0; i < c->nr; i++) {
		const struct clocksync_exchange *e = &c->window[i];
		double w = weight(e);

		sum += w;
		mean_x += w * (double)(e->sent_ns - first);
		mean_y += w * offset_from(e, origin);
	}
	mean_x /= sum;
	mean_y /= sum;
	for (unsigned i = 0; i < c->nr; i++) {
		const struct clocksync_exchange *e = &c->window[i];
		double x = (double)(e->sent_ns - first) - mean_x;

		xx += weight(e) * x * x;
		xy += weight(e) * x * (offset_from(e, origin) - mean_y);
	}
	return xy / xx * 1e9;
}
