/* SPDX-License-Identifier: Apache-2.0 */
/* complaints.h - log lines that a peer can bring about as often as it likes: so many in a while, then a count of the
 * rest, so that nobody fills the log. Control process only. */
#ifndef SALVO_WORKER_COMPLAINTS_H
#define SALVO_WORKER_COMPLAINTS_H

#include <stdbool.h>
#include <stdint.h>

/* 10 lines in 10 s. */
enum { COMPLAINTS_MAX = 10 };
#define COMPLAINTS_EVERY_NS UINT64_C(10000000000)

/* Zero-initialise. */
struct complaints {
	uint64_t since_ns; /* begin of the while at hand */
	uint64_t nr, nr_hidden;
};

/* May one more be logged now? In *ret_hidden how many were not since the last one that was. */
bool complaints_pass(struct complaints *c, uint64_t now_ns, uint64_t *ret_hidden);
/* A warning, if one more may be logged. */
void complaint_log(struct complaints *c, uint64_t now_ns, const char *text);

#endif
