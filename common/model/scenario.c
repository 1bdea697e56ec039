/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/scenario.h"

#include "common/model/inventory.h"
#include "common/model/scenario_check.h"

#include <limits.h>

enum {
	TEXT_BYTES = 4096,
	NAME_BYTES = 128,
	LIST_ENTRIES = 8192,
	MAX_REPEAT = 100000,
	MAX_CHECKS = 256
};
#define SECOND    1000000000ull
#define HOUR      (3600 * SECOND)
#define BYTES_MAX (1ull << 62)

/* clang-format off */
const struct choice destroy_choices[] = {
	{ "false", DESTROY_NO,    "nothing on it may be overwritten" },
	{ "true",  DESTROY_YES,   "its data may be overwritten, when no signature is found on it" },
	{ "force", DESTROY_FORCE, "a filesystem, RAID or partition table on it as well" },
	{ NULL }
};

static const struct choice share_choices[] = {
	{ "partition", SHARE_PARTITION, "each thread has a part of its own, disjoint and aligned" },
	{ "shared",    SHARE_SHARED,    "each thread uses the whole range" },
	{ NULL }
};

static const struct choice on_loss_choices[] = {
	{ "abort",    ON_LOSS_ABORT,    "all stop; what was measured until then is kept" },
	{ "continue", ON_LOSS_CONTINUE, "the others go on; the result is marked partial" },
	{ NULL }
};

static const struct choice order_choices[] = {
	{ "sequential",  ORDER_SEQUENTIAL,  "every repeat of a point, then the next point" },
	{ "interleaved", ORDER_INTERLEAVED, "every point once, then the next repeat: slow drifts reach all points alike" },
	{ NULL }
};

static const struct field destroy_fields[] = {
	F_CHOICE(struct destroy, level, .choices = destroy_choices, .def = "false",
		 .help = "What may be overwritten"),
	F_STRING(struct destroy, uuid, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = NAME_BYTES,
		 .help = "The filesystem that may be destroyed although it looks alive elsewhere"),
	{ NULL }
};
static const struct schema destroy_schema = {
	.name = "destroy", .help = "What may be overwritten on a target: true, false, force or {uuid: TEXT}",
	.size = sizeof(struct destroy), .fields = destroy_fields, .set_offset = offsetof(struct destroy, set),
	.shorthand = "level",
};

static const struct field override_fields[] = {
	F_STRING(struct target_override, host, .flags = FIELD_HIDDEN,
		 .help = "Name of the host"),
	F_STRING(struct target_override, device, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = TEXT_BYTES,
		 .help = "Path of the device on that host"),
	F_STRING(struct target_override, file, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = TEXT_BYTES,
		 .help = "Path of the file on that host"),
	F_SIZE(struct target_override, size, .flags = FIELD_OPTIONAL, .min = 1, .max = BYTES_MAX,
	       .help = "Size of the file on that host"),
	{ NULL }
};
static const struct schema override_schema = {
	.name = "per_host", .help = "What differs on one host",
	.size = sizeof(struct target_override), .fields = override_fields,
	.set_offset = offsetof(struct target_override, set),
};

static const struct field target_fields[] = {
	F_STRING(struct target, name, .flags = FIELD_HIDDEN,
		 .help = "Name of the target"),
	F_STRING(struct target, device, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = TEXT_BYTES,
		 .help = "Path of a block device on each host"),
	F_STRING(struct target, file, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = TEXT_BYTES,
		 .help = "Path of a regular file on each host, made when it is not there; relative to the worker's folder"),
	F_SIZE(struct target, size, .flags = FIELD_OPTIONAL, .min = 1, .max = BYTES_MAX,
	       .help = "Size of the file"),
	F_OBJECT(struct target, simulated, &simulated_schema, .flags = FIELD_OPTIONAL,
		 .help = "No device at all: I/O that takes a given time"),
	F_CHOICE(struct target, share, .flags = FIELD_OPTIONAL, .choices = share_choices,
		 .help = "How several threads and hosts use it; threads that only read at random share it by default"),
	F_BOOL(struct target, allow_overlap, .def = "false",
	       .help = "Several hosts may write the same blocks of a shared target"),
	F_OBJECT(struct target, destroy, &destroy_schema,
		 .help = "Whether what is on it may be overwritten; needed to write to a device"),
	F_MAP(struct target, per_host, nr_per_host, &override_schema, .flags = FIELD_OPTIONAL, .max = LIST_ENTRIES,
	      .help = "What differs on single hosts, by their names"),
	{ NULL }
};
const struct schema target_schema = {
	.name = "target", .help = "Something to read and write, resolved on each host: a device, a file or simulated",
	.size = sizeof(struct target), .fields = target_fields, .set_offset = offsetof(struct target, set),
};

