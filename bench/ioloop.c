/* SPDX-License-Identifier: Apache-2.0 */
/* ioloop - runs one job's I/O threads on a file, without worker and coordinator, and prints what they
 * counted. What bench/icount measures; also handy beside perf.
 *
 *     ioloop FILE|simulated [KEY=VALUE...]
 *
 * FILE exists and has its size. Keys are those of a job, as a scenario writes them, and our own as plain numbers:
 * runtime_ms ramp_ms latency_ns size reap_min block start_ns (of the monotonic clock).
 */
#include "worker/io/pool.h"

#include "common/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct request {
	struct job job;
	const char *file;
	uint64_t latency_ns, size, reap_min, block;
	uint64_t start_ns; /* 0: at once */
};

/* Where the number of a key of our own goes; NULL: it is one of a job. */
static uint64_t *number_of(struct request *r, const char *key)
{
	struct {
		const char *key;
		uint64_t *value;
	} numbers[] = {
		{ "runtime_ms", &r->job.runtime_ns }, { "ramp_ms", &r->job.ramp_time_ns },
		{ "latency_ns", &r->latency_ns },     { "size", &r->size },
		{ "reap_min", &r->reap_min },         { "block", &r->block },
		{ "start_ns", &r->start_ns },
	};

	for (size_t i = 0; i < array_size(numbers); i++)
		if (streq(numbers[i].key, key))
			return numbers[i].value;
	return NULL;
}

static bool parse(struct request *r, char *arg)
{
	_cleanup_(error_destroy) struct error *err = NULL;
	char *value = strchr(arg, '=');
	uint64_t *number;

	if (!value)
		return false;
	*value++ = '\0';
	number = number_of(r, arg);
	if (number) {
		*number = strtoull(value, NULL, 10);
		if (strstr(arg, "_ms"))
			*number *= NS_PER_MS;
		return true;
	}
	err = schema_set(&job_schema, &r->job, arg, value);
	if (err)
		fprintf(stderr, "ioloop: %s: %s\n", arg, error_message(err));
	return !err;
}

static void print_direction(const struct stats_block *b, enum direction dir, uint64_t run_ns)
{
	struct direction_sum sum = { 0 };
	const struct counts *c = &sum.counts;

	for (uint64_t i = 0; i < b->nr_threads; i++)
		stats_sum_direction(stats_thread(b, i), dir, &sum);
	if (!counts_is_zero(c)) {
		printf("%s: ios=%llu bytes=%llu ramp=%llu drain=%llu errors=%llu short=%llu",
		       direction_names[dir], (unsigned long long)c->ios,
		       (unsigned long long)c->bytes, (unsigned long long)c->ramp_ios,
		       (unsigned long long)c->drain_ios, (unsigned long long)c->errors,
		       (unsigned long long)c->short_ios);
		printf(" iops=%.0f lat: n=%llu mean=%.0f p50=%llu p99=%llu max=%llu",
		       (double)c->ios * 1e9 / (double)run_ns, (unsigned long long)sum.lat.count,
		       hist_mean(&sum.lat), (unsigned long long)hist_percentile(&sum.lat, 50),
		       (unsigned long long)hist_percentile(&sum.lat, 99),
		       (unsigned long long)sum.lat.max);
		printf(" slat: n=%llu mean=%.0f clat: n=%llu mean=%.0f\n",
		       (unsigned long long)sum.slat.count, hist_mean(&sum.slat),
		       (unsigned long long)sum.clat.count, hist_mean(&sum.clat));
	}
	if (sum.service.count)
		printf("  service: mean=%.0f p50=%llu late: p50=%llu p99=%llu max=%llu "
		       "unissued=%llu\n",
		       hist_mean(&sum.service),
		       (unsigned long long)hist_percentile(&sum.service, 50),
		       (unsigned long long)hist_percentile(&sum.late, 50),
		       (unsigned long long)hist_percentile(&sum.late, 99),
		       (unsigned long long)sum.late.max, (unsigned long long)c->unissued_ios);
	direction_sum_fini(&sum);
}

