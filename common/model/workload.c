/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/workload.h"

#include "common/base/units.h"

#include <math.h>

enum { TEXT_BYTES = 64 };
#define RATE_MAX (1ull << 50)

/* --- reading -------------------------------------------------------------------------------------- */

/* Cuts the next piece, up to `end` or the text's end, off *text; false: none is left, or it is too long. */
static bool next_piece(const char **text, char end, char piece[TEXT_BYTES])
{
	const char *from = *text, *stop;

	if (!from)
		return false;
	stop = strchrnul(from, end);
	if ((size_t)(stop - from) >= TEXT_BYTES)
		return false;
	memcpy(piece, from, (size_t)(stop - from));
	piece[stop - from] = '\0';
	*text = *stop ? stop + 1 : NULL;
	return true;
}

/* "70" or "70%"; negative and above 100 are none. */
static bool read_percent(const char *text, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	if (*end == '%')
		end++;
	return end != text && !*end && *ret >= 0 && *ret <= 100;
}

static bool read_size(const char *text, uint64_t *ret)
{
	return units_parse_size(text, ret) == 0 && *ret > 0 && *ret <= JOB_MAX_BYTES;
}

/* The part of "reads,writes,trims" that a direction has: a missing one is the last given, an empty one is nothing.
 * Owned by the caller; NULL: nothing. */
static char *part_of(const char *text, enum direction dir)
{
	const char *end = strchrnul(text, ',');

	for (int i = 0; i < (int)dir && *end; i++) {
		text = end + 1;
		end = strchrnul(text, ',');
	}
	return end == text ? NULL : xstrndup(text, (size_t)(end - text));
}

static bool has_more_than_three_parts(const char *text)
{
	unsigned commas = 0;

	for (; *text; text++)
		commas += *text == ',';
	return commas > 2;
}

/* --- sizes ---------------------------------------------------------------------------------------- */

static void fixed_size(uint64_t bytes, struct size_mix *ret)
{
	ret->nr = 1;
	ret->shares[0] = (struct size_share) { .bytes = bytes, .nr = 1, .percent = 100 };
}

static struct error *read_share(const char *piece, struct size_share *ret)
{
	_cleanup_free_ char *size = xstrndup(piece, strcspn(piece, "/"));
	const char *percent = strchr(piece, '/');

	*ret = (struct size_share) { .nr = 1, .percent = NAN };
	if (!read_size(size, &ret->bytes))
		return error_new(ERR_CONFIG,
				 "bssplit: '%s' is not a size of 1 to 1GiB; write sizes and their "
				 "percentages: 4k/60:64k/40",
				 size);
	if (percent && percent[1] && !read_percent(percent + 1, &ret->percent))
		return error_new(ERR_CONFIG, "bssplit: '%s' is not a percentage", percent + 1);
	return NULL;
}

/* What is not given is shared out equally among those without a percentage. */
static struct error *fill_percents(struct size_mix *mix)
{
	double sum = 0;
	size_t open = 0;

	for (size_t i = 0; i < mix->nr; i++)
		if (isnan(mix->shares[i].percent))
			open++;
		else
			sum += mix->shares[i].percent;
	if (sum > 100.0001 || (!open && sum < 99.9999))
		return error_new(ERR_CONFIG,
				 "bssplit: the percentages add up to %g; they must to 100", sum);
	for (size_t i = 0; i < mix->nr; i++)
		if (isnan(mix->shares[i].percent))
			mix->shares[i].percent = fmax(0, 100 - sum) / (double)open;
	return NULL;
}

static struct error *read_split(const char *text, struct size_mix *ret)
{
	char piece[TEXT_BYTES];

	while (text) {
		struct error *err;

		if (ret->nr == SIZES_MAX)
			return error_new(ERR_CONFIG, "bssplit: at most %d sizes", SIZES_MAX);
		if (!next_piece(&text, ':', piece))
			return error_new(ERR_CONFIG, "bssplit: '%.40s...' is too long", text);
		err = read_share(piece, &ret->shares[ret->nr++]);
		if (err)
			return err;
	}
	return fill_percents(ret);
}

