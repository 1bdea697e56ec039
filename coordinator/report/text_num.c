/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/report/text.h"

#include "common/base/clock.h"

#include <math.h>

/* Three significant digits; more where they stand before the point. */
static void text_digits(char text[UNITS_TEXT], double v)
{
	if (!isfinite(v))
		snprintf(text, UNITS_TEXT, "-");
	else if (v >= 1e9)
		units_human_count(text, v);
	else
		snprintf(text, UNITS_TEXT, "%.*f",
			 v <= 0      ? 0
			 : v < 9.995 ? 2
			 : v < 99.95 ? 1
				     : 0,
			 v);
}

void text_iops(char text[UNITS_TEXT], double iops)
{
	text_digits(text, iops);
}

/* One digit more than others: bandwidths are compared with what is written elsewhere. */
static void text_scaled(char text[UNITS_TEXT], double value, double unit)
{
	double v = value / unit;

	if (!isfinite(v))
		snprintf(text, UNITS_TEXT, "-");
	else if (v >= 1e9)
		units_human_count(text, v);
	else
		snprintf(text, UNITS_TEXT, "%.*f",
			 v <= 0      ? 0
			 : v < 9.995 ? 3
			 : v < 99.95 ? 2
				     : 1,
			 v);
}

void text_mib(char text[UNITS_TEXT], double bytes)
{
	text_scaled(text, bytes, 1024.0 * 1024.0);
}

void text_mb(char text[UNITS_TEXT], double bytes)
{
	text_scaled(text, bytes, 1e6);
}

/* Milliseconds of what took seconds, and enough digits of what did not. */
void text_runtime(char text[UNITS_TEXT], uint64_t ns)
{
	if (ns >= NS_PER_S)
		snprintf(text, UNITS_TEXT, "%.3f s", (double)ns / 1e9);
	else
		units_human_ns(text, (double)ns);
}

void text_percent(char text[UNITS_TEXT], double percent)
{
	if (isfinite(percent))
		snprintf(text, UNITS_TEXT, "%.2f%%", percent);
	else
		snprintf(text, UNITS_TEXT, "-");
}

char *text_bandwidth(double bw_bytes)
{
	char mib[UNITS_TEXT], mb[UNITS_TEXT];

	text_mib(mib, bw_bytes);
	text_mb(mb, bw_bytes);
	return isfinite(bw_bytes) ? xasprintf("%s MiB/s (%s MB/s)", mib, mb) : xstrdup("-");
}

/* --- shares ----------------------------------------------------------------------------------------- */

void share_units(const uint64_t *counts, size_t nr, uint64_t whole, uint64_t *ret)
{
	_cleanup_free_ double *rest = xcalloc(nr, sizeof(*rest));
	uint64_t total = 0, given = 0;

	for (size_t i = 0; i < nr; i++) {
		ret[i] = 0;
		total += counts[i];
	}
	for (size_t i = 0; i < nr && total; i++) {
		double share = (double)counts[i] / (double)total * (double)whole;

		ret[i] = (uint64_t)share;
		rest[i] = share - (double)ret[i];
		given += ret[i];
	}
	while (total && given < whole) {
		size_t largest = 0;

		for (size_t i = 1; i < nr; i++)
			if (rest[i] > rest[largest])
				largest = i;
		rest[largest] = -1;
		ret[largest]++;
		given++;
	}
}

/* --- latency buckets -------------------------------------------------------------------------------- */

#define NS(bound)                      \
	{                              \
		"ns", (bound), (bound) \
	}
#define US(bound)                              \
	{                                      \
		"us", (bound), (bound)*1000ull \
	}
#define MS(bound)                                 \
	{                                         \
		"ms", (bound), (bound)*1000000ull \
	}
const struct latency_bucket latency_buckets[NR_LATENCY_BUCKETS] = {
	NS(2),   NS(4),    NS(10),  NS(20),   NS(50),  NS(100),  NS(250),  NS(500),
	NS(750), NS(1000), US(2),   US(4),    US(10),  US(20),   US(50),   US(100),
	US(250), US(500),  US(750), US(1000), MS(2),   MS(4),    MS(10),   MS(20),
	MS(50),  MS(100),  MS(250), MS(500),  MS(750), MS(1000), MS(2000), { "ms", 0, UINT64_MAX },
};

void latency_counts(const struct hist *h, uint64_t ret[NR_LATENCY_BUCKETS])
{
	size_t to = 0;

	for (size_t i = 0; i < NR_LATENCY_BUCKETS; i++)
		ret[i] = 0;
	for (unsigned i = 0; i <= HIST_OVERFLOW; i++) {
		uint64_t n = hist_bucket(h, i), lower = hist_lower(i);
		uint64_t middle =
			i == HIST_OVERFLOW ? lower : lower + (hist_lower(i + 1) - lower) / 2;

		if (!n)
			continue;
		/* As in percentiles, nothing is below the smallest or above the largest value seen. */
		middle = middle < h->min ? h->min : middle > h->max ? h->max : middle;
		while (to + 1 < NR_LATENCY_BUCKETS && middle >= latency_buckets[to].upper_ns)
			to++;
		ret[to] += n;
	}
}
