/* SPDX-License-Identifier: Apache-2.0 */
/* What devices counted beside what was asked of them: foreign I/O, reads from memory. */
#include "tests/unit/coordinator/fleet.h"

#include <criterion/criterion.h>
#include <math.h>

static const uint64_t S = 1000000000;

/* One host, one job that reads, writes and syncs, on devices that its DONE tells of. */
struct bench {
	struct test_fleet fleet;
	struct msg_done done;
	struct member_done members[2];
	struct device_stat devices[2];
	struct load loads[8];
	size_t nr_loads;
};

static struct job direct_job(int rw, uint64_t bs)
{
	struct job job = fleet_job("j", rw);

	job.direct = true;
	job.bs = bs;
	return job;
}

static void bench_init(struct bench *b, size_t nr_hosts, const struct job *jobs, size_t nr_jobs)
{
	*b = (struct bench) { 0 };
	fleet_init(&b->fleet, nr_hosts, jobs, nr_jobs);
	for (size_t i = 0; i < nr_jobs; i++) {
		b->members[i] = fleet_member(i, 1, 0, S);
		b->devices[i] = (struct device_stat) { .target = i,
						       .disk = (char *)"sda",
						       .elapsed_ns = S };
	}
	b->done = (struct msg_done) { .members = b->members,
				      .nr_members = nr_jobs,
				      .devices = b->devices,
				      .nr_devices = nr_jobs };
	for (size_t h = 0; h < nr_hosts; h++)
		for (size_t i = 0; i < nr_jobs; i++) {
			b->fleet.plan.steps[0].hosts[h]->targets[i].kind = TARGET_DEVICE;
			b->fleet.plan.steps[0].hosts[h]->targets[i].reads = job_reads(&jobs[i]);
		}
}

static struct counts *load(struct bench *b, uint64_t member, enum direction dir, uint64_t ios,
			   uint64_t bytes)
{
	struct load *l = &b->loads[b->nr_loads++];

	*l = (struct load) { .member = member, .dir = dir };
	load_add(l, ios, bytes, 1000);
	return &l->counts;
}

static const struct result *finish(struct bench *b)
{
	collector_begin(b->fleet.collector, 0, 0);
	fleet_done(&b->fleet, 0, b->done, b->loads, b->nr_loads);
	return fleet_finish(&b->fleet);
}

static const struct result_device *only(const struct result *r)
{
	cr_assert_eq(r->nr_steps, 1);
	cr_assert_eq(r->steps[0].nr_devices, 1);
	return &r->steps[0].devices[0];
}

/* --- counters --------------------------------------------------------------------------------------- */

Test(step_devices, every_counter_arrives)
{
	struct job job = direct_job(RW_RANDREAD, 4096);
	const struct result_device *d;
	struct bench b;

	bench_init(&b, 1, &job, 1);
	b.devices[0] = (struct device_stat) {
		.read_ios = 1,
		.read_bytes = 512,
		.write_ios = 3,
		.write_bytes = 1024,
		.busy_ns = S / 2,
		.elapsed_ns = S,
		.read_merges = 7,
		.write_merges = 8,
		.read_ticks_ns = 9,
		.write_ticks_ns = 10,
		.in_queue_ns = 11,
		.discard_ios = 12,
		.discard_bytes = 13,
		.flush_ios = 14,
		.disk = (char *)"sda1",
		.partition_of = (char *)"sda",
		.is_file = true,
	};
	d = only(finish(&b));
	cr_expect_str_eq(d->disk, "sda1");
	cr_expect(d->is_file);
	cr_expect_eq(d->read_ios, 1);
	cr_expect_eq(d->write_bytes, 1024);
	cr_expect_eq(d->read_merges, 7);
	cr_expect_eq(d->write_merges, 8);
	cr_expect_eq(d->read_ticks_ns, 9);
	cr_expect_eq(d->write_ticks_ns, 10);
	cr_expect_eq(d->in_queue_ns, 11);
	cr_expect_eq(d->elapsed_ns, S);
	cr_expect_eq(d->discard_ios, 12);
	cr_expect_eq(d->discard_bytes, 13);
	cr_expect_eq(d->flush_ios, 14);
	cr_expect_float_eq(d->util, 50, 1e-9);
	fleet_fini(&b.fleet);
}

