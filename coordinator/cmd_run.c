/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/result_dir.h"
#include "coordinator/commands.h"
#include "coordinator/load.h"
#include "coordinator/report/report.h"
#include "coordinator/run/coordinator.h"
#include "coordinator/stop_signals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <sys/random.h>

enum { TIME_TEXT = 32, ID_TEXT = 64 };

/* One `salvo run`, and what its hooks write while it goes on. */
struct job_run {
	const struct options *opts;
	char id[ID_TEXT];
	struct scenario *scenario;
	struct plan *plan;
	struct channel_keys keys;
	struct collector *collector;
	struct result_dir *dir;
	struct progress *progress; /* NULL: --quiet */
	struct stop_signals signals;
	bool header_written;
	struct error *errors;
};

static void job_run_fini(struct job_run *j)
{
	stop_signals_fini(&j->signals);
	progress_destroy(&j->progress);
	collector_destroy(&j->collector);
	plan_destroy(&j->plan);
	scenario_destroy(&j->scenario);
	channel_keys_fini(&j->keys);
	result_dir_destroy(&j->dir);
	error_destroy(&j->errors);
}

static uint64_t random_number(void)
{
	uint64_t n = 0;

	if (getrandom(&n, sizeof(n), 0) != (ssize_t)sizeof(n))
		n = (uint64_t)time(NULL);
	return n;
}

