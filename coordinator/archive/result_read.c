/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/result_read.h"

#include "coordinator/archive/json_walk.h"
#include "coordinator/archive/result_fields.h"
#include "coordinator/archive/result_json.h"
#include "coordinator/archive/result_read_group.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

/* A place for one more at the end of a list that is being read, zeroed. */
#define grow(list, nr)                                                \
	({                                                            \
		(list) = xrealloc((list), (nr) + 1, sizeof(*(list))); \
		memset(&(list)[(nr)], 0, sizeof(*(list)));            \
		&(list)[(nr)++];                                      \
	})

static const struct walk_part no_parts[] = { { NULL } };

/* --- the lists of a step ------------------------------------------------------------------------------ */

static void read_job(struct json_walk *w, void *obj)
{
	struct result_step *s = obj;
	struct result_job *j = grow(s->jobs, s->nr_jobs);
	json_t *own = walk_object(w, no_parts, NULL);

	read_fields(w, own, job_json_fields, j);
	read_pairs(w, own, "options", &j->options, &j->nr_options);
	json_decref(own);
}

static void read_device(struct json_walk *w, void *obj)
{
	struct result_step *s = obj;
	struct result_device *d = grow(s->devices, s->nr_devices);
	json_t *own = walk_object(w, no_parts, NULL);

	read_fields(w, own, device_json_fields, d);
	if (json_object_get(own, counters_json_fields->name))
		read_fields(w, own, counters_json_fields, d);
	d->has_foreign = json_object_get(own, foreign_json_fields->name) != NULL;
	if (d->has_foreign)
		read_fields(w, own, foreign_json_fields, d);
	d->has_cached = json_object_get(own, cached_json_fields->name) != NULL;
	if (d->has_cached)
		read_fields(w, own, cached_json_fields, d);
	json_decref(own);
}

static void read_stuck(struct json_walk *w, void *obj)
{
	struct result_step *s = obj;
	struct result_stuck *k = grow(s->stuck, s->nr_stuck);
	json_t *own = walk_object(w, no_parts, NULL);

	read_fields(w, own, stuck_json_fields, k);
	json_decref(own);
}

static void read_group(struct json_walk *w, void *obj)
{
	struct result_step *s = obj;

	read_whole_group(w, grow(s->groups, s->nr_groups));
}

static void read_jobs(struct json_walk *w, void *obj)
{
	walk_list(w, read_job, obj);
}

static void read_groups(struct json_walk *w, void *obj)
{
	walk_list(w, read_group, obj);
}

static void read_devices(struct json_walk *w, void *obj)
{
	walk_list(w, read_device, obj);
}

static void read_stucks(struct json_walk *w, void *obj)
{
	walk_list(w, read_stuck, obj);
}

/* --- the lists of the result ---------------------------------------------------------------------------- */

static void read_step(struct json_walk *w, void *obj)
{
	static const struct walk_part parts[] = {
		{ "jobs", read_jobs },
		{ "groups", read_groups },
		{ "devices", read_devices },
		{ "stuck", read_stucks },
		{ NULL },
	};
	struct result *r = obj;
	struct result_step *s = grow(r->steps, r->nr_steps);
	json_t *own = walk_object(w, parts, s), *start;

	read_fields(w, own, step_json_fields, s);
	if (isnan(s->min_overlap))
		s->min_overlap = 0;
	read_pairs(w, own, "point", &s->point, &s->nr_point);
	start = read_object(w, own, "start");
	s->has_start = start != NULL;
	if (start)
		read_fields_below(w, "start", start, start_json_fields, s);
	if (!s->nr_groups)
		walk_fail(w, "has no groups");
	json_decref(own);
}

static void read_host(struct json_walk *w, void *obj)
{
	struct result *r = obj;
	struct result_host *h = grow(r->hosts, r->nr_hosts);
	json_t *own = walk_object(w, no_parts, NULL), *clock = read_object(w, own, "clock");

	read_fields(w, own, host_json_fields, h);
	read_pairs(w, own, "labels", &h->labels, &h->nr_labels);
	read_pairs(w, own, "environment", &h->environment, &h->nr_environment);
	h->has_clock = clock != NULL;
	if (clock)
		read_fields_below(w, "clock", clock, clock_json_fields, h);
	json_decref(own);
}

static void read_warning(struct json_walk *w, void *obj)
{
	struct result *r = obj;
	struct result_warning *to = grow(r->warnings, r->nr_warnings);
	json_t *own = walk_object(w, no_parts, NULL);

	read_fields(w, own, warning_json_fields, to);
	json_decref(own);
}

static void read_check(struct json_walk *w, void *obj)
{
	struct result *r = obj;
	struct result_check *c = grow(r->checks, r->nr_checks);
	json_t *own = walk_object(w, no_parts, NULL);

	read_fields(w, own, check_json_fields, c);
	read_pairs(w, own, "point", &c->point, &c->nr_point);
	json_decref(own);
}

static void read_metric(struct json_walk *w, const char *name, const json_t *from,
			struct result_metric *to)
{
	const json_t *list = json_object_get(from, "values"), *value;
	size_t i;

