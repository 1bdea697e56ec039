/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/result_read_group.h"

#include <inttypes.h>
#include <math.h>

/* --- flat objects --------------------------------------------------------------------------------------- */

static void read_text(struct json_walk *w, const json_t *value, char **ret)
{
	if (!json_is_string(value)) {
		walk_fail(w, "is no text");
		return;
	}
	free(*ret);
	*ret = xstrdup(json_string_value(value));
}

static uint64_t read_count(struct json_walk *w, const json_t *value)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0) {
		walk_fail(w, "is no whole number of at least 0");
		return 0;
	}
	return (uint64_t)json_integer_value(value);
}

static int read_status(struct json_walk *w, const json_t *value)
{
	uint64_t n = read_count(w, value);

	if (n > UINT8_MAX)
		walk_fail(w, "is no exit status");
	return (int)(n & UINT8_MAX);
}

static int read_name(struct json_walk *w, const struct json_field *f, const json_t *value)
{
	const char *name = json_string_value(value);

	for (unsigned i = 0; name && i < f->nr_names; i++)
		if (streq(f->names[i], name))
			return (int)i;
	walk_fail(w, "is none of its names");
	return 0;
}

static void read_field(struct json_walk *w, const struct json_field *f, const json_t *value,
		       void *at)
{
	switch (f->kind) {
	case JSON_KIND_TEXT:
		read_text(w, value, at);
		return;
	case JSON_KIND_COUNT:
		*(uint64_t *)at = read_count(w, value);
		return;
	case JSON_KIND_SIGNED:
		if (!json_is_integer(value))
			walk_fail(w, "is no whole number");
		*(int64_t *)at = json_integer_value(value);
		return;
	case JSON_KIND_REAL:
		if (!json_is_number(value))
			walk_fail(w, "is no number");
		*(double *)at = json_number_value(value);
		return;
	case JSON_KIND_FLAG:
		if (!json_is_boolean(value))
			walk_fail(w, "is not true or false");
		*(bool *)at = json_is_true(value);
		return;
	case JSON_KIND_STATUS:
		*(int *)at = read_status(w, value);
		return;
	case JSON_KIND_NAME:
		*(int *)at = read_name(w, f, value);
		return;
	}
}

/* What an absent key stands for. */
static void set_unknown(const struct json_field *f, void *at)
{
	if (f->kind == JSON_KIND_REAL)
		*(double *)at = NAN;
	else if (f->kind == JSON_KIND_STATUS || f->kind == JSON_KIND_NAME)
		*(int *)at = -1;
	else if (f->flags & JSON_FIELD_SKIP_MAX)
		*(uint64_t *)at = UINT64_MAX;
}

void read_fields(struct json_walk *w, const json_t *from, const struct json_field *fields,
		 void *obj)
{
	if (from && !json_is_object(from))
		walk_fail(w, "is no object");
	for (const struct json_field *f = fields; f->name; f++) {
		const json_t *value = json_object_get(from, f->name);
		size_t before = walk_push(w, ".%s", f->name);
		void *at = (char *)obj + f->offset;

		if (value)
			read_field(w, f, value, at);
		else if (f->flags & JSON_FIELD_REQUIRED)
			walk_fail(w, "is missing");
		else
			set_unknown(f, at);
		walk_pop(w, before);
	}
}

void read_fields_below(struct json_walk *w, const char *key, const json_t *from,
		       const struct json_field *fields, void *obj)
{
	size_t before = walk_push(w, ".%s", key);

	read_fields(w, from, fields, obj);
	walk_pop(w, before);
}

json_t *read_object(struct json_walk *w, const json_t *from, const char *key)
{
	json_t *value = json_object_get(from, key);

	if (!value || json_is_null(value))
		return NULL;
	if (!json_is_object(value))
		walk_fail(w, "%s: is no object", key);
	return value;
}

void read_pairs(struct json_walk *w, const json_t *from, const char *key, struct text_pair **ret,
		size_t *ret_nr)
{
	json_t *map = read_object(w, from, key), *value;
	const char *name;

	*ret = xcalloc(json_object_size(map), sizeof(**ret));
	json_object_foreach(map, name, value)
	{
		struct text_pair *pair = &(*ret)[(*ret_nr)++];

		pair->key = xstrdup(name);
		pair->value = xstrdup(json_is_string(value) ? json_string_value(value) : "");
		if (!json_is_string(value))
			walk_fail(w, "%s.%s: is no text", key, name);
	}
}