static const struct field phase_fields[] = {
	F_STRING(struct phase, name, .flags = FIELD_REQUIRED | FIELD_NONEMPTY, .max = NAME_BYTES,
		 .help = "Name of the phase in the report"),
	F_LIST(struct phase, jobs, nr_jobs, &job_schema, .flags = FIELD_REQUIRED, .min = 1, .max = 1024,
	       .help = "Jobs that start together"),
	F_BOOL(struct phase, measured, .def = "true",
	       .help = "false: for preconditioning; it runs before the measured ones and is not swept or reported"),
	{ NULL }
};
static const struct schema phase_schema = {
	.name = "phase", .help = "Jobs that start together on all hosts; the next phase starts when all of them ended",
	.size = sizeof(struct phase), .fields = phase_fields, .set_offset = offsetof(struct phase, set),
};

static const struct field axis_fields[] = {
	F_STRING(struct sweep_axis, key, .flags = FIELD_HIDDEN,
		 .help = "A key of jobs"),
	F_STRLIST(struct sweep_axis, values, nr_values, .flags = FIELD_REQUIRED, .min = 1, .max = LIST_ENTRIES,
		  .help = "Its values, one after the other"),
	{ NULL }
};
static const struct schema axis_schema = {
	.name = "sweep", .help = "Keys of jobs with a list of values each; every combination is run",
	.size = sizeof(struct sweep_axis), .fields = axis_fields, .shorthand = "values",
};

static const struct field label_fields[] = {
	F_STRING(struct label, key, .flags = FIELD_HIDDEN,
		 .help = "Name of the label"),
	F_STRING(struct label, value, .flags = FIELD_REQUIRED, .max = TEXT_BYTES,
		 .help = "Its text"),
	{ NULL }
};
const struct schema label_schema = {
	.name = "label", .help = "Texts to find and compare results by",
	.size = sizeof(struct label), .fields = label_fields, .shorthand = "value",
};

static const struct field fleet_fields[] = {
	F_CHOICE(struct fleet, on_loss, .choices = on_loss_choices, .def = "abort",
		 .help = "What happens when a worker is lost"),
	F_DURATION(struct fleet, lease, .def = "10s", .min = SECOND, .max = HOUR,
		   .help = "A worker that hears nothing for so long submits no I/O any more, and is called lost"),
	F_DURATION(struct fleet, grace, .def = "30s", .min = SECOND, .max = 24 * HOUR,
		   .help = "Time for I/O in flight to come back at the end, before a host is called hung"),
	F_DURATION(struct fleet, max_clock_error, .def = "1ms", .min = 1000, .max = 60 * SECOND,
		   .help = "Largest error of a host's clock against the coordinator's that is taken without a warning"),
	F_PERCENT(struct fleet, min_overlap, .def = "99%",
		  .help = "Smallest share of the run time in which all threads ran that is taken without a warning"),
	F_BOOL(struct fleet, strict, .def = "false",
	       .help = "Warnings about clocks and overlap are errors"),
	{ NULL }
};
static const struct schema fleet_schema = {
	.name = "fleet", .help = "How the hosts are held together",
	.size = sizeof(struct fleet), .fields = fleet_fields, .set_offset = offsetof(struct fleet, set),
};

