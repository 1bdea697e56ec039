/* SPDX-License-Identifier: Apache-2.0 */
/* message.c - the tables of the messages, and the envelope around them. */
#include "common/net/message.h"

enum {
	TEXT_MAX = 4096,
	FACTS_MAX = 1024,
	DEVICES_MAX = 4096,
	MEMBERS_MAX = 16384, /* as many as an assignment may have */
	ROWS_MAX = 65536,
	REASONS_MAX = 8192,
	STUCK_MAX = 65536,
	ERRORS_MAX = 256, /* errnos of a member, per direction */
	WARNINGS_MAX = 256,
	REASON_TEXT_MAX = 64 * 1024, /* what an error says, which may quote a lot */
	HIST_BYTES_MAX = 128 * 1024, /* every bucket in use: 4609 pairs of at most 2 + 10 bytes */
};

#define TEXT     .max = TEXT_MAX
#define OPTIONAL .flags = FIELD_OPTIONAL
#define HELP(t)  .help = (t)

static const struct choice directions[] = {
	{ "read", DIR_READ, NULL },
	{ "write", DIR_WRITE, NULL },
	{ "trim", DIR_TRIM, NULL },
	{ "sync", DIR_SYNC, NULL },
	{ 0 },
};

/* --- parts --- */

#define T struct fact
static const struct field fact_fields[] = {
	F_STRING(T, key, TEXT, HELP("what of the host")),
	F_STRING(T, value, HELP("as the host has it")),
	{ 0 },
};
#undef T
static const struct schema fact_schema = {
	.name = "fact",
	.help = "One thing that is true of a host",
	.size = sizeof(struct fact),
	.fields = fact_fields,
};

#define T struct device_info
static const struct field device_info_fields[] = {
	F_COUNT(T, target, HELP("index of the target in PREPARE")),
	F_STRING(T, path, TEXT, OPTIONAL, HELP("canonical path; absent for a simulated target")),
	F_COUNT(T, size_bytes, HELP("size")),
	F_COUNT(T, logical_block_bytes, HELP("smallest unit of direct I/O")),
	F_COUNT(T, physical_block_bytes, HELP("unit that the medium writes")),
	F_STRING(T, model, TEXT, OPTIONAL, HELP("as the device says")),
	F_STRING(T, serial, TEXT, OPTIONAL, HELP("as the device says")),
	F_STRING(T, identity, TEXT, OPTIONAL,
		 HELP("world-wide name; absent for devices without one")),
	F_STRING(T, transport, TEXT, OPTIONAL, HELP("nvme, sata, iscsi, ...")),
	F_STRING(T, in_use, TEXT, OPTIONAL, HELP("by what it is in use")),
	F_STRING(T, signature, TEXT, OPTIONAL, HELP("what was found on it")),
	F_STRING(T, warning, TEXT, OPTIONAL,
		 HELP("what the user should know although the job may run")),
	F_COUNT(T, max_write_bytes, HELP("how many bytes of it this step can write at most")),
	{ 0 },
};
#undef T
static const struct schema device_info_schema = {
	.name = "device_info",
	.help = "What a target turned out to be on this host",
	.size = sizeof(struct device_info),
	.fields = device_info_fields,
};

#define T struct reason
static const struct field reason_fields[] = {
	F_STRING(T, code, TEXT, HELP("name of the kind of error")),
	F_STRING(T, text, .max = REASON_TEXT_MAX, HELP("where: what is wrong; what to do")),
	{ 0 },
};
#undef T
static const struct schema reason_schema = {
	.name = "reason",
	.help = "One reason of a refusal",
	.size = sizeof(struct reason),
	.fields = reason_fields,
};

#define T struct counts
static const struct field counts_fields[] = {
#define X(name_, unit_, merge_, help_) F_COUNT(T, name_, OPTIONAL, .def = "0", HELP(help_)),
#include "common/model/metrics.def"
#undef X
	{ 0 },
};
#undef T
static const struct schema counts_schema = {
	.name = "counts",
	.help = "The counters of one direction; those that are 0 are absent",
	.size = sizeof(struct counts),
	.fields = counts_fields,
};

