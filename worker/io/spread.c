/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/spread.h"

#include <math.h>
#include <stdlib.h>

/* The first ranks differ most: each has an interval of its own. */
enum { ALONE = 512, MAX_INTERVALS = 1 << 17 };
#define DEVIATION   0.01 /* of a place's share from its interval's mean */
#define SIGMAS      6.0  /* beyond, normal has a billionth */
#define SIGMA_STEPS 250.0

/* The weight of everything below x: continuous, from 0 to the number of places. */
typedef double weight_below(const struct distribution *dist, double x, double nr);

/* Rank k (from 0) has (k + 1)^-theta; the sum over ranks is that integral from half a rank before to half a rank
 * behind, which for the first ones is not near enough (their weights are given one by one). */
static double zipf_below(const struct distribution *dist, double x, double nr)
{
	double at = x + 0.5, power = 1 - dist->parameter;

	(void)nr;
	return fabs(power) < 1e-9 ? log(at) : (pow(at, power) - 1) / power;
}

/* A share h of the ranks has all but h of the I/Os, and so again within it. */
static double pareto_below(const struct distribution *dist, double x, double nr)
{
	return pow(x / nr, log(1 - dist->parameter) / log(dist->parameter));
}

static double normal_below(const struct distribution *dist, double x, double nr)
{
	double deviation = dist->parameter / 100 * nr;

	return 0.5 * (1 + erf((x - nr / 2) / (deviation * M_SQRT2)));
}

/* How fast the density changes: by which power of the rank. */
static double steepness(const struct distribution *dist)
{
	if (dist->kind == DIST_ZIPF)
		return dist->parameter;
	return fabs(log(1 - dist->parameter) / log(dist->parameter) - 1);
}

/* One by one, then intervals that grow with their rank. */
static size_t ranked(const struct distribution *dist, uint64_t nr, struct interval *ret)
{
	weight_below *below = dist->kind == DIST_ZIPF ? zipf_below : pareto_below;
	double growth = 2 * DEVIATION / fmax(steepness(dist), 2 * DEVIATION);
	size_t n = 0;

	for (uint64_t low = 0, span; low < nr && n < MAX_INTERVALS; low += span) {
		span = low < ALONE ? 1 : (uint64_t)fmax(1, (double)low * growth);
		/* What is left when there are no more intervals has next to no weight. */
		if (span > nr - low || n == MAX_INTERVALS - 1)
			span = nr - low;
		ret[n++] = (struct interval) {
			.low = low,
			.span = span,
			.weight = low < ALONE && dist->kind == DIST_ZIPF
					  ? pow((double)low + 1, -dist->parameter)
					  : fmax(0, below(dist, (double)(low + span), (double)nr) -
							    below(dist, (double)low, (double)nr)),
		};
	}
	return n;
}

static size_t normal(const struct distribution *dist, uint64_t nr, struct interval *ret)
{
	double deviation = dist->parameter / 100 * (double)nr, middle = (double)nr / 2;
	double first = floor(fmax(0, middle - SIGMAS * deviation));
	double end = fmin((double)nr, ceil(middle + SIGMAS * deviation));
	uint64_t step = (uint64_t)fmax(1, deviation / SIGMA_STEPS), last = (uint64_t)end;
	size_t n = 0;

	for (uint64_t low = (uint64_t)first; low < last; low += step) {
		uint64_t span = last - low < step ? last - low : step;

		ret[n++] = (struct interval) {
			.low = low,
			.span = span,
			.weight = normal_below(dist, (double)(low + span), (double)nr) -
				  normal_below(dist, (double)low, (double)nr),
		};
	}
	return n;
}

/* A zone that is less than one place has one, as long as there are any. */
static size_t zoned(const struct distribution *dist, uint64_t nr, struct interval *ret)
{
	double percent = 0;
	uint64_t low = 0;
	size_t n = 0;

	for (size_t i = 0; i < dist->nr_zones; i++) {
		uint64_t end;

		percent += dist->zones[i].size;
		end = i + 1 == dist->nr_zones ? nr : (uint64_t)((double)nr * percent / 100);
		if (end <= low && dist->zones[i].access > 0 && low < nr)
			end = low + 1;
		if (end <= low)
			continue;
		ret[n++] = (struct interval) { low, end - low, dist->zones[i].access };
		low = end;
	}
	return n;
}

struct interval *spread_intervals(const struct distribution *dist, uint64_t nr, size_t *ret_nr)
{
	struct interval *intervals = calloc(MAX_INTERVALS, sizeof(*intervals));

	*ret_nr = 0;
	if (!intervals)
		return NULL;
	switch (dist->kind) {
	case DIST_UNIFORM:
		intervals[0] = (struct interval) { 0, nr, 1 };
		*ret_nr = 1;
		break;
	case DIST_ZIPF:
	case DIST_PARETO:
		*ret_nr = ranked(dist, nr, intervals);
		break;
	case DIST_NORMAL:
		*ret_nr = normal(dist, nr, intervals);
		break;
	case DIST_ZONED:
		*ret_nr = zoned(dist, nr, intervals);
		break;
	}
	return intervals;
}