/* --- distributions ----------------------------------------------------------------------------------------- */

/* A list of `nr` whole numbers into `ret`. */
static bool read_numbers(const json_t *list, uint64_t *ret, size_t nr)
{
	if (json_array_size(list) != nr)
		return false;
	for (size_t i = 0; i < nr; i++) {
		const json_t *value = json_array_get(list, i);

		if (!json_is_integer(value) || json_integer_value(value) < 0)
			return false;
		ret[i] = (uint64_t)json_integer_value(value);
	}
	return true;
}

static void read_pow2(struct json_walk *w, const json_t *from, const char *key,
		      struct pow2_counts *ret)
{
	const json_t *list = json_object_get(from, key), *bucket;
	uint64_t n[2];
	size_t i;

	if (!json_is_array(list))
		walk_fail(w, "%s: is no list", key);
	json_array_foreach(list, i, bucket)
	{
		if (!read_numbers(bucket, n, 2) || !n[0] || (n[0] & (n[0] - 1)) ||
		    n[0] >= 1u << POW2_BUCKETS)
			walk_fail(w, "%s[%zu]: is no [power of two, count]", key, i);
		else
			ret->bucket[pow2_bucket(n[0])] += n[1];
	}
}

/* Another version's buckets would be wrong in ours. */
static bool is_own_bucket(const uint64_t n[3], unsigned *ret_index)
{
	unsigned index = hist_index(n[0]);

	*ret_index = index;
	return n[2] && hist_lower(index) == n[0] &&
	       (index == HIST_OVERFLOW ? n[1] > n[0] : hist_lower(index + 1) == n[1]);
}

static void read_buckets(struct json_walk *w, const json_t *list, struct hist *ret)
{
	unsigned index, next = 0;
	const json_t *bucket;
	uint64_t n[3];
	size_t i;

	if (!json_is_array(list))
		walk_fail(w, "histogram: is no list");
	json_array_foreach(list, i, bucket)
	{
		if (!read_numbers(bucket, n, 3) || !is_own_bucket(n, &index) || index < next) {
			walk_fail(w, "histogram[%zu]: is no [lower, upper, count] of this version",
				  i);
			return;
		}
		hist_add(ret, n[0], n[2]);
		next = index + 1;
	}
}

static void read_hist(struct json_walk *w, const json_t *from, const char *key, struct hist *ret)
{
	static const char *const names[] = { "n", "min", "max", "sum" };
	json_t *map = read_object(w, from, key);
	uint64_t n[array_size(names)] = { 0 };
	size_t before;

	if (!map)
		return;
	before = walk_push(w, ".%s", key);
	for (size_t i = 0; i < array_size(names); i++) {
		const json_t *value = json_object_get(map, names[i]);
		size_t inner = walk_push(w, ".%s", names[i]);

		/* Files of versions that did not write the sum have the mean. */
		if (value || !streq(names[i], "sum"))
			n[i] = read_count(w, value);
		else
			n[i] = (uint64_t)llround(
				fmin(9e18, fmax(0, json_number_value(json_object_get(map, "mean")) *
							   (double)n[0])));
		walk_pop(w, inner);
	}
	read_buckets(w, json_object_get(map, "histogram"), ret);
	if (ret->count != n[0] || !n[0])
		walk_fail(w, "n: the histogram holds another number of values");
	if (n[1] > n[2])
		walk_fail(w, "min: is more than max");
	ret->min = n[1];
	ret->max = n[2];
	ret->sum = n[3];
	walk_pop(w, before);
}

/* --- groups ---------------------------------------------------------------------------------------------- */

static void read_samples(struct json_walk *w, const json_t *from, const char *key,
			 struct sample_stats *ret)
{
	json_t *map = read_object(w, from, key);

	if (map)
		read_fields_below(w, key, map, samples_json_fields, ret);
}

static void read_direction(struct json_walk *w, const json_t *from, const char *key,
			   struct result_direction *ret)
{
	static const struct {
		const char *key;
		const struct json_field *fields;
	} parts[] = {
		{ "ramp", ramp_json_fields },
		{ "drain", drain_json_fields },
		{ "unfinished", unfinished_json_fields },
	};
	json_t *map = read_object(w, from, key), *common = read_object(w, map, "common");
	size_t before;