#define T struct member_row
static const struct field member_row_fields[] = {
	F_COUNT(T, member, .max = MEMBERS_MAX - 1, HELP("index of the member in PREPARE")),
	F_CHOICE(T, direction, .choices = directions, HELP("of these I/Os")),
	F_OBJECT(T, counts, &counts_schema, HELP("counters")),
	F_BYTES(T, lat, lat_len, .max = HIST_BYTES_MAX, OPTIONAL, HELP("histogram of latencies")),
	F_BYTES(T, clat, clat_len, .max = HIST_BYTES_MAX, OPTIONAL,
		HELP("histogram from submission on")),
	F_BYTES(T, slat, slat_len, .max = HIST_BYTES_MAX, OPTIONAL,
		HELP("histogram of submissions")),
	F_BYTES(T, service, service_len, .max = HIST_BYTES_MAX, OPTIONAL,
		HELP("of a job with a rate: histogram from submission on, where lat is from the "
		     "instant at which the I/O was due")),
	F_BYTES(T, late, late_len, .max = HIST_BYTES_MAX, OPTIONAL,
		HELP("of a job with a rate: histogram of what the thread was late with a free "
		     "slot")),
	{ 0 },
};
#undef T
static const struct schema member_row_schema = {
	.name = "member_row",
	.help = "One member and direction",
	.size = sizeof(struct member_row),
	.fields = member_row_fields,
};

#define T struct error_row
static const struct field error_row_fields[] = {
	F_CHOICE(T, direction, .choices = directions, HELP("of the I/Os")),
	F_COUNT(T, number, HELP("errno on the worker's host")),
	F_STRING(T, name, TEXT, OPTIONAL, HELP("its name: EIO")),
	F_COUNT(T, count, HELP("how many")),
	F_COUNT(T, first_offset,
		HELP("in bytes, of the first one; 2^64 - 1: it has none (a sync)")),
	F_COUNT(T, first_ns, HELP("instant of the first one, since START; 0: unknown")),
	{ 0 },
};
#undef T
static const struct schema error_row_schema = {
	.name = "error_row",
	.help = "I/Os of one direction that ended with one errno",
	.size = sizeof(struct error_row),
	.fields = error_row_fields,
};

#define T struct pow2_row
static const struct field pow2_row_fields[] = {
	F_COUNT(T, from, HELP("a power of two: counts from this to twice this, less one")),
	F_COUNT(T, count, HELP("how often")),
	{ 0 },
};
#undef T
static const struct schema pow2_row_schema = {
	.name = "pow2_row",
	.help = "One bucket of a distribution by powers of two",
	.size = sizeof(struct pow2_row),
	.fields = pow2_row_fields,
};

#define T struct member_done
static const struct field member_done_fields[] = {
	F_COUNT(T, member, .max = MEMBERS_MAX - 1, HELP("index of the member in PREPARE")),
	F_COUNT(T, threads, HELP("its threads")),
	F_COUNT(T, first_io_ns, HELP("earliest first submission of its threads, since START")),
	F_COUNT(T, last_first_io_ns, HELP("latest first submission of its threads, since START")),
	F_COUNT(T, begin_ns, HELP("the measured window's earliest begin, since START")),
	F_COUNT(T, end_ns,
		HELP("the measured window's latest end, a later end_fsync included, since START")),
	F_COUNT(T, read_end_ns, HELP("end of reading; 0 where it has none")),
	F_COUNT(T, write_end_ns, HELP("end of writing; 0 where it has none")),
	F_COUNT(T, sync_end_ns, HELP("end of syncing; 0 where it has none")),
	F_COUNT(T, all_begin_ns, HELP("from when every thread was running, since START")),
	F_COUNT(T, all_end_ns, HELP("until when every thread was running, since START")),
	F_COUNT(T, cpu_usr_ns, HELP("user time over the window")),
	F_COUNT(T, cpu_sys_ns, HELP("system time over the window, io-wq included")),
	F_COUNT(T, ctx, HELP("context switches")),
	F_COUNT(T, majf, HELP("major page faults")),
	F_COUNT(T, minf, HELP("minor page faults")),
	F_COUNT(T, effective_depth, HELP("largest number of I/Os of one thread really in flight")),
	F_COUNT(T, iowq_ns, OPTIONAL, .def = "0",
		HELP("of the CPU time: that of the io-wq threads")),
	F_LIST(T, depths, nr_depths, &pow2_row_schema, .max = POW2_BUCKETS, OPTIONAL,
	       HELP("I/Os in flight, once per I/O, when its batch had been submitted")),
	F_LIST(T, submits, nr_submits, &pow2_row_schema, .max = POW2_BUCKETS, OPTIONAL,
	       HELP("I/Os per submitting call")),
	F_LIST(T, completes, nr_completes, &pow2_row_schema, .max = POW2_BUCKETS, OPTIONAL,
	       HELP("I/Os per reap that found any")),
	F_LIST(T, errors, nr_errors, &error_row_schema, .max = ERRORS_MAX, OPTIONAL,
	       HELP("I/O errors by direction and errno")),
	{ 0 },
};
#undef T
static const struct schema member_done_schema = {
	.name = "member_done",
	.help = "A member's totals that have no direction",
	.size = sizeof(struct member_done),
	.fields = member_done_fields,
};

