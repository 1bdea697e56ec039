/* SPDX-License-Identifier: Apache-2.0 */
/* result.json as a script reads it: every number can be recomputed, nothing unmeasured is there. */
#include "coordinator/archive/result_json.h"
#include "tests/unit/coordinator/report/results.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>

static json_t *load(void (*fill)(struct result *r))
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	json_error_t error;
	struct result r;
	json_t *root;

	fill(&r);
	cr_assert_null(result_json_write(&r, out));
	cr_assert_eq(fclose(out), 0);
	result_fini(&r);
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	cr_assert_not_null(root, "%s", error.text);
	return root;
}

static json_int_t count(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	cr_assert(json_is_integer(value), "%s is no integer", key);
	return json_integer_value(value);
}

static double real(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	cr_assert(json_is_number(value), "%s is no number", key);
	return json_number_value(value);
}

static const json_t *all_of(const json_t *root)
{
	const json_t *step = json_array_get(json_object_get(root, "results"), 0);

	return json_array_get(json_object_get(step, "groups"), 0);
}

/* The percentile that a script computes from the buckets. */
static json_int_t percentile(const json_t *lat, double p)
{
	const json_t *list = json_object_get(lat, "histogram"), *bucket;
	json_int_t want = (json_int_t)ceil(p / 100 * (double)count(lat, "n") - 1e-6), seen = 0;
	size_t i;

	json_array_foreach(list, i, bucket)
	{
		json_int_t lower = json_integer_value(json_array_get(bucket, 0));
		json_int_t upper = json_integer_value(json_array_get(bucket, 1));
		json_int_t middle = lower + (upper - lower) / 2;

		seen += json_integer_value(json_array_get(bucket, 2));
		if (seen < want)
			continue;
		middle = middle < count(lat, "min") ? count(lat, "min") : middle;
		return middle > count(lat, "max") ? count(lat, "max") : middle;
	}
	return -1;
}

static void expect_consistent(const json_t *d)
{
	const json_t *lat = json_object_get(d, "lat_ns"), *bucket, *value;
	double seconds = (double)count(d, "runtime_ns") / 1e9;
	json_int_t sum = 0;
	const char *name;
	size_t i;

	cr_expect_float_eq(real(d, "iops"), (double)count(d, "ios") / seconds, 1e-9);
	cr_expect_float_eq(real(d, "bw_bytes"), (double)count(d, "bytes") / seconds, 1e-6);
	json_array_foreach(json_object_get(lat, "histogram"), i, bucket)
	{
		cr_assert_eq(json_array_size(bucket), 3);
		sum += json_integer_value(json_array_get(bucket, 2));
	}
	cr_expect_eq(sum, count(lat, "n"));
	cr_expect_eq(sum, count(d, "ios") + count(json_object_get(d, "drain"), "ios"));
	json_object_foreach(json_object_get(lat, "percentiles"), name, value) cr_expect_eq(
		json_integer_value(value), percentile(lat, strtod(name, NULL)), "p%s", name);
	cr_expect_eq(json_object_size(json_object_get(lat, "percentiles")), 17);
}

Test(result_json, numbers_can_be_recomputed)
{
	static const char *const directions[] = { "read", "write", "sync", "total" };
	json_t *root = load(results_fleet);
	const json_t *all = all_of(root), *host;
	json_int_t ios = 0, bytes = 0;
	size_t i;

	for (i = 0; i < array_size(directions); i++)
		expect_consistent(json_object_get(all, directions[i]));
	json_array_foreach(json_object_get(all, "hosts"), i, host)
	{
		expect_consistent(json_object_get(host, "read"));
		ios += count(json_object_get(host, "read"), "ios");
		bytes += count(json_object_get(host, "read"), "bytes");
	}
	cr_expect_eq(i, 4);
	cr_expect_eq(ios, count(json_object_get(all, "read"), "ios"));
	cr_expect_eq(bytes, count(json_object_get(all, "read"), "bytes"));
	cr_expect_eq(count(root, "format"), 1);
	json_decref(root);
}

