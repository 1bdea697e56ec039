/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/source.h"

#include "worker/io/contents.h"
#include "worker/io/spread.h"

#include <errno.h>
#include <stdlib.h>

/* --- directions ----------------------------------------------------------------------------------- */

static void directions_one(struct source *s, struct io_cmd *cmds, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		cmds[i].command = s->direction;
}

static void directions_mixed(struct source *s, struct io_cmd *cmds, unsigned nr)
{
	uint64_t state = s->mix_random;

	for (unsigned i = 0; i < nr; i++)
		cmds[i].command = random_next(&state) > s->mix_reads ? DIR_WRITE : DIR_READ;
	s->mix_random = state;
}

/* --- sizes ---------------------------------------------------------------------------------------- */

static void sizes_fixed(struct source *s, struct io_cmd *cmds, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		cmds[i].bytes = s->bytes;
}

static uint32_t draw_size(struct source *s, enum direction dir)
{
	const struct source_sizes *sizes = &s->by_direction[dir];

	return (uint32_t)(draw_next(&sizes->draw, &s->random) * sizes->unit);
}

static void sizes_drawn(struct source *s, struct io_cmd *cmds, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		cmds[i].bytes = draw_size(s, (enum direction)cmds[i].command);
}

static void sizes_by_offsets(struct source *s, struct io_cmd *cmds, unsigned nr)
{
	(void)s;
	(void)cmds;
	(void)nr;
}

/* --- sequences ------------------------------------------------------------------------------------ */

/* The next place in sequence for `bytes`, which are cut to what the range has left; false: the last pass is over. */
static bool place_next(struct source *s, struct io_cmd *cmd)
{
	/* What is less than an I/O of one size, or than a granule, is not used. */
	uint64_t least = s->sizes == sizes_fixed ? s->bytes : s->granule;

	if (unlikely(s->next > s->end || s->end - s->next < least)) {
		if (s->left_passes == 1) {
			s->left_passes = 0;
			return false;
		}
		if (s->left_passes != UINT64_MAX)
			s->left_passes--;
		s->next = s->start;
	}
	if (unlikely(cmd->bytes > s->end - s->next))
		cmd->bytes = (uint32_t)(s->end - s->next);
	cmd->offset = s->next;
	return true;
}

static unsigned offsets_in_sequence(struct source *s, struct io_cmd *cmds, unsigned nr)
{
	if (unlikely(!s->left_passes))
		return 0;
	for (unsigned i = 0; i < nr; i++) {
		if (unlikely(!place_next(s, &cmds[i])))
			return i;
		s->next += cmds[i].bytes + s->skip;
	}
	return nr;
}

/* Each trim is followed by the write of the same bytes. */
static unsigned offsets_trim_and_write(struct source *s, struct io_cmd *cmds, unsigned nr)
{
	if (unlikely(!s->left_passes))
		return 0;
	for (unsigned i = 0; i < nr; i++) {
		if (s->pair.bytes) {
			cmds[i] = s->pair;
			cmds[i].command = DIR_WRITE;
			s->pair.bytes = 0;
			continue;
		}
		cmds[i].command = DIR_TRIM;
		cmds[i].bytes =
			s->by_direction[DIR_TRIM].draw.nr ? draw_size(s, DIR_TRIM) : s->bytes;
		if (unlikely(!place_next(s, &cmds[i])))
			return i;
		s->pair = cmds[i];
		s->next += cmds[i].bytes + s->skip;
	}
	return nr;
}

/* --- random places -------------------------------------------------------------------------------- */

/* An I/O that would reach over the end begins so much earlier. */
static inline void fit(const struct source *s, struct io_cmd *cmd)
{
	if (unlikely(cmd->offset + cmd->bytes > s->end))
		cmd->offset = s->start + (s->end - s->start - cmd->bytes) / s->align * s->align;
}

static void places_uniform(struct source *s, struct io_cmd *cmds, unsigned nr)
{
	s->places.fill(&s->places, cmds, nr);
	for (unsigned i = 0; i < nr; i++)
		fit(s, &cmds[i]);
}

static void places_weighted(struct source *s, struct io_cmd *cmds, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		uint64_t place = draw_next(&s->ranks, &s->random);

		if (s->shuffles)
			place = offsets_shuffle(&s->places, place);
		cmds[i].offset = s->start + place * s->align;
		fit(s, &cmds[i]);
	}
}

static unsigned offsets_random(struct source *s, struct io_cmd *cmds, unsigned nr)
{
	s->base(s, cmds, nr);
	return nr;
}

/* Does the next I/O go on where the last one ended? */
static bool is_following(struct source *s)
{
	if (s->left_in_sequence) {
		s->left_in_sequence--;
		return true;
	}
	if (s->follows && random_next(&s->random) < s->follows)
		return true;
	s->left_in_sequence = s->sequence - 1;
	return false;
}

static unsigned offsets_following(struct source *s, struct io_cmd *cmds, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		struct io_cmd *cmd = &cmds[i];

		if (!is_following(s)) {
			s->base(s, cmd, 1);
		} else {
			cmd->offset = s->next;
			if (s->next + cmd->bytes > s->end)
				cmd->offset = s->start;
		}
		s->next = cmd->offset + cmd->bytes;
	}
	return nr;
}

/* --- the limit ------------------------------------------------------------------------------------ */

static unsigned limit_bytes(struct source *s, struct io_cmd *cmds, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		if (unlikely(cmds[i].bytes > s->left_bytes)) {
			cmds[i].bytes = (uint32_t)s->left_bytes;
			if (!s->left_bytes)
				return i;
		}
		s->left_bytes -= cmds[i].bytes;
	}
	return nr;
}

/* --- making one ----------------------------------------------------------------------------------- */

