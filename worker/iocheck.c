/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/iocheck.h"

#include "common/base/units.h"
#include "worker/io/thread.h"
#include "worker/stuck.h"

enum {
	BLOCK_BYTES = 4096,
	/* A thread's ring, stack and generator. */
	THREAD_BYTES = 256 * 1024,
};

static uint64_t target_bytes(const struct work_target *t, const struct device_info *info)
{
	return t->kind != TARGET_DEVICE && t->size ? t->size : info->size_bytes;
}

static struct range member_range(const struct work_member *m, const struct work_target *t,
				 const struct device_info *info)
{
	uint64_t all = target_bytes(t, info);

	return (struct range) {
		.start = m->job.offset,
		.bytes = m->job.size ? m->job.size : all - m->job.offset,
	};
}

struct range iocheck_thread_range(const struct work_member *m, const struct work_target *t,
				  const struct device_info *info, uint64_t index)
{
	struct range whole = member_range(m, t, info);

	if (m->nr_parts <= 1)
		return whole;
	return split_part(whole, m->part_align, m->part_first + index, m->nr_parts);
}

/* --- limits --------------------------------------------------------------------------------------- */

/* Of one thread of the member; UINT64_MAX when it does not fit in 64 bits. */
static uint64_t thread_bytes(const struct assignment *a, const struct work_member *m)
{
	struct io_thread_spec spec = {
		.job = &m->job,
		.simulated = a->targets[m->target].kind == TARGET_SIMULATED,
		.block_bytes = BLOCK_BYTES,
	};
	struct buffers_spec buffers = thread_buffers_spec(&spec);
	uint64_t bytes = buffers_need(&buffers);

	if (__builtin_add_overflow(bytes, THREAD_BYTES, &bytes))
		return UINT64_MAX;
	return bytes;
}

/* Bytes of buffers and statistics; UINT64_MAX when they do not fit in 64 bits. */
static uint64_t memory_needed(const struct assignment *a)
{
	uint64_t sum = stats_block_bytes(assignment_threads(a), iocheck_slots(a));

	for (size_t i = 0; i < a->nr_members; i++) {
		const struct work_member *m = &a->members[i];
		uint64_t bytes;

		if (__builtin_mul_overflow(thread_bytes(a, m), m->job.numjobs, &bytes) ||
		    __builtin_add_overflow(sum, bytes, &sum))
			return UINT64_MAX;
	}
	return sum;
}

struct room_need iocheck_need(const struct assignment *a)
{
	/* Per target: its path, a look at it or its guard; and one for each way of opening it. */
	enum { FILES_OF_TARGET = 3, FILES_OF_POOL = 4 };
	uint64_t threads = assignment_threads(a);

	return (struct room_need) {
		.threads = threads,
		.bytes = memory_needed(a),
		.files = a->nr_targets * FILES_OF_TARGET + a->nr_members + FILES_OF_POOL +
			 threads, /* rings */
	};
}

struct error *iocheck_limits(const struct assignment *a, const struct io_setup *setup)
{
	uint64_t threads = assignment_threads(a), memory = memory_needed(a);
	struct error *errs = NULL;

	if (!threads)
		return error_new(ERR_PROTOCOL, "PREPARE without any thread");
	if (threads > setup->threads)
		error_append(&errs, error_new(ERR_REFUSED,
					      "this step needs %llu threads, the worker's limit is "
					      "%llu; raise limits.threads or lower numjobs",
					      (unsigned long long)threads,
					      (unsigned long long)setup->threads));
	if (memory > setup->memory) {
		char need[UNITS_TEXT], limit[UNITS_TEXT];

		units_human_bytes(need, (double)memory);
		units_format_size(limit, setup->memory);
		error_append(&errs,
			     error_new(ERR_REFUSED,
				       "this step needs %s of memory, the worker's limit is "
				       "%s; raise limits.memory or lower iodepth, bs or numjobs",
				       need, limit));
	}
	return errs;
}

/* --- sums ----------------------------------------------------------------------------------------- */

uint64_t iocheck_slots(const struct assignment *a)
{
	uint64_t slots = 0;

	for (size_t i = 0; i < a->nr_members; i++)
		slots += a->members[i].job.numjobs * a->members[i].job.iodepth;
	return slots;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static uint64_t union_bytes(struct range *ranges, size_t nr)
{
	uint64_t sum = 0, end = 0;

	qsort(ranges, nr, sizeof(*ranges), compare_ranges);
	for (size_t i = 0; i < nr; i++) {
		uint64_t from = ranges[i].start > end ? ranges[i].start : end;
		uint64_t to = ranges[i].start + ranges[i].bytes;

		if (to > from)
			sum += to - from;
		end = to > end ? to : end;
	}
	return sum;
}

void iocheck_max_write(const struct assignment *a, struct device_info *info)
{
	struct range *ranges = xcalloc(assignment_threads(a) + 1, sizeof(*ranges));

	for (size_t target = 0; target < a->nr_targets; target++) {
		size_t nr = 0;

		if (a->targets[target].kind == TARGET_SIMULATED)
			continue; /* nothing that could be written */
		for (size_t i = 0; i < a->nr_members; i++) {
			const struct work_member *m = &a->members[i];

			for (uint64_t k = 0;
			     m->target == target && job_writes(&m->job) && k < m->job.numjobs; k++)
				ranges[nr++] = iocheck_thread_range(m, &a->targets[target],
								    &info[target], k);
		}
		info[target].max_write_bytes = union_bytes(ranges, nr);
	}
	free(ranges);
}

/* Must the blocks hold data before the job begins? */
static bool needs_data(const struct job *job)
{
	return !job->readonly && (job_reads(job) || job_trims(job) || job->overwrite);
}

int iocheck_fallocate(const struct assignment *a, size_t target)
{
	for (size_t i = 0; i < a->nr_members; i++)
		if (a->members[i].target == target && !a->members[i].job.readonly)
			return a->members[i].job.fallocate;
	return FALLOCATE_NONE;
}

uint64_t iocheck_layout_bytes(const struct assignment *a, size_t target,
			      const struct device_info *info)
{
	uint64_t bytes = 0;

	for (size_t i = 0; a->targets[target].kind == TARGET_FILE && i < a->nr_members; i++) {
		const struct work_member *m = &a->members[i];

		if (m->target != target || !needs_data(&m->job))
			continue;
		struct range whole = member_range(m, &a->targets[target], info);

		if (whole.start + whole.bytes > bytes)
			bytes = whole.start + whole.bytes;
	}
	return bytes;
}

struct error *iocheck_not_stuck(const char *state, const struct work_target *t)
{
	_cleanup_free_ char *canonical = t->path ? realpath(t->path, NULL) : NULL;
	struct stuck_record *records;
	struct error *err = NULL;
	size_t nr;

	if (!canonical)
		return NULL;
	stuck_load(state, &records, &nr);
	for (size_t i = 0; !err && i < nr; i++) {
		for (size_t k = 0; !err && k < records[i].nr_targets; k++) {
			const struct stuck_target *s = &records[i].targets[k];

			if (streq(canonical, s->path) ||
			    (s->canonical && streq(canonical, s->canonical)))
				err = error_new(
					ERR_HUNG,
					"%s is stuck since an earlier run: %s; it is usable "
					"again when its I/O has come back",
					canonical, s->text);
		}
	}
	stuck_records_free(&records, &nr);
	return err;
}
