/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/rebuild.h"

#include "coordinator/archive/samples.h"
#include "coordinator/archive/samples_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sys/file.h>
#include <unistd.h>

struct builder {
	const char *dir;
	struct rebuilt to;
	struct samples_reader reader;
	char *run_id;
	size_t step; /* the one at hand */
	bool is_running;
	uint64_t nr_steps, nr_samples;
};

static void entry_fini(struct inventory_host *entry)
{
	for (size_t i = 0; i < entry->nr_labels; i++) {
		free(entry->labels[i].key);
		free(entry->labels[i].value);
	}
	free(entry->labels);
}

void rebuilt_fini(struct rebuilt *r)
{
	collector_destroy(&r->collector);
	plan_destroy(&r->plan);
	scenario_destroy(&r->scenario);
	for (size_t i = 0; i < r->nr_entries; i++)
		entry_fini(&r->entries[i]);
	free(r->entries);
	*r = (struct rebuilt) { 0 };
}

static void builder_fini(struct builder *b)
{
	rebuilt_fini(&b->to);
	samples_reader_fini(&b->reader);
	if (b->reader.in)
		fclose(b->reader.in);
	free(b->run_id);
}

static struct error *mismatch(const struct builder *b, const char *what)
{
	return error_new(ERR_CONFIG, "%s: record %" PRIu64 ": %s", b->reader.name, b->reader.nr,
			 what);
}

/* --- the header: hosts, and from them the plan ---------------------------------------------------------- */

static void texts_free(char **texts, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(texts[i]);
	free(texts);
}

/* What the inventory said of the i-th host. */
static void take_entry(const struct record *rec, size_t i, struct host *host,
		       struct inventory_host *entry)
{
	_cleanup_free_ char *role = NULL;
	struct token_reader list, about, labels;
	struct text_pair *pairs;

	if (!record_find(&rec->map, "about", &list) || !record_element(&list, i, &about))
		return;
	host->address = record_text(&about, "address");
	host->entry = entry;
	role = record_text(&about, "role");
	entry->role = role && streq(role, "observer") ? ROLE_OBSERVER : ROLE_INITIATOR;
	if (!record_find(&about, "labels", &labels))
		return;
	record_pairs(&labels, &pairs, &entry->nr_labels);
	entry->labels = xcalloc(entry->nr_labels, sizeof(*entry->labels));
	for (size_t k = 0; k < entry->nr_labels; k++)
		entry->labels[k] = (struct label) { pairs[k].key, pairs[k].value };
	free(pairs);
}

static struct error *take_hosts(struct builder *b, const struct record *rec, struct hostlist *ret)
{
	char **names = NULL;
	size_t nr = 0;
	bool good = record_texts(&rec->map, "hosts", &names, &nr) && nr && nr <= HOSTLIST_MAX;

	if (good) {
		b->to.entries = xcalloc(nr, sizeof(*b->to.entries));
		b->to.nr_entries = nr;
		ret->hosts = xcalloc(nr, sizeof(*ret->hosts));
		ret->nr_hosts = nr;
	}
	for (size_t i = 0; good && i < nr; i++) {
		ret->hosts[i].name = take_ptr(names[i]);
		take_entry(rec, i, &ret->hosts[i], &b->to.entries[i]);
	}
	texts_free(names, nr);
	return good ? NULL : mismatch(b, "names no hosts");
}

static void take_environments(struct builder *b, const struct record *rec)
{
	struct token_reader list, about, map;

	if (!record_find(&rec->map, "about", &list))
		return;
	for (size_t i = 0; i < b->to.plan->hosts.nr_hosts; i++) {
		struct msg_welcome w = { 0 };
		struct text_pair *pairs;

		if (!record_element(&list, i, &about) || !record_find(&about, "environment", &map))
			return;
		record_pairs(&map, &pairs, &w.nr_facts);
		w.facts = xcalloc(w.nr_facts, sizeof(*w.facts));
		for (size_t k = 0; k < w.nr_facts; k++)
			w.facts[k] = (struct fact) { pairs[k].key, pairs[k].value };
		collector_host_facts(b->to.collector, i, &w);
		for (size_t k = 0; k < w.nr_facts; k++) {
			free(pairs[k].key);
			free(pairs[k].value);
		}
		free(pairs);
		free(w.facts);
	}
}

