/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/workload.h"

#include <criterion/criterion.h>

static struct job job;

static void setup(void)
{
	schema_init(&job_schema, &job);
}

static void teardown(void)
{
	schema_fini(&job_schema, &job);
}

TestSuite(workload, .init = setup, .fini = teardown);

static void set(const char *key, const char *text)
{
	cr_assert_null(schema_set(&job_schema, &job, key, text));
}

static struct size_mix sizes(enum direction dir)
{
	struct size_mix mix;
	struct error *err = job_sizes(&job, dir, &mix);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	return mix;
}

Test(workload, split_is_read_per_direction)
{
	struct size_mix mix;

	set("bssplit", "4k/60:64k,8k/100,");
	mix = sizes(DIR_READ);
	cr_assert_eq(mix.nr, 2);
	cr_assert_eq(mix.shares[0].bytes, 4096);
	cr_assert_eq(mix.shares[0].percent, 60);
	cr_assert_eq(mix.shares[1].bytes, 65536);
	cr_assert_eq(mix.shares[1].percent, 40, "what the others leave");
	mix = sizes(DIR_WRITE);
	cr_assert_eq(mix.nr, 1);
	cr_assert_eq(mix.shares[0].bytes, 8192);
	mix = sizes(DIR_TRIM);
	cr_assert_eq(mix.shares[0].bytes, job.bs, "an empty part is bs");
	set("bssplit", "4k/60:64k/40");
	cr_assert_eq(sizes(DIR_WRITE).nr, 2, "the last part is for all that follow");
}

Test(workload, bounds_are_those_of_the_jobs_directions)
{
	set("bssplit", "4k/60:6k/40,1m/100");
	job.rw = RW_RANDREAD;
	cr_assert_eq(job_min_bytes(&job), 4096);
	cr_assert_eq(job_max_bytes(&job), 6144);
	cr_assert_eq(job_granule(&job), 2048);
	cr_assert_eq(job_align(&job), 4096);
	job.rw = RW_RANDRW;
	cr_assert_eq(job_max_bytes(&job), 1 << 20);
	cr_assert_eq(job_odd_size(&job, 2048), 0);
	cr_assert_eq(job_odd_size(&job, 4096), 6144);
	job.blockalign = 3072;
	cr_assert_eq(job_odd_size(&job, 2048), 3072);
	cr_assert_eq(job_granule(&job), 1024);
	cr_assert_eq(job_align(&job), 3072);
}

Test(workload, bsrange_is_multiples_of_the_smallest)
{
	struct size_mix mix;

	set("bsrange", "4k-18k");
	mix = sizes(DIR_READ);
	cr_assert_eq(mix.shares[0].bytes, 4096);
	cr_assert_eq(mix.shares[0].step, 4096);
	cr_assert_eq(mix.shares[0].nr, 4);
	cr_assert_eq(job_max_bytes(&job), 16384);
}

static void expect_error(const char *key, const char *text, const char *part)
{
	_cleanup_(error_destroy) struct error *err = NULL;
	struct distribution dist;
	struct size_mix mix;

	schema_fini(&job_schema, &job);
	schema_init(&job_schema, &job);
	set(key, text);
	err = streq(key, "random_distribution") ? job_distribution(&job, &dist)
						: job_sizes(&job, DIR_READ, &mix);
	cr_assert_not_null(err, "%s", text);
	cr_expect(str_starts(error_message(err), key), "%s", error_message(err));
	cr_expect_not_null(strstr(error_message(err), part), "%s: %s", text, error_message(err));
	cr_expect_eq(job_max_bytes(&job), job.bs, "of a wrong text nothing is made");
}

Test(workload, wrong_texts_are_told)
{
	expect_error("bssplit", "4k/60:8k/50", "110");
	expect_error("bssplit", "4k/60", "60");
	expect_error("bssplit", "4q/60:8k", "'4q' is not a size");
	expect_error("bssplit", "0/100", "'0' is not a size");
	expect_error("bssplit", "2g/100", "'2g' is not a size");
	expect_error("bssplit", "4k/-1:8k", "'-1' is not a percentage");
	expect_error("bssplit", "4k,4k,4k,4k", "more parts");
	expect_error("bssplit", ":", "is not a size");
	expect_error("bsrange", "4k", "is not a range");
	expect_error("bsrange", "8k-4k", "is not a range");
	expect_error("bsrange", "4k-", "is not a range");
	expect_error("random_distribution", "zipf", "is none");
	expect_error("random_distribution", "zipf:", "is not a number");
	expect_error("random_distribution", "zipf:nan", "is not a number");
	expect_error("random_distribution", "pareto:1.5", "between 0 and 1");
	expect_error("random_distribution", "zoned:80/20", "80 %");
	expect_error("random_distribution", "zoned:80/20:20", "is not a zone");
	expect_error("random_distribution", "zoned:100/0:0/100", "is not a zone");
	expect_error("random_distribution", "poisson:1", "is none");
}

Test(workload, distributions_are_read)
{
	struct distribution dist;

	cr_assert_null(job_distribution(&job, &dist));
	cr_assert_eq(dist.kind, DIST_UNIFORM);
	set("random_distribution", "zipf:1.1");
	cr_assert_null(job_distribution(&job, &dist));
	cr_assert_eq(dist.kind, DIST_ZIPF);
	cr_assert_eq(dist.parameter, 1.1);
	set("random_distribution", "zoned:80/20:20%/80%");
	cr_assert_null(job_distribution(&job, &dist));
	cr_assert_eq(dist.nr_zones, 2);
	cr_assert_eq(dist.zones[1].access, 20);
}