	read_fields(w, from, metric_json_fields, to);
	to->name = xstrdup(name);
	to->values = xcalloc(json_array_size(list), sizeof(*to->values));
	json_array_foreach(list, i, value)
	{
		if (!json_is_number(value) && !json_is_null(value))
			walk_fail(w, "values[%zu]: is no number", i);
		to->values[to->nr_values++] =
			json_is_number(value) ? json_number_value(value) : NAN;
	}
}

static void read_summary(struct json_walk *w, void *obj)
{
	struct result *r = obj;
	struct result_summary *s = grow(r->summary, r->nr_summary);
	json_t *own = walk_object(w, no_parts, NULL), *by_name = read_object(w, own, "metrics");
	const char *name;
	json_t *metric;

	read_fields(w, own, summary_json_fields, s);
	read_pairs(w, own, "point", &s->point, &s->nr_point);
	json_object_foreach(by_name, name, metric)
	{
		size_t before = walk_push(w, ".metrics.%s", name);

		if (w->err)
			break;
		read_metric(w, name, metric, grow(s->metrics, s->nr_metrics));
		walk_pop(w, before);
	}
	json_decref(own);
}

static void read_hosts(struct json_walk *w, void *obj)
{
	walk_list(w, read_host, obj);
}

static void read_warnings(struct json_walk *w, void *obj)
{
	walk_list(w, read_warning, obj);
}

static void read_steps(struct json_walk *w, void *obj)
{
	walk_list(w, read_step, obj);
}

static void read_summaries(struct json_walk *w, void *obj)
{
	walk_list(w, read_summary, obj);
}

static void read_checks(struct json_walk *w, void *obj)
{
	walk_list(w, read_check, obj);
}

/* --- the whole -------------------------------------------------------------------------------------------- */

/* What the file is must be known before anything in it is called wrong. */
static struct error *check_format(const char *name, const char *text, size_t len)
{
	struct json_walk w = { .name = name, .text = text, .len = len };
	json_int_t format = -1;
	json_t *value = NULL;

	if (walk_find(&w, "format"))
		value = walk_value(&w);
	if (json_is_integer(value))
		format = json_integer_value(value);
	json_decref(value);
	if (w.err)
		return w.err;
	if (format == RESULT_JSON_FORMAT)
		return NULL;
	if (format > RESULT_JSON_FORMAT)
		return error_new(ERR_CONFIG,
				 "%s: has format %" PRIdMAX ", and this program reads format %d; "
				 "use a newer one",
				 name, (intmax_t)format, RESULT_JSON_FORMAT);
	return error_new(ERR_CONFIG, "%s: is no result of salvo: it has no 'format': %d", name,
			 RESULT_JSON_FORMAT);
}

struct error *result_read_text(const char *name, const char *text, size_t len, struct result *ret)
{
	static const struct walk_part parts[] = {
		{ "hosts", read_hosts },   { "warnings", read_warnings },
		{ "results", read_steps }, { "summary", read_summaries },
		{ "checks", read_checks }, { NULL },
	};
	struct json_walk w = { .name = name, .text = text, .len = len };
	struct error *err = check_format(name, text, len);
	json_t *own, *run;

	*ret = (struct result) { .exit_status = -1 };
	if (err)
		return err;
	own = walk_object(&w, parts, ret);
	run = read_object(&w, own, "run");
	if (!run)
		walk_fail(&w, "run: is missing");
	walk_push(&w, "run");
	read_fields(&w, run, run_json_fields, ret);
	read_pairs(&w, run, "labels", &ret->labels, &ret->nr_labels);
	walk_pop(&w, 0);
	json_decref(own);
	err = walk_end(&w);
	if (err)
		result_fini(ret);
	return err;
}

static struct error *read_error(const char *path, int errnum)
{
	return error_new(errnum == ENOENT || errnum == ENOTDIR || errnum == EISDIR ? ERR_USAGE
										   : ERR_IO,
			 "%s: cannot be read: %s", path, strerror(errnum));
}

/* The whole file, with its length; NULL and the error when it cannot be had. */
static char *slurp(const char *path, size_t *ret_len, struct error **ret_err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	_cleanup_free_ char *text = NULL;
	size_t len = 0, room = 0;
	ssize_t n = 1;

	*ret_err = NULL;
	for (; fd >= 0 && n > 0 && len <= RESULT_BYTES_MAX; len += n > 0 ? (size_t)n : 0) {
		if (len == room) {
			room = room ? 2 * room : 1 << 16;
			text = xrealloc(text, room, 1);
		}
		do
			n = read(fd, text + len, room - len);
		while (n < 0 && errno == EINTR);
	}
	if (fd < 0 || n < 0)
		*ret_err = read_error(path, errno);
	else if (len > RESULT_BYTES_MAX)
		*ret_err = error_new(ERR_CONFIG, "%s: is larger than %llu bytes", path,
				     RESULT_BYTES_MAX);
	*ret_len = len;
	return *ret_err ? NULL : take_ptr(text);
}

struct error *result_read_file(const char *path, struct result *ret)
{
	struct error *err;
	size_t len;
	_cleanup_free_ char *text = slurp(path, &len, &err);

	*ret = (struct result) { 0 };
	return err ? err : result_read_text(path, text, len, ret);
}
