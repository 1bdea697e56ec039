/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/simulated.h"

#define HOUR      (3600ull * 1000000000)
#define BYTES_MAX (1ull << 62)

/* clang-format off */
static const struct field quantile_fields[] = {
	F_STRING(struct quantile, percent, .flags = FIELD_HIDDEN | FIELD_NONEMPTY, .max = 32,
		 .help = "Percent of the I/Os"),
	F_DURATION(struct quantile, latency, .flags = FIELD_REQUIRED, .max = HOUR,
		   .help = "Time that they take at most"),
	{ NULL }
};
const struct schema quantile_schema = {
	.name = "quantile", .help = "The latency that so many percent of the I/Os do not exceed",
	.size = sizeof(struct quantile), .fields = quantile_fields, .set_offset = offsetof(struct quantile, set),
	.shorthand = "latency",
};

static const struct field stall_fields[] = {
	F_DURATION(struct stall, at, .def = "0", .max = 24 * HOUR,
		   .help = "When the device stops, counted from each thread's first I/O, ramp_time included"),
	F_DURATION(struct stall, for, .def = "0", .max = HOUR,
		   .help = "How long it stands still; what is in flight or comes then is done so much later"),
	{ NULL }
};
const struct schema stall_schema = {
	.name = "stall", .help = "A device that stands still once",
	.size = sizeof(struct stall), .fields = stall_fields, .set_offset = offsetof(struct stall, set),
};

static const struct field simulated_fields[] = {
	F_SIZE(struct simulated, size, .flags = FIELD_REQUIRED, .min = 512, .max = BYTES_MAX,
	       .help = "Bytes that it pretends to have"),
	F_DURATION(struct simulated, latency, .def = "0", .max = HOUR,
		   .help = "Time that each I/O takes"),
	F_MAP(struct simulated, quantiles, nr_quantiles, &quantile_schema, .flags = FIELD_OPTIONAL, .max = QUANTILES_MAX,
	      .help = "Instead of latency, a distribution: {50: 100us, 99: 1ms}; linear between the given percentiles, flat beyond them, evenly spread over each thread's I/Os"),
	F_OBJECT(struct simulated, stall, &stall_schema, .flags = FIELD_OPTIONAL,
		 .help = "The device stands still once"),
	{ NULL }
};
const struct schema simulated_schema = {
	.name = "simulated", .help = "A target without a device: for rehearsal and calibration",
	.size = sizeof(struct simulated), .fields = simulated_fields, .set_offset = offsetof(struct simulated, set),
};
/* clang-format on */

static bool parse_percent(const char *text, double *ret)
{
	char *end;

	if (text[strspn(text, "0123456789.")] != '\0')
		return false;
	*ret = strtod(text, &end);
	return end != text && *end == '\0' && *ret <= 100;
}

struct error *latency_curve_init(struct latency_curve *curve, const struct quantile *quantiles,
				 size_t nr)
{
	*curve = (struct latency_curve) { 0 };
	if (nr < 1 || nr > QUANTILES_MAX)
		return error_new(ERR_CONFIG, "%zu quantiles are none or more than %d", nr,
				 QUANTILES_MAX);
	for (size_t i = 0; i < nr; i++) {
		double percent, before = i ? curve->points[i - 1].share * 100 : -1;

		if (!parse_percent(quantiles[i].percent, &percent))
			return error_new(ERR_CONFIG, "'%s' is no percentile; write 50, 99 or 99.9",
					 quantiles[i].percent);
		if (percent <= before)
			return error_new(
				ERR_CONFIG,
				"'%s' comes after the same or a larger percentile; sort them",
				quantiles[i].percent);
		if (i && quantiles[i].latency_ns < curve->points[i - 1].latency_ns)
			return error_new(ERR_CONFIG,
					 "'%s' has a smaller latency than the percentile before it",
					 quantiles[i].percent);
		curve->points[i].share = percent / 100;
		curve->points[i].latency_ns = quantiles[i].latency_ns;
	}
	curve->nr_points = nr;
	return NULL;
}

uint64_t latency_curve_at(const struct latency_curve *curve, uint64_t position)
{
	double share = (double)position * 0x1p-64, from, to;
	size_t i = 0;

	while (i < curve->nr_points && curve->points[i].share < share)
		i++;
	if (i == 0)
		return curve->points[0].latency_ns;
	if (i == curve->nr_points)
		return curve->points[i - 1].latency_ns;
	from = (double)curve->points[i - 1].latency_ns;
	to = (double)curve->points[i].latency_ns;
	return (uint64_t)(from + (to - from) * (share - curve->points[i - 1].share) /
					 (curve->points[i].share - curve->points[i - 1].share));
}

uint64_t stall_delay(const struct stall *stall, uint64_t begin_ns, uint64_t submit_ns,
		     uint64_t done_ns)
{
	uint64_t from = begin_ns + stall->at_ns, to = from + stall->for_ns;

	if (done_ns <= from || submit_ns >= to)
		return done_ns;
	/* Its work rests from the stall's begin, or from its own where that is later. */
	return done_ns + (to - (submit_ns > from ? submit_ns : from));
}