/* The resolved scenario names observers like all hosts; without the inventory they would be taken for hosts that
 * run jobs, for which other rules hold. */
static struct error *load_scenario(struct builder *b, const struct hostlist *hosts)
{
	_cleanup_free_ char *yaml = xasprintf("%s/scenario.yaml", b->dir);
	_cleanup_free_ char **names = xcalloc(hosts->nr_hosts, sizeof(*names));
	struct scenario_changes changes = { .hosts = names };

	for (size_t i = 0; i < hosts->nr_hosts; i++)
		if (!host_is_observer(&hosts->hosts[i]))
			names[changes.nr_hosts++] = hosts->hosts[i].name;
	if (changes.nr_hosts == hosts->nr_hosts)
		changes.nr_hosts = 0;
	return scenario_load_changed(yaml, &changes, &b->to.scenario);
}

static struct error *take_header(struct builder *b, const struct record *rec)
{
	_cleanup_free_ char *version = NULL;
	_cleanup_(hostlist_fini) struct hostlist hosts = { 0 };
	uint64_t format = 0;
	struct error *err;

	if (rec->type != RECORD_HEADER || !record_count(&rec->map, "format", &format))
		return mismatch(b, "is no header: this is no file of samples");
	if (format != SAMPLES_FORMAT)
		return error_new(ERR_CONFIG,
				 "%s: has format %" PRIu64 ", and this program reads format %d",
				 b->reader.name, format, SAMPLES_FORMAT);
	b->run_id = record_text(&rec->map, "run");
	version = record_text(&rec->map, "version");
	if (!b->run_id || !version)
		return mismatch(b, "names no run");
	err = take_hosts(b, rec, &hosts);
	if (!err)
		err = load_scenario(b, &hosts);
	if (!err)
		err = plan_new(b->to.scenario, &hosts, b->run_id, 0, &b->to.plan);
	if (err)
		return err;
	b->to.collector = collector_new(b->to.plan, b->run_id, version);
	take_environments(b, rec);
	for (size_t i = 0; i < b->to.scenario->nr_warnings; i++)
		collector_warn(b->to.collector, NULL, NULL, b->to.scenario->warnings[i]);
	return NULL;
}

/* --- steps and messages --------------------------------------------------------------------------------- */

static bool text_is(const struct token_reader *map, const char *key, const char *want)
{
	_cleanup_free_ char *text = record_text(map, key);

	return text && streq(text, want);
}

/* Are the members that the samples will speak of those of the plan? */
static bool same_members(const struct assignment *work, const struct token_reader *list)
{
	struct token_reader one;
	size_t nr = 0;

	for (; record_element(list, nr, &one); nr++) {
		const struct work_member *m = work ? &work->members[nr] : NULL;

		if (!work || nr >= work->nr_members || !text_is(&one, "job", m->job.name) ||
		    !text_is(&one, "target", work->targets[m->target].name))
			return false;
	}
	return nr == (work ? work->nr_members : 0);
}

static bool is_of_plan(const struct builder *b, const struct record *rec)
{
	const struct plan *plan = b->to.plan;
	struct token_reader members, one;

	if (rec->step >= plan->nr_steps || !record_find(&rec->map, "members", &members))
		return false;
	for (size_t i = 0; i < plan->hosts.nr_hosts; i++)
		if (!record_element(&members, i, &one) ||
		    !same_members(plan->steps[rec->step].hosts[i], &one))
			return false;
	return true;
}

static void take_clocks(struct builder *b, const struct record *rec)
{
	struct token_reader list, one;

	if (!record_find(&rec->map, "clocks", &list))
		return;
	for (size_t i = 0; i < b->to.plan->hosts.nr_hosts; i++) {
		uint64_t error_ns;
		int64_t offset_ns;

		if (record_element(&list, i, &one) &&
		    record_integer(&one, "offset_ns", &offset_ns) &&
		    record_count(&one, "error_ns", &error_ns))
			collector_clock(b->to.collector, i, offset_ns, error_ns, NAN);
	}
}

static struct error *take_step(struct builder *b, const struct record *rec)
{
	uint64_t start_ns;