#define T struct device_stat
static const struct field device_stat_fields[] = {
	F_COUNT(T, target, HELP("index of the target in PREPARE")),
	F_COUNT(T, read_ios, HELP("reads completed by the device, START to DONE")),
	F_COUNT(T, read_bytes, HELP("bytes of them")),
	F_COUNT(T, write_ios, HELP("writes completed by the device")),
	F_COUNT(T, write_bytes, HELP("bytes of them")),
	F_COUNT(T, busy_ns, HELP("time with I/O in flight")),
	F_COUNT(T, elapsed_ns, HELP("from the instant of START to DONE")),
	F_COUNT(T, read_merges, OPTIONAL, .def = "0", HELP("reads merged into others")),
	F_COUNT(T, write_merges, OPTIONAL, .def = "0", HELP("writes merged into others")),
	F_COUNT(T, read_ticks_ns, OPTIONAL, .def = "0",
		HELP("time of all reads in the device, added up")),
	F_COUNT(T, write_ticks_ns, OPTIONAL, .def = "0",
		HELP("time of all writes in the device, added up")),
	F_COUNT(T, in_queue_ns, OPTIONAL, .def = "0",
		HELP("time weighted by the number of I/Os in the device")),
	F_COUNT(T, discard_ios, OPTIONAL, .def = "0", HELP("discards completed")),
	F_COUNT(T, discard_bytes, OPTIONAL, .def = "0", HELP("bytes of them")),
	F_COUNT(T, flush_ios, OPTIONAL, .def = "0", HELP("flushes completed")),
	F_COUNT(T, max_io_bytes, OPTIONAL, .def = "0",
		HELP("the kernel splits larger I/Os before the device counts them; 0: unknown")),
	F_STRING(T, disk, TEXT, OPTIONAL,
		 HELP("the block device counted; of a file that of its file system")),
	F_STRING(T, partition_of, TEXT, OPTIONAL,
		 HELP("of a partition the disk, whose counters hold its own")),
	F_BOOL(T, is_file, OPTIONAL, .def = "false",
	       HELP("the target is a file on that device, which others may use as well")),
	{ 0 },
};
#undef T
static const struct schema device_stat_schema = {
	.name = "device_stat",
	.help = "What the device itself counted",
	.size = sizeof(struct device_stat),
	.fields = device_stat_fields,
};

#define T struct stuck_io
static const struct field stuck_io_fields[] = {
	F_COUNT(T, target, HELP("index of the target in PREPARE")),
	F_COUNT(T, offset, HELP("in bytes")),
	F_COUNT(T, bytes, HELP("length")),
	F_COUNT(T, age_ns, HELP("since its submission")),
	F_CHOICE(T, direction, .choices = directions, HELP("of the I/O")),
	{ 0 },
};
#undef T
static const struct schema stuck_io_schema = {
	.name = "stuck_io",
	.help = "An I/O that never came back",
	.size = sizeof(struct stuck_io),
	.fields = stuck_io_fields,
};

/* --- messages --- */

#define T struct msg_hello
static const struct field hello_fields[] = {
	F_COUNT(T, protocol, HELP("major version; another one is refused")),
	F_STRING(T, version, TEXT, HELP("of the program, for people")),
	F_STRING(T, owner, TEXT, HELP("who asks, for the answer BUSY to others")),
	F_BOOL(T, observe, HELP("only look: no session is made")),
	F_COUNT(T, lease_ns, HELP("how long the worker goes on without renewal")),
	F_COUNT(T, grace_ns, HELP("how long it waits for I/O that does not come back")),
	{ 0 },
};
#undef T

