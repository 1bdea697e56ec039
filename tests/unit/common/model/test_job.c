/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/job.h"

#include <criterion/criterion.h>

static void set(struct job *job, const char *key, const char *value)
{
	struct error *err = schema_set(&job_schema, job, key, value);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
}

/* Packs and unpacks. */
static struct error *send(const struct job *job, struct job *ret)
{
	_cleanup_(buf_fini) struct buf bytes = { 0 };

	schema_pack(&job_schema, job, &bytes);
	return schema_unpack(&job_schema, bytes.data, bytes.len, ret);
}

Test(job, has_the_documented_defaults)
{
	struct job job;

	schema_init(&job_schema, &job);
	cr_assert_eq(job.rw, RW_READ);
	cr_assert_eq(job.bs, 4096);
	cr_assert_eq(job.iodepth, 1);
	cr_assert_eq(job.numjobs, 1);
	cr_assert_eq(job.engine, ENGINE_IO_URING);
	cr_assert_eq(job.rwmixread, 50);
	cr_assert_eq(job.size, 0);
	cr_assert_eq(job.runtime_ns, 0);
	cr_assert_not(schema_is_set(&job_schema, &job, "bs"));
	schema_fini(&job_schema, &job);
}

Test(job, arrives_as_it_was_sent)
{
	struct job job, got;
	struct error *err;

	schema_init(&job_schema, &job);
	set(&job, "name", "oltp");
	set(&job, "target", "lun0");
	set(&job, "rw", "randrw");
	set(&job, "rwmixread", "70");
	set(&job, "bs", "8k");
	set(&job, "offset", "1MiB");
	set(&job, "runtime", "1500ms");
	set(&job, "time_based", "true");
	set(&job, "direct", "true");
	set(&job, "engine", "psync");
	set(&job, "randseed", "18446744073709551615");
	err = send(&job, &got);
	cr_assert_null(err, "%s", err ? error_message(err) : "");
	cr_assert_str_eq(got.name, "oltp");
	cr_assert_str_eq(got.target[0], "lun0");
	cr_assert_eq(got.rw, RW_RANDRW);
	cr_assert_eq(got.rwmixread, 70);
	cr_assert_eq(got.bs, 8192);
	cr_assert_eq(got.size, 0);
	cr_assert_eq(got.offset, 1 << 20);
	cr_assert_eq(got.runtime_ns, 1500000000);
	cr_assert(got.time_based && got.direct);
	cr_assert_eq(got.engine, ENGINE_PSYNC);
	cr_assert_eq(got.randseed, UINT64_MAX);
	cr_assert_null(got.group);
	cr_assert(schema_is_set(&job_schema, &got, "randseed"));
	cr_assert_not(schema_is_set(&job_schema, &got, "size"));
	schema_fini(&job_schema, &job);
	schema_fini(&job_schema, &got);
}

Test(job, an_option_of_a_newer_coordinator_is_refused_by_name)
{
	/* {"name": "a", "target": ["t"], "thinktime": 1} */
	static const uint8_t bytes[] = "\x83\xa4name\xa1"
				       "a\xa6target\x91\xa1"
				       "t\xa9thinktime\x01";
	struct job got;
	struct error *err = schema_unpack(&job_schema, bytes, sizeof(bytes) - 1, &got);

	cr_assert_not_null(err);
	cr_assert_not_null(strstr(error_message(err), "thinktime"), "%s", error_message(err));
	error_destroy(&err);
}

Test(job, directions)
{
	static const struct {
		enum job_rw rw;
		bool reads, writes, random;
	} cases[] = {
		{ RW_READ, true, false, false },    { RW_WRITE, false, true, false },
		{ RW_RANDREAD, true, false, true }, { RW_RANDWRITE, false, true, true },
		{ RW_RW, true, true, false },       { RW_RANDRW, true, true, true },
	};

	for (size_t i = 0; i < array_size(cases); i++) {
		struct job job = { .rw = cases[i].rw };

		cr_assert_eq(job_reads(&job), cases[i].reads);
		cr_assert_eq(job_writes(&job), cases[i].writes);
		cr_assert_eq(job_is_random(&job), cases[i].random);
	}
}
