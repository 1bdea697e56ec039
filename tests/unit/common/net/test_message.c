/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/messages.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <time.h>

static struct buf bytes;
static struct message got;

static void teardown(void)
{
	buf_fini(&bytes);
	message_fini(&got);
}

TestSuite(message, .fini = teardown);

static void pass(const struct message *m)
{
	struct error *err;

	bytes.len = 0;
	message_encode(m, &bytes);
	err = message_decode(bytes.data, bytes.len, &got);
	cr_assert_null(err, "%s", error_message(err));
	cr_expect_eq(got.type, m->type);
	cr_expect_eq(got.session, m->session);
}

Test(message, every_type_comes_back)
{
	for (int type = 0; type < MSG_COUNT; type++) {
		_cleanup_(buf_fini) struct buf seed = { 0 };

		seed_message((enum message_type)type, &seed);
		cr_expect(try_message(seed.data, seed.len), "%s",
			  message_name((enum message_type)type));
	}
}

Test(message, fields_of_a_sample)
{
	static uint8_t lat[] = { 1, 2, 3 };
	struct member_row rows[2] = {
		{ .member = 3,
		  .direction = DIR_WRITE,
		  .counts = { .ios = 7, .bytes = 28672 },
		  .lat = lat,
		  .lat_len = 3 },
		{ .member = 4, .direction = DIR_SYNC },
	};
	struct message m = {
		.type = MSG_SAMPLE,
		.session = 99,
		.sample = { .sequence = 5,
			    .interval = -1,
			    .from_ns = 10,
			    .to_ns = UINT64_MAX,
			    .rows = rows,
			    .nr_rows = 2 },
	};

	pass(&m);
	cr_expect_eq(got.sample.sequence, 5);
	cr_expect_eq(got.sample.interval, -1);
	cr_expect_eq(got.sample.to_ns, UINT64_MAX);
	cr_expect_eq(got.sample.nr_rows, 2);
	cr_expect_eq(got.sample.rows[0].member, 3);
	cr_expect_eq(got.sample.rows[0].direction, DIR_WRITE);
	cr_expect_eq(got.sample.rows[0].counts.ios, 7);
	cr_expect_eq(got.sample.rows[0].counts.bytes, 28672);
	cr_expect_eq(got.sample.rows[0].counts.errors, 0);
	cr_expect_eq(got.sample.rows[0].lat_len, 3);
	cr_expect_eq(got.sample.rows[0].lat[2], 3);
	cr_expect_eq(got.sample.rows[1].direction, DIR_SYNC);
	cr_expect_eq(got.sample.rows[1].lat_len, 0);
}

Test(message, what_is_absent_is_null)
{
	struct message m = { .type = MSG_PONG, .pong = { .state = (char *)"READY" } };

	pass(&m);
	cr_expect_null(got.pong.doing);
	cr_expect_str_eq(got.pong.state, "READY");
}

/* Every metric of the list travels. */
Test(message, all_metrics_come_back)
{
	struct member_row row = { .direction = DIR_READ };
	struct message m = { .type = MSG_SAMPLE, .sample = { .rows = &row, .nr_rows = 1 } };

	for (unsigned i = 0; i < NR_METRICS; i++)
		*metric_cell(&row.counts, &metrics[i]) = 1000 + i;
	pass(&m);
	for (unsigned i = 0; i < NR_METRICS; i++)
		cr_expect_eq(metric_value(&got.sample.rows[0].counts, &metrics[i]), 1000 + i, "%s",
			     metrics[i].name);
}

/* As many rows as the largest assignment has members and directions fit into a message. */
Test(message, largest_sample_fits)
{
	size_t n = 65536;
	struct member_row *rows = xcalloc(n, sizeof(*rows));
	struct message m = { .type = MSG_SAMPLE, .sample = { .rows = rows, .nr_rows = n } };

	for (size_t i = 0; i < n; i++) {
		rows[i].member = i / 4;
		rows[i].direction = (int)(i % 4);
		rows[i].counts.ios = rows[i].counts.bytes = UINT64_MAX;
	}
	pass(&m);
	cr_expect_lt(bytes.len, MESSAGE_MAX_BYTES);
	free(rows);
}

static void refuse(const char *want)
{
	struct error *err = message_decode(bytes.data, bytes.len, &got);

	cr_assert_not_null(err, "accepted, not: %s", want);
	cr_expect_str_eq(error_message(err), want);
	cr_expect_eq(error_code(err), ERR_PROTOCOL);
	error_destroy(&err);
	message_fini(&got);
}

/* Replaces the first occurrence in the encoded bytes by a text of the same length. */
static void replace(const char *from, const char *to)
{
	uint8_t *p = memmem(bytes.data, bytes.len, from, strlen(from));

	cr_assert_not_null(p);
	memcpy(p, to, strlen(from));
}

Test(message, refusals_say_what_is_wrong)
{
	struct message m = { .type = MSG_START, .start = { .start_ns = 5 } };

	message_encode(&m, &bytes);
	replace("START", "SMART");
	refuse("message: type: 'SMART' is not one of HELLO, WELCOME, BUSY, PING, PONG, PREPARE, "
	       "READY, FAILED, "
	       "START, ARMED, SAMPLE, STOP, DONE, BYE, ERROR; did you mean 'START'?");
	replace("SMART", "START");
	replace("start_ns", "starting");
	refuse("START: start_ns: is missing");
	bytes.len = 0;
	refuse("message: 0 bytes that are not msgpack, or nested too deep");
}

Test(message, job_options_that_a_worker_does_not_know_are_refused)
{
	seed_message(MSG_PREPARE, &bytes);
	replace("norandommap", "thinktimeus");
	refuse("PREPARE: members[0].job: 'thinktimeus' is not known to this version of the "
	       "program");
}

Test(message, reasons_keep_code_and_text)
{
	struct message m = { .type = MSG_FAILED };
	struct error *err = error_new(ERR_REFUSED, "node1: %s", "/dev/sdx is mounted"), *back;

	error_append(&err, error_new(ERR_IO, "node1: no space"));
	failed_from_error(err, &m.failed);
	error_destroy(&err);
	pass(&m);
	message_fini(&m);
	back = failed_to_error(&got.failed);
	cr_assert_not_null(back);
	cr_expect_eq(error_code(back), ERR_REFUSED);
	cr_expect_str_eq(error_message(back), "node1: /dev/sdx is mounted");
	cr_expect_eq(error_code(error_next(back)), ERR_IO);
	cr_expect_null(error_next(error_next(back)));
	error_destroy(&back);
}

Test(message, tables_are_documented)
{
	for (int type = 0; type < MSG_COUNT; type++) {
		const struct schema *s = message_schema((enum message_type)type);

		cr_expect(s->help && *s->help);
		for (const struct field *f = s->fields; f->name; f++)
			cr_expect(f->help && *f->help, "%s.%s", s->name, f->name);
	}
}

/* One coordinator core merges a sample per second of thousands of workers: 50 us for one with two rows is far
 * above what it takes (about 5 us), and far below what would hurt. */
Test(message, samples_are_cheap)
{
	enum { ROUNDS = 2000 };
	struct timespec begin, end;
	double us;

	seed_message(MSG_SAMPLE, &bytes);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	for (int i = 0; i < ROUNDS; i++) {
		struct error *err = message_decode(bytes.data, bytes.len, &got);

		cr_assert_null(err);
		message_fini(&got);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	us = ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
	     1e3 / ROUNDS;
	printf("%.1f us per SAMPLE of two rows\n", us);
#ifndef __SANITIZE_ADDRESS__
	cr_expect_lt(us, 50);
#endif
}
