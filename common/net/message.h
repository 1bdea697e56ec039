/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - the messages between coordinator and worker as structs, and their bytes.
 *
 * A message is one frame: a msgpack map with "type", "session" and the fields of its table. All instants
 * are CLOCK_MONOTONIC ns of the clock that the comment names. Pure; any thread.
 */
#ifndef SALVO_NET_MESSAGE_H
#define SALVO_NET_MESSAGE_H

#include "common/model/assignment.h"
#include "common/model/metrics.h"

enum {
	PROTOCOL_MAJOR = 1,                  /* another major is refused on both sides */
	MESSAGE_MAX_BYTES = 16 * 1024 * 1024 /* also ZMQ_MAXMSGSIZE */
};

enum message_type {
#define X(NAME, member, help) MSG_##NAME,
#include "common/net/messages.def"
#undef X
	MSG_COUNT,
};

struct msg_hello {
	uint64_t protocol; /* major */
	char *version;     /* of the program, for people */
	char *owner;       /* "user@host pid 4711", for BUSY */
	bool observe;      /* only look: WELCOME, but no session is made */
	uint64_t lease_ns, grace_ns;
};

struct fact {
	char *key, *value; /* "kernel": "6.1.0-57-amd64" */
};

struct msg_welcome {
	uint64_t protocol;
	char *version;
	char *hostname;
	char *owner; /* who owns the worker; NULL: free */
	uint64_t owned_for_ns;
	struct fact *
		facts; /* environment: kernel, cpu_model, nr_cpus, memory_bytes, clocksource, ... */
	size_t nr_facts;
};

struct msg_busy {
	char *owner;
	uint64_t owned_for_ns;
};

struct msg_ping {
	uint64_t sequence;
	uint64_t sent_ns; /* coordinator's clock */
	uint64_t
		last_pong_ns; /* worker_sent_ns of the last PONG that came; 0: none. The lease runs from there */
};

struct msg_pong {
	uint64_t sequence;
	uint64_t sent_ns;        /* copied from the PING */
	uint64_t received_ns;    /* worker's clock */
	uint64_t worker_sent_ns; /* worker's clock */
	char *state;             /* name of the session's state, for people */
	char *doing; /* progress of PREPARE: "laying out /srv/x: 1.2 of 4.0 GiB"; may be NULL */
	uint64_t progress; /* grows while PREPARE advances */
};

/* What a target turned out to be on this host. */
struct device_info {
	uint64_t target; /* index in the assignment */
	char *path;      /* canonical */
	uint64_t size_bytes, logical_block_bytes, physical_block_bytes;
	char *model, *serial, *identity, *transport; /* NULL where there is none */
	char *in_use;    /* "mounted on /srv", "swap"; NULL: nothing found */
	char *signature; /* "ext4, UUID ..."; NULL: none */
	char *warning;   /* what the user should know although the job may run; NULL: nothing */
	uint64_t
		max_write_bytes; /* how many bytes of it the members of this step can write at most: range(s) */
};

struct msg_ready {
	struct device_info *devices;
	size_t nr_devices;
	uint64_t layout_bytes; /* written to lay files out */
};

struct reason {
	char *code; /* name of an enum error_code */
	char *text;
};

struct msg_failed {
	struct reason *reasons;
	size_t nr_reasons;
};

struct msg_start {
	uint64_t start_ns; /* worker's clock */
};

/* One member and direction. In SAMPLE: differences since the last sample (MAX metrics: as they stand), lat
 * only. In DONE: the totals, with the others. Histograms as hist_encode writes them. */
struct member_row {
	uint64_t member;
	int direction; /* enum direction */
	struct counts counts;
	uint8_t *lat, *clat, *slat, *service, *late;
	size_t lat_len, clat_len, slat_len, service_len, late_len;
};

struct msg_sample {
	uint64_t sequence; /* from 0 in each step; a gap is a lost sample */
	int64_t interval; /* k: the reading at the end of [k, k+1) intervals after START + ramp; -1: ramp or remainder */
	uint64_t from_ns, to_ns; /* worker's clock: instants of the two readings */
	uint64_t running;        /* threads that are between first and last I/O */
	uint64_t oldest_ns;      /* age of the oldest I/O in flight */
	struct member_row *rows; /* only those with something in them */
	size_t nr_rows;
};

struct msg_stop {
	char *why;
};

/* I/Os of one direction that ended with one errno. */
struct error_row {
	int direction;   /* enum direction */
	uint64_t number; /* errno; Linux numbers of the worker's architecture */
	char *name;      /* "EIO", for other architectures and for people */
	uint64_t count;
	uint64_t first_offset; /* bytes, of the first one; UINT64_MAX: it has none (a sync) */
	uint64_t first_ns;     /* instant of the first one, since START; 0: unknown */
};

/* One bucket of a struct pow2_counts. */
struct pow2_row {
	uint64_t from; /* 1, 2, 4, ... 4096: counts from .. 2 * from - 1 */
	uint64_t count;
};

