/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.h - makes SAMPLE messages, and in need DONE, of a step from the statistics block.
 *
 * Control process only. The sum of a step's samples is what its DONE says, to the last I/O: each sample is the
 * difference to the reading before it, and the last one is taken when nothing moves any more.
 */
#ifndef SALVO_WORKER_SAMPLER_H
#define SALVO_WORKER_SAMPLER_H

#include "worker/tally.h"

struct sampler {
	const struct stats_block *block; /* borrowed; NULL: no step */
	size_t nr_members;
	uint64_t sequence; /* of the next sample */
	uint64_t last_ns;  /* instant of the last reading */
	struct tally before;
};

void sampler_begin(struct sampler *s, const struct stats_block *block, size_t nr_members,
		   uint64_t start_ns);
void sampler_fini(struct sampler *s);

/* A sample of what came since the last one; `interval` as in struct msg_sample. */
void sampler_take(struct sampler *s, uint64_t now_ns, int64_t interval, struct msg_sample *ret);
/* The remainder, when the threads have ended; false: nothing is left to tell. */
bool sampler_take_rest(struct sampler *s, uint64_t now_ns, struct msg_sample *ret);
/* DONE of a step whose I/O process cannot make it, and the sample of what is left before it. What is in flight
 * counts as unfinished. */
void sampler_salvage(struct sampler *s, const struct assignment *a, uint64_t start_ns,
		     uint64_t now_ns, struct msg_sample *ret_rest, struct msg_done *ret);

#endif
