/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - fixed results for the reports' golden files. Each fills *r; result_fini frees it. */
#ifndef SALVO_TEST_RESULTS_H
#define SALVO_TEST_RESULTS_H

#include "common/model/result.h"

/* One host that reads; everything goes well. */
void results_single(struct result *r);
/* One host that reads a small file through the page cache. */
void results_short(struct result *r);
/* Four hosts that read and write with fsync, one of which lags; devices, ramp, drain, a common window. */
void results_fleet(struct result *r);
/* A host is lost and a device hangs; texts from peers are hostile; little is measured. */
void results_lost(struct result *r);
/* Two points, three repeats. */
void results_repeats(struct result *r);
/* 200 hosts that are all as fast but node150, which has half of it; node190 has an error. */
void results_many(struct result *r);

#endif
