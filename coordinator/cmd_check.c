/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/cmd_check.h"

#include "common/base/units.h"
#include "common/model/inventory.h"
#include "coordinator/commands.h"
#include "coordinator/load.h"

#include <inttypes.h>

enum { POINTS_SHOWN = 24, LABEL_COLUMN = 10 };

static void print_label(const char *label, FILE *out)
{
	fprintf(out, "  %-*s ", LABEL_COLUMN, label);
}

/* "1h 5m 3s": for reading, to the second; below a minute exact. */
static void print_duration(uint64_t ns, FILE *out)
{
	uint64_t s = ns / 1000000000;
	char text[UNITS_TEXT];

	if (s < 60) {
		units_format_duration(text, ns);
		fputs(text, out);
		return;
	}
	if (s >= 3600)
		fprintf(out, "%" PRIu64 "h ", s / 3600);
	fprintf(out, "%" PRIu64 "m %" PRIu64 "s", s / 60 % 60, s % 60);
}

static void print_names(const struct plan *plan, bool observers, FILE *out)
{
	_cleanup_free_ const char **names = xcalloc(plan->hosts.nr_hosts, sizeof(*names));
	_cleanup_free_ char *folded = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < plan->hosts.nr_hosts; i++)
		if (host_is_observer(&plan->hosts.hosts[i]) == observers)
			names[nr++] = plan->hosts.hosts[i].name;
	if (!nr)
		return;
	folded = hostlist_fold(names, nr);
	print_label(observers ? "observers" : "hosts", out);
	fprintf(out, "%zu: %s\n", nr, folded);
}

static void print_hosts(const struct plan *plan, FILE *out)
{
	if (plan->embedded) {
		print_label("hosts", out);
		fprintf(out, "this one, with a worker of its own\n");
		return;
	}
	print_names(plan, false, out);
	print_names(plan, true, out);
}

static void print_points(const struct plan *plan, FILE *out)
{
	const struct scenario *sc = plan->scenario;

	for (size_t i = 0; i < sc->nr_sweep; i++) {
		print_label(i ? "" : "sweep", out);
		fprintf(out, "%s:", sc->sweep[i].key);
		for (size_t k = 0; k < sc->sweep[i].nr_values; k++)
			fprintf(out, "%s %s", k ? "," : "", sc->sweep[i].values[k]);
		fputc('\n', out);
	}
	print_label("points", out);
	fprintf(out, "%zu, measured ", plan->nr_points);
	if (sc->repeat > 1)
		fprintf(out, "%" PRIu64 " times%s\n", sc->repeat,
			plan->nr_points > 1 ? " each" : "");
	else
		fprintf(out, "once\n");
	for (size_t p = 0; sc->nr_sweep && p < plan->nr_points && p < POINTS_SHOWN; p++) {
		_cleanup_free_ char *text = plan_point_text(plan, p);

		print_label("", out);
		fprintf(out, "%s\n", text);
	}
	if (sc->nr_sweep && plan->nr_points > POINTS_SHOWN) {
		print_label("", out);
		fprintf(out, "and %zu more\n", plan->nr_points - POINTS_SHOWN);
	}
}

/* How the runs, each a point and a repeat, follow one another; nothing of it matters when there is one. */
static void print_order(const struct plan *plan, FILE *out)
{
	const struct scenario *sc = plan->scenario;
	uint64_t runs = plan->nr_points * sc->repeat;

	if (sc->order == ORDER_INTERLEAVED && plan->nr_points > 1 && sc->repeat > 1) {
		print_label("order", out);
		fprintf(out, "interleaved: every point once, then the next repeat\n");
	}
	if (!sc->pause_ns || runs < 2)
		return;
	print_label("pause", out);
	print_duration(sc->pause_ns, out);
	fprintf(out, " between two runs, ");
	print_duration(sc->pause_ns * (runs - 1), out);
	fprintf(out, " in all\n");
}

static bool ends_by_size(const struct step *step)
{
	for (size_t i = 0; i < step->nr_jobs; i++)
		if (!step->jobs[i].runtime_ns)
			return true;
	return false;
}

static void print_times(const struct plan *plan, FILE *out)
{
	size_t open = 0;

	for (size_t i = 0; i < plan->nr_steps; i++)
		open += ends_by_size(&plan->steps[i]);
	print_label("steps", out);
	fprintf(out, "%zu\n", plan->nr_steps);
	print_label("duration", out);
	if (open && !plan->duration_ns) {
		fprintf(out, "not known: it ends when its bytes are moved\n");
		return;
	}
	fputs(open ? "at least " : "", out);
	print_duration(plan->duration_ns, out);
	if (open)
		fprintf(out, "; %zu step%s when %s bytes are moved", open,
			open == 1 ? " ends" : "s end", open == 1 ? "its" : "their");
	fputc('\n', out);
}

