/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_checks.c - the rules of `checks`: metrics, groups and units that there are. */
#include "common/model/check.h"
#include "common/model/scenario_impl.h"

/* What jobs do in the measured phases, at any point. */
struct doings {
	bool reads, writes, has_sync_keys;
};

static void add_rw(struct doings *d, const struct job *job)
{
	d->reads |= job_reads(job);
	d->writes |= job_writes(job);
}

static void add_job(struct doings *d, const struct scenario *sc, const struct job *job)
{
	bool rw_is_swept = false;

	d->has_sync_keys |= job->fsync || job->fdatasync || job->end_fsync;
	for (size_t axis = 0; axis < sc->nr_sweep; axis++)
		for (size_t i = 0; i < sc->sweep[axis].nr_values; i++) {
			const char *key = sc->sweep[axis].key;
			struct job at;
			struct error *err;

			schema_copy(&job_schema, &at, job);
			err = schema_set(&job_schema, &at, key, sc->sweep[axis].values[i]);
			error_destroy(&err); /* the rules of the sweep tell */
			d->has_sync_keys |= at.fsync || at.fdatasync || at.end_fsync;
			if (streq(key, "rw")) {
				rw_is_swept = true;
				add_rw(d, &at);
			}
			schema_fini(&job_schema, &at);
		}
	if (!rw_is_swept)
		add_rw(d, job);
}

static struct doings find_doings(const struct scenario *sc, const char *group)
{
	struct doings d = { 0 };

	for (size_t p = 0; p < sc->nr_phases; p++) {
		const struct phase *ph = &sc->phases[p];

		for (size_t i = 0; ph->measured && i < ph->nr_jobs; i++) {
			const char *own = ph->jobs[i].group;

			if (!group || (own && streq(own, group)))
				add_job(&d, sc, &ph->jobs[i]);
		}
	}
	return d;
}

/* A number of a direction that no job has is skipped everywhere, which nobody means. */
static void check_direction(struct checker *c, const char *path, const struct check *check)
{
	struct doings d;
	bool has = true;

	if (check->path.direction < 0 || !c->sweep_good)
		return;
	d = find_doings(c->sc, check->group);
	switch ((enum direction)check->path.direction) {
	case DIR_READ:
		has = d.reads;
		break;
	case DIR_WRITE:
		has = d.writes;
		break;
	case DIR_SYNC:
		has = d.writes && d.has_sync_keys;
		break;
	case DIR_TRIM:
		has = false;
		break;
	case DIR_COUNT:
		break;
	}
	if (!has)
		find_warning(c, path,
			     "'%s' is not measured in any phase: the check will be skipped",
			     check->metric);
}

static void check_group(struct checker *c, const char *path, const char *name)
{
	struct guess guess = { .wanted = name };
	bool unmeasured = false;

	guess_try(&guess, "all");
	for (size_t p = 0; p < c->sc->nr_phases; p++)
		for (size_t i = 0; i < c->sc->phases[p].nr_jobs; i++) {
			const char *group = c->sc->phases[p].jobs[i].group;

			if (!group)
				continue;
			if (streq(group, name) && c->sc->phases[p].measured)
				return;
			unmeasured |= streq(group, name);
			guess_try(&guess, group);
		}
	if (unmeasured)
		find_mistake(c, path, "group '%s' is only in phases that are not measured", name);
	else if (guess.found)
		find_mistake(c, path, "no group '%s'; did you mean '%s'?", name, guess.found);
	else
		find_mistake(c, path, "no group '%s'; a job gets into one by group: %s", name,
			     name);
}

void check_checks(struct checker *c)
{
	for (size_t i = 0; i < c->sc->nr_checks; i++) {
		_cleanup_free_ char *path = xasprintf("checks[%zu]", i);
		_cleanup_(check_fini) struct check check = { 0 };
		struct error *err;

		if (schema_positions_wrong(c->known, path))
			continue;
		err = check_parse(c->sc->checks[i], &check);
		if (err) {
			find_mistake(c, path, "%s", error_message(err));
			error_destroy(&err);
			continue;
		}
		if (check.group)
			check_group(c, path, check.group);
		check_direction(c, path, &check);
	}
}
