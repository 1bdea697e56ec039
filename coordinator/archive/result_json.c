/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/result_json.h"

#include "coordinator/archive/result_fields.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

/* --- values: what is not measured leaves no trace ------------------------------------------------- */

static void set_text(json_t *to, const char *key, const char *text)
{
	json_t *value;

	if (!text)
		return;
	value = json_string(text);
	if (!value) { /* no UTF-8: shown as a person would see it */
		_cleanup_free_ char *printable = str_printable(text);

		value = json_string(printable);
	}
	json_object_set_new(to, key, value);
}

static json_t *integer(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static void set_count(json_t *to, const char *key, uint64_t value)
{
	json_object_set_new(to, key, integer(value));
}

static void set_real(json_t *to, const char *key, double value)
{
	if (isfinite(value))
		json_object_set_new(to, key, json_real(value));
}

/* The name of a value; NULL: it has none. */
static const char *name_of(const struct json_field *f, int value)
{
	return value >= 0 && (unsigned)value < f->nr_names ? f->names[value] : NULL;
}

static void set_field(json_t *to, const struct json_field *f, const void *obj)
{
	const void *at = (const char *)obj + f->offset;
	uint64_t n;

	switch (f->kind) {
	case JSON_KIND_TEXT:
		set_text(to, f->name, *(char *const *)at);
		return;
	case JSON_KIND_COUNT:
		n = *(const uint64_t *)at;
		if (!((f->flags & JSON_FIELD_SKIP_ZERO) && n == 0) &&
		    !((f->flags & JSON_FIELD_SKIP_MAX) && n == UINT64_MAX))
			set_count(to, f->name, n);
		return;
	case JSON_KIND_SIGNED:
		json_object_set_new(to, f->name, json_integer(*(const int64_t *)at));
		return;
	case JSON_KIND_REAL:
		set_real(to, f->name, *(const double *)at);
		return;
	case JSON_KIND_FLAG:
		if (*(const bool *)at)
			json_object_set_new(to, f->name, json_true());
		return;
	case JSON_KIND_STATUS:
		if (*(const int *)at >= 0)
			json_object_set_new(to, f->name, json_integer(*(const int *)at));
		return;
	case JSON_KIND_NAME:
		set_text(to, f->name, name_of(f, *(const int *)at));
		return;
	}
}

static void set_fields(json_t *to, const struct json_field *fields, const void *obj)
{
	for (const struct json_field *f = fields; f->name; f++)
		set_field(to, f, obj);
}

static json_t *fields_json(const struct json_field *fields, const void *obj)
{
	json_t *map = json_object();

	set_fields(map, fields, obj);
	return map;
}

/* A map of texts. Of a key that stands there twice the last value counts, so that no key is written twice. */
static json_t *pairs_json(const struct text_pair *pairs, size_t nr)
{
	json_t *map = json_object();

	for (size_t i = 0; i < nr; i++)
		set_text(map, pairs[i].key, pairs[i].value);
	return map;
}

/* --- distributions ---------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	double p;
} percentiles[] = {
	{ "1", 1 },         { "5", 5 },         { "10", 10 }, { "20", 20 },     { "30", 30 },
	{ "40", 40 },       { "50", 50 },       { "60", 60 }, { "70", 70 },     { "80", 80 },
	{ "90", 90 },       { "95", 95 },       { "99", 99 }, { "99.5", 99.5 }, { "99.9", 99.9 },
	{ "99.95", 99.95 }, { "99.99", 99.99 },
};

/* [lower, upper, count] of each bucket with something in it: values lower <= v < upper. The last bucket
 * has no upper bound but the largest value. */
static json_t *buckets_json(const struct hist *h)
{
	json_t *list = json_array();

	for (unsigned i = 0; i <= HIST_OVERFLOW; i++) {
		uint64_t n = hist_bucket(h, i), upper = i < HIST_OVERFLOW ? hist_lower(i + 1) : 0;
		json_t *bucket;

		if (!n)
			continue;
		if (i == HIST_OVERFLOW)
			upper = h->max + 1;
		bucket = json_array();
		json_array_append_new(bucket, integer(hist_lower(i)));
		json_array_append_new(bucket, integer(upper));
		json_array_append_new(bucket, integer(n));
		json_array_append_new(list, bucket);
	}
	return list;
}

static void set_hist(json_t *to, const char *key, const struct hist *h)
{
	json_t *map, *points;

	if (!h->count)
		return;
	map = json_object();
	points = json_object();
	set_count(map, "n", h->count);
	set_count(map, "min", h->min);
	set_count(map, "max", h->max);
	set_count(map, "sum", h->sum);
	set_real(map, "mean", hist_mean(h));
	set_real(map, "stddev", hist_stddev(h));
	for (size_t i = 0; i < array_size(percentiles); i++)
		set_count(points, percentiles[i].name, hist_percentile(h, percentiles[i].p));
	json_object_set_new(map, "percentiles", points);
	json_object_set_new(map, "histogram", buckets_json(h));
	json_object_set_new(to, key, map);
}

static void set_samples(json_t *to, const char *key, const struct sample_stats *s)
{
	if (s->n)
		json_object_set_new(to, key, fields_json(samples_json_fields, s));
}

/* [from, count] of each bucket with something in it. */
static json_t *pow2_json(const struct pow2_counts *counts)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < POW2_BUCKETS; i++) {
		json_t *bucket;

		if (!counts->bucket[i])
			continue;
		bucket = json_array();
		json_array_append_new(bucket, integer(1ull << i));
		json_array_append_new(bucket, integer(counts->bucket[i]));
		json_array_append_new(list, bucket);
	}
	return list;
}