static void rfc3339(char text[TIME_TEXT])
{
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(text, TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void make_id(char id[ID_TEXT], time_t now)
{
	char stamp[TIME_TEXT];
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(id, ID_TEXT, "%s-%08" PRIx32, stamp, (uint32_t)random_number());
}

/* Everything that can be known to be wrong before anybody is asked. */
static struct error *set_up(struct job_run *j)
{
	const struct options *opts = j->opts;
	_cleanup_free_ char *keys_dir = coordinator_keys_dir(opts->keys);
	time_t now = time(NULL);
	struct error *err;

	make_id(j->id, now);
	err = load_plan(opts, j->id, random_number(), &j->scenario, &j->plan);
	if (err)
		return err;
	if (!j->plan->embedded)
		err = channel_keys_load(keys_dir, opts->insecure, &j->plan->hosts, &j->keys);
	if (err)
		return err;
	if (opts->output)
		return result_dir_create(opts->output, &j->dir);
	return result_dir_create_default(j->scenario->name, now, &j->dir);
}

/* --- while it runs -------------------------------------------------------------------------------- */

static struct error *write_header(struct job_run *j)
{
	_cleanup_free_ char *yaml = NULL;
	struct error *err;
	size_t len;
	FILE *text = open_memstream(&yaml, &len);

	if (!text)
		return error_new(ERR_NOMEM, "out of memory");
	scenario_print(j->scenario, j->plan->seed, text);
	fclose(text);
	err = result_dir_write_scenario(j->dir, yaml);
	if (err)
		return err;
	return result_dir_write_plan(j->dir, j->plan, collector_result(j->collector));
}

/* Files are begun with the first start, so that a run which was refused leaves no folder behind. */
static void on_started(void *arg, size_t step, uint64_t start_ns)
{
	struct job_run *j = arg;

	if (!j->header_written)
		error_append(&j->errors, write_header(j));
	j->header_written = true;
	error_append(&j->errors, result_dir_append_step(j->dir, j->plan, step, start_ns,
							collector_result(j->collector)));
}

static void on_sampled(void *arg, size_t step, size_t host, int64_t offset_ns, const uint8_t *bytes,
		       size_t len)
{
	struct job_run *j = arg;

	error_append(&j->errors,
		     result_dir_append_sample(j->dir, step, host, offset_ns, bytes, len));
}

static void on_totalled(void *arg, size_t step, size_t host, const uint8_t *bytes, size_t len)
{
	struct job_run *j = arg;

	error_append(&j->errors, result_dir_append_totals(j->dir, step, host, bytes, len));
}

static struct run *execute(struct job_run *j)
{
	return coordinator_run(&(struct coordinator_options) {
		.mode = MODE_RUN,
		.hosts = &j->plan->hosts,
		.plan = j->plan,
		.collector = j->collector,
		.fleet = &j->scenario->fleet,
		.keys = &j->keys,
		.embedded = j->plan->embedded,
		.progress = j->progress,
		.hooks = { .arg = j,
			   .started = on_started,
			   .sampled = on_sampled,
			   .totalled = on_totalled },
	});
}

/* --- afterwards ----------------------------------------------------------------------------------- */

static struct error *report(const struct job_run *j, const struct result *result, FILE *out)
{
	const struct report_format *format =
		report_format_find(j->opts->format == FORMAT_JSON ? "json" : "text");
	struct error *err = format->write(result, out);

	if (!err && fflush(out))
		err = error_new(ERR_OUTPUT, "the report could not be written: %s", strerror(errno));
	if (err) { /* said once, and not again when the program ends */
		__fpurge(out);
		clearerr(out);
	}
	return error_context(err, "stdout");
}

/* fleet.strict: what the result only warns of is an error. */
static void check_overlap(struct job_run *j)
{
	const struct fleet *fleet = &j->scenario->fleet;
	const struct result *r = collector_result(j->collector);

	for (size_t i = 0; fleet->strict && i < r->nr_steps; i++)
		if (r->steps[i].overlap * 100 < fleet->min_overlap)
			error_append(
				&j->errors,
				error_new(ERR_CHECK,
					  "phase '%s': all threads ran together for only %.1f %% "
					  "of the time; fleet.strict is set",
					  r->steps[i].phase, r->steps[i].overlap * 100));
}

static int status_so_far(const struct job_run *j, const struct run *run)
{
	return exit_status_worst(error_exit_status(run_errors(run)), error_exit_status(j->errors));
}

static void keep(struct job_run *j, const struct result *result)
{
	struct error *err = result_dir_finish(j->dir, result);

	if (j->progress && result_dir_is_used(j->dir))
		progress_say(j->progress, "kept%s in %s", err ? " as far as possible" : "",
			     result_dir_path(j->dir));
	error_append(&j->errors, err);
}

/* What was written holds an exit status; the writing itself can make another one of it. */
static void finish(struct job_run *j, const struct run *run, const char *started, FILE *out)
{
	const struct result *result;
	char ended[TIME_TEXT];
	int written;

	if (!run_has_started(run))
		return;
	rfc3339(ended);
	check_overlap(j);
	error_append(&j->errors, collector_check(j->collector));
	written = status_so_far(j, run);
	result = collector_finish(j->collector, run_status(run), written, started, ended);
	keep(j, result);
	if (stop_signals_release(&j->signals))
		error_append(&j->errors, error_new(ERR_INTERRUPTED, "stopped by the user"));
	collector_set_exit_status(j->collector, status_so_far(j, run));
	error_append(&j->errors, report(j, result, out));
	if (status_so_far(j, run) == written)
		return;
	collector_set_exit_status(j->collector, status_so_far(j, run));
	struct error *again = result_dir_finish(j->dir, result);

	error_destroy(&again); /* said before, or as good as what is there */
}

struct error *cmd_run(const struct options *opts, FILE *out)
{
	_cleanup_(job_run_fini) struct job_run j = { .opts = opts };
	_cleanup_(run_destroy) struct run *run = NULL;
	char started[TIME_TEXT];
	struct error *errors;

	coordinator_init();
	errors = set_up(&j);
	if (errors)
		return errors;
	rfc3339(started);
	if (!opts->quiet)
		j.progress = progress_new(j.plan, stderr);
	j.collector = collector_new(j.plan, j.id, SALVO_VERSION);
	for (size_t i = 0; i < j.scenario->nr_warnings; i++)
		collector_warn(j.collector, NULL, NULL, j.scenario->warnings[i]);
	stop_signals_hold(&j.signals);
	run = execute(&j);
	finish(&j, run, started, out);
	errors = run_take_errors(run);
	error_append(&errors, take_ptr(j.errors));
	return errors;
}
