/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - what one job does: the scenario's keys under `jobs`, and the same struct on the wire.
 *
 * Data only. The table in job.c is the single place that knows the keys.
 */
#ifndef SALVO_MODEL_JOB_H
#define SALVO_MODEL_JOB_H

#include "common/schema/schema.h"

enum job_rw { RW_READ, RW_WRITE, RW_RANDREAD, RW_RANDWRITE, RW_RW, RW_RANDRW };
enum job_on_error { ON_ERROR_STOP, ON_ERROR_CONTINUE, ON_ERROR_STOP_ALL };
enum job_engine {
	ENGINE_IO_URING,
	ENGINE_LIBAIO,
	ENGINE_PSYNC,
	ENGINE_SYNC,
	ENGINE_PVSYNC2,
	ENGINE_MMAP,
	JOB_ENGINES
};

/* What an engine can do with a job; what it cannot is found before any I/O. */
enum job_engine_can {
	ENGINE_CAN_QUEUE = 1,  /* iodepth I/Os in flight; without it one */
	ENGINE_CAN_DIRECT = 2, /* bypass the page cache */
};

struct job {
	char *name;
	char **target; /* names of targets; one thread set for each */
	size_t nr_target;
	char **hosts; /* names of hosts; empty: all of the scenario */
	size_t nr_hosts;
	char *group; /* NULL: only in `all` */
	int rw;      /* enum job_rw */
	double rwmixread;
	uint64_t bs;      /* bytes */
	uint64_t size;    /* bytes of the target's range; 0: to its end */
	uint64_t offset;  /* bytes; start of the target's range */
	uint64_t io_size; /* bytes per thread and pass; 0: the thread's range once */
	uint64_t iodepth;
	uint64_t numjobs;
	uint64_t runtime_ns;   /* measured time; 0: none */
	uint64_t ramp_time_ns; /* before it, not measured */
	bool time_based;
	bool direct;        /* resolved: true for a device unless given */
	int engine;         /* enum job_engine; simulated targets bring their own */
	uint64_t fsync;     /* after every N writes of a thread; 0: never */
	uint64_t fdatasync; /* the same with fdatasync */
	bool end_fsync;
	bool invalidate;  /* the target's part of the page cache is dropped before the phase */
	bool drop_caches; /* all of the host's page cache, dentries and inodes are, after a sync */
	char *cpus_allowed; /* "0-3,8" on every host; NULL: any */
	int on_error;       /* enum job_on_error */
	uint64_t randseed;  /* resolved: chosen by the coordinator when not given, and recorded */
	bool norandommap;
	struct fieldset set;
};

extern const struct schema job_schema;

unsigned job_engine_can(enum job_engine engine); /* enum job_engine_can */
const char *job_engine_name(enum job_engine engine);

static inline bool job_reads(const struct job *j)
{
	return j->rw == RW_READ || j->rw == RW_RANDREAD || j->rw == RW_RW || j->rw == RW_RANDRW;
}

static inline bool job_writes(const struct job *j)
{
	return j->rw == RW_WRITE || j->rw == RW_RANDWRITE || j->rw == RW_RW || j->rw == RW_RANDRW;
}

static inline bool job_is_random(const struct job *j)
{
	return j->rw == RW_RANDREAD || j->rw == RW_RANDWRITE || j->rw == RW_RANDRW;
}

#endif
