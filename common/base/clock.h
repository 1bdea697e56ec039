/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the only clock of measurements: CLOCK_MONOTONIC in nanoseconds. */
#ifndef SALVO_BASE_CLOCK_H
#define SALVO_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

/* Now on this host's (and time namespace's) monotonic clock, ns; any thread, about 30 ns. */
static inline uint64_t clock_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec) { .tv_sec = (time_t)(ns / NS_PER_S),
				   .tv_nsec = (long)(ns % NS_PER_S) };
}

#endif