static struct error *read_range(const char *text, struct size_mix *ret)
{
	_cleanup_free_ char *low = xstrndup(text, strcspn(text, "-"));
	const char *high = strchr(text, '-');
	uint64_t min, max;

	if (!high || !read_size(low, &min) || !read_size(high + 1, &max) || min > max)
		return error_new(
			ERR_CONFIG,
			"bsrange: '%s' is not a range of sizes; write the smallest and the "
			"largest: 4k-64k",
			text);
	ret->nr = 1;
	ret->shares[0] = (struct size_share) {
		.bytes = min,
		.step = min,
		.nr = max / min,
		.percent = 100,
	};
	return NULL;
}

struct error *job_sizes(const struct job *job, enum direction dir, struct size_mix *ret)
{
	const char *text = job->bssplit ? job->bssplit : job->bsrange;
	const char *key = job_size_key(job);
	_cleanup_free_ char *part = NULL;

	*ret = (struct size_mix) { 0 };
	if (text && has_more_than_three_parts(text))
		return error_new(ERR_CONFIG,
				 "%s: '%.40s' has more parts than reads, writes and trims", key,
				 text);
	part = text ? part_of(text, dir) : NULL;
	if (!part) {
		fixed_size(job->bs, ret);
		return NULL;
	}
	return job->bssplit ? read_split(part, ret) : read_range(part, ret);
}

const char *job_size_key(const struct job *job)
{
	return job->bssplit ? "bssplit" : job->bsrange ? "bsrange" : "bs";
}