/* A member's totals that have no direction. Instants are relative to START, on the worker's clock, ns. */
struct member_done {
	uint64_t member, threads;
	uint64_t first_io_ns;      /* earliest first submission of its threads */
	uint64_t last_first_io_ns; /* latest first submission of its threads */
	uint64_t begin_ns,
		end_ns; /* the measured window: earliest begin, latest end (a later end_fsync included) */
	uint64_t read_end_ns, write_end_ns, sync_end_ns; /* per direction; 0 where it has none */
	uint64_t all_begin_ns,
		all_end_ns; /* when every thread was running: latest first I/O, earliest end */
	uint64_t cpu_usr_ns, cpu_sys_ns, ctx, majf, minf; /* over the window, io-wq included */
	uint64_t iowq_ns; /* of cpu_usr_ns + cpu_sys_ns: that of the io-wq threads of its threads */
	/* Over window and drain: how many were in flight, once per I/O, when the batch that brought it had been
	 * submitted; I/Os per submitting call; I/Os per reap that found any. Only buckets with something in them. */
	struct pow2_row *depths, *submits, *completes;
	size_t nr_depths, nr_submits, nr_completes;
	struct error_row *errors; /* all of them, those of the ramp too */
	size_t nr_errors;
	uint64_t effective_depth; /* largest number of I/Os of one thread really in flight */
};

struct device_stat {
	uint64_t target;
	uint64_t read_ios, read_bytes, write_ios,
		write_bytes; /* the device's own counters, START to DONE */
	uint64_t busy_ns;
	uint64_t
		elapsed_ns; /* from the instant of START, before which nothing of ours is in flight */
	/* The rest of /sys/block/D/stat, from START to DONE: merged requests; time that I/Os spent in the device, added
	 * up over all of them; the same weighted by the queue's length; discards and flushes. */
	uint64_t read_merges, write_merges, read_ticks_ns, write_ticks_ns, in_queue_ns;
	uint64_t discard_ios, discard_bytes, flush_ios;
	uint64_t
		max_io_bytes; /* the kernel splits larger I/Os before the device counts them; 0: unknown */
	char *disk; /* "sda", "loop3": the block device counted, of a file that of its file system; NULL: none */
	char *partition_of; /* of a partition the disk's name, whose counters hold its own; NULL: it is none */
	bool is_file; /* the target is a file on that device, which others may use as well */
};

/* The I/O that never came back, for the report of a hung device. */
struct stuck_io {
	uint64_t target, offset, bytes, age_ns;
	int direction;
};

struct msg_done {
	uint64_t samples; /* how many SAMPLEs were sent in this step */
	bool stopped;     /* by STOP or the lease before its time */
	char *stopped_by; /* why the worker stopped it by itself; NULL: it did not */
	struct member_done *members;
	size_t nr_members;
	struct member_row *rows; /* totals of every member and direction with something in it */
	size_t nr_rows;
	struct device_stat *devices;
	size_t nr_devices;
	struct stuck_io *stuck;
	size_t nr_stuck;
	/* What the host wants said about this step: no real-time priority, throttled processors, ... */
	char **warnings;
	size_t nr_warnings;
	bool hangs; /* with `failure`: the I/O process did not get its I/O back in time; else it died */
	char *failure; /* why these totals are only what was left of the step; NULL: it ended in order */
};

struct msg_error {
	char *code, *text;
};

struct msg_armed {
	char unused;
};
struct msg_bye {
	char unused;
};

struct message {
	enum message_type type;
	uint64_t session; /* 0: none */
	union {
		struct msg_hello hello;
		struct msg_welcome welcome;
		struct msg_busy busy;
		struct msg_ping ping;
		struct msg_pong pong;
		struct assignment prepare;
		struct msg_ready ready;
		struct msg_failed failed;
		struct msg_start start;
		struct msg_armed armed;
		struct msg_sample sample;
		struct msg_stop stop;
		struct msg_done done;
		struct msg_bye bye;
		struct msg_error error;
	};
};

const char *message_name(enum message_type type);
/* Who sends it and what it means. */
const char *message_help(enum message_type type);
/* Appends the message's bytes. */
void message_encode(const struct message *m, struct buf *out);
/* Reads a message from a peer. Never crashes or allocates beyond a small multiple of len, whatever the
 * bytes are; the error (ERR_PROTOCOL) says what is wrong with them. */
struct error *message_decode(const uint8_t *data, size_t len, struct message *ret) _must_check_;
void message_fini(struct message *m);
/* A FAILED or ERROR message's reasons as errors (code and text kept), and the other way round. */
struct error *failed_to_error(const struct msg_failed *f);
void failed_from_error(const struct error *err, struct msg_failed *ret);
/* The tables, for documentation and fuzzing. */
const struct schema *message_schema(enum message_type type);
/* "type" and "session", which every message begins with. */
const struct schema *message_envelope_schema(void);

#endif
