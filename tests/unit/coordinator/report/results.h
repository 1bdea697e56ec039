/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - fixed results for the reports' golden files. Each fills *r; result_fini frees it. */
#ifndef SALVO_TEST_RESULTS_H
#define SALVO_TEST_RESULTS_H

#include "common/model/result.h"

/* One host that reads; everything goes well. */
void results_single(struct result *r);
/* One host that reads a small file through the page cache. */
void results_short(struct result *r);
/* Four hosts and an observer: reads and writes with fsync, one host lags and has errors; checks, labels,
 * devices, ramp, drain, a common window. */
void results_fleet(struct result *r);
/* A host is lost and a device hangs; texts from peers are hostile; little is measured. */
void results_lost(struct result *r);
/* Two points, three repeats, the last one partial; failed checks. */
void results_repeats(struct result *r);
/* 64 hosts that are about as fast but node50, which has half of it; node60 has an error, node40 strangers. */
void results_many(struct result *r);
/* One host, 16 threads that flush after each write. */
void results_fsync(struct result *r);
/* One host, two targets, two jobs; errors of several kinds, a device that hangs. */
void results_hung(struct result *r);
/* Stopped before anything was measured. */
void results_empty(struct result *r);

#endif