	if (!map)
		return;
	before = walk_push(w, ".%s", key);
	ret->used = true;
	read_fields(w, map, counts_json_fields, &ret->sum.counts);
	read_fields(w, map, rates_json_fields, ret);
	for (size_t i = 0; i < array_size(parts); i++)
		read_fields_below(w, parts[i].key, json_object_get(map, parts[i].key),
				  parts[i].fields, &ret->sum.counts);
	if (json_object_get(map, "unissued"))
		read_fields_below(w, "unissued", json_object_get(map, "unissued"),
				  unissued_json_fields, &ret->sum.counts);
	ret->has_common = common != NULL;
	if (common)
		read_fields_below(w, "common", common, common_json_fields, ret);
	read_hist(w, map, "lat_ns", &ret->sum.lat);
	read_hist(w, map, "clat_ns", &ret->sum.clat);
	read_hist(w, map, "slat_ns", &ret->sum.slat);
	read_hist(w, map, "service_ns", &ret->sum.service);
	read_hist(w, map, "late_ns", &ret->sum.late);
	read_samples(w, map, "iops_samples", &ret->iops_samples);
	read_samples(w, map, "bw_samples", &ret->bw_samples);
	walk_pop(w, before);
}

static void read_errors(struct json_walk *w, const json_t *from, struct result_group *ret)
{
	const json_t *list = json_object_get(from, "errors_by"), *value;
	size_t i;

	ret->errors = xcalloc(json_array_size(list), sizeof(*ret->errors));
	json_array_foreach(list, i, value)
	{
		struct result_error *e = &ret->errors[ret->nr_errors++];
		size_t before = walk_push(w, ".errors_by[%zu]", i);

		read_fields(w, value, error_json_fields, e);
		read_fields_below(w, "first", json_object_get(value, "first"), first_json_fields,
				  e);
		walk_pop(w, before);
	}
}

/* All of a group but the groups below it. */
static void read_own(struct json_walk *w, const json_t *own, struct result_group *ret)
{
	json_t *cpu = read_object(w, own, "cpu");

	read_fields(w, own, group_json_fields, ret);
	ret->cpu_iowq = NAN;
	ret->has_cpu = cpu != NULL;
	if (cpu)
		read_fields_below(w, "cpu", cpu, cpu_json_fields, ret);
	ret->has_depths = json_object_get(own, "depths") != NULL;
	if (ret->has_depths) {
		read_pow2(w, own, "depths", &ret->depths);
		read_pow2(w, own, "submits", &ret->submits);
		read_pow2(w, own, "completes", &ret->completes);
	}
	read_errors(w, own, ret);
	for (unsigned dir = 0; dir < DIR_COUNT; dir++)
		read_direction(w, own, direction_names[dir], &ret->dir[dir]);
	read_direction(w, own, "total", &ret->total);
}

struct group_list {
	struct result_group **groups;
	size_t *nr;
};

static void read_part(struct json_walk *w, void *obj)
{
	static const struct walk_part no_parts[] = { { NULL } };
	const struct group_list *list = obj;
	struct result_group *g;
	json_t *own;

	*list->groups = xrealloc(*list->groups, *list->nr + 1, sizeof(*g));
	g = &(*list->groups)[(*list->nr)++];
	*g = (struct result_group) { 0 };
	own = walk_object(w, no_parts, NULL);
	read_own(w, own, g);
	json_decref(own);
}

static void read_hosts(struct json_walk *w, void *obj)
{
	struct result_group *g = obj;

	walk_list(w, read_part, &(struct group_list) { &g->hosts, &g->nr_hosts });
}

static void read_targets(struct json_walk *w, void *obj)
{
	struct result_group *g = obj;

	walk_list(w, read_part, &(struct group_list) { &g->targets, &g->nr_targets });
}

static void read_jobs(struct json_walk *w, void *obj)
{
	struct result_group *g = obj;

	walk_list(w, read_part, &(struct group_list) { &g->jobs, &g->nr_jobs });
}

void read_whole_group(struct json_walk *w, struct result_group *ret)
{
	static const struct walk_part parts[] = {
		{ "hosts", read_hosts },
		{ "targets", read_targets },
		{ "jobs", read_jobs },
		{ NULL },
	};
	json_t *own = walk_object(w, parts, ret);

	read_own(w, own, ret);
	json_decref(own);
}