static const struct field scenario_fields[] = {
	F_STRING(struct scenario, name, .flags = FIELD_REQUIRED | FIELD_NONEMPTY, .max = NAME_BYTES,
		 .help = "Name of the scenario, also of its result directories"),
	F_STRING(struct scenario, description, .flags = FIELD_OPTIONAL, .max = TEXT_BYTES,
		 .help = "What it is for"),
	F_MAP(struct scenario, labels, nr_labels, &label_schema, .flags = FIELD_OPTIONAL, .max = 256,
	      .help = "Texts to find and compare results by"),
	F_STRLIST(struct scenario, hosts, nr_hosts, .flags = FIELD_OPTIONAL | FIELD_NONEMPTY, .max = LIST_ENTRIES,
		  .help = "Hosts with a worker: \"node[01-16,20]:7600\", a list of such, or ^FILE; without them this host alone"),
	F_MAP(struct scenario, targets, nr_targets, &target_schema, .flags = FIELD_REQUIRED, .min = 1, .max = 1024,
	      .help = "What the jobs read and write, by name"),
	F_LIST(struct scenario, jobs, nr_jobs, &job_schema, .flags = FIELD_OPTIONAL, .min = 1, .max = 1024,
	       .help = "Jobs that start together; the scenario is one phase"),
	F_LIST(struct scenario, phases, nr_phases, &phase_schema, .flags = FIELD_OPTIONAL, .min = 1, .max = 256,
	       .help = "Phases, one after the other, in place of jobs"),
	F_OBJECT(struct scenario, defaults, &job_schema, .flags = FIELD_OPTIONAL,
		 .help = "Keys of jobs that hold for all of them"),
	F_MAP(struct scenario, sweep, nr_sweep, &axis_schema, .flags = FIELD_OPTIONAL, .max = 32,
	      .help = "Keys of jobs with a list of values each; every combination is run"),
	F_COUNT(struct scenario, repeat, .def = "1", .min = 1, .max = MAX_REPEAT,
		.help = "How often each point is measured"),
	F_CHOICE(struct scenario, order, .choices = order_choices, .def = "sequential",
		 .help = "Whether all repeats of a point come one after the other, or all points come before the next repeat"),
	F_DURATION(struct scenario, pause, .def = "0", .max = HOUR,
		   .help = "Rest between two runs of a point"),
	F_STRLIST(struct scenario, checks, nr_checks, .flags = FIELD_OPTIONAL, .max = MAX_CHECKS,
		  .help = "What must hold of the results, for exit status 0: 'lat.p99 < 2ms', 'NAME:read.iops >= 10k' of a group"),
	F_DURATION(struct scenario, interval, .def = "1s", .min = SECOND / 10, .max = HOUR,
		   .help = "Time between samples"),
	F_OBJECT(struct scenario, fleet, &fleet_schema,
		 .help = "How the hosts are held together"),
	{ NULL }
};
const struct schema scenario_schema = {
	.name = "scenario", .help = "A workload, where it runs, and how often",
	.size = sizeof(struct scenario), .fields = scenario_fields, .set_offset = offsetof(struct scenario, set),
};
/* clang-format on */

void scenario_destroy(struct scenario **self_p)
{
	struct scenario *sc = *self_p;

	if (!sc)
		return;
	for (size_t i = 0; i < sc->nr_warnings; i++)
		free(sc->warnings[i]);
	free(sc->warnings);
	inventory_destroy(&sc->inventory);
	schema_fini(&scenario_schema, sc);
	free(sc);
	*self_p = NULL;
}

/* --set targets.T.device takes the place of the file or simulation of the scenario, and so on. */
static void replace_kind(struct scenario *sc, const char *key)
{
	const char *name, *dot;
	bool device, file;

	if (!str_starts(key, "targets."))
		return;
	name = key + strlen("targets.");
	dot = strchr(name, '.');
	if (!dot)
		return;
	device = streq(dot, ".device");
	file = streq(dot, ".file");
	for (size_t i = 0; i < sc->nr_targets; i++) {
		struct target *t = &sc->targets[i];

		if (strlen(t->name) != (size_t)(dot - name) ||
		    strncmp(t->name, name, strlen(t->name)) != 0)
			continue;
		if ((file || str_starts(dot, ".simulated")) && t->device) {
			freep(&t->device);
			scenario_unset(&target_schema, t, "device");
		}
		if ((device || str_starts(dot, ".simulated")) && t->file) {
			freep(&t->file);
			t->size = 0;
			scenario_unset(&target_schema, t, "file");
			scenario_unset(&target_schema, t, "size");
		}
		if (device || file)
			scenario_unset(&target_schema, t, "simulated");
	}
}

/* Does the key set a job's (or the defaults') key that is swept? */
static const char *swept_key(const struct scenario *sc, const char *key)
{
	const char *last = strrchr(key, '.');
	unsigned long phase;

	if (!last || !(str_starts(key, "jobs[") || str_starts(key, "defaults.") ||
		       str_starts(key, "phases[")))
		return NULL;
	phase = str_starts(key, "phases[") ? strtoul(key + strlen("phases["), NULL, 10) : ULONG_MAX;
	if (phase < sc->nr_phases && !sc->phases[phase].measured)
		return NULL;
	for (size_t i = 0; i < sc->nr_sweep; i++)
		if (streq(sc->sweep[i].key, last + 1))
			return sc->sweep[i].key;
	return NULL;
}

static struct error *apply_setting(struct scenario *sc, const struct setting *s)
{
	const char *swept = swept_key(sc, s->key);

