/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/inventory.h"

#include <inttypes.h>

void scenario_unset(const struct schema *s, void *obj, const char *name)
{
	struct fieldset *set = (struct fieldset *)((char *)obj + s->set_offset);
	size_t index = (size_t)(schema_field(s, name) - s->fields);

	set->bits[index / 64] &= ~(1ull << index % 64);
}

static void set_text(struct job *job, const char *key, const char *text)
{
	struct error *err = schema_set(&job_schema, job, key, text);

	assert(!err); /* these are values of our own */
}

void job_set_seed(struct job *job, uint64_t seed)
{
	char text[32];

	if (schema_is_set(&job_schema, job, "randseed"))
		return;
	snprintf(text, sizeof(text), "%" PRIu64, seed);
	set_text(job, "randseed", text);
}

void job_set_direct(struct job *job, bool direct)
{
	set_text(job, "direct", direct ? "true" : "false");
}

/* direct, where all of the job's targets have the same default at all points. */
static void resolve_direct(const struct scenario *sc, struct job *job)
{
	bool first = target_direct(scenario_target(sc, job->target[0]), job);

	for (size_t i = 0; i < sc->nr_sweep; i++)
		if (streq(sc->sweep[i].key, "engine"))
			return;
	for (size_t i = 1; i < job->nr_target; i++)
		if (target_direct(scenario_target(sc, job->target[i]), job) != first)
			return;
	job_set_direct(job, first);
}

/* Groups of the inventory, and all of it where no hosts are named, become the names of its hosts. */
static void resolve_hosts(const struct scenario *sc, struct scenario *copy)
{
	_cleanup_(hostlist_fini) struct hostlist hosts = { 0 };
	_cleanup_free_ const char **names = NULL;
	struct error *err = scenario_hosts(sc, &hosts);

	assert(!err); /* it was expanded when the scenario was loaded */
	names = xcalloc(hosts.nr_hosts, sizeof(*names));
	for (size_t i = 0; i < hosts.nr_hosts; i++)
		names[i] = hosts.hosts[i].entry ? hosts.hosts[i].name : hosts.hosts[i].address;
	for (size_t i = 0; i < copy->nr_hosts; i++)
		free(copy->hosts[i]);
	copy->hosts = xrealloc(copy->hosts, 1, sizeof(*copy->hosts));
	copy->hosts[0] = hostlist_fold(names, hosts.nr_hosts);
	copy->nr_hosts = 1;
}

void scenario_print(const struct scenario *sc, uint64_t seed, FILE *out)
{
	struct scenario copy;

	schema_copy(&scenario_schema, &copy, sc);
	if (sc->inventory)
		resolve_hosts(sc, &copy);
	for (size_t p = 0; p < copy.nr_phases; p++)
		for (size_t i = 0; i < copy.phases[p].nr_jobs; i++) {
			job_set_seed(&copy.phases[p].jobs[i], seed);
			resolve_direct(sc, &copy.phases[p].jobs[i]);
		}
	schema_fini(&job_schema, &copy.defaults); /* they are in the jobs */
	schema_init(&job_schema, &copy.defaults);
	scenario_unset(&scenario_schema, &copy, "defaults");
	if (sc->one_phase) {
		copy.jobs = take_ptr(copy.phases[0].jobs);
		copy.nr_jobs = copy.phases[0].nr_jobs;
		free(copy.phases[0].name);
		freep(&copy.phases);
		copy.nr_phases = 0;
	}
	schema_print_yaml(&scenario_schema, &copy, out);
	schema_fini(&scenario_schema, &copy);
}
