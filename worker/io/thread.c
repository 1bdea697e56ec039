/* SPDX-License-Identifier: Apache-2.0 */
/* Design notes. A thread's time is cut into segments: ramp, window, drain. A segment is nothing but
 * where `account` points and when it ends (edge_ns); crossing an edge happens out of the hot loop, before
 * the completions that showed it are accounted, so each completion counts where its instant lies.
 *
 * Window rules. W0 = start + ramp_time, W1 = W0 + runtime. A time-based job submits in [start, W1); its
 * ramp I/O that is in flight at W0 counts when it completes, in the window. A size-bound job moves
 * exactly its bytes in the window: its ramp ends at W0 with a wait for what is in flight, and the window
 * begins then, with a new pass. Stop, the lease's end and errors close the window at the instant at
 * which the thread saw them; what completes later is drain.
 */
#include "worker/io/loop.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A timer wakes some 50 us late; that much before an I/O is due is spent awake where CPUs are left for it. */
#define SPIN_NS (60 * NS_PER_US)
/* Counted one by one: some seconds' worth of time. A target that is further behind than that says enough. */
enum { MAX_UNISSUED = 100 * 1000 * 1000 };

unsigned thread_depth(const struct io_thread_spec *spec)
{
	const struct engine_ops *ops = engine_of(spec->job, spec->simulated);

	/* A block is written when its trim is done, not while it is under way. */
	if (!(ops->caps & ENGINE_ASYNC) || spec->job->rw == RW_TRIMWRITE)
		return 1;
	return (unsigned)spec->job->iodepth;
}

struct buffers_spec thread_buffers_spec(const struct io_thread_spec *spec)
{
	unsigned directions = job_directions(spec->job);

	return (struct buffers_spec) {
		.depth = thread_depth(spec),
		/* A simulated device moves no data. */
		.reads = directions & 1u << DIR_READ && !spec->simulated,
		.writes = directions & 1u << DIR_WRITE && !spec->simulated,
		.io_bytes = job_max_bytes(spec->job),
		.block_bytes = spec->block_bytes,
		.writer = spec->thread,
	};
}

/* Touches every page of the shared cells, so that the first I/O of each kind does not fault. */
static void fault_in(void *at, size_t bytes)
{
	size_t step = 4096 / sizeof(uint64_t);
	uint64_t *word = at;

	for (size_t i = 0; i < bytes / sizeof(*word); i += step)
		cell_add(&word[i], 0);
}

static void plan_sync(struct sync_plan *plan, uint64_t every)
{
	plan->every = plan->left = every ? every : UINT64_MAX;
}

/* Writes up to the next of the two. */
static uint64_t next_sync(const struct io_thread *th)
{
	return th->syncs[0].left < th->syncs[1].left ? th->syncs[0].left : th->syncs[1].left;
}

static struct error *setup_generator(struct io_thread *th)
{
	const struct job *job = th->spec.job;
	uint64_t seed = seed_mix(th->spec.seed, th->spec.thread);
	enum offsets_order order = !job_is_random(job) ? OFFSETS_SEQUENTIAL
				   : job->norandommap  ? OFFSETS_DRAWN
						       : OFFSETS_PERMUTED;

	pace_init(&th->pace, job, seed, th->spec.thread);
	th->spin_ns = th->crowded || !(th->ops->caps & ENGINE_CLOCK) ? 0 : SPIN_NS;
	if (th->has_source)
		return source_init(&th->source, job, th->spec.range, seed, th->spec.seed) == 0
			       ? NULL
			       : error_new(ERR_NOMEM, "out of memory for the job's distributions");
	offsets_init(&th->offsets, order, th->spec.range, job->bs, seed);
	th->mix_random = seed_mix(seed, UINT64_MAX) | 1;
	th->mix_reads =
		job->rwmixread >= 100.0 ? UINT64_MAX : (uint64_t)(job->rwmixread / 100.0 * 0x1p64);
	return NULL;
}

static void setup_job(struct io_thread *th)
{
	const struct job *job = th->spec.job;

	th->io_bytes = (uint32_t)job_max_bytes(job);
	plan_sync(&th->syncs[0], job_writes(job) ? job->fsync : 0);
	plan_sync(&th->syncs[1], job_writes(job) ? job->fdatasync : 0);
	th->writes_to_sync = next_sync(th);
	if (!th->reap_min)
		th->reap_min = 1;
}