	if (swept)
		return error_new(ERR_CONFIG, "'%s' is swept; set sweep.%s, or remove it there",
				 swept, swept);
	replace_kind(sc, s->key);
	return schema_set_path(&scenario_schema, sc, s->key, s->value);
}

static void set_label(struct scenario *sc, const struct setting *label)
{
	size_t i = 0;

	while (i < sc->nr_labels && !streq(sc->labels[i].key, label->key))
		i++;
	if (i == sc->nr_labels) {
		sc->labels = xrealloc(sc->labels, ++sc->nr_labels, sizeof(*sc->labels));
		sc->labels[i] = (struct label) { .key = xstrdup(label->key) };
	}
	free(sc->labels[i].value);
	sc->labels[i].value = xstrdup(label->value);
}

static void set_hosts(struct scenario *sc, char *const *hosts, size_t nr)
{
	for (size_t i = 0; i < sc->nr_hosts; i++)
		free(sc->hosts[i]);
	free(sc->hosts);
	sc->hosts = xcalloc(nr, sizeof(*sc->hosts));
	sc->nr_hosts = nr;
	for (size_t i = 0; i < nr; i++)
		sc->hosts[i] = xstrdup(hosts[i]);
}

static struct error *apply_changes(struct scenario *sc, const struct scenario_changes *c)
{
	struct error *errors = NULL;

	for (size_t i = 0; i < c->nr_settings; i++)
		error_append(&errors,
			     error_context(apply_setting(sc, &c->settings[i]), "--set %s=%s",
					   c->settings[i].key, c->settings[i].value));
	if (c->repeat)
		error_append(&errors,
			     error_context(schema_set(&scenario_schema, sc, "repeat", c->repeat),
					   "--repeat"));
	if (c->on_loss)
		error_append(&errors, error_context(schema_set_path(&scenario_schema, sc,
								    "fleet.on_loss", c->on_loss),
						    "--on-loss"));
	for (size_t i = 0; i < c->nr_labels; i++)
		set_label(sc, &c->labels[i]);
	if (c->nr_hosts)
		set_hosts(sc, c->hosts, c->nr_hosts);
	return errors;
}

/* The name in the run of a host that a job names; the text itself when there is none. */
static char *run_name(const struct hostlist *run, const struct host *wanted)
{
	for (size_t i = 0; i < run->nr_hosts; i++)
		if (streq(run->hosts[i].name, wanted->name) ||
		    streq(run->hosts[i].address, wanted->address))
			return xstrdup(run->hosts[i].name);
	return xstrdup(wanted->name);
}

/* A job's hosts may be expressions as well, with or without their ports. What cannot be read stays, for the
 * rules to tell. */
static void resolve_job_hosts(const struct inventory *inv, struct job *job,
			      const struct hostlist *run)
{
	_cleanup_(hostlist_fini) struct hostlist list = { 0 };
	struct error *err = inventory_expand_initiators(inv, job->hosts, job->nr_hosts, &list);

	error_destroy(&err);
	if (!list.nr_hosts)
		return;
	for (size_t i = 0; i < job->nr_hosts; i++)
		free(job->hosts[i]);
	job->hosts = xrealloc(job->hosts, list.nr_hosts, sizeof(*job->hosts));
	job->nr_hosts = list.nr_hosts;
	for (size_t i = 0; i < list.nr_hosts; i++)
		job->hosts[i] = run_name(run, &list.hosts[i]);
}

struct error *scenario_hosts(const struct scenario *sc, struct hostlist *ret)
{
	if (sc->nr_hosts || !sc->inventory)
		return inventory_expand(sc->inventory, sc->hosts, sc->nr_hosts, ret);
	inventory_all(sc->inventory, ret);
	return NULL;
}

/* `jobs` become the one phase; defaults go into all jobs. */
static void complete(struct scenario *sc)
{
	_cleanup_(hostlist_fini) struct hostlist hosts = { 0 };
	struct error *err;

	if (sc->nr_jobs && !sc->nr_phases) {
		sc->phases = xcalloc(1, sizeof(*sc->phases));
		sc->nr_phases = 1;
		sc->phases[0] = (struct phase) {
			.name = xstrdup("main"),
			.jobs = take_ptr(sc->jobs),
			.nr_jobs = sc->nr_jobs,
			.measured = true,
		};
		sc->nr_jobs = 0;
		sc->one_phase = true;
	}
	err = scenario_hosts(sc, &hosts);
	error_destroy(&err); /* the rules expand it again, and tell */
	for (size_t p = 0; p < sc->nr_phases; p++)
		for (size_t j = 0; j < sc->phases[p].nr_jobs; j++) {
			schema_inherit(&job_schema, &sc->phases[p].jobs[j], &sc->defaults);
			resolve_job_hosts(sc->inventory, &sc->phases[p].jobs[j], &hosts);
		}
	for (size_t i = 0; i < sc->nr_targets; i++)
		if (sc->targets[i].destroy.uuid)
			sc->targets[i].destroy.level = DESTROY_FORCE;
}