Test(step_devices, a_target_told_of_twice_counts_once)
{
	struct job job = direct_job(RW_RANDREAD, 4096);
	const struct result_device *d;
	struct bench b;

	bench_init(&b, 1, &job, 1);
	b.devices[0].read_ios = 5;
	b.devices[1] = b.devices[0];
	b.devices[1].read_ios = 6;
	b.done.nr_devices = 2;
	d = only(finish(&b));
	cr_expect_eq(d->read_ios, 5);
	fleet_fini(&b.fleet);
}

/* --- foreign I/O ------------------------------------------------------------------------------------ */

/* Ramp, window and drain are ours; merged and split I/Os move the same bytes. */
Test(step_devices, nothing_is_foreign_when_the_bytes_agree)
{
	struct job job = direct_job(RW_RW, 4096);
	const struct result_device *d;
	const struct result *r;
	struct counts *c;
	struct bench b;

	bench_init(&b, 1, &job, 1);
	c = load(&b, 0, DIR_READ, 100, 4096);
	c->ramp_ios = 10;
	c->ramp_bytes = 40960;
	load(&b, 0, DIR_WRITE, 50, 4096);
	load(&b, 0, DIR_SYNC, 5, 0);
	b.devices[0].read_ios = 200;
	b.devices[0].read_bytes = 110 * 4096;
	b.devices[0].write_ios = 20;
	b.devices[0].write_merges = 3;
	b.devices[0].write_bytes = 50 * 4096;
	r = finish(&b);
	d = only(r);
	cr_expect(d->has_foreign);
	cr_expect_eq(d->foreign_ios, 0);
	cr_expect_eq(d->foreign_bytes, 0);
	cr_expect_not(fleet_warned(r, "not ours"));
	fleet_fini(&b.fleet);
}

Test(step_devices, what_the_device_did_beyond_ours_is_foreign)
{
	struct job job = direct_job(RW_RANDWRITE, 4096);
	const struct result_device *d;
	const struct result *r;
	struct bench b;

	bench_init(&b, 1, &job, 1);
	load(&b, 0, DIR_WRITE, 10000, 4096);
	load(&b, 0, DIR_SYNC, 100, 0);
	b.devices[0].write_ios = 10000 + 100 + 1200;
	b.devices[0].write_merges = 34;
	b.devices[0].write_bytes = (10000 + 1234) * 4096;
	b.devices[0].flush_ios = 100;
	r = finish(&b);
	d = only(r);
	cr_expect(d->has_foreign);
	cr_expect_eq(d->foreign_ios, 1234);
	cr_expect_eq(d->foreign_bytes, 1234 * 4096);
	cr_expect(fleet_warned(r, "'sda' did 1,234 I/Os (4.82 MiB) that were not ours, 12 % of "
				  "what we did: another user of the device?"));
	fleet_fini(&b.fleet);
}

/* 256 KiB in pieces of 64: three more I/Os for each of ours, and they are ours. */
Test(step_devices, pieces_of_large_blocks_are_ours)
{
	struct job job = direct_job(RW_READ, 262144);
	const struct result_device *d;
	struct bench b;

	bench_init(&b, 1, &job, 1);
	load(&b, 0, DIR_READ, 100, 262144);
	b.devices[0].max_io_bytes = 65536;
	b.devices[0].read_ios = 400 + 8;
	b.devices[0].read_bytes = 100 * 262144 + 8 * 4096;
	d = only(finish(&b));
	cr_expect_eq(d->foreign_ios, 8);
	cr_expect_eq(d->foreign_bytes, 32768);
	fleet_fini(&b.fleet);
}