static void setup_slots(struct io_thread *th)
{
	unsigned dir = (unsigned)__builtin_ctz(job_directions(th->spec.job));

	th->nr_free = th->depth;
	for (unsigned i = 0; i < th->depth; i++) {
		th->cmds[i].bytes = th->io_bytes;
		th->free_slots[i] = th->depth - 1 - i;
		slot_describe(&th->slots[i], th->io_bytes, dir);
	}
}

static bool allocate(struct io_thread *th)
{
	size_t state_bytes = (th->ops->state_size + CACHELINE - 1) / CACHELINE * CACHELINE;

	th->after_submit = calloc(th->depth, sizeof(*th->after_submit));
	th->free_slots = calloc(th->depth, sizeof(*th->free_slots));
	th->cmds = calloc(th->depth, sizeof(*th->cmds));
	th->done = calloc(th->depth, sizeof(*th->done));
	th->scratch = calloc(1, sizeof(*th->scratch));
	th->engine = aligned_alloc(CACHELINE, state_bytes);
	if (th->engine)
		memset(th->engine, 0, state_bytes);
	if (job_has_rate(th->spec.job)) {
		th->due = calloc(th->depth, sizeof(*th->due));
		th->batch_due = calloc(th->depth, sizeof(*th->batch_due));
		if (!th->due || !th->batch_due)
			return false;
	}
	return th->after_submit && th->free_slots && th->cmds && th->done && th->scratch &&
	       th->engine;
}

/* Before memory is faulted in, which then lies near those CPUs. */
static struct error *bind_to_cpus(const struct io_thread_spec *spec)
{
	if (!spec->cpus || sched_setaffinity(0, sizeof(*spec->cpus), spec->cpus) == 0)
		return NULL;
	return error_new(ERR_REFUSED,
			 "the thread cannot be bound to the CPUs of cpus_allowed (%s): %s; name "
			 "CPUs that the worker may use",
			 spec->job->cpus_allowed ? spec->job->cpus_allowed : "?",
			 strerrordesc_np(errno));
}

static int sqthread_cpu(const struct job *job)
{
	return job->sqthread_poll && schema_is_set(&job_schema, job, "sqthread_poll_cpu")
		       ? (int)job->sqthread_poll_cpu
		       : -1;
}

/* The engine, the depth and the loop that suit the job. */
static struct error *setup_engine(struct io_thread *th)
{
	const struct job *job = th->spec.job;
	bool trims = job_trims(job);

	th->ops = engine_of(job, th->spec.simulated);
	if (trims && !(th->ops->caps & ENGINE_TRIM))
		return error_new(ERR_CONFIG, "engine %s cannot trim; use io_uring or psync",
				 th->ops->name);
	th->depth = thread_depth(&th->spec);
	th->has_source = source_needed(job);
	th->submit = th->ops->submit_fixed && job_size_is_fixed(job) && !trims
			     ? th->ops->submit_fixed
			     : th->ops->submit;
	th->reap = th->ops->reap;
	th->loop = th->has_source ? loop_any_choose(th->ops, th->depth, job_has_rate(job))
				  : loop_choose(job, th->ops, th->depth);
	return NULL;
}

struct error *thread_setup(struct io_thread *th)
{
	struct buffers_spec buffers = thread_buffers_spec(&th->spec);
	struct error *err;

	prctl(PR_SET_TIMERSLACK, 1);
	err = bind_to_cpus(&th->spec);
	if (!err)
		err = setup_engine(th);
	if (err)
		return err;
	if (!allocate(th))
		return error_new(ERR_NOMEM, "out of memory for an I/O thread");
	setup_job(th);
	err = setup_generator(th);
	if (err)
		return err;
	setup_slots(th);
	fault_in(th->stats->dir, sizeof(th->stats->dir));
	fault_in(th->scratch, sizeof(*th->scratch));
	contents_init(&th->contents, th->spec.job,
		      seed_mix(th->spec.job->randseed, th->spec.thread));
	buffers.contents = &th->contents;
	err = buffers_init(&th->buffers, &buffers);
	if (err)
		return err;
	th->env = (struct engine_env) {
		.target = th->spec.target,
		.fd = th->spec.fd,
		.depth = th->depth,
		.io_bytes = th->io_bytes,
		.advice = th->spec.advice,
		.directions = job_directions(th->spec.job),
		.buffers = &th->buffers,
		.cpus = th->spec.cpus,
		.locks_buffers = th->locks_buffers,
		.latency_ns = th->spec.latency_ns,
		.hipri = th->spec.job->hipri,
		.sqthread_poll = th->spec.job->sqthread_poll,
		.sqthread_cpu = sqthread_cpu(th->spec.job),
		.seed = seed_mix(th->spec.seed, th->spec.thread),
		.quantiles = th->spec.quantiles,
		.nr_quantiles = th->spec.nr_quantiles,
		.stall = th->spec.stall,
		.warnings = &th->warnings,
	};
	return th->ops->init(th->engine, &th->env);
}

