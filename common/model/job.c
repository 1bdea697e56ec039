/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/job.h"

#include "common/model/pattern.h"

/* clang-format off */
static const struct choice rw_choices[] = {
	{ "read",      RW_READ,      "sequential reads" },
	{ "write",     RW_WRITE,     "sequential writes" },
	{ "randread",  RW_RANDREAD,  "random reads" },
	{ "randwrite", RW_RANDWRITE, "random writes" },
	{ "rw",        RW_RW,        "sequential reads and writes, mixed by rwmixread" },
	{ "randrw",    RW_RANDRW,    "random reads and writes, mixed by rwmixread" },
	{ "trim",      RW_TRIM,      "sequential discards (of a file: holes are punched)" },
	{ "randtrim",  RW_RANDTRIM,  "random discards" },
	{ "trimwrite", RW_TRIMWRITE, "sequential: each block is discarded, then written" },
	{ NULL }
};

static const struct choice engine_choices[] = {
	{ "io_uring", ENGINE_IO_URING, "asynchronous, iodepth I/Os in flight per thread" },
	{ "libaio",   ENGINE_LIBAIO,   "io_submit and io_getevents, iodepth I/Os in flight per thread; only direct I/O is asynchronous" },
	{ "psync",    ENGINE_PSYNC,    "pread and pwrite, one I/O in flight per thread" },
	{ "sync",     ENGINE_SYNC,     "lseek, read and write, one I/O in flight per thread" },
	{ "pvsync2",  ENGINE_PVSYNC2,  "preadv2 and pwritev2, one I/O in flight per thread" },
	{ "mmap",     ENGINE_MMAP,     "a mapping of the target, where page faults are the I/O; always through the page cache" },
	{ NULL }
};

static const unsigned engine_can[] = {
	[ENGINE_IO_URING] = ENGINE_CAN_QUEUE | ENGINE_CAN_DIRECT | ENGINE_CAN_TRIM | ENGINE_CAN_POLL | ENGINE_CAN_SQTHREAD,
	[ENGINE_LIBAIO]   = ENGINE_CAN_QUEUE | ENGINE_CAN_DIRECT,
	[ENGINE_PSYNC]    = ENGINE_CAN_DIRECT | ENGINE_CAN_TRIM,
	[ENGINE_SYNC]     = ENGINE_CAN_DIRECT | ENGINE_CAN_TRIM,
	[ENGINE_PVSYNC2]  = ENGINE_CAN_DIRECT | ENGINE_CAN_TRIM | ENGINE_CAN_POLL,
	[ENGINE_MMAP]     = 0,
};
static_assert(array_size(engine_can) == JOB_ENGINES, "one row for each engine");
static_assert(array_size(engine_choices) == JOB_ENGINES + 1, "one name for each engine");

static const struct choice sync_choices[] = {
	{ "none",  SYNC_NONE,  "a write may end in a cache" },
	{ "sync",  SYNC_SYNC,  "O_SYNC: a write ends when its data and all metadata are on the medium" },
	{ "dsync", SYNC_DSYNC, "O_DSYNC: a write ends when its data, and what is needed to find them, are on the medium" },
	{ "0",     SYNC_NONE,  "the same as none" },
	{ "1",     SYNC_SYNC,  "the same as sync" },
	{ NULL }
};

static const struct choice fallocate_choices[] = {
	{ "native",   FALLOCATE_NATIVE,   "fallocate; where the file system cannot, its size alone is set" },
	{ "none",     FALLOCATE_NONE,     "not at all: the writes make the file grow" },
	{ "posix",    FALLOCATE_POSIX,    "posix_fallocate, which writes where the file system cannot" },
	{ "keep",     FALLOCATE_KEEP,     "blocks are reserved beyond the end, and the writes make the file grow" },
	{ "truncate", FALLOCATE_TRUNCATE, "its size alone is set: a hole, which the writes fill" },
	{ "0",        FALLOCATE_NONE,     "the same as none" },
	{ "1",        FALLOCATE_POSIX,    "the same as posix" },
	{ NULL }
};