/* --- groups ----------------------------------------------------------------------------------------- */

static json_t *direction_json(const struct result_direction *d)
{
	const struct counts *c = &d->sum.counts;
	json_t *map = fields_json(counts_json_fields, c);

	set_fields(map, rates_json_fields, d);
	set_hist(map, "lat_ns", &d->sum.lat);
	set_hist(map, "clat_ns", &d->sum.clat);
	set_hist(map, "slat_ns", &d->sum.slat);
	set_hist(map, "service_ns", &d->sum.service);
	set_hist(map, "late_ns", &d->sum.late);
	json_object_set_new(map, "common",
			    d->has_common ? fields_json(common_json_fields, d) : json_null());
	json_object_set_new(map, "ramp", fields_json(ramp_json_fields, c));
	json_object_set_new(map, "drain", fields_json(drain_json_fields, c));
	json_object_set_new(map, "unfinished", fields_json(unfinished_json_fields, c));
	if (c->unissued_ios)
		json_object_set_new(map, "unissued", fields_json(unissued_json_fields, c));
	set_samples(map, "iops_samples", &d->iops_samples);
	set_samples(map, "bw_samples", &d->bw_samples);
	return map;
}

static json_t *error_json(const struct result_error *e)
{
	json_t *map = fields_json(error_json_fields, e);

	json_object_set_new(map, "first", fields_json(first_json_fields, e));
	return map;
}

static void set_errors(json_t *to, const struct result_group *g)
{
	json_t *list;

	if (!g->nr_errors)
		return;
	list = json_array();
	for (size_t i = 0; i < g->nr_errors; i++)
		json_array_append_new(list, error_json(&g->errors[i]));
	json_object_set_new(to, "errors_by", list);
}

static json_t *group_json(const struct result_group *g)
{
	json_t *map = fields_json(group_json_fields, g);

	if (g->has_cpu)
		json_object_set_new(map, "cpu", fields_json(cpu_json_fields, g));
	if (g->has_depths) {
		json_object_set_new(map, "depths", pow2_json(&g->depths));
		json_object_set_new(map, "submits", pow2_json(&g->submits));
		json_object_set_new(map, "completes", pow2_json(&g->completes));
	}
	set_errors(map, g);
	for (unsigned dir = 0; dir < DIR_COUNT; dir++)
		if (g->dir[dir].used)
			json_object_set_new(map, direction_names[dir],
					    direction_json(&g->dir[dir]));
	if (g->total.used)
		json_object_set_new(map, "total", direction_json(&g->total));
	return map;
}

/* --- steps and run ---------------------------------------------------------------------------------- */

/* A simulated target has no counters. */
static bool has_counters(const struct result_device *d)
{
	return d->disk || d->elapsed_ns || d->read_ios || d->write_ios;
}

static json_t *device_json(const struct result_device *d)
{
	json_t *map = fields_json(device_json_fields, d);

	if (has_counters(d))
		set_fields(map, counters_json_fields, d);
	if (d->has_foreign)
		set_fields(map, foreign_json_fields, d);
	if (d->has_cached)
		set_fields(map, cached_json_fields, d);
	return map;
}

static json_t *stuck_json(const struct result_stuck *s)
{
	return fields_json(stuck_json_fields, s);
}

static json_t *job_json(const struct result_job *j)
{
	json_t *map = fields_json(job_json_fields, j);

	json_object_set_new(map, "options", pairs_json(j->options, j->nr_options));
	return map;
}

/* What stands in a step before its lists. */
static json_t *step_json(const struct result_step *s)
{
	json_t *map = json_object();

	json_object_set_new(map, "point", pairs_json(s->point, s->nr_point));
	set_fields(map, step_json_fields, s);
	if (s->has_start)
		json_object_set_new(map, "start", fields_json(start_json_fields, s));
	return map;
}