void thread_fini(struct io_thread *th)
{
	if (th->engine)
		th->ops->fini(th->engine);
	free(th->engine);
	th->engine = NULL;
	/* I/O that never came back may still write here; the process ends soon, and with it the memory. */
	if (th->free_slots && !thread_in_flight(th))
		buffers_fini(&th->buffers);
	source_fini(&th->source);
	free(th->due);
	free(th->batch_due);
	free(th->after_submit);
	free(th->free_slots);
	free(th->cmds);
	free(th->done);
	free(th->scratch);
}

/* At depth 1 each I/O is a batch of its own, which is cheaper to count here than one by one. */
static void count_ones(struct io_thread *th)
{
	uint64_t submitted = th->counted_budget - th->budget;
	/* A sync is none of them. */
	unsigned in_flight = th->slots[0].direction == DIR_SYNC ? 0 : thread_in_flight(th);

	if (th->depth == 1 && th->batches) {
		cell_add(&th->batches->depths.bucket[0], submitted);
		cell_add(&th->batches->submits.bucket[0], submitted);
		cell_add(&th->batches->completes.bucket[0],
			 submitted + th->counted_in_flight - in_flight);
	}
	th->counted_in_flight = in_flight;
	th->counted_budget = th->budget;
}

static void set_budget(struct io_thread *th, uint64_t ios)
{
	count_ones(th);
	th->budget = th->counted_budget = ios;
}

static void enter_segment(struct io_thread *th, enum segment segment)
{
	count_ones(th);
	th->segment = segment;
	th->batches = segment == SEGMENT_RAMP ? &th->scratch->batches : &th->stats->batches;
	for (int dir = 0; dir < DIR_COUNT; dir++) {
		struct direction_cells *d = &th->stats->dir[dir], *ramp = &th->scratch->dir[dir];
		struct counts *c = &d->counts;

		switch (segment) {
		case SEGMENT_RAMP:
			th->account[dir] = (struct account) { &c->ramp_ios, &c->ramp_bytes, ramp };
			break;
		case SEGMENT_WINDOW:
			th->account[dir] = (struct account) { &c->ios, &c->bytes, d };
			break;
		case SEGMENT_DRAIN:
			th->account[dir] = (struct account) { &c->drain_ios, &c->drain_bytes, d };
			break;
		}
	}
}

/* I/O in flight at the window's begin completes in it: so its slat belongs there too. */
static void carry_slat(struct io_thread *th)
{
	if (!(th->ops->caps & ENGINE_SPLIT))
		return;
	for (unsigned i = 0; i < th->depth; i++) {
		const struct io_slot *s = &th->slots[i];

		if (s->submitted_ns && s->direction != DIR_SYNC)
			hist_cells_record(&th->account[s->direction].cells->slat,
					  th->after_submit[i] - s->submitted_ns, 1);
	}
}

/* What the window may move: all that its time allows, or what the job's sizes and counts say. */
static void begin_pass(struct io_thread *th)
{
	const struct job *job = th->spec.job;
	uint64_t pass = (job->io_size ? job->io_size : th->spec.range.bytes) / job->bs, ios;

	if (th->has_source && !job->time_based)
		source_begin(&th->source, job, true);
	if (!th->has_source && !job->time_based) {
		if (!__builtin_mul_overflow(pass, job->loops, &ios))
			set_budget(th, ios);
		if (th->offsets.left != th->offsets.nr_blocks)
			offsets_next_pass(&th->offsets);
	}
	if (job->number_ios && job->number_ios < th->budget)
		set_budget(th, job->number_ios);
}

static void begin_window(struct io_thread *th, uint64_t begin_ns)
{
	enter_segment(th, SEGMENT_WINDOW);
	carry_slat(th);
	getrusage(RUSAGE_THREAD, &th->usage_begin);
	th->edge_ns = th->window_end_ns;
	cell_set(&th->stats->begin_ns, begin_ns);
	begin_pass(th);
}