bool source_needed(const struct job *job)
{
	const char *spread = job->random_distribution;

	return job_has_rate(job) || !job_size_is_fixed(job) || job_trims(job) || job->skip ||
	       job->sequence > 1 || job->percentage_random < 100 || contents_refills(job) ||
	       (spread && !streq(spread, "random")) ||
	       (job->blockalign && job->blockalign != job->bs && job_is_random(job));
}

/* One row per size. */
static int init_sizes(struct source_sizes *sizes, const struct size_mix *mix)
{
	struct interval intervals[SIZES_MAX];

	sizes->unit = mix->shares[0].step ? mix->shares[0].step : 1;
	for (size_t i = 0; i < mix->nr; i++)
		intervals[i] = (struct interval) {
			.low = mix->shares[i].bytes / sizes->unit,
			.span = mix->shares[i].nr,
			.weight = mix->shares[i].percent,
		};
	return draw_init(&sizes->draw, intervals, mix->nr);
}

static int choose_sizes(struct source *s, const struct job *job)
{
	int ret = 0;

	s->bytes = (uint32_t)job->bs;
	s->sizes = sizes_fixed;
	if (job_size_is_fixed(job))
		return 0;
	s->sizes = sizes_drawn;
	for (int dir = 0; !ret && dir < DIR_SYNC; dir++) {
		struct size_mix mix;
		struct error *err = job_sizes(job, (enum direction)dir, &mix);

		ret = err ? -EINVAL : init_sizes(&s->by_direction[dir], &mix);
		error_destroy(&err);
	}
	return ret;
}

static void choose_directions(struct source *s, const struct job *job, uint64_t seed)
{
	unsigned directions = job_directions(job);

	/* A rate has its own order of them, and tells it I/O by I/O. */
	s->directions = directions == 3 && !job_has_rate(job) ? directions_mixed : directions_one;
	s->direction = directions & 1 ? DIR_READ : directions & 2 ? DIR_WRITE : DIR_TRIM;
	s->mix_random = seed_mix(seed, UINT64_MAX) | 1;
	s->mix_reads =
		job->rwmixread >= 100.0 ? UINT64_MAX : (uint64_t)(job->rwmixread / 100.0 * 0x1p64);
}

static int choose_weights(struct source *s, const struct distribution *dist, struct range range,
			  uint64_t shared_seed)
{
	size_t nr;
	struct interval *intervals;
	int ret;

	offsets_init(&s->places, OFFSETS_PERMUTED, range, s->align, shared_seed);
	intervals = spread_intervals(dist, s->places.nr_blocks, &nr);
	ret = intervals ? draw_init(&s->ranks, intervals, nr) : -ENOMEM;
	free(intervals);
	s->shuffles = spread_is_ranked(dist);
	s->base = places_weighted;
	return ret;
}

static int choose_places(struct source *s, const struct job *job, struct range range, uint64_t seed,
			 uint64_t shared_seed)
{
	struct distribution dist;
	struct error *err = job_distribution(job, &dist);

	if (err) {
		error_destroy(&err);
		return -EINVAL;
	}
	s->sequence = job->sequence;
	s->follows = job->percentage_random <= 0
			     ? UINT64_MAX
			     : (uint64_t)((100.0 - job->percentage_random) / 100.0 * 0x1p64);
	s->offsets = s->sequence > 1 || s->follows ? offsets_following : offsets_random;
	if (dist.kind != DIST_UNIFORM)
		return choose_weights(s, &dist, range, shared_seed);
	offsets_init(&s->places, job->norandommap ? OFFSETS_DRAWN : OFFSETS_PERMUTED, range,
		     s->align, seed);
	s->base = places_uniform;
	return 0;
}

int source_init(struct source *s, const struct job *job, struct range range, uint64_t seed,
		uint64_t shared_seed)
{
	int ret;

	*s = (struct source) {
		.granule = job_granule(job),
		.align = job_align(job),
		.random = seed_mix(seed, UINT64_MAX - 2) | 1,
		.skip = job->skip,
		.start = range.start,
	};
	range.bytes -= range.bytes % s->granule;
	s->end = range.start + range.bytes;
	choose_directions(s, job, seed);
	ret = choose_sizes(s, job);
	if (!ret && job_is_random(job)) {
		ret = choose_places(s, job, range, seed, shared_seed);
	} else if (!ret) {
		s->offsets = offsets_in_sequence;
		if (job->rw == RW_TRIMWRITE) {
			s->offsets = offsets_trim_and_write;
			s->sizes = s->sizes == sizes_fixed ? sizes_fixed : sizes_by_offsets;
		}
	}
	if (ret)
		source_fini(s);
	else
		source_begin(s, job, false);
	return ret;
}

void source_fini(struct source *s)
{
	for (int dir = 0; dir < DIR_SYNC; dir++)
		draw_fini(&s->by_direction[dir].draw);
	draw_fini(&s->ranks);
}

void source_begin(struct source *s, const struct job *job, bool bounded)
{
	uint64_t bytes = job->io_size ? job->io_size : s->end - s->start;

	s->next = s->start;
	s->pair.bytes = 0;
	s->left_in_sequence = 0;
	s->left_passes = s->left_bytes = UINT64_MAX;
	s->limit = NULL;
	if (s->places.fill && s->base == places_uniform && s->places.left != s->places.nr_blocks)
		offsets_next_pass(&s->places);
	if (!bounded)
		return;
	if (!job->io_size && !job_is_random(job)) {
		s->left_passes = job->loops;
		return;
	}
	if (s->sizes == sizes_fixed)
		bytes -= bytes % s->bytes;
	s->left_bytes = __builtin_mul_overflow(bytes, job->loops, &bytes) ? UINT64_MAX : bytes;
	s->limit = limit_bytes;
}