bool job_size_is_fixed(const struct job *job)
{
	return !job->bssplit && !job->bsrange;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Bounds over the directions that the job has. */
struct size_bounds {
	uint64_t min, max, gcd;
};

static struct size_bounds bounds_of(const struct job *job)
{
	struct size_bounds b = { .min = UINT64_MAX };

	for (int dir = DIR_READ; dir <= DIR_TRIM; dir++) {
		struct size_mix mix;
		struct error *err;

		if (!(job_directions(job) & 1u << dir))
			continue;
		err = job_sizes(job, (enum direction)dir, &mix);
		if (err)
			fixed_size(job->bs, &mix);
		error_destroy(&err);
		for (size_t i = 0; i < mix.nr; i++) {
			const struct size_share *s = &mix.shares[i];
			uint64_t last = s->bytes + (s->nr - 1) * s->step;

			b.min = s->bytes < b.min ? s->bytes : b.min;
			b.max = last > b.max ? last : b.max;
			b.gcd = gcd(gcd(b.gcd, s->bytes), s->step);
		}
	}
	return b;
}

uint64_t job_min_bytes(const struct job *job)
{
	return job_size_is_fixed(job) ? job->bs : bounds_of(job).min;
}

uint64_t job_max_bytes(const struct job *job)
{
	return job_size_is_fixed(job) ? job->bs : bounds_of(job).max;
}

uint64_t job_granule(const struct job *job)
{
	uint64_t bytes = job_size_is_fixed(job) ? job->bs : bounds_of(job).gcd;

	return job->blockalign ? gcd(bytes, job->blockalign) : bytes;
}

static uint64_t odd_share(const struct size_share *s, uint64_t unit)
{
	if (s->bytes % unit)
		return s->bytes;
	return s->nr > 1 && s->step % unit ? s->bytes + s->step : 0;
}

uint64_t job_odd_size(const struct job *job, uint64_t unit)
{
	for (int dir = DIR_READ; dir <= DIR_TRIM; dir++) {
		struct size_mix mix;
		struct error *err;

		if (!(job_directions(job) & 1u << dir))
			continue;
		err = job_sizes(job, (enum direction)dir, &mix);
		error_destroy(&err);
		for (size_t i = 0; i < mix.nr; i++)
			if (odd_share(&mix.shares[i], unit))
				return odd_share(&mix.shares[i], unit);
	}
	return job->blockalign % unit ? job->blockalign : 0;
}

uint64_t job_align(const struct job *job)
{
	return job->blockalign ? job->blockalign : job_min_bytes(job);
}

/* --- rates ---------------------------------------------------------------------------------------- */

struct error *job_rate(const struct job *job, enum direction dir, struct rate *ret)
{
	const char *text = job->rate_iops ? job->rate_iops : job->rate;
	const char *key = job->rate_iops ? "rate_iops" : "rate";
	_cleanup_free_ char *part = text ? part_of(text, dir) : NULL;
	uint64_t value = 0;
	int error;

	*ret = (struct rate) { .is_bytes = !job->rate_iops };
	if (text && has_more_than_three_parts(text))
		return error_new(ERR_CONFIG,
				 "%s: '%.40s' has more parts than reads, writes and trims", key,
				 text);
	if (!part)
		return text && job_directions(job) & 1u << dir
			       ? error_new(ERR_CONFIG,
					   "%s: '%.40s' has none for the job's %ss; give one for "
					   "each "
					   "direction of the job",
					   key, text, direction_names[dir])
			       : NULL;
	error = job->rate_iops ? units_parse_count(part, &value) : units_parse_size(part, &value);
	if (error || !value || value > RATE_MAX)
		return error_new(ERR_CONFIG, "%s: '%.40s' is not a rate; write %s", key, part,
				 job->rate_iops ? "I/Os per second: 1000 or 5k"
						: "bytes per second: 10m or 1MB");
	ret->per_s = (double)value;
	return NULL;
}

/* --- places --------------------------------------------------------------------------------------- */

static struct error *read_zones(const char *text, struct distribution *ret)
{
	double access = 0, size = 0;
	char piece[TEXT_BYTES];

	while (text) {
		struct zone *z = &ret->zones[ret->nr_zones];
		char *slash;

		if (ret->nr_zones == ZONES_MAX || !next_piece(&text, ':', piece))
			return error_new(ERR_CONFIG, "random_distribution: at most %d zones",
					 ZONES_MAX);
		slash = strchr(piece, '/');
		if (slash)
			*slash = '\0';
		if (!slash || !read_percent(piece, &z->access) ||
		    !read_percent(slash + 1, &z->size) || (z->access > 0 && z->size <= 0))
			return error_new(
				ERR_CONFIG,
				"random_distribution: '%s' is not a zone; write percent of "
				"the I/Os/percent of the range: zoned:80/20:20/80",
				piece);
		access += z->access;
		size += z->size;
		ret->nr_zones++;
	}
	if (fabs(access - 100) > 0.0001 || fabs(size - 100) > 0.0001)
		return error_new(ERR_CONFIG,
				 "random_distribution: the zones have %g %% of the I/Os and %g %% "
				 "of the range; both must add up to 100",
				 access, size);
	return NULL;
}

static struct error *read_parameter(const char *text, double min, double max,
				    struct distribution *ret)
{
	char *end;

	ret->parameter = strtod(text, &end);
	if (end != text && !*end && ret->parameter > min && ret->parameter < max)
		return NULL;
	return error_new(ERR_CONFIG, "random_distribution: '%s' is not a number between %g and %g",
			 text, min, max);
}

struct error *job_distribution(const struct job *job, struct distribution *ret)
{
	const char *text = job->random_distribution ? job->random_distribution : "random";
	const char *colon = strchr(text, ':'), *rest = colon ? colon + 1 : "";

	*ret = (struct distribution) { .kind = DIST_UNIFORM };
	if (streq(text, "random"))
		return NULL;
	if (str_starts(text, "zipf:")) {
		ret->kind = DIST_ZIPF;
		return read_parameter(rest, 0, 10, ret);
	}
	if (str_starts(text, "pareto:")) {
		ret->kind = DIST_PARETO;
		return read_parameter(rest, 0, 1, ret);
	}
	if (str_starts(text, "normal:")) {
		ret->kind = DIST_NORMAL;
		return read_parameter(rest, 0, 100, ret);
	}
	if (str_starts(text, "zoned:")) {
		ret->kind = DIST_ZONED;
		return read_zones(rest, ret);
	}
	return error_new(ERR_CONFIG,
			 "random_distribution: '%s' is none; write random, zipf:1.1, pareto:0.2, "
			 "normal:10 or zoned:80/20:20/80",
			 text);
}
