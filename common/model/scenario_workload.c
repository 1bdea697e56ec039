/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/scenario_impl.h"

#include "common/base/units.h"
#include "common/model/pattern.h"
#include "common/model/workload.h"

static bool sure(const struct checker *c, const struct phase_at *ph, size_t i, const char *key)
{
	return job_key_sure(c, ph->index, i, key);
}

/* An error of workload.h, which begins with the key, at the key's place. */
static void find_error(struct checker *c, const struct phase_at *ph, size_t i, struct error **err_p)
{
	_cleanup_(error_destroy) struct error *err = take_ptr(*err_p);
	const char *message = error_message(err), *colon = strstr(message, ": ");
	_cleanup_free_ char *key = xstrndup(message, (size_t)(colon - message));
	_cleanup_free_ char *path = job_path(c, ph->index, i, key);

	find_mistake(c, path, "%s", colon + 2);
}

/* Are the texts what they should be? */
static bool check_texts(struct checker *c, const struct phase_at *ph, size_t i)
{
	const struct job *job = &ph->jobs[i];
	_cleanup_free_ char *range = job_path(c, ph->index, i, "bsrange");
	_cleanup_free_ char *rate_key = job_path(c, ph->index, i, "rate");
	_cleanup_free_ char *iops = job_path(c, ph->index, i, "rate_iops");
	struct distribution dist;
	struct error *err = job_distribution(job, &dist);
	bool good = !err;

	if (err)
		find_error(c, ph, i, &err);
	for (int dir = DIR_READ; dir <= DIR_TRIM; dir++) {
		struct size_mix mix;

		err = job_sizes(job, (enum direction)dir, &mix);
		good &= !err;
		if (err)
			find_error(c, ph, i, &err);
	}
	for (int dir = DIR_READ; dir <= DIR_TRIM; dir++) {
		struct rate rate;

		err = job_rate(job, (enum direction)dir, &rate);
		good &= !err;
		if (err)
			find_error(c, ph, i, &err);
	}
	if (job->rate && job->rate_iops)
		find_mistake(c, rate_key, "rate_iops sets the pace already; give one of them");
	if (job_has_rate(job) && job->rw == RW_TRIMWRITE)
		find_mistake(c, job->rate ? rate_key : iops,
			     "rw: trimwrite knows no rate; each write follows its trim");
	if (job->bssplit && job->bsrange)
		find_mistake(c, range,
			     "bssplit says already which sizes there are; give one of them");
	return good;
}

/* Range and sum against the blocks. */
static void check_sizes(struct checker *c, const struct phase_at *ph, size_t i)
{
	const struct job *job = &ph->jobs[i];
	_cleanup_free_ char *size = job_path(c, ph->index, i, "size");
	_cleanup_free_ char *io_size = job_path(c, ph->index, i, "io_size");
	_cleanup_free_ char *blockalign = job_path(c, ph->index, i, "blockalign");
	uint64_t largest = job_max_bytes(job), granule = job_granule(job);
	bool fixed = job_size_is_fixed(job);
	const char *key = job_size_key(job);
	char block[UNITS_TEXT], unit[UNITS_TEXT], text[UNITS_TEXT];

	units_format_size(block, largest);
	units_format_size(unit, granule);
	units_format_size(text, job->size);
	if (job->size && job->size < largest)
		find_mistake(c, size, "%s is less than %s block (%s%s %s)", text,
			     fixed ? "one" : "the largest", key, fixed ? " is" : " has", block);
	else if (job->size % granule)
		find_warning(c, size,
			     "%s is no multiple of %s (%s): the last %llu bytes are not used", text,
			     key, unit, (unsigned long long)(job->size % granule));
	if (job->size && job->blockalign > job->size)
		find_mistake(c, blockalign, "it is more than the range has (size is %s)", text);
	units_format_size(text, job->io_size);
	if (job->io_size && job->io_size < granule)
		find_mistake(c, io_size, "%s is less than one block (%s is %s)", text, key, unit);
	else if (job->io_size % granule && !job->time_based)
		find_mistake(c, io_size, "%s is no multiple of %s (%s)", text, key, unit);
}