static uint64_t timeval_ns(struct timeval end, struct timeval begin)
{
	int64_t us = (end.tv_sec - begin.tv_sec) * 1000000 + end.tv_usec - begin.tv_usec;

	return (uint64_t)us * NS_PER_US;
}

/* I/Os that were due before the window's end and not submitted: the target kept their slots. */
static void count_unissued(struct io_thread *th, uint64_t end_ns)
{
	for (unsigned i = 0; th->budget && i < MAX_UNISSUED; i++) {
		enum direction dir = pace_next(&th->pace);
		struct counts *c = &th->stats->dir[dir].counts;
		uint64_t due_ns = pace_due_ns(&th->pace, dir);

		if (due_ns >= end_ns)
			return;
		th->source.direction = dir;
		if (!source_fill(&th->source, th->cmds, 1))
			return;
		cell_add(&c->unissued_ios, 1);
		if (end_ns - due_ns > c->unissued_age_ns)
			cell_set(&c->unissued_age_ns, end_ns - due_ns);
		pace_advance(&th->pace, dir, th->cmds->bytes);
	}
}

static void end_window(struct io_thread *th, uint64_t end_ns)
{
	struct thread_stats *t = th->stats;
	struct rusage now, *begin = &th->usage_begin;

	if (th->due)
		count_unissued(th, end_ns);
	enter_segment(th, SEGMENT_DRAIN);
	getrusage(RUSAGE_THREAD, &now);
	cell_set(&t->cpu_usr_ns, timeval_ns(now.ru_utime, begin->ru_utime));
	cell_set(&t->cpu_sys_ns, timeval_ns(now.ru_stime, begin->ru_stime));
	cell_set(&t->ctx,
		 (uint64_t)(now.ru_nvcsw - begin->ru_nvcsw + now.ru_nivcsw - begin->ru_nivcsw));
	cell_set(&t->majf, (uint64_t)(now.ru_majflt - begin->ru_majflt));
	cell_set(&t->minf, (uint64_t)(now.ru_minflt - begin->ru_minflt));
	cell_set(&t->end_ns, end_ns);
	cell_set(&t->state, THREAD_DRAINING);
}

/* Crosses the edges that the last reading reached. True: the thread may go on submitting. */
static bool cross_edges(struct io_thread *th)
{
	const struct job *job = th->spec.job;
	uint64_t now = th->now_ns;
	bool halt = loop_is_halted(th);

	if (th->segment == SEGMENT_RAMP && halt)
		th->stopped = true;
	else if (th->segment == SEGMENT_RAMP && now >= th->edge_ns && job->time_based)
		begin_window(th, th->edge_ns);
	if (th->segment == SEGMENT_WINDOW && (halt || now >= th->window_end_ns)) {
		th->stopped = now < th->window_end_ns;
		end_window(th, th->stopped ? now : th->window_end_ns);
	}
	return th->segment == SEGMENT_WINDOW ||
	       (th->segment == SEGMENT_RAMP && !th->stopped && now < th->edge_ns);
}

/* Waits until nothing is in flight. What hangs keeps the thread here, and its slots tell what it is. */
static void drain(struct io_thread *th)
{
	while (thread_in_flight(th) && !th->engine_broken && loop_reap(th)) {
		cross_edges(th);
		loop_account(th);
	}
}

/* One fsync or fdatasync, with nothing else in flight. */
static void sync_now(struct io_thread *th, bool data_only)
{
	struct io_slot *s = &th->slots[0];
	uint32_t bytes = s->bytes, direction = s->direction;

	if (loop_sync(th, data_only) == 0)
		drain(th);
	if (thread_in_flight(th))
		return;
	slot_describe(s, bytes, direction);
}

/* All writes up to the next sync are done. With both due at once, the other follows when the thread comes here
 * again; until then none is left to write. */
static void sync_due(struct io_thread *th)
{
	unsigned due = th->syncs[0].left <= th->syncs[1].left ? 0 : 1;
	uint64_t written = th->syncs[due].left;

	for (unsigned i = 0; i < array_size(th->syncs); i++)
		if (th->syncs[i].left != UINT64_MAX)
			th->syncs[i].left -= written;
	sync_now(th, due);
	th->syncs[due].left = th->syncs[due].every;
	th->writes_to_sync = next_sync(th);
}

