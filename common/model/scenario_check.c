/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/scenario_impl.h"

/* More than a run of years; checked so that a slip of the pen is told and not planned. */
#define MAX_POINTS 100000ull
#define MAX_STEPS  1000000ull

/* --- names ---------------------------------------------------------------------------------------- */

/* Names that become parts of file names and of metric paths. */
static void check_safe_name(struct checker *c, const char *path, const char *name)
{
	static const char safe[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	const char *odd = name + strspn(name, safe);

	if (!*name) {
		find_mistake(c, path, "the name is empty");
	} else if (*odd) {
		size_t len = 1;

		while (((unsigned char)odd[len] & 0xc0) == 0x80)
			len++;
		_cleanup_free_ char *one = xstrndup(odd, len), *shown = str_printable(one);
		_cleanup_free_ char *clean = str_printable(name);

		find_mistake(c, path,
			     "'%s' has the character '%s'; use letters, digits, '.', '_' and '-'",
			     clean, shown);
	} else if (*name == '.' || *name == '-') {
		find_mistake(c, path, "'%s' may not begin with '%c'", name, *name);
	}
}

/* Names that only people read: anything that a terminal shows as it is. */
static void check_plain_name(struct checker *c, const char *path, const char *name)
{
	_cleanup_free_ char *clean = str_printable(name);

	if (!streq(clean, name))
		find_mistake(c, path, "'%s' has a character that cannot be shown", clean);
	else if (!*name)
		find_mistake(c, path, "the name is empty");
}

/* --- hosts and targets ----------------------------------------------------------------------------- */

/* Observers run no jobs: the rules of jobs do not see them. */
static void drop_observers(struct hostlist *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr_hosts; i++) {
		struct host *h = &list->hosts[i];

		if (!host_is_observer(h)) {
			list->hosts[nr++] = *h;
			continue;
		}
		free(h->name);
		free(h->address);
	}
	list->nr_hosts = nr;
}

static void check_hosts(struct checker *c)
{
	struct scenario *sc = c->sc;
	const char *path = c->changes->nr_hosts ? "--hosts" : "hosts";
	bool inventory_good = !c->changes->inventory || sc->inventory;
	static char local[] = "local", *const embedded[] = { local };
	struct error *err = NULL;

	if (inventory_good)
		err = scenario_hosts(sc, &c->hosts);
	c->hosts_good = !err && inventory_good &&
			(c->changes->nr_hosts || !schema_positions_wrong(c->known, "hosts"));
	if (err)
		find_mistake(c, path, "%s", error_message(err));
	error_destroy(&err);
	if (c->hosts.nr_hosts) {
		drop_observers(&c->hosts);
		if (!c->hosts.nr_hosts)
			find_mistake(c, sc->nr_hosts ? path : "--inventory",
				     "names only observers, which run no jobs");
	}
	/* The embedded worker; it also stands for hosts that cannot be read, in rules that need one. */
	if (!c->hosts.nr_hosts) {
		hostlist_fini(&c->hosts);
		err = hostlist_expand(embedded, 1, &c->hosts);
	}
	assert(!err);
}

static bool host_known(const struct checker *c, const char *name)
{
	for (size_t i = 0; i < c->hosts.nr_hosts; i++)
		if (streq(c->hosts.hosts[i].name, name))
			return true;
	return false;
}

static void find_unknown_host(struct checker *c, const char *path, const char *name)
{
	const struct host *known = inventory_find(c->sc->inventory, name);
	struct guess guess = { .wanted = name };

	for (size_t i = 0; i < c->hosts.nr_hosts; i++)
		guess_try(&guess, c->hosts.hosts[i].name);
	if (known && host_is_observer(known))
		find_mistake(c, path, "host '%s' is an observer, which runs no jobs", name);
	else if (inventory_has_group(c->sc->inventory, name))
		find_mistake(c, path, "group '%s' has only observers, which run no jobs", name);
	else if (!c->sc->nr_hosts && !c->sc->inventory)
		find_mistake(
			c, path,
			"no host '%s': the scenario has no hosts and runs on this one, 'local'",
			name);
	else if (guess.found)
		find_mistake(c, path, "no host '%s'; did you mean '%s'?", name, guess.found);
	else
		find_mistake(c, path, "no host '%s' among those of the run", name);
}