static json_t *run_json(const struct result *r)
{
	json_t *map = fields_json(run_json_fields, r);

	json_object_set_new(map, "labels", pairs_json(r->labels, r->nr_labels));
	return map;
}

static json_t *host_json(const struct result_host *h)
{
	json_t *map = fields_json(host_json_fields, h);

	if (h->nr_labels)
		json_object_set_new(map, "labels", pairs_json(h->labels, h->nr_labels));
	if (h->has_clock)
		json_object_set_new(map, "clock", fields_json(clock_json_fields, h));
	json_object_set_new(map, "environment", pairs_json(h->environment, h->nr_environment));
	return map;
}

static json_t *warning_json(const struct result_warning *w)
{
	return fields_json(warning_json_fields, w);
}

static json_t *check_json(const struct result_check *c)
{
	json_t *map = fields_json(check_json_fields, c);

	json_object_set_new(map, "point", pairs_json(c->point, c->nr_point));
	return map;
}

static json_t *metric_json(const struct result_metric *m)
{
	json_t *map = fields_json(metric_json_fields, m), *values = json_array();

	for (size_t i = 0; i < m->nr_values; i++)
		json_array_append_new(values, isfinite(m->values[i]) ? json_real(m->values[i])
								     : json_null());
	json_object_set_new(map, "values", values);
	return map;
}

static json_t *summary_json(const struct result_summary *s)
{
	json_t *map = json_object(), *by_name = json_object();

	json_object_set_new(map, "point", pairs_json(s->point, s->nr_point));
	set_fields(map, summary_json_fields, s);
	for (size_t i = 0; i < s->nr_metrics; i++)
		json_object_set_new(by_name, s->metrics[i].name, metric_json(&s->metrics[i]));
	json_object_set_new(map, "metrics", by_name);
	return map;
}

/* --- writing ---------------------------------------------------------------------------------------- */

/* Design notes. A result of a thousand hosts is tens of megabytes, so it is never one tree: each host,
 * group and so on is made, written on a line of its own, and freed. An object whose lists follow is written
 * without its closing brace. */

static void write_value(FILE *out, json_t *value, bool is_open)
{
	_cleanup_free_ char *text = json_dumps(value, JSON_ENSURE_ASCII | JSON_COMPACT);

	json_decref(value);
	assert(text);
	fwrite(text, 1, strlen(text) - is_open, out);
}

/* The elements of a list, each on a line of its own: `make` turns the i-th of `items` into JSON. */
#define write_list(out, key, items, nr, make)                            \
	do {                                                             \
		fprintf(out, ",\n\"%s\":[", key);                        \
		for (size_t list_i = 0; list_i < (nr); list_i++) {       \
			fputs(list_i ? ",\n" : "\n", out);               \
			write_value(out, make(&(items)[list_i]), false); \
		}                                                        \
		fputc(']', out);                                         \
	} while (0)

static void write_group(const struct result_group *g, FILE *out)
{
	write_value(out, group_json(g), true);
	write_list(out, "hosts", g->hosts, g->nr_hosts, group_json);
	write_list(out, "targets", g->targets, g->nr_targets, group_json);
	write_list(out, "jobs", g->jobs, g->nr_jobs, group_json);
	fputc('}', out);
}

static void write_step(const struct result_step *s, FILE *out)
{
	write_value(out, step_json(s), true);
	write_list(out, "jobs", s->jobs, s->nr_jobs, job_json);
	fputs(",\n\"groups\":[", out);
	for (size_t i = 0; i < s->nr_groups; i++) {
		fputs(i ? ",\n" : "\n", out);
		write_group(&s->groups[i], out);
	}
	fputc(']', out);
	write_list(out, "devices", s->devices, s->nr_devices, device_json);
	if (s->nr_stuck)
		write_list(out, "stuck", s->stuck, s->nr_stuck, stuck_json);
	fputc('}', out);
}

struct error *result_json_write(const struct result *r, FILE *out)
{
	fprintf(out, "{\"format\":%d,\n\"run\":", RESULT_JSON_FORMAT);
	write_value(out, run_json(r), false);
	write_list(out, "hosts", r->hosts, r->nr_hosts, host_json);
	write_list(out, "warnings", r->warnings, r->nr_warnings, warning_json);
	fputs(",\n\"results\":[", out);
	for (size_t i = 0; i < r->nr_steps; i++) {
		fputs(i ? ",\n" : "\n", out);
		write_step(&r->steps[i], out);
	}
	fputc(']', out);
	write_list(out, "summary", r->summary, r->nr_summary, summary_json);
	if (r->nr_checks)
		write_list(out, "checks", r->checks, r->nr_checks, check_json);
	fputs("}\n", out);
	if (fflush(out) == EOF || ferror(out))
		return error_new(ERR_OUTPUT, "the result could not be written: %s",
				 strerror(errno));
	return NULL;
}