static bool is_swept(const struct scenario *sc, const struct phase *ph, const char *key)
{
	for (size_t i = 0; ph->measured && i < sc->nr_sweep; i++)
		if (streq(sc->sweep[i].key, key))
			return true;
	return false;
}

static bool says_more(const struct job *job, const struct field *f)
{
	_cleanup_free_ char *value = schema_format(f, job), *usual = NULL;
	struct job defaults;

	schema_init(&job_schema, &defaults);
	usual = schema_format(f, &defaults);
	schema_fini(&job_schema, &defaults);
	return schema_is_set(&job_schema, job, f->name) && (!f->def || !streq(value, usual));
}

/* One line of the keys that say what the job does: four that everybody looks for, and those that are not as
 * usual. The values of swept keys stand at the sweep. */
static void print_job(const struct scenario *sc, const struct phase *ph, const struct job *job,
		      FILE *out)
{
	static const char *const always[] = { "rw", "bs", "iodepth", "numjobs" };
	const char *separator = ":";

	print_label("job", out);
	fputs(job->name, out);
	for (const struct field *f = job_schema.fields; f->name; f++) {
		_cleanup_free_ char *value = NULL;
		bool swept = is_swept(sc, ph, f->name), shown = swept;

		if (f->type == FIELD_STRLIST || streq(f->name, "name"))
			continue;
		for (size_t i = 0; i < array_size(always); i++)
			shown |= streq(f->name, always[i]);
		if (!shown && !says_more(job, f))
			continue;
		value = schema_format(f, job);
		fprintf(out, "%s %s %s", separator, f->name, swept ? "swept" : value);
		separator = ",";
	}
	fputc('\n', out);
	print_label("", out);
	fprintf(out, "on");
	for (size_t i = 0; i < job->nr_target; i++)
		fprintf(out, "%s %s", i ? "," : "", job->target[i]);
	if (job->nr_hosts) {
		_cleanup_free_ char *folded =
			hostlist_fold((const char *const *)job->hosts, job->nr_hosts);

		fprintf(out, ", by %s", folded);
	}
	fputc('\n', out);
}

static void print_phases(const struct plan *plan, FILE *out)
{
	const struct scenario *sc = plan->scenario;

	for (size_t p = 0; p < sc->nr_phases; p++) {
		const struct phase *ph = &sc->phases[p];

		fprintf(out, "\nPhase %s%s\n", ph->name, ph->measured ? "" : " (not measured)");
		for (size_t i = 0; i < ph->nr_jobs; i++)
			print_job(sc, ph, &ph->jobs[i], out);
	}
}

/* The part of a target that any step may write; end 0: none, UINT64_MAX: to the end of a device. */
struct extent {
	uint64_t start, end;
	bool reads, unlink;
};

static void add_job(struct extent *e, const struct assignment *a, const struct work_member *m)
{
	const struct job *job = &m->job;
	uint64_t whole = a->targets[m->target].size;
	uint64_t end = job->size ? job->offset + job->size : whole ? whole : UINT64_MAX;

	e->reads |= job_reads(job);
	e->unlink |= a->targets[m->target].unlink;
	if (!job_writes(job))
		return;
	if (e->end == 0 || job->offset < e->start)
		e->start = job->offset;
	if (end > e->end)
		e->end = end;
}

static struct extent find_extent(const struct plan *plan, const struct target *t)
{
	struct extent e = { 0 };

	for (size_t s = 0; s < plan->nr_steps; s++)
		for (size_t h = 0; h < plan->hosts.nr_hosts; h++) {
			const struct assignment *a = plan->steps[s].hosts[h];

			for (size_t m = 0; a && m < a->nr_members; m++)
				if (streq(a->targets[a->members[m].target].name, t->name))
					add_job(&e, a, &a->members[m]);
		}
	return e;
}

static void print_extent(const struct extent *e, const struct target *t, FILE *out)
{
	char text[UNITS_TEXT], from[UNITS_TEXT];

	print_label("", out);
	if (target_kind(t) == TARGET_SIMULATED) {
		fprintf(out, "%s\n", e->end || e->reads ? "no bytes move" : "not used");
		return;
	}
	if (!e->end) {
		fprintf(out, "%s\n", e->reads ? "only read" : "not used");
		return;
	}
	if (e->end == UINT64_MAX) {
		units_format_size(from, e->start);
		fprintf(out, "all of it%s%s can be written", e->start ? " from " : "",
			e->start ? from : "");
	} else {
		units_format_size(text, e->end - e->start);
		units_format_size(from, e->start);
		fprintf(out, "up to %s of it can be written, from offset %s on", text, from);
	}
	fprintf(out, ", on each host that uses it\n");
	if (t->file) {
		print_label("", out);
		fprintf(out, "the file is made when it is not there\n");
	}
}