static void check_override(struct checker *c, const struct target *t,
			   const struct target_override *o)
{
	_cleanup_free_ char *path = xasprintf("targets.%s.per_host.%s", t->name, o->host);

	/* A scenario names all its hosts; --hosts may run it on some of them. */
	if (c->hosts_good && !c->changes->nr_hosts && !host_known(c, o->host))
		find_unknown_host(c, path, o->host);
	if (target_kind(t) == TARGET_SIMULATED)
		find_mistake(c, path, "a simulated target is the same on all hosts");
	else if (o->device && !t->device)
		find_mistake(c, path, "the target is a file, not a device");
	else if ((o->file || o->size) && !t->file)
		find_mistake(c, path, "the target is a device, not a file");
	if (o->device && o->device[0] != '/')
		find_mistake(c, path, "'%s' is no absolute path; did you mean '/dev/%s'?",
			     o->device, o->device);
}

static void check_simulated(struct checker *c, const struct target *t)
{
	const struct simulated *sim = &t->simulated;
	_cleanup_free_ char *quantiles = xasprintf("targets.%s.simulated.quantiles", t->name);
	_cleanup_free_ char *stall = xasprintf("targets.%s.simulated.stall", t->name);
	_cleanup_(error_destroy) struct error *err = NULL;
	struct latency_curve curve;

	if (sim->stall.at_ns && !sim->stall.for_ns)
		find_mistake(c, stall,
			     "at does nothing without for; say how long the device stands still");
	if (!sim->nr_quantiles)
		return;
	err = latency_curve_init(&curve, sim->quantiles, sim->nr_quantiles);
	if (err)
		find_mistake(c, quantiles, "%s", error_message(err));
	if (schema_is_set(&simulated_schema, sim, "latency"))
		find_mistake(c, quantiles,
			     "latency says already what each I/O takes; leave one of them out");
}

static void check_target(struct checker *c, const struct target *t)
{
	_cleanup_free_ char *path = xasprintf("targets.%s", t->name);
	_cleanup_free_ char *device = xasprintf("%s.device", path);
	_cleanup_free_ char *size = xasprintf("%s.size", path);
	bool simulated = schema_is_set(&target_schema, t, "simulated");
	static const char *const kind_keys[] = { "device", "file", "simulated" };
	int kinds = (t->device != NULL) + (t->file != NULL) + simulated;

	check_safe_name(c, path, t->name);
	for (size_t i = 0; i < array_size(kind_keys); i++)
		if (!target_key_sure(c, t, kind_keys[i]))
			return;
	if (kinds != 1) {
		find_mistake(c, path, "needs exactly one of device, file, simulated%s",
			     kinds ? "" : "; it has none");
		return;
	}
	if (t->device && t->device[0] != '/')
		find_mistake(c, device, "'%s' is no absolute path; did you mean '/dev/%s'?",
			     t->device, t->device);
	if (t->file && !t->size && target_key_sure(c, t, "size"))
		find_mistake(c, path, "a file needs a size; set size: 1GiB or so");
	if (!t->file && t->size)
		find_mistake(c, size,
			     "is for files; use the jobs' size to use a part of the target");
	if (simulated)
		check_simulated(c, t);
	for (size_t i = 0; i < t->nr_per_host; i++)
		check_override(c, t, &t->per_host[i]);
}

/* Two names for one device would go around the rules for sharing it. */
static void check_same_path(struct checker *c, size_t first, size_t second)
{
	const struct target *a = &c->sc->targets[first], *b = &c->sc->targets[second];

	for (size_t i = 0; i < c->hosts.nr_hosts; i++) {
		const char *host = c->hosts.hosts[i].name;
		const char *pa = target_path(a, host), *pb = target_path(b, host);
		_cleanup_free_ char *path = xasprintf("targets.%s", b->name);

		if (!pa || !pb || (i > 0 && !a->nr_per_host && !b->nr_per_host))
			return;
		if (!streq(pa, pb))
			continue;
		find_mistake(c, path, "%s is target '%s' already; name that one in the jobs", pb,
			     a->name);
		return;
	}
}

static void check_targets(struct checker *c)
{
	for (size_t i = 0; i < c->sc->nr_targets; i++) {
		check_target(c, &c->sc->targets[i]);
		for (size_t k = 0; k < i; k++)
			check_same_path(c, k, i);
	}
}

/* --- sweep ---------------------------------------------------------------------------------------- */

static void find_unknown_axis(struct checker *c, const char *path, const char *key)
{
	struct guess guess = { .wanted = key };

	for (const struct field *f = job_schema.fields; f->name; f++)
		guess_try(&guess, f->name);
	if (guess.found)
		find_mistake(c, path, "unknown key '%s'; did you mean '%s'?", key, guess.found);
	else
		find_mistake(c, path, "unknown key '%s': only keys of jobs can be swept", key);
}

