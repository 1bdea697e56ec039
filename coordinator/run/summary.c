/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/summary.h"

#include "common/model/metric_path.h"
#include "coordinator/run/series.h"

#include <math.h>

/* What a summary holds, in this order, of each direction that is used. */
static const char *const direction_metrics[] = {
	"iops", "bw_bytes", "lat.mean", "lat.p50", "lat.p99", "lat.p99.9",
};
static const char *const sync_metrics[] = { "iops", "lat.mean", "lat.p99" };
static const char *const group_metrics[] = {
	"iops",      "bw_bytes", "lat.mean", "lat.p50", "lat.p99",
	"lat.p99.9", "errors",   "cpu.usr",  "cpu.sys",
};

double group_metric(const struct result_group *g, const char *path)
{
	struct metric_path parsed;

	return metric_path_parse(path, &parsed) ? metric_path_value(&parsed, NULL, g) : NAN;
}

static bool same_point(const struct result_step *a, const struct result_step *b)
{
	if (a->nr_point != b->nr_point || !streq(a->phase, b->phase))
		return false;
	for (size_t i = 0; i < a->nr_point; i++)
		if (!streq(a->point[i].key, b->point[i].key) ||
		    !streq(a->point[i].value, b->point[i].value))
			return false;
	return true;
}

static const struct result_group *find_group(const struct result_step *s, const char *name)
{
	for (size_t i = 0; i < s->nr_groups; i++)
		if (streq(s->groups[i].name, name))
			return &s->groups[i];
	return NULL;
}

/* A repeat of one point and phase, and its value of a metric. */
static double step_metric(const struct result_step *s, const char *group, const char *path)
{
	const struct result_group *g = find_group(s, group);

	return g && !s->partial ? group_metric(g, path) : NAN;
}

static void add_metric(const struct result *r, size_t first, struct result_summary *sum,
		       const char *path)
{
	struct moments m = { 0 };
	double *values = xcalloc(r->nr_steps, sizeof(*values));
	size_t nr = 0;

	for (size_t i = first; i < r->nr_steps; i++) {
		if (!same_point(&r->steps[first], &r->steps[i]))
			continue;
		values[nr] = step_metric(&r->steps[i], sum->group, path);
		if (!isnan(values[nr]))
			moments_add(&m, values[nr]);
		nr++;
	}
	if (!m.n) {
		free(values);
		return;
	}
	sum->metrics = xrealloc(sum->metrics, sum->nr_metrics + 1, sizeof(*sum->metrics));
	sum->metrics[sum->nr_metrics++] = (struct result_metric) {
		.name = xstrdup(path),
		.n = m.n,
		.mean = m.mean,
		.stddev = moments_stddev(&m),
		.min = m.min,
		.max = m.max,
		.values = values,
		.nr_values = nr,
	};
}

static void add_metrics(const struct result *r, size_t first, struct result_summary *sum)
{
	for (unsigned dir = 0; dir < DIR_COUNT; dir++) {
		bool is_sync = dir == DIR_SYNC;
		const char *const *names = is_sync ? sync_metrics : direction_metrics;
		size_t nr = is_sync ? array_size(sync_metrics) : array_size(direction_metrics);

		for (size_t i = 0; i < nr; i++) {
			_cleanup_free_ char *path =
				xasprintf("%s.%s", direction_names[dir], names[i]);

			add_metric(r, first, sum, path);
		}
	}
	for (size_t i = 0; i < array_size(group_metrics); i++)
		add_metric(r, first, sum, group_metrics[i]);
}

static void add_summary(struct result *r, size_t first, const char *group)
{
	const struct result_step *s = &r->steps[first];
	struct result_summary *sum;

	r->summary = xrealloc(r->summary, r->nr_summary + 1, sizeof(*r->summary));
	sum = &r->summary[r->nr_summary++];
	*sum = (struct result_summary) {
		.point = xcalloc(s->nr_point, sizeof(*sum->point)),
		.nr_point = s->nr_point,
		.phase = xstrdup(s->phase),
		.group = xstrdup(group),
	};
	for (size_t i = 0; i < s->nr_point; i++)
		sum->point[i] = (struct text_pair) {
			.key = xstrdup(s->point[i].key),
			.value = xstrdup(s->point[i].value),
		};
	add_metrics(r, first, sum);
}

static bool is_first_of_point(const struct result *r, size_t step)
{
	for (size_t i = 0; i < step; i++)
		if (same_point(&r->steps[i], &r->steps[step]))
			return false;
	return true;
}

void summary_fill(struct result *r)
{
	for (size_t i = 0; i < r->nr_steps; i++) {
		if (!is_first_of_point(r, i))
			continue;
		for (size_t g = 0; g < r->steps[i].nr_groups; g++)
			add_summary(r, i, r->steps[i].groups[g].name);
	}
}
