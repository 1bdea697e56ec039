/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/result_json.h"

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
	json_t *map;

	if (!s->n)
		return;
	map = json_object();
	set_count(map, "n", s->n);
	set_real(map, "min", s->min);
	set_real(map, "max", s->max);
	set_real(map, "mean", s->mean);
	set_real(map, "stddev", s->stddev);
	set_count(map, "interval_ns", s->interval_ns);
	json_object_set_new(to, key, map);
}

/* --- groups ----------------------------------------------------------------------------------------- */

static json_t *common_json(const struct result_direction *d)
{
	json_t *map;

	if (!d->has_common)
		return json_null();
	map = json_object();
	set_count(map, "start_ns", d->common_start_ns);
	set_count(map, "end_ns", d->common_end_ns);
	set_real(map, "iops", d->common_iops);
	set_real(map, "bw_bytes", d->common_bw_bytes);
	return map;
}

static json_t *drain_json(const struct counts *c)
{
	json_t *map = json_object();

	set_count(map, "ios", c->drain_ios);
	set_count(map, "bytes", c->drain_bytes);
	if (c->drain_ios)
		set_count(map, "lat_max_ns", c->drain_lat_max_ns);
	return map;
}

static json_t *direction_json(const struct result_direction *d)
{
	const struct counts *c = &d->sum.counts;
	json_t *map = json_object(), *ramp = json_object(), *unfinished = json_object();

	set_count(map, "ios", c->ios);
	set_count(map, "bytes", c->bytes);
	set_real(map, "iops", d->iops);
	set_real(map, "bw_bytes", d->bw_bytes);
	set_count(map, "errors", c->errors);
	set_count(map, "short_ios", c->short_ios);
	set_count(map, "runtime_ns", d->runtime_ns);
	set_hist(map, "lat_ns", &d->sum.lat);
	set_hist(map, "clat_ns", &d->sum.clat);
	set_hist(map, "slat_ns", &d->sum.slat);
	json_object_set_new(map, "common", common_json(d));
	set_count(ramp, "ios", c->ramp_ios);
	set_count(ramp, "bytes", c->ramp_bytes);
	json_object_set_new(map, "ramp", ramp);
	json_object_set_new(map, "drain", drain_json(c));
	set_count(unfinished, "ios", c->unfinished_ios);
	if (c->unfinished_ios)
		set_count(unfinished, "age_ns", c->unfinished_age_ns);
	json_object_set_new(map, "unfinished", unfinished);
	set_samples(map, "iops_samples", &d->iops_samples);
	set_samples(map, "bw_samples", &d->bw_samples);
	return map;
}

static json_t *cpu_json(const struct result_group *g)
{
	json_t *map = json_object();

	set_real(map, "usr", g->cpu_usr);
	set_real(map, "sys", g->cpu_sys);
	set_count(map, "ctx", g->ctx);
	set_count(map, "majf", g->majf);
	set_count(map, "minf", g->minf);
	return map;
}

static json_t *group_json(const struct result_group *g)
{
	json_t *map = json_object();

	set_text(map, "name", g->name);
	set_count(map, "threads", g->threads);
	set_count(map, "buffered_threads", g->buffered_threads);
	set_count(map, "runtime_ns", g->runtime_ns);
	if (g->has_cpu)
		json_object_set_new(map, "cpu", cpu_json(g));
	set_count(map, "depth", g->depth);
	if (g->effective_depth)
		set_count(map, "effective_depth", g->effective_depth);
	set_text(map, "first_error", g->first_error);
	for (unsigned dir = 0; dir < DIR_COUNT; dir++)
		if (g->dir[dir].used)
			json_object_set_new(map, direction_names[dir],
					    direction_json(&g->dir[dir]));
	if (g->total.used)
		json_object_set_new(map, "total", direction_json(&g->total));
	return map;
}

/* --- steps and run ---------------------------------------------------------------------------------- */

static json_t *start_json(const struct result_step *s)
{
	json_t *map = json_object();

	set_count(map, "spread_ns", s->start_spread_ns);
	set_count(map, "error_ns", s->start_error_ns);
	set_text(map, "last_host", s->start_last_host);
	return map;
}