static const struct choice hint_choices[] = {
	{ "1",          HINT_WORKLOAD,   "by the job's order: random or sequential" },
	{ "none",       HINT_NONE,       "none" },
	{ "0",          HINT_NONE,       "the same as none" },
	{ "random",     HINT_RANDOM,     "random: nothing is read ahead" },
	{ "sequential", HINT_SEQUENTIAL, "sequential: more is read ahead" },
	{ "noreuse",    HINT_NOREUSE,    "what is read or written is not used again" },
	{ NULL }
};

static const struct choice on_error_choices[] = {
	{ "stop",     ON_ERROR_STOP,     "the thread ends at its first I/O error" },
	{ "continue", ON_ERROR_CONTINUE, "errors are counted and the thread goes on" },
	{ "stop_all", ON_ERROR_STOP_ALL, "the first I/O error ends the whole run on all hosts" },
	{ NULL }
};

static const struct choice rate_process_choices[] = {
	{ "linear",  RATE_LINEAR,  "evenly, the threads of the fleet spread over the time between two I/Os" },
	{ "poisson", RATE_POISSON, "at random, as from many users that know nothing of each other" },
	{ NULL }
};

/* Names of things become texts of reports and paths of metrics; these bounds are far above use. */
enum { NAME_MAX_BYTES = 128, TEXT_MAX_BYTES = 4096, MAX_TARGETS_PER_JOB = 1024, MAX_HOSTS_PER_JOB = 8192 };
#define BYTES_MAX (1ull << 62)              /* offset + size stay below 2^63 */
#define TIME_MAX  (365ull * 24 * 3600 * 1000000000)