	if (!is_of_plan(b, rec) || !record_count(&rec->map, "start_ns", &start_ns))
		return mismatch(b, "its step is none of scenario.yaml's; the files are not of one "
				   "run");
	if (b->is_running)
		collector_end(b->to.collector);
	take_clocks(b, rec);
	collector_begin(b->to.collector, rec->step, start_ns);
	b->step = rec->step;
	b->is_running = true;
	b->nr_steps++;
	return NULL;
}

static struct error *take_message(struct builder *b, const struct record *rec)
{
	enum message_type want = rec->type == RECORD_SAMPLE ? MSG_SAMPLE : MSG_DONE;
	struct message m = { 0 };
	struct error *err;

	if (!b->is_running || rec->step != b->step || rec->host >= b->to.plan->hosts.nr_hosts)
		return mismatch(b, "is of no step that runs");
	err = message_decode(rec->message, rec->message_len, &m);
	if (!err && m.type != want)
		err = error_new(ERR_CONFIG, "is another message");
	else if (!err)
		err = want == MSG_SAMPLE ? collector_sample(b->to.collector, rec->host, &m.sample)
					 : collector_done(b->to.collector, rec->host, &m.done);
	message_fini(&m);
	if (!err) {
		b->nr_samples++;
		return NULL;
	}
	err = error_context(err, "%s: record %" PRIu64, b->reader.name, b->reader.nr);
	return err;
}

static struct error *take_records(struct builder *b)
{
	struct error *err = NULL;
	struct record rec;
	bool end = false;

	while (!err) {
		err = samples_next(&b->reader, &rec, &end);
		if (err || end)
			break;
		if (!b->to.collector)
			err = take_header(b, &rec);
		else if (rec.type == RECORD_STEP)
			err = take_step(b, &rec);
		else if (rec.type == RECORD_SAMPLE || rec.type == RECORD_TOTALS)
			err = take_message(b, &rec);
	}
	if (!err && !b->to.collector)
		err = error_new(ERR_CONFIG, "%s: holds no whole record", b->reader.name);
	return err;
}

/* --- the end ---------------------------------------------------------------------------------------------- */

/* The run holds a lock on its directory as long as it lives. */
static bool is_still_running(const char *dir)
{
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* "20260131T115959Z-0123abcd" is when the run was made; NULL when the id is of another form. */
static char *started_text(const char *id)
{
	static const char form[] = "dddddddd-dddddd-";

	for (size_t i = 0; form[i]; i++)
		if (form[i] == 'd' ? id[i] < '0' || id[i] > '9' : id[i] != (i == 8 ? 'T' : 'Z'))
			return NULL;
	return xasprintf("%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", id, id + 4, id + 6, id + 9, id + 11,
			 id + 13);
}

static void warn(struct builder *b)
{
	bool running = is_still_running(b->dir);
	_cleanup_free_ char *text = xasprintf(
		"%s: the numbers are added up from %" PRIu64 " of %zu steps in %s%s; of hosts that "
		"had not sent their totals they reach to the last interval, without CPU times",
		running ? "the run is still going on" : "the run was not brought to its end",
		b->nr_steps, b->to.plan->nr_steps, SAMPLES_NAME,
		b->reader.was_cut ? ", whose last record is cut" : "");

	if (running)
		collector_warn(b->to.collector, NULL, NULL, text);
	else
		collector_fault(b->to.collector, NULL, NULL, text);
}

static const struct result *finish(struct builder *b)
{
	_cleanup_free_ char *started = started_text(b->run_id);
	struct error *failed;

	if (b->is_running)
		collector_abandon(b->to.collector);
	warn(b);
	failed = collector_check(b->to.collector); /* the result holds them */
	error_destroy(&failed);
	return collector_finish(b->to.collector, RUN_PARTIAL, -1, started, NULL);
}

struct error *rebuild(const char *dir, struct rebuilt *ret)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, SAMPLES_NAME);
	_cleanup_(builder_fini) struct builder b = { .dir = dir, .reader = { .name = path } };
	struct error *err;

	b.reader.in = fopen(path, "re");
	if (!b.reader.in)
		return error_new(ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
	err = take_records(&b);
	if (err)
		return err;
	b.to.result = finish(&b);
	*ret = b.to;
	b.to = (struct rebuilt) { 0 };
	return NULL;
}
