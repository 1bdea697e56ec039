/* SPDX-License-Identifier: Apache-2.0 */
/* contents.h - what a job's write buffers hold: chunks of random bytes at the front and, behind them, a pattern or
 * zeros.
 *
 * By default a chunk is random throughout. Owned by one thread.
 */
#ifndef SALVO_IO_CONTENTS_H
#define SALVO_IO_CONTENTS_H

#include "common/model/job.h"
#include "common/model/pattern.h"

struct contents {
	struct pattern fixed;  /* what is not random; nr 0: zeros */
	uint64_t chunk_bytes;  /* UINT64_MAX: the whole buffer */
	double random_percent; /* of each chunk */
	uint64_t random;       /* state of the random bytes */
	bool refills;          /* every write has random bytes of its own */
	bool stamps;           /* every write is stamped */
};

/* Does every write of the job get new random bytes? */
bool contents_refills(const struct job *job);
/* `seed`: of the thread's own. The job's pattern is right. */
void contents_init(struct contents *c, const struct job *job, uint64_t seed);
/* All of a buffer. */
void contents_fill(struct contents *c, char *at, size_t bytes);
/* Hot, of jobs that refill: the random bytes anew, out of a buffer that was filled. */
void contents_refill(struct contents *c, char *at, size_t bytes);

#endif