static void print_simulated(const struct simulated *sim, FILE *out)
{
	char size[UNITS_TEXT], time[UNITS_TEXT];

	units_format_size(size, sim->size);
	units_format_duration(time, sim->latency_ns);
	fprintf(out, "simulated, %s", size);
	if (!sim->nr_quantiles)
		fprintf(out, ", %s per I/O", time);
	for (size_t i = 0; i < sim->nr_quantiles; i++) {
		units_format_duration(time, sim->quantiles[i].latency_ns);
		fprintf(out, ", %s %%: %s", sim->quantiles[i].percent, time);
	}
	if (sim->stall.for_ns) {
		units_format_duration(time, sim->stall.for_ns);
		fprintf(out, ", stands still for %s", time);
		units_format_duration(time, sim->stall.at_ns);
		fprintf(out, " after %s", time);
	}
}

static void print_target(const struct plan *plan, const struct target *t, FILE *out)
{
	static const char *const share[] = { "", ", share: partition", ", share: shared" };
	struct extent e = find_extent(plan, t);
	char size[UNITS_TEXT];

	print_label(t->name, out);
	switch (target_kind(t)) {
	case TARGET_DEVICE:
		fprintf(out, "device %s", t->device);
		break;
	case TARGET_FILE:
		units_format_size(size, t->size);
		fprintf(out, "file %s, %s", t->file, size);
		break;
	case TARGET_SIMULATED:
		print_simulated(&t->simulated, out);
		break;
	}
	fprintf(out, "%s%s", share[t->share], t->allow_overlap ? ", allow_overlap" : "");
	if (t->destroy.uuid)
		fprintf(out, ", destroy: {uuid: %s}", t->destroy.uuid);
	else if (t->destroy.level)
		fprintf(out, ", destroy: %s", destroy_choices[t->destroy.level].name);
	fputc('\n', out);
	for (size_t i = 0; i < t->nr_per_host; i++) {
		const struct target_override *o = &t->per_host[i];

		print_label("", out);
		fprintf(out, "on %s: %s\n", o->host, target_path(t, o->host));
	}
	print_extent(&e, t, out);
	if (e.unlink) {
		print_label("", out);
		fprintf(out, "the file is removed after use when Salvo made it\n");
	}
}

static void print_about(const char *text, FILE *out)
{
	const char *label = "about";

	while (*text) {
		size_t len = strcspn(text, "\n");

		print_label(label, out);
		fprintf(out, "%.*s\n", (int)len, text);
		text += len + (text[len] == '\n');
		label = "";
	}
}

static void print_plan(const struct plan *plan, FILE *out)
{
	const struct scenario *sc = plan->scenario;

	fprintf(out, "Scenario %s\n", sc->name);
	if (sc->description)
		print_about(sc->description, out);
	for (size_t i = 0; i < sc->nr_labels; i++) {
		print_label(i ? "" : "labels", out);
		fprintf(out, "%s: %s\n", sc->labels[i].key, sc->labels[i].value);
	}
	print_hosts(plan, out);
	print_points(plan, out);
	print_order(plan, out);
	print_times(plan, out);
	for (size_t i = 0; i < sc->nr_checks; i++) {
		print_label(i ? "" : "checks", out);
		fprintf(out, "%s\n", sc->checks[i]);
	}
	print_phases(plan, out);
	fprintf(out, "\nTargets\n");
	for (size_t i = 0; i < sc->nr_targets; i++)
		print_target(plan, &sc->targets[i], out);
	for (size_t i = 0; i < sc->nr_warnings; i++)
		fprintf(out, "%s%s\n", i ? "  " : "\nWarnings\n  ", sc->warnings[i]);
}

/* The file's texts are anybody's: what a terminal would act on is shown and not sent. */
static struct error *print_clean(const struct plan *plan, FILE *out)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *raw = open_memstream(&text, &len);
	char *rest;

	if (!raw)
		return error_new(ERR_NOMEM, "out of memory");
	print_plan(plan, raw);
	fclose(raw);
	rest = text;
	for (char *line; (line = strsep(&rest, "\n")) && rest;) {
		_cleanup_free_ char *clean = str_printable(line);

		fprintf(out, "%s\n", clean);
	}
	return NULL;
}

struct error *cmd_check(const struct options *opts, FILE *out)
{
	_cleanup_(scenario_destroy) struct scenario *sc = NULL;
	_cleanup_(plan_destroy) struct plan *plan = NULL;
	struct error *err = load_plan(opts, "check", 0, &sc, &plan);

	if (err)
		return err;
	err = print_clean(plan, out);
	if (err)
		return err;
	return opts->offline ? NULL : check_online(plan, opts, out);
}
