/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - gives a thread its I/Os one after the other, of whatever kind the job's keys ask for.
 *
 * For all jobs that are not plain (those have offsets.h and constants of the loop). A batch passes through stages,
 * each chosen when the source is made: directions, sizes, offsets, the limit of what is left. Owned by one thread.
 */
#ifndef SALVO_IO_SOURCE_H
#define SALVO_IO_SOURCE_H

#include "common/model/workload.h"
#include "worker/io/draw.h"

struct source;
typedef void source_stage(struct source *s, struct io_cmd *cmds, unsigned nr);
typedef unsigned source_cut(struct source *s, struct io_cmd *cmds, unsigned nr);

/* The sizes of a direction: a draw times the unit. */
struct source_sizes {
	struct draw draw;
	uint64_t unit;
};

struct source {
	/* Hot: the stages. Each fills its member of the commands; `command` is the direction alone. A source_cut
	 * returns how many of them there are in truth. */
	source_stage *directions, *sizes;
	source_cut *offsets, *limit;

	uint64_t random;                /* state of the draws of sizes and ranks */
	uint64_t mix_random, mix_reads; /* of the directions of a mixed job */
	uint32_t direction;             /* of all I/Os where there is one */
	uint32_t bytes;                 /* of all I/Os where there is one size */
	struct source_sizes by_direction[DIR_SYNC];

	uint64_t start, end; /* of the range; whole granules */
	uint64_t granule, align;
	uint64_t next;         /* where the next sequential I/O begins */
	uint64_t skip;         /* bytes left out after each of them */
	struct offsets places; /* of random I/O */
	struct draw ranks;     /* weights of places */
	bool shuffles;         /* ranks are not places yet */
	source_stage *base;    /* random places, of I/Os that do not follow */
	uint64_t follows;      /* a draw below it is an I/O that follows the one before */
	uint64_t sequence, left_in_sequence;
	struct io_cmd pair; /* trimwrite: the trim whose write comes next; bytes 0: none */

	uint64_t left_bytes;  /* until the source is used up */
	uint64_t left_passes; /* of a sequential source */
};

/* Does the job need a source? */
bool source_needed(const struct job *job);
/* `seed`: the thread's own; `shared_seed`: of all threads of the job, for what they should have in common, the hot
 * places. The job's texts are right and the range holds its largest I/O. Cold. -ENOMEM, or 0. */
int source_init(struct source *s, const struct job *job, struct range range, uint64_t seed,
		uint64_t shared_seed);
void source_fini(struct source *s);
/* Begins at the beginning. bounded: gives what the job's io_size, range and loops say, then nothing more. */
void source_begin(struct source *s, const struct job *job, bool bounded);

/* Hot. The next I/Os into cmds[0..nr): offset, bytes, and the direction as `command`. Returns how many there are; fewer
 * than nr only when the source is used up. */
static inline unsigned source_fill(struct source *s, struct io_cmd *cmds, unsigned nr)
{
	s->directions(s, cmds, nr);
	s->sizes(s, cmds, nr);
	nr = s->offsets(s, cmds, nr);
	return s->limit ? s->limit(s, cmds, nr) : nr;
}

#endif
