/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/metrics.h"

const char *const direction_names[DIR_COUNT] = {
	[DIR_READ] = "read",
	[DIR_WRITE] = "write",
	[DIR_TRIM] = "trim",
	[DIR_SYNC] = "sync",
};

const struct metric metrics[NR_METRICS] = {
#define X(name_, unit_, merge_, help_) \
	{ #name_, METRIC_##unit_, METRIC_##merge_, help_, offsetof(struct counts, name_) },
#include "common/model/metrics.def"
#undef X
};

static void merge_one(struct counts *to, const struct metric *m, uint64_t value)
{
	uint64_t *cell = metric_cell(to, m);

	if (m->merge == METRIC_SUM)
		*cell += value;
	else if (value > *cell)
		*cell = value;
}

void counts_merge(struct counts *to, const struct counts *from)
{
	for (unsigned i = 0; i < NR_METRICS; i++)
		merge_one(to, &metrics[i], metric_value(from, &metrics[i]));
}

void counts_merge_cells(struct counts *to, const struct counts *cells)
{
	for (unsigned i = 0; i < NR_METRICS; i++)
		merge_one(to, &metrics[i],
			  cell_get((const uint64_t *)((const char *)cells + metrics[i].offset)));
}

bool counts_is_zero(const struct counts *c)
{
	for (unsigned i = 0; i < NR_METRICS; i++)
		if (metric_value(c, &metrics[i]))
			return false;
	return true;
}

void pow2_counts_merge(struct pow2_counts *to, const struct pow2_counts *from)
{
	for (unsigned i = 0; i < POW2_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

void direction_sum_fini(struct direction_sum *d)
{
	hist_fini(&d->lat);
	hist_fini(&d->clat);
	hist_fini(&d->slat);
	hist_fini(&d->service);
	hist_fini(&d->late);
	*d = (struct direction_sum) { 0 };
}

void direction_sum_merge(struct direction_sum *to, const struct direction_sum *from)
{
	counts_merge(&to->counts, &from->counts);
	hist_merge(&to->lat, &from->lat);
	hist_merge(&to->clat, &from->clat);
	hist_merge(&to->slat, &from->slat);
	hist_merge(&to->service, &from->service);
	hist_merge(&to->late, &from->late);
}
