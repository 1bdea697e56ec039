/* SPDX-License-Identifier: Apache-2.0 */
/* iostep_internal.h - what iostep.c (a step's way to its end) and iostep_finish.c (its DONE) share. */
#ifndef SALVO_WORKER_IOSTEP_INTERNAL_H
#define SALVO_WORKER_IOSTEP_INTERNAL_H

#include "worker/host/throttle.h"
#include "worker/io/pool.h"
#include "worker/iostep.h"

/* CPU time of the process without its supervisor. */
struct cpu_reading {
	uint64_t usr_ns, sys_ns;
};

struct iostep {
	struct io_env *env;
	const struct assignment *a;
	struct device_info *info; /* per target; texts borrowed from the open targets or probes */
	struct open_target **targets; /* per target; borrowed from env, of a probe owned */
	cpu_set_t *cpus;              /* per member that has cpus_allowed */
	struct io_thread_spec *specs;
	size_t nr_specs;
	struct pool *pool;
	uint64_t layout_bytes;
	struct settle settle;
	struct device_stat
		*before; /* per target; elapsed_ns: instant of the reading; 0: has no counters */
	struct throttle throttle; /* at START */
	uint64_t start_ns;
	uint64_t cpu_begin_ns,
		cpu_end_ns; /* instants of the two readings still due; UINT64_MAX: none */
	bool cpu_end_is_read;
	struct cpu_reading cpu_begin, cpu_end;
	uint64_t sync_look_ns; /* when long fsyncs are looked for next; UINT64_MAX: never */
	uint64_t sync_written; /* what the device had written at the last look */
	bool stopped;
};

/* iostep_sync.c. At START, of a step whose jobs sync: */
void iostep_watch_syncs(struct iostep *s);
/* A list of the end_fsyncs that took long; NULL: none. */
struct error *iostep_sync_warnings(const struct iostep *s);

struct cpu_reading iostep_read_cpu(void);

static inline uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

#endif