/* Submits and reaps until the segment in which it begins, and those after it, allow no more. */
static void run_segments(struct io_thread *th)
{
	while (cross_edges(th)) {
		loop_account(th);
		switch (th->loop->run(th)) {
		case LOOP_EDGE:
			break;
		case LOOP_ERROR:
			if (!th->error)
				loop_calm_down(th);
			break;
		case LOOP_IDLE:
			if (th->writes_to_sync) /* the budget is used up */
				return;
			sync_due(th);
		}
	}
	loop_account(th);
}

/* One I/O alone: hosts, or their threads, that share a CPU would otherwise start one after the other, each
 * after all of the first's depth. The rest follows at ordinary priority. */
static void submit_first(struct io_thread *th)
{
	uint64_t budget = th->budget;

	th->budget = 1;
	if (th->loop->submit(th))
		cell_set(&th->stats->first_io_ns, th->now_ns);
	th->budget += budget - 1;
}

/* The first submission, after which the priority of the start is given back. */
static void start(struct io_thread *th, const struct passage *passage)
{
	struct thread_stats *t = th->stats;

	th->now_ns = passage->now_ns;
	cell_set(&t->late_wake_ns, passage->now_ns - passage->start_ns);
	cell_set(&t->realtime, passage->is_realtime);
	cell_set(&t->state, THREAD_RUNNING);
	if (cross_edges(th))
		submit_first(th);
	gate_drop_priority(passage);
	if (th->ops->caps & ENGINE_CLOCK)
		th->now_ns = clock_mono_ns();
}

static void begin(struct io_thread *th, uint64_t start_ns)
{
	const struct job *job = th->spec.job;
	uint64_t ramp_end_ns = start_ns + job->ramp_time_ns;

	set_budget(th, UINT64_MAX);
	th->window_end_ns = job->runtime_ns ? ramp_end_ns + job->runtime_ns : UINT64_MAX;
	th->edge_ns = ramp_end_ns;
	pace_begin(&th->pace, start_ns);
	if (job->ramp_time_ns)
		enter_segment(th, SEGMENT_RAMP);
	else
		begin_window(th, start_ns);
}

/* fsync after the last write: inside the run's time. */
static void end_sync(struct io_thread *th)
{
	const struct job *job = th->spec.job;

	if (!job->end_fsync || !job_writes(job) || th->stopped || loop_is_halted(th) ||
	    thread_in_flight(th))
		return;
	enter_segment(th, SEGMENT_WINDOW);
	th->window_end_ns = UINT64_MAX; /* it counts in full, however late it ends */
	sync_now(th, false);
	end_window(th, th->now_ns);
}

/* fsync before the thread leaves the target: after its time. */
static void close_sync(struct io_thread *th)
{
	const struct job *job = th->spec.job;

	if (job->fsync_on_close && job_writes(job) && !th->engine_broken && !loop_is_halted(th) &&
	    !thread_in_flight(th))
		sync_now(th, false);
}

/* All of its I/O, from the start to the end. */
static void run_job(struct io_thread *th, const struct passage *passage)
{
	struct thread_stats *t = th->stats;

	begin(th, passage->start_ns);
	start(th, passage);
	run_segments(th);
	if (th->segment == SEGMENT_RAMP && !th->stopped) { /* size-bound */
		drain(th);
		if (!th->stopped) {
			begin_window(th, th->now_ns);
			run_segments(th);
		}
	}
	if (th->segment == SEGMENT_RAMP) { /* stopped in it: an empty window */
		cell_set(&t->begin_ns, th->now_ns);
		cell_set(&t->end_ns, th->now_ns);
	}
	if (th->segment == SEGMENT_WINDOW)
		end_window(th, th->now_ns);
	drain(th);
	end_sync(th);
	close_sync(th);
}

/* The files are made already: an empty window. */
static void run_nothing(struct io_thread *th, const struct passage *passage)
{
	th->now_ns = passage->now_ns;
	begin_window(th, passage->start_ns);
	set_budget(th, 0);
	end_window(th, passage->start_ns);
	gate_drop_priority(passage);
}

void thread_run(struct io_thread *th)
{
	struct thread_stats *t = th->stats;
	struct passage passage;

	if (gate_pass(th->gate, !th->crowded, &passage)) {
		if (th->spec.job->create_only)
			run_nothing(th, &passage);
		else
			run_job(th, &passage);
	}
	count_ones(th);
	__atomic_store_n(&t->state, THREAD_DONE, __ATOMIC_RELEASE);
}