static void check_axis_value(struct checker *c, const struct sweep_axis *axis, size_t i)
{
	_cleanup_free_ char *path = xasprintf("sweep.%s[%zu]", axis->key, i);
	struct job scratch;
	struct error *err;

	schema_init(&job_schema, &scratch);
	err = schema_set(&job_schema, &scratch, axis->key, axis->values[i]);
	schema_fini(&job_schema, &scratch);
	if (err) {
		const char *what = error_message(err);
		size_t len = strlen(axis->key);

		/* The path says already which key it is. */
		if (str_starts(what, axis->key) && str_starts(what + len, ": "))
			what += len + 2;
		find_mistake(c, path, "%s", what);
		error_destroy(&err);
		c->sweep_good = false;
	}
	for (size_t k = 0; k < i; k++)
		if (streq(axis->values[k], axis->values[i])) {
			find_mistake(c, path, "'%s' is in the list already", axis->values[i]);
			return;
		}
}

static void check_sweep(struct checker *c)
{
	struct scenario *sc = c->sc;

	c->sweep_good = !schema_positions_wrong(c->known, "sweep");
	for (size_t i = 0; i < sc->nr_sweep; i++) {
		const struct sweep_axis *axis = &sc->sweep[i];
		_cleanup_free_ char *path = xasprintf("sweep.%s", axis->key);

		if (!axis->nr_values) {
			c->sweep_good = false;
		} else if (streq(axis->key, "name") || streq(axis->key, "group")) {
			find_mistake(c, path, "names cannot be swept");
			c->sweep_good = false;
		} else if (!schema_field(&job_schema, axis->key)) {
			find_unknown_axis(c, path, axis->key);
			c->sweep_good = false;
		} else {
			for (size_t k = 0; k < axis->nr_values; k++)
				check_axis_value(c, axis, k);
		}
	}
	if (!c->sweep_good)
		return;
	c->nr_points = scenario_points(sc);
	if (c->nr_points > MAX_POINTS) {
		find_mistake(c, "sweep", "has more than %llu points", MAX_POINTS);
		c->sweep_good = false;
	} else if (c->nr_points * sc->repeat * (sc->nr_phases ? sc->nr_phases : 1) > MAX_STEPS) {
		find_mistake(c, "repeat", "points x repeats x phases are more than %llu",
			     MAX_STEPS);
	}
}

/* --- phases and jobs ------------------------------------------------------------------------------- */

static void check_job_names(struct checker *c, size_t p, size_t i)
{
	const struct phase *phase = &c->sc->phases[p];
	const struct job *job = &phase->jobs[i];
	_cleanup_free_ char *path = job_path(c, p, i, NULL), *name = job_path(c, p, i, "name");
	_cleanup_free_ char *group = job_path(c, p, i, "group");

	if (!job->name && job_key_sure(c, p, i, "name"))
		find_mistake(c, path, "missing key 'name' (Name of the job in the report)");
	for (size_t k = 0; job->name && k < i; k++)
		if (phase->jobs[k].name && streq(phase->jobs[k].name, job->name)) {
			find_mistake(c, name, "another job of the phase has the name '%s' already",
				     job->name);
			break;
		}
	if (job->name)
		check_plain_name(c, name, job->name);
	if (job->group && streq(job->group, "all"))
		find_mistake(c, group, "'all' is the group of all threads; choose another name");
	else if (job->group && strchr(job->group, ':'))
		find_mistake(c, group, "'%s' has a ':', which ends a group's name in checks",
			     job->group);
	else if (job->group)
		check_plain_name(c, group, job->group);
}

static void check_structure(struct checker *c)
{
	struct scenario *sc = c->sc;
	bool measured = false;

	if (sc->name)
		check_safe_name(c, "name", sc->name);
	for (size_t i = 0; i < sc->nr_labels; i++)
		check_plain_name(c, "labels", sc->labels[i].key);
	if (sc->nr_jobs && sc->nr_phases)
		find_mistake(c, "phases", "give either jobs or phases, not both");
	if (!sc->nr_phases && !schema_positions_wrong(c->known, "jobs") &&
	    !schema_positions_wrong(c->known, "phases"))
		find_mistake(c, "jobs",
			     "there are neither jobs nor phases; list what to run under jobs");
	for (size_t p = 0; p < sc->nr_phases; p++) {
		const struct phase *phase = &sc->phases[p];
		_cleanup_free_ char *path = xasprintf("phases[%zu].name", p);

		measured |= phase->measured;
		if (phase->name)
			check_plain_name(c, path, phase->name);
		for (size_t k = 0; phase->name && k < p; k++)
			if (sc->phases[k].name && streq(sc->phases[k].name, phase->name))
				find_mistake(c, path, "another phase has the name '%s' already",
					     phase->name);
		for (size_t i = 0; i < phase->nr_jobs; i++)
			check_job_names(c, p, i);
	}
	if (sc->nr_phases && !measured)
		find_mistake(c, "phases", "no phase is measured; remove measured: false from one");
}