#define T struct msg_welcome
static const struct field welcome_fields[] = {
	F_COUNT(T, protocol, HELP("major version")),
	F_STRING(T, version, TEXT, HELP("of the program, for people")),
	F_STRING(T, hostname, TEXT, HELP("as the host calls itself")),
	F_STRING(T, owner, TEXT, OPTIONAL, HELP("who owns the worker; absent: it is free")),
	F_COUNT(T, owned_for_ns, HELP("since when")),
	F_LIST(T, facts, nr_facts, &fact_schema, .max = FACTS_MAX, HELP("the host's environment")),
	{ 0 },
};
#undef T

#define T struct msg_busy
static const struct field busy_fields[] = {
	F_STRING(T, owner, TEXT, HELP("who owns the worker")),
	F_COUNT(T, owned_for_ns, HELP("since when")),
	{ 0 },
};
#undef T

#define T struct msg_ping
static const struct field ping_fields[] = {
	F_COUNT(T, sequence, HELP("number of the exchange")),
	F_COUNT(T, sent_ns, HELP("instant of sending, coordinator's clock")),
	F_COUNT(T, last_pong_ns,
		HELP("worker_sent_ns of the last PONG that came: the lease runs from there; 0: "
		     "none")),
	{ 0 },
};
#undef T

#define T struct msg_pong
static const struct field pong_fields[] = {
	F_COUNT(T, sequence, HELP("of the PING")),
	F_COUNT(T, sent_ns, HELP("of the PING")),
	F_COUNT(T, received_ns, HELP("instant at which the PING came, worker's clock")),
	F_COUNT(T, worker_sent_ns, HELP("instant of the answer, worker's clock")),
	F_STRING(T, state, TEXT, HELP("of the session, for people")),
	F_STRING(T, doing, TEXT, OPTIONAL, HELP("what PREPARE is busy with")),
	F_COUNT(T, progress, HELP("grows while PREPARE advances")),
	{ 0 },
};
#undef T

#define T struct msg_ready
static const struct field ready_fields[] = {
	F_LIST(T, devices, nr_devices, &device_info_schema, .max = DEVICES_MAX,
	       HELP("what the targets are")),
	F_COUNT(T, layout_bytes, HELP("written to lay files out")),
	{ 0 },
};
#undef T

#define T struct msg_failed
static const struct field failed_fields[] = {
	F_LIST(T, reasons, nr_reasons, &reason_schema, .max = REASONS_MAX,
	       HELP("all of them at once")),
	{ 0 },
};
#undef T

#define T struct msg_start
static const struct field start_fields[] = {
	F_COUNT(T, start_ns, HELP("the instant, worker's clock")),
	{ 0 },
};
#undef T

static const struct field armed_fields[] = { { 0 } };

#define T struct msg_sample
static const struct field sample_fields[] = {
	F_COUNT(T, sequence, HELP("from 0 in each step; a gap is a lost sample")),
	F_INT(T, interval,
	      HELP("k: the reading at the end of [k, k + 1) intervals after START + ramp; -1: ramp "
		   "or remainder")),
	F_COUNT(T, from_ns, HELP("instant of the reading before, worker's clock")),
	F_COUNT(T, to_ns, HELP("instant of this reading, worker's clock")),
	F_COUNT(T, running, HELP("threads between their first and last I/O")),
	F_COUNT(T, oldest_ns, HELP("age of the oldest I/O in flight")),
	F_LIST(T, rows, nr_rows, &member_row_schema, .max = ROWS_MAX,
	       HELP("differences; only rows with something in them")),
	{ 0 },
};
#undef T

#define T struct msg_stop
static const struct field stop_fields[] = {
	F_STRING(T, why, TEXT, HELP("for people")),
	{ 0 },
};
#undef T

#define T struct msg_done
static const struct field done_fields[] = {
	F_COUNT(T, samples, HELP("how many SAMPLEs were sent in this step")),
	F_BOOL(T, stopped, HELP("by STOP or the lease, before its time")),
	F_STRING(T, stopped_by, TEXT, OPTIONAL,
		 HELP("why the worker stopped it by itself; absent: it did not")),
	F_LIST(T, members, nr_members, &member_done_schema, .max = MEMBERS_MAX,
	       HELP("totals without a direction")),
	F_LIST(T, rows, nr_rows, &member_row_schema, .max = ROWS_MAX,
	       HELP("totals per member and direction")),
	F_LIST(T, devices, nr_devices, &device_stat_schema, .max = DEVICES_MAX,
	       HELP("the devices' own counters")),
	F_LIST(T, stuck, nr_stuck, &stuck_io_schema, .max = STUCK_MAX,
	       HELP("I/O that never came back")),
	F_STRLIST(T, warnings, nr_warnings, .max = WARNINGS_MAX, OPTIONAL,
		  HELP("what the host wants said about this step")),
	F_BOOL(T, hangs,
	       HELP("with failure: the I/O did not come back in time; else its process died")),
	F_STRING(T, failure, TEXT, OPTIONAL,
		 HELP("why this is only what was left of the step; absent: it ended in order")),
	{ 0 },
};
#undef T