static json_t *device_json(const struct result_device *d)
{
	json_t *map = json_object();

	set_text(map, "host", d->host);
	set_text(map, "target", d->target);
	set_text(map, "path", d->path);
	set_text(map, "identity", d->identity);
	set_text(map, "transport", d->transport);
	set_count(map, "read_ios", d->read_ios);
	set_count(map, "write_ios", d->write_ios);
	set_count(map, "read_bytes", d->read_bytes);
	set_count(map, "write_bytes", d->write_bytes);
	set_real(map, "util", d->util);
	return map;
}

static json_t *stuck_json(const struct result_stuck *s)
{
	json_t *map = json_object();

	set_text(map, "host", s->host);
	set_text(map, "target", s->target);
	if (s->direction >= 0 && s->direction < DIR_COUNT)
		set_text(map, "direction", direction_names[s->direction]);
	set_count(map, "offset", s->offset);
	set_count(map, "bytes", s->bytes);
	set_count(map, "age_ns", s->age_ns);
	return map;
}

/* What stands in a step before its lists. */
static json_t *step_json(const struct result_step *s)
{
	json_t *map = json_object();

	json_object_set_new(map, "point", pairs_json(s->point, s->nr_point));
	set_count(map, "repeat", s->repeat);
	set_text(map, "phase", s->phase);
	if (s->partial)
		json_object_set_new(map, "partial", json_true());
	set_text(map, "hosts", s->hosts_text);
	if (s->has_start)
		json_object_set_new(map, "start", start_json(s));
	set_real(map, "overlap", s->overlap);
	if (s->min_overlap > 0)
		set_real(map, "min_overlap", s->min_overlap);
	return map;
}

static json_t *run_json(const struct result *r)
{
	json_t *map = json_object();

	set_text(map, "id", r->id);
	set_text(map, "name", r->name);
	set_text(map, "description", r->description);
	set_text(map, "status", run_status_names[r->status]);
	json_object_set_new(map, "exit_status", json_integer(r->exit_status));
	set_text(map, "started", r->started);
	set_text(map, "ended", r->ended);
	json_object_set_new(map, "labels", pairs_json(r->labels, r->nr_labels));
	set_text(map, "version", r->version);
	return map;
}

static json_t *host_json(const struct result_host *h)
{
	json_t *map = json_object(), *clock;

	set_text(map, "name", h->name);
	set_text(map, "address", h->address);
	set_text(map, "state", host_state_names[h->state]);
	if (h->lost_at_ns)
		set_count(map, "lost_at_ns", h->lost_at_ns);
	if (h->has_clock) {
		clock = json_object();
		json_object_set_new(clock, "offset_ns", json_integer(h->clock_offset_ns));
		set_count(clock, "error_ns", h->clock_error_ns);
		set_real(clock, "drift_ppb", h->clock_drift_ppb);
		json_object_set_new(map, "clock", clock);
	}
	json_object_set_new(map, "environment", pairs_json(h->environment, h->nr_environment));
	return map;
}

static json_t *warning_json(const struct result_warning *w)
{
	json_t *map = json_object();

	set_text(map, "host", w->host);
	set_text(map, "target", w->target);
	set_text(map, "text", w->text);
	if (w->is_fault)
		json_object_set_new(map, "fault", json_true());
	return map;
}

static json_t *metric_json(const struct result_metric *m)
{
	json_t *map = json_object(), *values = json_array();

	set_count(map, "n", m->n);
	set_real(map, "mean", m->mean);
	set_real(map, "stddev", m->stddev);
	set_real(map, "min", m->min);
	set_real(map, "max", m->max);
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
	set_text(map, "phase", s->phase);
	set_text(map, "group", s->group);
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
	fputs("}\n", out);
	if (fflush(out) == EOF || ferror(out))
		return error_new(ERR_OUTPUT, "the result could not be written: %s",
				 strerror(errno));
	return NULL;
}