static void find_unknown_target(struct checker *c, const char *path, const char *name)
{
	struct guess guess = { .wanted = name };

	for (size_t i = 0; i < c->sc->nr_targets; i++)
		guess_try(&guess, c->sc->targets[i].name);
	if (guess.found)
		find_mistake(c, path, "no target '%s'; did you mean '%s'?", name, guess.found);
	else
		find_mistake(c, path, "no target '%s' under targets", name);
}

static bool listed_before(char *const *list, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (streq(list[k], list[i]))
			return true;
	return false;
}

/* Takes entry k out of a list of texts. */
static void drop_entry(char **list, size_t *nr, size_t k)
{
	free(list[k]);
	(*nr)--;
	memmove(list + k, list + k + 1, (*nr - k) * sizeof(*list));
}

/* Targets and hosts that are not there are told and taken out, so that the other rules can go on. False when
 * it is not known any more where the job runs. */
static bool check_references(struct checker *c, size_t p, size_t i, struct job *job)
{
	_cleanup_free_ char *path = job_path(c, p, i, NULL), *hosts = job_path(c, p, i, "hosts");
	_cleanup_free_ char *target = job_path(c, p, i, "target");
	bool good = c->hosts_good;

	if (!job->nr_target && job_key_sure(c, p, i, "target"))
		find_mistake(c, path, "missing key 'target' (The target that the job works on)");
	for (size_t k = 0; k < job->nr_target;) {
		if (!scenario_target(c->sc, job->target[k])) {
			find_unknown_target(c, target, job->target[k]);
		} else if (listed_before(job->target, k)) {
			find_mistake(c, target, "'%s' is in the list already", job->target[k]);
		} else {
			k++;
			continue;
		}
		drop_entry(job->target, &job->nr_target, k);
	}
	for (size_t k = 0; k < job->nr_hosts;) {
		if (c->hosts_good && !host_known(c, job->hosts[k])) {
			find_unknown_host(c, hosts, job->hosts[k]);
		} else if (c->hosts_good && listed_before(job->hosts, k)) {
			find_mistake(c, hosts, "'%s' is in the list already", job->hosts[k]);
		} else if (c->hosts_good) {
			k++;
			continue;
		}
		drop_entry(job->hosts, &job->nr_hosts, k);
		good = false;
	}
	return good;
}

/* Checks one phase with the values of c->point. */
static void check_phase(struct checker *c, size_t p)
{
	const struct phase *phase = &c->sc->phases[p];
	struct phase_at ph = {
		.index = p,
		.jobs = xcalloc(phase->nr_jobs, sizeof(*ph.jobs)),
		.nr_jobs = phase->nr_jobs,
	};
	bool complete = true;

	for (size_t i = 0; i < phase->nr_jobs; i++) {
		struct job *job = &ph.jobs[i];

		if (c->at_points)
			scenario_job_at(c->sc, phase, &phase->jobs[i], c->point, job);
		else
			schema_copy(&job_schema, job, &phase->jobs[i]);
		complete &= check_references(c, p, i, job);
		check_job(c, &ph, i);
	}
	if (complete)
		check_sharing(c, &ph);
	for (size_t i = 0; i < ph.nr_jobs; i++)
		schema_fini(&job_schema, &ph.jobs[i]);
	free(ph.jobs);
}

static void check_phases(struct checker *c)
{
	for (size_t p = 0; p < c->sc->nr_phases; p++) {
		c->at_points = c->sc->phases[p].measured && c->sc->nr_sweep && c->sweep_good;
		for (c->point = 0; c->point < (c->at_points ? c->nr_points : 1); c->point++)
			check_phase(c, p);
		c->at_points = false;
		c->point = 0;
	}
}

struct error *scenario_check(struct scenario *sc, const struct scenario_changes *changes,
			     const struct schema_positions *known)
{
	struct checker c = { .sc = sc, .changes = changes, .known = known, .nr_points = 1 };
	struct error *errors;

	check_hosts(&c);
	check_targets(&c);
	check_sweep(&c);
	check_structure(&c);
	check_phases(&c);
	check_checks(&c);
	errors = take_findings(&c);
	hostlist_fini(&c.hosts);
	return errors;
}
