/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that decode but make no sense: whatever their numbers are, the collector refuses them or goes on,
 * and the reports print what came of it. */
#include "coordinator/report/report.h"
#include "tests/unit/coordinator/fleet.h"

#include <criterion/criterion.h>

static uint64_t state;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Mostly small numbers, so that much is accepted; now and then an edge. */
static uint64_t odd_number(void)
{
	static const uint64_t edges[] = { UINT64_MAX, UINT64_MAX - 1, INT64_MAX, 1ull << 63,
					  1ull << 42, 1ull << 32,     4096,      0 };
	uint64_t r = next_random();

	return r % 8 == 0 ? edges[r / 8 % array_size(edges)] : r / 8 % 4;
}

static struct load odd_load(void)
{
	struct load l = { .member = odd_number(), .dir = (enum direction)(next_random() % 5) };

	for (unsigned i = 0; i < NR_METRICS; i++)
		*metric_cell(&l.counts, &metrics[i]) = odd_number();
	for (unsigned i = 0; i < next_random() % 4; i++)
		hist_add(&l.lat, odd_number(), odd_number());
	return l;
}

static void send_sample(struct test_fleet *f, size_t host, uint64_t sequence)
{
	struct msg_sample m = {
		.sequence = next_random() % 8 ? sequence : odd_number(),
		.interval = (int64_t)((next_random() % 8 ? sequence : odd_number()) - 1),
		.from_ns = odd_number(),
		.to_ns = odd_number() + 1000,
		.running = odd_number(),
		.oldest_ns = odd_number(),
	};
	struct load loads[2] = { odd_load(), odd_load() };
	struct error *err = fleet_sample(f, host, m, loads, next_random() % 3);

	error_destroy(&err);
	hist_fini(&loads[0].lat);
	hist_fini(&loads[1].lat);
}

static void send_done(struct test_fleet *f, size_t host)
{
	struct member_done member;
	struct device_stat device;
	struct stuck_io stuck;
	struct load l = odd_load();
	struct buf bytes = { 0 };
	struct member_row row = { .member = l.member, .direction = (int)l.dir, .counts = l.counts };
	struct msg_done done = {
		.samples = odd_number(),
		.stopped = next_random() & 1,
		.members = &member,
		.nr_members = 1,
		.rows = &row,
		.nr_rows = 1,
		.devices = &device,
		.nr_devices = next_random() & 1,
		.stuck = &stuck,
		.nr_stuck = next_random() & 1,
	};
	struct pow2_row rows[2] = { { 1ull << next_random() % 13, odd_number() },
				    { odd_number(), odd_number() } };
	struct error_row errors[2];
	struct error *err;

	for (size_t i = 0; i < sizeof(errors) / 8; i++)
		((uint64_t *)&errors)[i] = odd_number();
	for (size_t i = 0; i < 2; i++) {
		errors[i].direction = (int)(next_random() % 5);
		errors[i].name = next_random() & 1 ? (char *)"\x1b[2J\xff" : NULL;
	}
	for (size_t i = 0; i < sizeof(member) / 8; i++)
		((uint64_t *)&member)[i] = odd_number();
	for (size_t i = 0; i < sizeof(device) / 8; i++)
		((uint64_t *)&device)[i] = odd_number();
	device.disk = next_random() & 1 ? (char *)"sd\x1b[2Ja" : NULL;
	device.partition_of = next_random() & 1 ? device.disk : NULL;
	device.is_file = next_random() & 1;
	for (size_t i = 0; i < sizeof(stuck) / 8; i++)
		((uint64_t *)&stuck)[i] = odd_number();
	member.depths = member.submits = member.completes = rows;
	member.nr_depths = next_random() % 3;
	member.nr_submits = next_random() % 3;
	member.nr_completes = next_random() % 3;
	member.errors = errors;
	member.nr_errors = next_random() % 3;
	hist_encode(&l.lat, NULL, &bytes);
	row.lat = row.clat = row.slat = bytes.data;
	row.lat_len = row.clat_len = row.slat_len = bytes.len;
	err = collector_done(f->collector, host, &done);
	error_destroy(&err);
	buf_fini(&bytes);
	hist_fini(&l.lat);
}

Test(hostile, any_numbers_are_refused_or_reported)
{
	struct job jobs[2] = { fleet_job("r", RW_RANDREAD), fleet_job("m", RW_RW) };

	jobs[1].fsync = 1;
	jobs[1].time_based = true;
	jobs[1].runtime_ns = 1000000000;
	jobs[1].group = (char *)"g";
	state = 1234567;
	for (unsigned round = 0; round < 500; round++) {
		FILE *out = fopen("/dev/null", "w");
		const struct result *r;
		struct test_fleet f;

		fleet_init(&f, 3, jobs, 2);
		collector_begin(f.collector, 0, odd_number());
		for (size_t host = 0; host < 3; host++) {
			collector_clock(f.collector, host, (int64_t)odd_number(), odd_number(), 0);
			for (uint64_t k = 0; k < 6; k++)
				send_sample(&f, host, k);
			send_done(&f, host);
		}
		r = fleet_finish(&f);
		cr_assert_not_null(out);
		cr_assert_null(report_text(r, out));
		cr_assert_null(report_json(r, out));
		fclose(out);
		fleet_fini(&f);
	}
}