Test(result_json, what_is_not_measured_is_absent)
{
	static const char *const absent[] = { "iops", "bw_bytes", "lat_ns", "clat_ns", "slat_ns" };
	static const char *const never[] = { "service_ns", "late_ns", "gap_ns" };
	json_t *root = load(results_lost);
	const json_t *all = all_of(root);
	const json_t *hung = json_array_get(json_object_get(all, "hosts"), 2);
	const json_t *w = json_object_get(hung, "write");
	const json_t *step = json_array_get(json_object_get(root, "results"), 0);

	cr_expect_eq(count(w, "ios"), 0);
	for (size_t i = 0; i < array_size(absent); i++)
		cr_expect_null(json_object_get(w, absent[i]), "%s", absent[i]);
	for (size_t i = 0; i < array_size(never); i++)
		cr_expect_null(json_object_get(json_object_get(all, "write"), never[i]), "%s",
			       never[i]);
	cr_expect(json_is_null(json_object_get(w, "common")));
	cr_expect_null(json_object_get(all, "cpu"));
	cr_expect_null(json_object_get(all, "read"));
	cr_expect_null(json_object_get(step, "start"));
	cr_expect_null(json_object_get(step, "overlap"));
	cr_expect_null(json_object_get(json_array_get(json_object_get(root, "hosts"), 1), "clock"));
	cr_expect_eq(count(json_object_get(w, "unfinished"), "ios"), 1);
	json_decref(root);
}

static void fill_large(struct result *r)
{
	results_single(r);
	r->steps[0].groups[0].dir[DIR_READ].sum.counts.bytes = (1ull << 53) + 1;
	r->steps[0].groups[0].dir[DIR_READ].sum.counts.ios = UINT64_MAX;
}

Test(result_json, integers_are_exact)
{
	json_t *root = load(fill_large);
	const json_t *read = json_object_get(all_of(root), "read");

	cr_expect_eq(count(read, "bytes"), 9007199254740993);
	cr_expect_eq(count(read, "ios"), INT64_MAX); /* more than JSON's readers can take */
	json_decref(root);
}

Test(result_json, summaries_name_their_metrics)
{
	json_t *root = load(results_repeats);
	const json_t *first = json_array_get(json_object_get(root, "summary"), 0);
	const json_t *iops = json_object_get(json_object_get(first, "metrics"), "read.iops");

	cr_expect_eq(json_array_size(json_object_get(root, "summary")), 2);
	cr_expect_eq(count(iops, "n"), 3);
	cr_expect_float_eq(real(iops, "stddev"), 1000, 1e-9);
	cr_expect_eq(json_array_size(json_object_get(iops, "values")), 3);
	cr_expect_str_eq(json_string_value(json_object_get(json_object_get(first, "point"), "bs")),
			 "4k");
	json_decref(root);
}

static void fill_doubled(struct result *r)
{
	struct result_host *h;

	results_single(r);
	h = &r->hosts[0];
	h->environment = xrealloc(h->environment, 2, sizeof(*h->environment));
	h->environment[h->nr_environment++] =
		(struct text_pair) { .key = xstrdup("kernel"), .value = xstrdup("6.2") };
}

/* A peer that sends a key twice must not make a file that strict readers refuse. */
Test(result_json, no_key_is_written_twice)
{
	json_t *root = load(fill_doubled);

	json_decref(root);
}

Test(result_json, a_full_disk_is_said)
{
	FILE *full = fopen("/dev/full", "w");
	struct error *err;
	struct result r;

	cr_assert_not_null(full);
	results_single(&r);
	err = result_json_write(&r, full);
	cr_assert_not_null(err);
	cr_expect_eq(error_code(err), ERR_OUTPUT);
	error_destroy(&err);
	result_fini(&r);
	fclose(full);
}