static void print_results(const struct stats_block *b)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (uint64_t i = 0; i < b->nr_threads; i++) {
		const struct thread_stats *t = stats_thread(b, i);

		begin = t->begin_ns < begin ? t->begin_ns : begin;
		end = t->end_ns > end ? t->end_ns : end;
		printf("thread %llu: first I/O +%llu ns, awake +%llu ns, realtime %llu, depth "
		       "%llu, "
		       "usr %llu us, sys %llu us\n",
		       (unsigned long long)i, (unsigned long long)(t->first_io_ns - b->start_ns),
		       (unsigned long long)t->late_wake_ns, (unsigned long long)t->realtime,
		       (unsigned long long)t->depth_max,
		       (unsigned long long)(t->cpu_usr_ns / NS_PER_US),
		       (unsigned long long)(t->cpu_sys_ns / NS_PER_US));
	}
	printf("run: %.6f s\n", (double)(end - begin) / 1e9);
	for (int dir = 0; dir < DIR_COUNT; dir++)
		print_direction(b, (enum direction)dir, end - begin);
}

static int open_target(struct request *r)
{
	int fd = open(r->file, (job_writes(&r->job) ? O_RDWR : O_RDONLY) | O_CLOEXEC |
				       (r->job.direct ? O_DIRECT : 0));

	if (fd >= 0 && !r->size)
		r->size = (uint64_t)lseek(fd, 0, SEEK_END);
	return fd;
}

static int run(struct request *r, int fd)
{
	uint64_t nr = r->job.numjobs, nr_slots = nr * r->job.iodepth;
	_cleanup_free_ struct stats_block *b =
		aligned_alloc(CACHELINE, (stats_block_bytes(nr, nr_slots) + 63) / 64 * 64);
	_cleanup_free_ struct io_thread_spec *specs = xcalloc(nr, sizeof(*specs));
	_cleanup_(pool_destroy) struct pool *pool = NULL;
	_cleanup_(error_destroy) struct error *err = NULL;
	struct pollfd done = { .events = POLLIN };

	memset(b, 0, stats_block_bytes(nr, nr_slots));
	stats_block_init(b, nr, nr_slots);
	for (uint64_t i = 0; i < nr; i++)
		specs[i] = (struct io_thread_spec) {
			.target = r->file,
			.fd = fd,
			.simulated = fd < 0,
			.latency_ns = r->latency_ns,
			.job = &r->job,
			.range = { 0, r->size },
			.block_bytes = r->block,
			.thread = i,
			.seed = r->job.randseed,
			.reap_min = (unsigned)r->reap_min,
		};
	err = pool_new(specs, nr, b, &pool);
	for (const struct error *e = err; e; e = error_next(e))
		fprintf(stderr, "ioloop: %s\n", error_message(e));
	if (err)
		return 1;
	for (const struct error *e = pool_warnings(pool); e; e = error_next(e))
		fprintf(stderr, "ioloop: warning: %s\n", error_message(e));
	pool_start(pool, r->start_ns ? r->start_ns : clock_mono_ns() + 20 * NS_PER_MS);
	done.fd = pool_done_fd(pool);
	while (poll(&done, 1, -1) < 0 && errno == EINTR)
		continue;
	print_results(b);
	return 0;
}

int main(int argc, char **argv)
{
	struct request r = {
		.latency_ns = 100 * NS_PER_US,
		.block = 512,
	};
	int fd = -1, status;

	if (argc < 2) {
		fprintf(stderr, "usage: ioloop FILE|simulated [KEY=VALUE...]\n");
		return 2;
	}
	schema_init(&job_schema, &r.job);
	r.job.name = xstrdup("ioloop");
	r.job.rw = RW_RANDREAD;
	r.job.randseed = 1;
	r.file = argv[1];
	for (int i = 2; i < argc; i++)
		if (!parse(&r, argv[i])) {
			fprintf(stderr, "ioloop: '%s' is not a key with a value\n", argv[i]);
			return 2;
		}
	if (!streq(r.file, "simulated")) {
		fd = open_target(&r);
		if (fd < 0) {
			fprintf(stderr, "ioloop: %s: %s\n", r.file, strerror(errno));
			return 1;
		}
	} else if (!r.size) {
		r.size = 1ull << 30;
	}
	status = run(&r, fd);
	schema_fini(&job_schema, &r.job);
	closep(&fd);
	return status;
}
