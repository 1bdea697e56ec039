/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - the parts of the text report that share a page; report.h is what others use.
 *
 * Every kind of number is printed in one way, by the functions below, and '-' stands for what was not
 * measured. Texts that come from elsewhere are made printable. No line is wider than REPORT_WIDTH.
 */
#ifndef SALVO_REPORT_TEXT_H
#define SALVO_REPORT_TEXT_H

#include "common/base/units.h"
#include "common/model/result.h"
#include "coordinator/report/table.h"

/* --- the page, from top to bottom --- */

/* What ran, how it ended, who took part. */
void text_head(const struct result *r, FILE *out);
/* Faults before other warnings, those that say the same together. */
void text_warnings(const struct result *r, FILE *out);
/* The scenario's checks: failed ones first. */
void text_checks(const struct result *r, FILE *out);
/* The totals of group 'all' of every step (or of every point over its repeats), and the slowest host. */
void text_result(const struct result *r, FILE *out);
/* Statistics over the repeats of each point; nothing when there is only one value of everything. */
void text_summary(const struct result *r, FILE *out);
/* One group of a step: directions, errors, CPU, depths, tables of members, run status. */
void text_group(const struct result *r, const struct result_step *s, const struct result_group *g,
		FILE *out);
/* The tables of hosts, targets and jobs of a group: each only where there are several. */
void text_members(const struct result *r, const struct result_step *s, const struct result_group *g,
		  FILE *out);
/* fio's last lines: total and extremes of a group; nothing where there is only one host and job. */
void text_run_status(const struct result_group *g, FILE *out);
/* What the block devices counted themselves. */
void text_devices(const struct result_step *s, FILE *out);

/* --- what several parts need --- */

/* "label     text", wrapped. */
void text_line(FILE *out, const char *label, const char *text);
/* Some step is a repeat. */
bool has_repeats(const struct result *r);
/* "bs=4k numjobs=8"; "" for no sweep; owned by the caller. */
char *text_point(const struct text_pair *point, size_t nr) _returns_nonnull_;
/* "bs=4k, phase 'read', repeat 2": only what tells the steps of this result apart; "" where there is one;
 * repeat 0: none. */
char *text_label(const struct result *r, const struct text_pair *point, size_t nr_point,
		 const char *phase, uint64_t repeat) _returns_nonnull_;
/* Errors of all directions. */
uint64_t group_errors(const struct result_group *g);
const struct result_host *find_host(const struct result *r, const char *name);
/* The host with the lowest rate per thread, and how far it is below the median, 0..1. NULL where there are
 * no two hosts to compare, or they did not run the same jobs. */
const struct result_group *slowest_host(const struct result *r, const struct result_step *s,
					const struct result_group *g, double *ret_below);
/* Below the median by more than this a host lags: it is pointed at. */
#define LAGS_BELOW 0.1

/* --- numbers --- */

void text_iops(char text[UNITS_TEXT], double iops);
void text_mib(char text[UNITS_TEXT], double bytes);    /* number of MiB, without the unit */
void text_mb(char text[UNITS_TEXT], double bytes);     /* of MB */
void text_runtime(char text[UNITS_TEXT], uint64_t ns); /* "30.000 s", "431 us" */
void text_percent(char text[UNITS_TEXT], double percent);
/* "482.3 MiB/s (505.7 MB/s)"; owned by the caller. */
char *text_bandwidth(double bw_bytes) _returns_nonnull_;

/* Shares of a total that add up to `whole` exactly: each is rounded down, and what is missing goes to the
 * largest remainders. */
void share_units(const uint64_t *counts, size_t nr, uint64_t whole, uint64_t *ret);

/* The latency buckets of fio's report: of one unit each, named by the upper bound, which is not in it. */
enum { NR_LATENCY_BUCKETS = 10 + 10 + 12 };
struct latency_bucket {
	const char *unit;
	unsigned bound; /* in that unit; 0: everything from the last bound on */
	uint64_t upper_ns;
};
extern const struct latency_bucket latency_buckets[NR_LATENCY_BUCKETS];
/* How many values of the histogram are in each. A bucket of the histogram that lies on both sides of a bound
 * goes whole to where its middle is, as in percentiles; it is at most 0.8 % wide. */
void latency_counts(const struct hist *h, uint64_t ret[NR_LATENCY_BUCKETS]);

#endif
