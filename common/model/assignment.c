/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/assignment.h"

/* clang-format off */
static const struct choice kind_choices[] = {
	{ "device",    TARGET_DEVICE,    "a block device" },
	{ "file",      TARGET_FILE,      "a regular file" },
	{ "simulated", TARGET_SIMULATED, "no device: I/O that takes a given time" },
	{ NULL }
};

/* What a worker accepts of a peer: far above any use, far below what hurts. */
enum { MAX_WORK_TARGETS = 4096, MAX_WORK_MEMBERS = 16384 };

static const struct field work_target_fields[] = {
	F_STRING(struct work_target, name, .flags = FIELD_NONEMPTY,
		 .help = "Name of the target in the scenario"),
	F_CHOICE(struct work_target, kind, .choices = kind_choices,
		 .help = "What the target is"),
	F_STRING(struct work_target, path, .flags = FIELD_OPTIONAL,
		 .help = "Path of the device or file"),
	F_SIZE(struct work_target, size, .def = "0",
	       .help = "Bytes of a file or simulated target"),
	F_DURATION(struct work_target, latency, .def = "0",
		   .help = "Time that one I/O to a simulated target takes"),
	F_MAP(struct work_target, quantiles, nr_quantiles, &quantile_schema, .flags = FIELD_OPTIONAL, .max = QUANTILES_MAX,
	      .help = "Instead of latency, a distribution"),
	F_OBJECT(struct work_target, stall, &stall_schema, .flags = FIELD_OPTIONAL,
		 .help = "A simulated target stands still once"),
	F_BOOL(struct work_target, reads, .help = "Some member reads it"),
	F_BOOL(struct work_target, writes, .help = "Some member writes it"),
	F_BOOL(struct work_target, unlink, .def = "false",
	       .help = "A file that Salvo made is removed after the step"),
	F_BOOL(struct work_target, readonly, .def = "false",
	       .help = "Nothing is made or laid out for its members"),
	F_CHOICE(struct work_target, destroy, .choices = destroy_choices, .def = "false",
		 .help = "What may be overwritten"),
	F_STRING(struct work_target, destroy_uuid, .flags = FIELD_OPTIONAL,
		 .help = "The signature that may be destroyed although it looks alive elsewhere"),
	{ NULL }
};

static const struct schema work_target_schema = {
	.name = "work_target", .help = "A target as one host sees it",
	.size = sizeof(struct work_target), .fields = work_target_fields,
};

static const struct field work_member_fields[] = {
	F_COUNT(struct work_member, target, .max = MAX_WORK_TARGETS,
		.help = "Index in targets"),
	F_COUNT(struct work_member, job_index,
		.help = "Index of the job in its phase"),
	F_OBJECT(struct work_member, job, &job_schema,
		 .help = "The job with everything resolved"),
	F_COUNT(struct work_member, first_thread,
		.help = "Number of the first thread among all of the fleet in this phase"),
	F_COUNT(struct work_member, part_first,
		.help = "The first thread's part of the range"),
	F_COUNT(struct work_member, nr_parts, .flags = FIELD_REQUIRED, .min = 1,
		.help = "Parts of the range; 1: the whole of it for each thread"),
	F_SIZE(struct work_member, part_align, .flags = FIELD_REQUIRED, .min = 1,
	       .help = "Parts begin and end at multiples of this"),
	{ NULL }
};

static const struct schema work_member_schema = {
	.name = "work_member", .help = "One job on one target of one host",
	.size = sizeof(struct work_member), .fields = work_member_fields,
};

static struct error *check_assignment(const void *obj)
{
	const struct assignment *a = obj;

	for (size_t i = 0; i < a->nr_members; i++) {
		if (a->members[i].target >= a->nr_targets)
			return error_new(ERR_PROTOCOL, "member %zu is of a target that is not there", i);
		if (a->members[i].job.readonly && job_writes(&a->members[i].job))
			return error_new(ERR_PROTOCOL, "member %zu is readonly and writes", i);
	}
	return NULL;
}

static const struct field assignment_fields[] = {
	F_STRING(struct assignment, run, .flags = FIELD_NONEMPTY,
		 .help = "Identifier of the run"),
	F_COUNT(struct assignment, step,
		.help = "Number of the step in the run, from 0"),
	F_BOOL(struct assignment, probe, .def = "false",
	       .help = "Look at the targets and answer, but open nothing for writing and make no threads"),
	F_DURATION(struct assignment, interval, .flags = FIELD_REQUIRED, .min = 1000000,
		   .help = "Time between samples"),
	F_LIST(struct assignment, targets, nr_targets, &work_target_schema, .max = MAX_WORK_TARGETS,
	       .help = "The targets that the members use"),
	F_LIST(struct assignment, members, nr_members, &work_member_schema, .max = MAX_WORK_MEMBERS,
	       .help = "Jobs on targets, each with numjobs threads"),
	{ NULL }
};

const struct schema assignment_schema = {
	.name = "assignment", .help = "A host's share of one phase",
	.size = sizeof(struct assignment), .fields = assignment_fields, .check = check_assignment,
};
/* clang-format on */

uint64_t assignment_threads(const struct assignment *a)
{
	uint64_t threads = 0;

	for (size_t i = 0; i < a->nr_members; i++)
		threads += a->members[i].job.numjobs;
	return threads;
}