struct error *scenario_load_changed(const char *path, const struct scenario_changes *changes,
				    struct scenario **ret)
{
	_cleanup_(schema_positions_destroy) struct schema_positions *known = NULL;
	_cleanup_(scenario_destroy) struct scenario *sc = xcalloc(1, sizeof(*sc));
	struct error *errors = schema_load_file_at(&scenario_schema, path, sc, &known);
	struct error *inventory_errors = NULL;

	if (changes->inventory)
		inventory_errors = inventory_load(changes->inventory, &sc->inventory);
	if (known) {
		error_append(&errors, apply_changes(sc, changes));
		complete(sc);
		error_append(&errors, scenario_check(sc, changes, known));
		schema_positions_render(known, &errors);
	}
	error_append(&errors, inventory_errors); /* they have their places in another file */
	if (errors)
		return errors;
	*ret = take_ptr(sc);
	return NULL;
}

struct error *scenario_load(const char *path, const struct setting *settings, size_t nr_settings,
			    struct scenario **ret)
{
	return scenario_load_changed(
		path,
		&(struct scenario_changes) { .settings = settings, .nr_settings = nr_settings },
		ret);
}

const struct target *scenario_target(const struct scenario *sc, const char *name)
{
	for (size_t i = 0; i < sc->nr_targets; i++)
		if (streq(sc->targets[i].name, name))
			return &sc->targets[i];
	return NULL;
}

enum target_kind target_kind(const struct target *t)
{
	return t->device ? TARGET_DEVICE : t->file ? TARGET_FILE : TARGET_SIMULATED;
}

const struct target_override *target_override(const struct target *t, const char *host)
{
	for (size_t i = 0; i < t->nr_per_host; i++)
		if (streq(t->per_host[i].host, host))
			return &t->per_host[i];
	return NULL;
}

const char *target_path(const struct target *t, const char *host)
{
	const struct target_override *o = target_override(t, host);

	switch (target_kind(t)) {
	case TARGET_DEVICE:
		return o && o->device ? o->device : t->device;
	case TARGET_FILE:
		return o && o->file ? o->file : t->file;
	case TARGET_SIMULATED:
		break;
	}
	return NULL;
}

uint64_t target_size(const struct target *t, const char *host)
{
	const struct target_override *o = target_override(t, host);

	switch (target_kind(t)) {
	case TARGET_DEVICE:
		return 0;
	case TARGET_FILE:
		return o && o->size ? o->size : t->size;
	case TARGET_SIMULATED:
		break;
	}
	return t->simulated.size;
}

bool target_direct(const struct target *t, const struct job *job)
{
	if (schema_is_set(&job_schema, job, "direct"))
		return job->direct;
	return target_kind(t) == TARGET_DEVICE &&
	       job_engine_can((enum job_engine)job->engine) & ENGINE_CAN_DIRECT;
}

bool job_on_host(const struct job *job, const char *host)
{
	for (size_t i = 0; i < job->nr_hosts; i++)
		if (streq(job->hosts[i], host))
			return true;
	return job->nr_hosts == 0;
}

uint64_t scenario_points(const struct scenario *sc)
{
	uint64_t points = 1;

	for (size_t i = 0; i < sc->nr_sweep; i++)
		if (__builtin_mul_overflow(points, sc->sweep[i].nr_values, &points))
			return UINT64_MAX;
	return points;
}

const char *scenario_point_value(const struct scenario *sc, uint64_t point, size_t axis)
{
	for (size_t i = sc->nr_sweep - 1; i > axis; i--)
		point /= sc->sweep[i].nr_values;
	return sc->sweep[axis].values[point % sc->sweep[axis].nr_values];
}

void scenario_job_at(const struct scenario *sc, const struct phase *phase, const struct job *job,
		     uint64_t point, struct job *ret)
{
	schema_copy(&job_schema, ret, job);
	for (size_t i = 0; phase->measured && i < sc->nr_sweep; i++) {
		struct error *err = schema_set(&job_schema, ret, sc->sweep[i].key,
					       scenario_point_value(sc, point, i));

		error_destroy(&err); /* values that were checked when the scenario was loaded */
	}
}
