/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/range.h"

#include "common/model/workload.h"

static struct error *check_alignment(const struct device_info *info, const struct job *job)
{
	uint64_t sector = info->logical_block_bytes;
	const struct {
		const char *key;
		uint64_t bytes;
	} values[] = {
		{ job_size_key(job), sector ? job_odd_size(job, sector) : 0 },
		{ "offset", job->offset },
		{ "skip", job->skip },
	};
	struct error *err = NULL;

	for (size_t i = 0; job->direct && i < array_size(values); i++)
		if (sector && values[i].bytes % sector != 0)
			error_append(
				&err,
				error_new(ERR_REFUSED,
					  "job '%s': %s: %llu is not a multiple of the %llu-byte "
					  "logical blocks of %s; change it or set 'direct: false'",
					  job->name, values[i].key,
					  (unsigned long long)values[i].bytes,
					  (unsigned long long)sector, info->path));
	return err;
}

static struct error *check_parts(const struct device_info *info, const struct work_member *m,
				 uint64_t range_bytes)
{
	const struct job *job = &m->job;
	uint64_t largest = job_max_bytes(job);
	uint64_t align = m->part_align ? m->part_align : job_granule(job);
	uint64_t nr = m->nr_parts ? m->nr_parts : 1;

	if (range_bytes < largest)
		return error_new(
			ERR_REFUSED,
			"job '%s': %s: a block of %llu bytes does not fit into the %llu bytes of "
			"%s that it may use; lower it or raise size",
			job->name, job_size_key(job), (unsigned long long)largest,
			(unsigned long long)range_bytes, info->path);
	if (nr > 1 && (range_bytes / align < nr || range_bytes / align / nr * align < largest))
		return error_new(
			ERR_REFUSED,
			"job '%s': %llu bytes of %s shared by %llu threads leave less than one "
			"block of %llu bytes for some; lower numjobs or bs, or raise size",
			job->name, (unsigned long long)range_bytes, info->path,
			(unsigned long long)nr, (unsigned long long)largest);
	return NULL;
}

struct error *range_check(const struct device_info *info, const struct work_member *m)
{
	const struct job *job = &m->job;
	uint64_t size = info->size_bytes;
	struct error *err = check_alignment(info, job);

	if (job->offset >= size)
		error_append(
			&err,
			error_new(ERR_REFUSED,
				  "job '%s': offset: %llu is beyond the end of %s (%llu bytes); "
				  "lower it",
				  job->name, (unsigned long long)job->offset, info->path,
				  (unsigned long long)size));
	else if (job->size > size - job->offset)
		error_append(
			&err,
			error_new(ERR_REFUSED,
				  "job '%s': size: offset %llu and size %llu reach beyond the end "
				  "of %s (%llu bytes); lower them",
				  job->name, (unsigned long long)job->offset,
				  (unsigned long long)job->size, info->path,
				  (unsigned long long)size));
	else
		error_append(&err,
			     check_parts(info, m, job->size ? job->size : size - job->offset));
	return err;
}
