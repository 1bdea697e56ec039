/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - what one job does: the scenario's keys under `jobs`, and the same struct on the wire.
 *
 * Data only. The table in job.c is the single place that knows the keys.
 */
#ifndef SALVO_MODEL_JOB_H
#define SALVO_MODEL_JOB_H

#include "common/schema/schema.h"

enum job_rw {
	RW_READ,
	RW_WRITE,
	RW_RANDREAD,
	RW_RANDWRITE,
	RW_RW,
	RW_RANDRW,
	RW_TRIM,
	RW_RANDTRIM,
	RW_TRIMWRITE,
};
enum job_on_error { ON_ERROR_STOP, ON_ERROR_CONTINUE, ON_ERROR_STOP_ALL };
/* How a file is given its room; enum job_sync: flags with which it is opened. */
enum job_fallocate {
	FALLOCATE_NATIVE,
	FALLOCATE_NONE,
	FALLOCATE_POSIX,
	FALLOCATE_KEEP,
	FALLOCATE_TRUNCATE,
};
enum job_sync { SYNC_NONE, SYNC_SYNC, SYNC_DSYNC };
enum job_hint { HINT_WORKLOAD, HINT_NONE, HINT_RANDOM, HINT_SEQUENTIAL, HINT_NOREUSE };
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
	ENGINE_CAN_QUEUE = 1,     /* iodepth I/Os in flight; without it one */
	ENGINE_CAN_DIRECT = 2,    /* bypass the page cache */
	ENGINE_CAN_TRIM = 4,      /* discard */
	ENGINE_CAN_POLL = 8,      /* hipri */
	ENGINE_CAN_SQTHREAD = 16, /* sqthread_poll */
};

enum job_rate_process { RATE_LINEAR, RATE_POISSON };

/* The largest I/O. */
enum { JOB_MAX_BYTES = 1 << 30 };

struct job {
	char *name;
	char **target; /* names of targets; one thread set for each */
	size_t nr_target;
	char **hosts; /* names of hosts; empty: all of the scenario */
	size_t nr_hosts;
	char *group; /* NULL: only in `all` */
	int rw;      /* enum job_rw */
	double rwmixread;
	uint64_t bs;         /* bytes */
	char *bssplit;       /* sizes and their shares, read by workload.h; NULL: bs */
	char *bsrange;       /* the same */
	uint64_t blockalign; /* of random offsets; 0: the smallest size */
	uint64_t size;       /* bytes of the target's range; 0: to its end */
	uint64_t offset;     /* bytes; start of the target's range */
	uint64_t io_size;    /* bytes per thread and pass; 0: the thread's range once */
	uint64_t iodepth;
	uint64_t numjobs;
	uint64_t runtime_ns;   /* measured time; 0: none */
	uint64_t ramp_time_ns; /* before it, not measured */
	bool time_based;
	bool direct;                /* resolved: true for a device unless given */
	int engine;                 /* enum job_engine; simulated targets bring their own */
	bool hipri;                 /* completions are polled for */
	bool sqthread_poll;         /* a kernel thread submits */
	uint64_t sqthread_poll_cpu; /* where it runs; only when given */
	uint64_t fsync;             /* after every N writes of a thread; 0: never */
	uint64_t fdatasync;         /* the same with fdatasync */
	bool end_fsync;
	bool fsync_on_close; /* after the measured time */
	int sync;            /* enum job_sync */
	int fallocate;       /* enum job_fallocate */
	bool overwrite;      /* the file is laid out before it is written, too */
	bool create_only;    /* it is laid out, and that is all */
	bool unlink;         /* Salvo's own file is removed when the step is over */
	bool readonly;       /* nothing is made or laid out for the job either */
	bool pre_read;       /* the range is read into the page cache before the phase */
	int fadvise_hint;    /* enum job_hint */
	bool invalidate;     /* the target's part of the page cache is dropped before the phase */
	bool drop_caches; /* all of the host's page cache, dentries and inodes are, after a sync */
	char *cpus_allowed; /* "0-3,8" on every host; NULL: any */
	int on_error;       /* enum job_on_error */
	uint64_t randseed;  /* resolved: chosen by the coordinator when not given, and recorded */
	bool norandommap;
	char *random_distribution; /* read by workload.h; NULL: uniform */
	double percentage_random;  /* of a random job's I/Os; the others follow the one before */
	uint64_t sequence;         /* I/Os in sequence from each random offset; 0 and 1: one */
	uint64_t skip;             /* bytes left out after each I/O of a sequential job */
	char *rate, *rate_iops;    /* per thread, read by workload.h; NULL: as fast as it goes */
	int rate_process;          /* enum job_rate_process */
	uint64_t number_ios;       /* per thread and pass, at most; 0: no bound */
	uint64_t loops;            /* passes of a job that is not time_based */
	bool zero_buffers;         /* what is written: zeros */
	char *buffer_pattern;      /* read by pattern.h; NULL: random bytes */
	bool refill_buffers;       /* every write has random bytes of its own */
	bool scramble_buffers;     /* every 4 KiB of random data begins with writer and sequence */
	double buffer_compress_percentage; /* of each chunk is zeros or the pattern; 0: nothing is */
	uint64_t buffer_compress_chunk;    /* bytes */
	struct fieldset set;
};

extern const struct schema job_schema;

unsigned job_engine_can(enum job_engine engine); /* enum job_engine_can */
const char *job_engine_name(enum job_engine engine);

/* Bits 1 << DIR_READ, DIR_WRITE, DIR_TRIM of what it does. */
static inline unsigned job_directions(const struct job *j)
{
	switch ((enum job_rw)j->rw) {
	case RW_READ:
	case RW_RANDREAD:
		return 1;
	case RW_WRITE:
	case RW_RANDWRITE:
		return 2;
	case RW_RW:
	case RW_RANDRW:
		return 3;
	case RW_TRIM:
	case RW_RANDTRIM:
		return 4;
	case RW_TRIMWRITE:
		return 6;
	}
	return 0;
}

static inline bool job_reads(const struct job *j)
{
	return job_directions(j) & 1;
}

static inline bool job_trims(const struct job *j)
{
	return job_directions(j) & 4;
}

/* Does it change the target's data? Trims do. */
static inline bool job_writes(const struct job *j)
{
	return job_directions(j) & 6;
}

static inline bool job_is_random(const struct job *j)
{
	return j->rw == RW_RANDREAD || j->rw == RW_RANDWRITE || j->rw == RW_RANDRW ||
	       j->rw == RW_RANDTRIM;
}

#endif