static const struct field bye_fields[] = { { 0 } };

#define T struct msg_error
static const struct field error_fields[] = {
	F_STRING(T, code, TEXT, HELP("name of the kind of error")),
	F_STRING(T, text, .max = REASON_TEXT_MAX, HELP("where: what is wrong; what to do")),
	{ 0 },
};
#undef T

/* PREPARE carries an assignment, whose table is in the model. */
static const struct field prepare_fields[] = { { 0 } };

static const struct schema schemas[MSG_COUNT] = {
#define X(NAME, member, text)                                           \
	[MSG_##NAME] = { .name = #NAME,                                 \
			 .help = (text),                                \
			 .size = sizeof(((struct message *)0)->member), \
			 .fields = member##_fields },
#include "common/net/messages.def"
#undef X
};

static const struct choice types[] = {
#define X(NAME, member, text) { #NAME, MSG_##NAME, text },
#include "common/net/messages.def"
#undef X
	{ 0 },
};

struct envelope {
	int type;
	uint64_t session;
};

#define T struct envelope
static const struct field envelope_fields[] = {
	F_CHOICE(T, type, .choices = types, HELP("the message")),
	F_COUNT(T, session, OPTIONAL, HELP("the session it belongs to; absent: none")),
	{ 0 },
};
#undef T
static const struct schema envelope_schema = {
	.name = "envelope",
	.help = "What every message begins with",
	.size = sizeof(struct envelope),
	.fields = envelope_fields,
};

const char *message_name(enum message_type type)
{
	return schemas[type].name;
}

const char *message_help(enum message_type type)
{
	return schemas[type].help;
}

const struct schema *message_schema(enum message_type type)
{
	return type == MSG_PREPARE ? &assignment_schema : &schemas[type];
}

const struct schema *message_envelope_schema(void)
{
	return &envelope_schema;
}

/* All members of the union begin where it begins. */
static void *payload(const struct message *m)
{
	return (void *)&m->hello;
}

void message_encode(const struct message *m, struct buf *out)
{
	struct envelope envelope = { .type = m->type, .session = m->session };

	schema_pack_two(&envelope_schema, &envelope, message_schema(m->type), payload(m), out);
}

struct error *message_decode(const uint8_t *data, size_t len, struct message *ret)
{
	struct envelope envelope;
	struct error *err;

	memset(ret, 0, sizeof(*ret));
	if (len > MESSAGE_MAX_BYTES)
		return error_new(ERR_PROTOCOL, "a message of %zu bytes; the most is %d", len,
				 MESSAGE_MAX_BYTES);
	err = schema_unpack(&envelope_schema, data, len, &envelope);
	if (err)
		return error_context(err, "message");
	ret->type = (enum message_type)envelope.type;
	ret->session = envelope.session;
	err = schema_unpack(message_schema(ret->type), data, len, payload(ret));
	return error_context(err, "%s", message_name(ret->type));
}

void message_fini(struct message *m)
{
	schema_fini(message_schema(m->type), payload(m));
}

struct error *failed_to_error(const struct msg_failed *f)
{
	struct error *list = NULL;

	for (size_t i = 0; i < f->nr_reasons; i++)
		error_append(&list, error_new(error_code_from_name(f->reasons[i].code), "%s",
					      f->reasons[i].text));
	return list;
}

void failed_from_error(const struct error *err, struct msg_failed *ret)
{
	size_t n = 0;

	for (const struct error *e = err; e && n < REASONS_MAX; e = error_next(e))
		n++;
	*ret = (struct msg_failed) { .reasons = xcalloc(n, sizeof(struct reason)),
				     .nr_reasons = n };
	for (size_t i = 0; i < n; i++, err = error_next(err))
		ret->reasons[i] = (struct reason) {
			.code = xstrdup(error_code_name(error_code(err))),
			.text = xstrndup(error_message(err), REASON_TEXT_MAX),
		};
}