Test(step_devices, foreign_bytes_are_at_least_one_io)
{
	struct job job = direct_job(RW_READ, 4096);
	const struct result_device *d;
	const struct result *r;
	struct bench b;

	bench_init(&b, 1, &job, 1);
	load(&b, 0, DIR_READ, 1000, 4096);
	b.devices[0].read_ios = 900;
	b.devices[0].read_bytes = 1001 * 4096;
	r = finish(&b);
	d = only(r);
	cr_expect_eq(d->foreign_ios, 1);
	cr_expect_eq(d->foreign_bytes, 4096);
	cr_expect_not(fleet_warned(r, "not ours")); /* too little to speak of */
	fleet_fini(&b.fleet);
}

/* Two targets on one disk, one of them a partition: both do what the disk counts. */
Test(step_devices, all_targets_of_a_disk_are_ours)
{
	char *targets[] = { (char *)"whole", (char *)"part" };
	struct job jobs[2] = { direct_job(RW_READ, 4096), direct_job(RW_READ, 4096) };
	const struct result_step *step;
	struct bench b;

	jobs[0].target = &targets[0];
	jobs[1].target = &targets[1];
	bench_init(&b, 1, jobs, 2);
	load(&b, 0, DIR_READ, 100, 4096);
	load(&b, 1, DIR_READ, 50, 4096);
	b.devices[1].disk = (char *)"sda1";
	b.devices[1].partition_of = (char *)"sda";
	b.devices[0].read_ios = 150;
	b.devices[0].read_bytes = 150 * 4096;
	b.devices[1].read_ios = 52;
	b.devices[1].read_bytes = 52 * 4096;
	step = &finish(&b)->steps[0];
	cr_assert_eq(step->nr_devices, 2);
	cr_expect_eq(step->devices[0].foreign_bytes, 0);
	cr_expect(step->devices[0].has_foreign);
	cr_expect_eq(step->devices[1].foreign_bytes, 2 * 4096);
	fleet_fini(&b.fleet);
}

static bool can_tell(struct bench *b)
{
	bool told;

	if (!b->nr_loads)
		load(b, 0, DIR_READ, 100, 4096);
	b->devices[0].read_ios = 200;
	b->devices[0].read_bytes = 200 * 4096;
	told = only(finish(b))->has_foreign;
	fleet_fini(&b->fleet);
	return told;
}

Test(step_devices, foreign_only_where_it_can_be_told)
{
	struct job direct = direct_job(RW_READ, 4096), buffered = fleet_job("j", RW_READ);
	struct bench b;

	bench_init(&b, 1, &direct, 1);
	cr_expect(can_tell(&b));
	bench_init(&b, 1, &buffered, 1);
	cr_expect_not(can_tell(&b), "buffered");
	bench_init(&b, 1, &direct, 1);
	b.fleet.plan.steps[0].hosts[0]->targets[0].kind = TARGET_FILE;
	cr_expect_not(can_tell(&b), "a file's metadata is nobody's");
	bench_init(&b, 1, &direct, 1);
	load(&b, 0, DIR_READ, 100, 4096)->errors = 1;
	cr_expect_not(can_tell(&b), "failed I/Os may or may not count");
	bench_init(&b, 1, &direct, 1);
	load(&b, 0, DIR_READ, 100, 4096)->unfinished_ios = 1;
	cr_expect_not(can_tell(&b), "unfinished");
	bench_init(&b, 1, &direct, 1);
	b.done.failure = (char *)"the I/O process died";
	cr_expect_not(can_tell(&b), "salvaged");
	bench_init(&b, 1, &direct, 1);
	b.devices[0].disk = NULL;
	cr_expect_not(can_tell(&b), "no disk");
}

/* What a device without honest counters says is not compared, but said. */
Test(step_devices, a_device_that_counts_too_little)
{
	struct job job = direct_job(RW_READ, 4096);
	const struct result *r;
	struct bench b;

	bench_init(&b, 1, &job, 1);
	load(&b, 0, DIR_READ, 1000, 4096);
	b.devices[0].read_ios = 100;
	b.devices[0].read_bytes = 100 * 4096;
	r = finish(&b);
	cr_expect_not(only(r)->has_foreign);
	cr_expect(fleet_warned(r, "'sda' counted only 400 KiB of the 3.91 MiB that were moved"));
	fleet_fini(&b.fleet);
}

