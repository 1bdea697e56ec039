/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/samples_read.h"

#include "coordinator/archive/samples.h"
#include "tests/unit/coordinator/fleet.h"

#include <criterion/criterion.h>

static struct buf file;
static struct samples_reader reader;

static void open_file(void)
{
	reader = (struct samples_reader) { .name = "s" };
	reader.in = fmemopen(file.data, file.len, "r");
	cr_assert_not_null(reader.in);
}

static void close_file(void)
{
	fclose(reader.in);
	samples_reader_fini(&reader);
	buf_fini(&file);
}

static void expect_record(enum record_type type, struct record *rec)
{
	bool end;
	struct error *err = samples_next(&reader, rec, &end);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	cr_assert_not(end);
	cr_assert_eq(rec->type, type);
}

static void expect_end(bool was_cut)
{
	struct record rec;
	bool end;

	cr_assert_null(samples_next(&reader, &rec, &end));
	cr_expect(end);
	cr_expect_eq(reader.was_cut, was_cut);
}

static const uint8_t message[] = { 0x81, 0xa1, 'k', 0x07 }; /* {"k": 7} */

/* Header, step, sample and totals of a plan, and something that a later version might add. */
static void fill_file(void)
{
	static const uint8_t other[] = { 0x81, 0xa6, 'r', 'e', 'c', 'o', 'r', 'd', 0xa1, 'x' };
	struct job job = fleet_job("r", RW_RANDREAD);
	const struct result *so_far;
	struct test_fleet f;

	fleet_init(&f, 2, &job, 1);
	collector_clock(f.collector, 1, -77, 20000, 0);
	so_far = collector_result(f.collector);
	samples_header(&file, &f.plan, so_far);
	samples_step(&file, &f.plan, 0, 12345, so_far);
	buf_add(&file, other, sizeof(other));
	samples_sample(&file, 0, 1, -500, message, sizeof(message));
	samples_totals(&file, 0, 1, message, sizeof(message));
	fleet_fini(&f);
}

Test(samples_read, what_was_written_is_read)
{
	struct token_reader list, one;
	char **hosts = NULL;
	struct record rec;
	uint64_t n = 0;
	int64_t offset = 0;
	size_t nr = 0;

	fill_file();
	open_file();
	expect_record(RECORD_HEADER, &rec);
	cr_expect(record_count(&rec.map, "format", &n));
	cr_expect_eq(n, SAMPLES_FORMAT);
	cr_assert(record_texts(&rec.map, "hosts", &hosts, &nr));
	cr_assert_eq(nr, 2);
	cr_expect_str_eq(hosts[1], "h1");
	free(hosts[0]);
	free(hosts[1]);
	free(hosts);
	cr_expect_null(record_text(&rec.map, "no such key"));
	expect_record(RECORD_STEP, &rec);
	cr_expect_eq(rec.step, 0);
	cr_assert(record_find(&rec.map, "clocks", &list));
	cr_assert(record_element(&list, 1, &one));
	cr_expect(record_integer(&one, "offset_ns", &offset));
	cr_expect_eq(offset, -77);
	cr_assert(record_element(&list, 0, &one));
	cr_expect_not(record_integer(&one, "offset_ns", &offset), "no clock is nil");
	cr_expect_not(record_element(&list, 2, &one));
	expect_record(RECORD_OTHER, &rec);
	expect_record(RECORD_SAMPLE, &rec);
	cr_expect_eq(rec.host, 1);
	cr_expect_eq(rec.offset_ns, -500);
	cr_assert_eq(rec.message_len, sizeof(message));
	cr_expect_eq(memcmp(rec.message, message, sizeof(message)), 0);
	expect_record(RECORD_TOTALS, &rec);
	cr_expect_eq(memcmp(rec.message, message, sizeof(message)), 0);
	expect_end(false);
	close_file();
}

Test(samples_read, a_cut_record_ends_the_file)
{
	struct record rec;

	fill_file();
	file.len -= 2;
	open_file();
	expect_record(RECORD_HEADER, &rec);
	expect_record(RECORD_STEP, &rec);
	expect_record(RECORD_OTHER, &rec);
	expect_record(RECORD_SAMPLE, &rec);
	expect_end(true);
	close_file();
}

/* Records that are larger than one reading of the file. */
Test(samples_read, records_of_any_length)
{
	enum { NR = 5, LEN = 700 * 1000 };
	uint8_t *large = xcalloc(1, LEN);
	struct record rec;

	large[0] = 0xc6; /* so many bytes */
	large[2] = (LEN - 5) >> 16 & 0xff;
	large[3] = (LEN - 5) >> 8 & 0xff;
	large[4] = (LEN - 5) & 0xff;
	for (uint64_t i = 0; i < NR; i++)
		samples_sample(&file, 0, i, 0, large, LEN);
	open_file();
	for (uint64_t i = 0; i < NR; i++) {
		expect_record(RECORD_SAMPLE, &rec);
		cr_expect_eq(rec.host, i);
		cr_expect_eq(rec.message_len, LEN);
	}
	expect_end(false);
	close_file();
	free(large);
}

Test(samples_read, a_sample_without_a_message_is_refused)
{
	static const uint8_t bytes[] = { 0x81, 0xa6, 'r', 'e', 'c', 'o', 'r', 'd',
					 0xa6, 's',  'a', 'm', 'p', 'l', 'e' };
	struct record rec;
	struct error *err;
	bool end;

	buf_add(&file, bytes, sizeof(bytes));
	open_file();
	err = samples_next(&reader, &rec, &end);
	cr_assert_not_null(err);
	cr_expect_eq(error_code(err), ERR_CONFIG);
	cr_expect_str_eq(error_message(err), "s: record 1 is none of this program's");
	error_destroy(&err);
	close_file();
}

Test(samples_read, pairs_stop_at_what_is_no_text)
{
	static const uint8_t bytes[] = { 0x82, 0xa1, 'a', 0xa1, 'b', 0xa1, 'c', 0x07 };
	struct token_reader map = { .data = bytes, .len = sizeof(bytes) };
	struct text_pair *pairs;
	size_t nr;

	record_pairs(&map, &pairs, &nr);
	cr_assert_eq(nr, 1);
	cr_expect_str_eq(pairs[0].value, "b");
	free(pairs[0].key);
	free(pairs[0].value);
	free(pairs);
}