/* Was the key given to this job itself, as far as one can tell? */
static bool given(const struct checker *c, const struct job *job, const char *key)
{
	return schema_is_set(&job_schema, job, key) &&
	       !schema_is_set(&job_schema, &c->sc->defaults, key);
}

/* Keys about the order of the I/O that do nothing in this one. */
static void check_useless(struct checker *c, const char *path, const struct job *job)
{
	static const char *const random_only[] = { "random_distribution", "percentage_random",
						   "sequence", "blockalign" };

	for (size_t k = 0; !job_is_random(job) && k < array_size(random_only); k++)
		if (given(c, job, random_only[k]))
			find_warning(c, path, "%s does nothing: the job is sequential",
				     random_only[k]);
	if (job_is_random(job) && job->skip && given(c, job, "skip"))
		find_warning(c, path, "skip does nothing: the job is random");
	if (job->time_based && job->loops > 1 && given(c, job, "loops"))
		find_warning(c, path, "loops does nothing: time_based goes on until runtime");
	if (!job_has_rate(job) && job->rate_process != RATE_LINEAR && given(c, job, "rate_process"))
		find_warning(c, path, "rate_process does nothing without rate or rate_iops");
	if (job->rw == RW_TRIMWRITE && job->iodepth > 1)
		find_warning(c, path,
			     "iodepth %llu with rw: trimwrite: each block is written when its "
			     "discard is done, the effective depth is 1",
			     (unsigned long long)job->iodepth);
}

/* Keys about the data that is written which do nothing in this job. */
static void check_useless_data(struct checker *c, const char *path, const struct job *job)
{
	bool has_share = job->buffer_compress_percentage > 0;
	const struct {
		const char *key;
		bool differs; /* from its default */
	} keys[] = {
		{ "zero_buffers", job->zero_buffers },
		{ "buffer_pattern", job->buffer_pattern },
		{ "refill_buffers", job->refill_buffers },
		{ "scramble_buffers", !job->scramble_buffers },
		{ "buffer_compress_percentage", has_share },
	};
	bool writes = job_directions(job) & 1u << DIR_WRITE;

	for (size_t k = 0; !writes && k < array_size(keys); k++)
		if (keys[k].differs && given(c, job, keys[k].key))
			find_warning(c, path, "%s does nothing: the job writes no data",
				     keys[k].key);
	if (writes && job->refill_buffers &&
	    (job->zero_buffers || (job->buffer_pattern && !has_share)))
		find_warning(c, path, "refill_buffers does nothing: %s has no random bytes",
			     job->zero_buffers ? "zero_buffers" : "buffer_pattern");
}

static void check_data(struct checker *c, const struct phase_at *ph, size_t i)
{
	const struct job *job = &ph->jobs[i];
	_cleanup_free_ char *path = job_path(c, ph->index, i, NULL);
	_cleanup_free_ char *text = job_path(c, ph->index, i, "buffer_pattern");
	_cleanup_free_ char *zeros = job_path(c, ph->index, i, "zero_buffers");
	_cleanup_(error_destroy) struct error *err = NULL;
	struct pattern pattern;

	if (!sure(c, ph, i, "buffer_pattern") || !sure(c, ph, i, "buffer_compress_percentage"))
		return;
	if (job->buffer_pattern)
		err = pattern_parse(job->buffer_pattern, &pattern);
	if (err)
		find_mistake(c, text, "%s", error_message(err));
	if (job->zero_buffers && (job->buffer_pattern || job->buffer_compress_percentage > 0))
		find_mistake(c, zeros, "%s says what is written; give one of them",
			     job->buffer_pattern ? "buffer_pattern" : "buffer_compress_percentage");
	check_useless_data(c, path, job);
}

void check_workload(struct checker *c, const struct phase_at *ph, size_t i)
{
	_cleanup_free_ char *path = job_path(c, ph->index, i, NULL);

	if (!sure(c, ph, i, "bs") || !sure(c, ph, i, "bssplit") || !sure(c, ph, i, "bsrange") ||
	    !sure(c, ph, i, "blockalign") || !sure(c, ph, i, "rw") || !check_texts(c, ph, i))
		return;
	check_sizes(c, ph, i);
	check_useless(c, path, &ph->jobs[i]);
	check_data(c, ph, i);
}