static const struct field job_fields[] = {
	F_STRING(struct job, name, .flags = FIELD_NONEMPTY, .max = NAME_MAX_BYTES,
		 .help = "Name of the job in the report"),
	F_STRLIST(struct job, target, nr_target, .flags = FIELD_NONEMPTY, .max = MAX_TARGETS_PER_JOB,
		  .help = "The target that the job works on, or a list of them; each gets numjobs threads"),
	F_STRLIST(struct job, hosts, nr_hosts, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = MAX_HOSTS_PER_JOB,
		  .help = "The hosts that run the job; without it all hosts of the scenario"),
	F_STRING(struct job, group, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = NAME_MAX_BYTES,
		 .help = "Name of a group whose members are added up in the report, besides the group 'all'"),
	F_CHOICE(struct job, rw, .choices = rw_choices, .def = "read",
		 .help = "Direction and order of the I/O"),
	F_PERCENT(struct job, rwmixread, .def = "50",
		  .help = "Share of reads in a mixed job (rw, randrw)"),
	F_SIZE(struct job, bs, .def = "4k", .min = 1, .max = JOB_MAX_BYTES,
	       .help = "Bytes moved by one I/O"),
	F_STRING(struct job, bssplit, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = TEXT_MAX_BYTES,
		 .help = "Sizes and their shares of the I/Os in percent, in place of bs: 4k/60:64k/40; reads, writes and trims apart: 4k/60:64k/40,8k/100"),
	F_STRING(struct job, bsrange, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = TEXT_MAX_BYTES,
		 .help = "Smallest and largest size, in place of bs; multiples of the smallest are equally likely: 4k-64k, or 4k-64k,8k-8k"),
	F_SIZE(struct job, blockalign, .flags = FIELD_OPTIONAL, .min = 1, .max = JOB_MAX_BYTES,
	       .help = "Random I/O begins at multiples of it; without it of the smallest size"),
	F_SIZE(struct job, size, .flags = FIELD_OPTIONAL, .min = 1, .max = BYTES_MAX,
	       .help = "Bytes of the target that the job uses, from offset on; without it up to the target's end"),
	F_SIZE(struct job, offset, .def = "0", .max = BYTES_MAX,
	       .help = "Where in the target the job's range begins"),
	F_SIZE(struct job, io_size, .flags = FIELD_OPTIONAL, .min = 1, .max = BYTES_MAX,
	       .help = "Bytes that each thread moves in all, more or less than its range once; without it one pass"),
	F_COUNT(struct job, iodepth, .def = "1", .min = 1, .max = 4096,
		.help = "I/Os that each thread keeps in flight"),
	F_COUNT(struct job, numjobs, .def = "1", .min = 1, .max = 4096,
		.help = "Threads of the job on each host for each target"),
	F_DURATION(struct job, runtime, .def = "0", .max = TIME_MAX,
		   .help = "Measured time; 0: until the pass is done"),
	F_DURATION(struct job, ramp_time, .def = "0", .max = TIME_MAX,
		   .help = "Time that the job runs before it is measured"),
	F_BOOL(struct job, time_based, .def = "false",
	       .help = "Start over at the end of a pass until runtime is over"),
	F_BOOL(struct job, direct, .flags = FIELD_OPTIONAL,
	       .help = "Bypass the page cache (O_DIRECT); without it true for a device and false for a file"),
	F_CHOICE(struct job, engine, .choices = engine_choices, .def = "io_uring",
		 .help = "How I/O is submitted"),
	F_BOOL(struct job, hipri, .def = "false",
	       .help = "Poll for completions instead of waiting for interrupts (io_uring: IOPOLL; pvsync2: RWF_HIPRI); needs direct I/O and a device with poll queues"),
	F_BOOL(struct job, sqthread_poll, .def = "false",
	       .help = "io_uring: a thread of the kernel, one for each of the job's, takes I/Os without a system call (SQPOLL); its CPU time counts with io-wq's"),
	F_COUNT(struct job, sqthread_poll_cpu, .flags = FIELD_OPTIONAL, .max = 1023,
		.help = "The CPU of each host that sqthread_poll uses; without it any"),
	F_COUNT(struct job, fsync, .def = "0", .max = 1ull << 32,
		.help = "fsync after so many writes of a thread; 0: never"),
	F_COUNT(struct job, fdatasync, .def = "0", .max = 1ull << 32,
		.help = "fdatasync after so many writes of a thread, besides fsync when both are given; 0: never"),
	F_BOOL(struct job, end_fsync, .def = "false",
	       .help = "fsync when a thread's writing is over; its time counts"),
	F_BOOL(struct job, fsync_on_close, .def = "false",
	       .help = "fsync when a thread is done with the target, after the measured time"),
	F_CHOICE(struct job, sync, .choices = sync_choices, .def = "none",
		 .help = "When a write ends: how the target is opened"),
	F_CHOICE(struct job, fallocate, .choices = fallocate_choices, .def = "native",
		 .help = "How a new file gets its room before it is laid out or written"),
	F_BOOL(struct job, overwrite, .def = "false",
	       .help = "Lay a file out before it is written, too, so that the writes meet blocks that hold data already"),
	F_BOOL(struct job, create_only, .def = "false",
	       .help = "Make the file and lay it out as the job needs it, and do no I/O"),
	F_BOOL(struct job, unlink, .def = "false",
	       .help = "Remove the file after the phase; only one that Salvo made"),
	F_BOOL(struct job, readonly, .def = "false",
	       .help = "The job may not write, and no file is made, laid out or removed for it"),
	F_BOOL(struct job, pre_read, .def = "false",
	       .help = "Read the job's range into the page cache before the phase; stands above invalidate"),
	F_CHOICE(struct job, fadvise_hint, .choices = hint_choices, .def = "1",
		 .help = "What the kernel is told about the order of I/O through the page cache (posix_fadvise)"),
	F_BOOL(struct job, invalidate, .def = "true",
	       .help = "Drop the target's part of the page cache before the phase"),
	F_BOOL(struct job, drop_caches, .def = "false",
	       .help = "Sync, then drop the host's page cache, dentries and inodes before the phase; needs root on the host"),
	F_STRING(struct job, cpus_allowed, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = TEXT_MAX_BYTES,
		 .help = "The CPUs of each host on which the job's threads may run: 0-3,8"),
	F_CHOICE(struct job, on_error, .choices = on_error_choices, .def = "stop",
		 .help = "What an I/O error does besides being counted"),
	F_COUNT(struct job, randseed, .flags = FIELD_OPTIONAL,
		.help = "Seed of the random offsets; without it one is chosen and recorded"),
	F_BOOL(struct job, norandommap, .def = "false",
	       .help = "Draw each random offset on its own instead of visiting every block once per pass"),
	F_STRING(struct job, random_distribution, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = TEXT_MAX_BYTES,
		 .help = "How random offsets spread: random, zipf:THETA, pareto:H (0.2: 80 % of the I/Os in 20 % of the blocks), normal:PERCENT of deviation, zoned:IOS/SIZE:... in percent"),
	F_PERCENT(struct job, percentage_random, .def = "100",
		  .help = "Share of a random job's I/Os that are; the others begin where the one before ended"),
	F_COUNT(struct job, sequence, .def = "1", .min = 1, .max = 1ull << 32,
		.help = "I/Os of a random job that follow each other from each random offset on (fio: randread:N)"),
	F_SIZE(struct job, skip, .def = "0", .max = BYTES_MAX,
	       .help = "Bytes that a sequential job leaves out after each I/O (fio: read:SIZE)"),
	F_STRING(struct job, rate, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = TEXT_MAX_BYTES,
		 .help = "Bytes per second and thread at which I/O becomes due: 10m; reads, writes and trims apart: 10m,5m"),
	F_STRING(struct job, rate_iops, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = TEXT_MAX_BYTES,
		 .help = "I/Os per second and thread that become due: 1000, or 700,300; lat counts from the instant at which an I/O was due"),
	F_CHOICE(struct job, rate_process, .choices = rate_process_choices, .def = "linear",
		 .help = "When the I/O of a job with a rate becomes due"),
	F_COUNT(struct job, number_ios, .flags = FIELD_OPTIONAL, .min = 1,
		.help = "I/Os of each thread after which it ends; without it as many as io_size or the passes take"),
	F_COUNT(struct job, loops, .def = "1", .min = 1, .max = 1ull << 32,
		.help = "Passes of each thread, of io_size or of its range; without meaning for time_based"),
	F_BOOL(struct job, zero_buffers, .def = "false",
	       .help = "Write zeros; storage that leaves zeros out stores nothing"),
	F_STRING(struct job, buffer_pattern, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = 2 * PATTERN_MAX + 2,
		 .help = "Write this again and again: 0xdeadbeef is bytes in hex, anything else the text itself; all blocks are equal then"),
	F_BOOL(struct job, refill_buffers, .def = "false",
	       .help = "New random bytes for every write, at the cost of the CPU time to draw them; without it a buffer is written again and again with another stamp in each 4 KiB, which compresses where a compressor sees several writes at once"),
	F_BOOL(struct job, scramble_buffers, .def = "true",
	       .help = "Stamp each 4 KiB of random data with 16 bytes of writer and sequence: no two blocks of a fleet are equal; without meaning for zeros and patterns alone"),
	F_PERCENT(struct job, buffer_compress_percentage, .def = "0",
		  .help = "Share of what is written that compresses away: that much of each buffer_compress_chunk is zeros, or buffer_pattern, the rest new random bytes with every write"),
	F_SIZE(struct job, buffer_compress_chunk, .def = "512", .min = 1, .max = JOB_MAX_BYTES,
	       .help = "Bytes in which random ones come first and those that compress after them"),
	{ NULL }
};

const struct schema job_schema = {
	.name = "job", .help = "What numjobs threads do on each host to each of the job's targets",
	.size = sizeof(struct job), .fields = job_fields, .set_offset = offsetof(struct job, set),
	.strict_wire = true,
};
/* clang-format on */

unsigned job_engine_can(enum job_engine engine)
{
	assert((size_t)engine < array_size(engine_can));
	return engine_can[engine];
}

const char *job_engine_name(enum job_engine engine)
{
	for (const struct choice *c = engine_choices; c->name; c++)
		if (c->value == (int)engine)
			return c->name;
	return "";
}