/* Two workers of one machine: the counters are the machine's. */
Test(step_devices, hosts_of_one_kernel_are_not_strangers)
{
	struct job job = direct_job(RW_READ, 4096);
	struct fact fact = { .key = (char *)"boot_id", .value = (char *)"one" };
	struct msg_welcome welcome = { .facts = &fact, .nr_facts = 1 };

	for (int same = 0; same < 2; same++) {
		const struct result *r;
		struct bench b;

		bench_init(&b, 2, &job, 1);
		collector_host_facts(b.fleet.collector, 0, &welcome);
		fact.value = (char *)(same ? "one" : "two");
		collector_host_facts(b.fleet.collector, 1, &welcome);
		fact.value = (char *)"one";
		collector_begin(b.fleet.collector, 0, 0);
		b.devices[0].read_bytes = (uint64_t)2000 * 4096;
		b.devices[0].read_ios = 2000;
		for (size_t h = 0; h < 2; h++) {
			struct load l = { 0 };

			load_add(&l, 1000, 4096, 1000);
			fleet_done(&b.fleet, h, b.done, &l, 1);
		}
		r = fleet_finish(&b.fleet);
		cr_expect_eq(r->steps[0].devices[0].has_foreign, !same);
		cr_expect_eq(fleet_warned(r, "not ours"), !same);
		fleet_fini(&b.fleet);
	}
}

/* --- page cache ------------------------------------------------------------------------------------- */

Test(step_devices, reads_that_the_device_did_not_see)
{
	struct job job = fleet_job("j", RW_READ);
	const struct result_device *d;
	const struct result *r;
	struct bench b;

	bench_init(&b, 1, &job, 1);
	b.fleet.plan.steps[0].hosts[0]->targets[0].kind = TARGET_FILE;
	load(&b, 0, DIR_READ, 1000, 4096);
	b.devices[0].is_file = true;
	b.devices[0].read_bytes = 250 * 4096;
	r = finish(&b);
	d = only(r);
	cr_expect(d->has_cached);
	cr_expect_eq(d->cached_bytes, 750 * 4096);
	cr_expect(fleet_warned(r, "75 % of the reads (2.93 MiB of 3.91 MiB) came from the page "
				  "cache and not from 'sda'"));
	fleet_fini(&b.fleet);
}

Test(step_devices, writes_that_the_device_has_not_seen_yet)
{
	struct job job = fleet_job("j", RW_WRITE);
	const struct result *r;
	struct bench b;

	bench_init(&b, 1, &job, 1);
	load(&b, 0, DIR_WRITE, 1000, 4096);
	b.devices[0].write_bytes = 100 * 4096;
	r = finish(&b);
	cr_expect(fleet_warned(r, "90 % of the writes (3.52 MiB of 3.91 MiB) were in the page "
				  "cache and not on 'sda' at the end"));
	cr_expect_not(fleet_warned(r, "reads"));
	fleet_fini(&b.fleet);
}

Test(step_devices, readahead_is_not_less_than_nothing)
{
	struct job job = fleet_job("j", RW_READ);
	const struct result_device *d;
	const struct result *r;
	struct bench b;

	bench_init(&b, 1, &job, 1);
	load(&b, 0, DIR_READ, 1000, 4096);
	b.devices[0].read_bytes = 1100 * 4096;
	r = finish(&b);
	d = only(r);
	cr_expect(d->has_cached);
	cr_expect_eq(d->cached_bytes, 0);
	cr_expect_not(fleet_warned(r, "page cache"));
	fleet_fini(&b.fleet);
}

Test(step_devices, direct_or_only_written_has_no_cached_reads)
{
	struct job direct = direct_job(RW_READ, 4096), writes = fleet_job("j", RW_WRITE);
	struct bench b;

	bench_init(&b, 1, &direct, 1);
	load(&b, 0, DIR_READ, 1000, 4096);
	cr_expect_not(only(finish(&b))->has_cached);
	fleet_fini(&b.fleet);
	bench_init(&b, 1, &writes, 1);
	load(&b, 0, DIR_WRITE, 1000, 4096);
	cr_expect_not(only(finish(&b))->has_cached);
	fleet_fini(&b.fleet);
}
