/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.h - a plan and the messages of its hosts, without a scenario file or a network, for tests. */
#ifndef SALVO_TEST_FLEET_H
#define SALVO_TEST_FLEET_H

#include "coordinator/run/collector.h"

enum { FLEET_STEPS_MAX = 16, FLEET_INTERVAL_NS = 1000 * 1000 * 1000 };

struct test_fleet {
	struct scenario scenario;
	struct plan plan;
	struct collector *collector;
	struct job *jobs;
	size_t nr_jobs;
};

/* Hosts h0, h1, ...; every job runs on every host, one member for each of its targets, in order (a job
 * without targets gets "t0"). One point, one repeat, one measured step; the job array is copied flat. */
void fleet_init(struct test_fleet *f, size_t nr_hosts, const struct job *jobs, size_t nr_jobs);
/* More steps instead: points "bs=4k", "bs=8k", ... x repeats, in sequential order. Before any message. */
void fleet_steps(struct test_fleet *f, size_t nr_points, size_t nr_repeats);
void fleet_fini(struct test_fleet *f);

/* A job of the given direction with sensible values: 4 KiB, depth 1, one thread. */
struct job fleet_job(const char *name, int rw);

/* What a member did in one direction: counts and latencies, added up by the test. */
struct load {
	uint64_t member;
	enum direction dir;
	struct counts counts;
	struct hist lat;
};
/* `ios` I/Os of `bytes` bytes each and `lat_ns` latency. */
void load_add(struct load *l, uint64_t ios, uint64_t bytes, uint64_t lat_ns);

/* Sends DONE with the loads (finished by the call) and one member_done per entry; asserts success. */
void fleet_done(struct test_fleet *f, size_t host, struct msg_done done, struct load *loads,
		size_t nr);
/* The same for one member and a window of begin..end ns after START. */
void fleet_done_one(struct test_fleet *f, size_t host, struct load load, uint64_t begin_ns,
		    uint64_t end_ns);
/* A member that ran all the time from begin to end. */
struct member_done fleet_member(uint64_t member, uint64_t threads, uint64_t begin_ns,
				uint64_t end_ns);
/* Sends a sample with these loads (not finished by the call). */
struct error *fleet_sample(struct test_fleet *f, size_t host, struct msg_sample sample,
			   const struct load *loads, size_t nr);
/* A sample of interval k with these many reads of member 0, all threads running; readings on the grid of a
 * host whose START is 0 on its own clock and that has no ramp. */
struct error *fleet_interval(struct test_fleet *f, size_t host, uint64_t k, uint64_t ios);
/* Intervals 0 to nr - 1. */
void fleet_intervals(struct test_fleet *f, size_t host, uint64_t nr, uint64_t ios);
/* DONE after so many samples and intervals, with these many reads in all. */
void fleet_total(struct test_fleet *f, size_t host, uint64_t ios, uint64_t samples);
/* Does the result have a warning with this text in it? */
bool fleet_warned(const struct result *r, const char *text);
/* Ends the step and the run. */
const struct result *fleet_finish(struct test_fleet *f);

#endif
