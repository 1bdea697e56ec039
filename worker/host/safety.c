/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/safety.h"

#include "common/base/str.h"
#include "common/base/units.h"
#include "worker/host/reservation.h"
#include "worker/host/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* What a rule on the opened descriptor looks at. */
struct opened {
	const struct subject *s;
	int fd;
	const struct verdict *v;
};

/* UNGUARDED: impossible while we hold the device O_EXCL, as the kernel's own users of devices all do. */
enum { ON_DEVICE = 1, ON_FILE = 2, FOR_READ = 4, FOR_WRITE = 8, UNGUARDED = 16 };

struct rule {
	unsigned applies;
	/* exactly one of these */
	void (*permission)(const struct subject *s, struct findings *found);
	void (*use)(const struct used *u,
		    struct findings *found); /* of it, its partitions, its disk */
	void (*content)(const struct opened *o, struct findings *found);
};

static bool any_name_matches(const struct subject *s, char *const *patterns, size_t nr)
{
	struct names names = { 0 };
	bool match;

	if (s->dev)
		names = block_device_names(s->root, s->dev);
	else
		names_add(&names, s->path);
	match = rules_match(patterns, nr, names.names, names.nr, s->dev ? s->dev->identity : NULL);
	names_fini(&names);
	return match;
}

static void not_listed(const struct subject *s, const char *list, struct findings *found)
{
	const char *identity = s->dev ? s->dev->identity : NULL;

	findings_add(found, ERR_REFUSED, xasprintf("not in this worker's allow.%s", list),
		     xasprintf("its owner may add '%s'%s%s%s to it in worker.yaml",
			       s->dev ? s->dev->node : s->path, identity ? " or 'wwn:" : "",
			       identity ? identity : "", identity ? "'" : ""));
}

static void rule_readable(const struct subject *s, struct findings *found)
{
	if (s->rules->below || any_name_matches(s, s->rules->read, s->rules->nr_read))
		return;
	not_listed(s, "read", found);
}

static bool is_below(const char *path, const char *folder)
{
	_cleanup_free_ char *canonical = realpath(folder, NULL);
	size_t len;

	if (!canonical)
		return false;
	len = strlen(canonical);
	if (len > 0 && canonical[len - 1] == '/')
		len--;
	return strncmp(path, canonical, len) == 0 && path[len] == '/';
}

static void rule_writable(const struct subject *s, struct findings *found)
{
	if (any_name_matches(s, s->rules->write, s->rules->nr_write))
		return;
	if (!s->rules->below) {
		not_listed(s, "write", found);
		return;
	}
	/* The embedded worker writes to devices by their word, which another rule asks for. */
	if (s->dev || is_below(s->path, s->rules->below))
		return;
	findings_add(found, ERR_REFUSED,
		     xasprintf("not below the current folder %s", s->rules->below),
		     xstrdup("choose a file below it, or run a salvo-worker that allows this one"));
}

static void rule_system(const struct subject *s, struct findings *found)
{
	struct devnos system = system_devices(s->root);

	if (devnos_contain(&system, s->dev->rdev))
		findings_add(
			found, ERR_REFUSED,
			xstrdup("this host runs from it (/, /usr, /boot or the EFI partition)"),
			xstrdup("choose another device; no word in the scenario allows this"));
	devnos_fini(&system);
}

static void rule_read_only(const struct subject *s, struct findings *found)
{
	if (s->dev->read_only)
		findings_add(found, ERR_REFUSED, xstrdup("read-only"),
			     xstrdup("choose another device, or a job that only reads"));
}

static void rule_medium(const struct subject *s, struct findings *found)
{
	if (s->dev->size_bytes == 0)
		findings_add(found, ERR_REFUSED, xstrdup("has no medium (its size is 0)"),
			     xstrdup("set it up or choose another device"));
}

/* A device path with a typing error must not become a file that fills the memory behind /dev. */
static void rule_place(const struct subject *s, struct findings *found)
{
	static const char *const places[] = { "/dev/", "/proc/", "/sys/" };

	for (size_t i = 0; i < array_size(places); i++)
		if (str_starts(s->path, places[i]) && !str_starts(s->path, "/dev/shm/"))
			findings_add(found, ERR_REFUSED,
				     xasprintf("no place for a file (below %.*s)",
					       (int)strlen(places[i]) - 1, places[i]),
				     xstrdup("name an existing device with 'device:', or put the "
					     "file elsewhere"));
}

static void rule_foreign(const struct subject *s, struct findings *found)
{
	const struct work_target *t = s->target;

	if (!s->exists || s->ours || t->destroy != DESTROY_NO || t->destroy_uuid)
		return;
	if (t->unlink && !t->writes)
		findings_add(found, ERR_REFUSED,
			     xstrdup("was not made by Salvo, and unlink would remove it"),
			     xstrdup("leave unlink out, or name another file"));
	else if (t->writes)
		findings_add(found, ERR_REFUSED, xstrdup("exists and was not made by Salvo"),
			     xasprintf("to overwrite it write 'destroy: true' in target '%s', or "
				       "name another file",
				       t->name));
	else
		findings_add(
			found, ERR_REFUSED,
			xasprintf("was not made by Salvo and has only %llu of %llu bytes",
				  (unsigned long long)s->st.st_size, (unsigned long long)t->size),
			xasprintf("lower the size of target '%s', or name another file", t->name));
}

static void rule_space(const struct subject *s, struct findings *found)
{
	char need[UNITS_TEXT], avail[UNITS_TEXT];

	if (s->need <= s->free)
		return;
	units_human_bytes(need, (double)s->need);
	units_human_bytes(avail, (double)s->free);
	findings_add(found, ERR_REFUSED,
		     xasprintf("needs %s more, but its file system has only %s free", need, avail),
		     xasprintf("lower the size of target '%s' or make room", s->target->name));
}

/* Whatever the reason, and also in a mount namespace that cannot be seen: the kernel's own answer. */
static void rule_exclusive(const struct opened *o, struct findings *found)
{
	enum { TRIES = 5, PAUSE_MS = 30 };
	_cleanup_free_ char *path = xasprintf("%s/self/fd/%d", host_root_live.proc, o->fd);

	if (o->s->guarded || o->v->in_use) /* the reason is known and said */
		return;
	for (int i = 0; i < TRIES; i++) {
		_cleanup_close_ int fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC | O_NONBLOCK);

		if (fd >= 0 || errno != EBUSY)
			return;
		host_pause_ms(PAUSE_MS);
	}
	if (!o->v->in_use) /* else the reason is known and said */
		findings_add(
			found, ERR_REFUSED,
			xstrdup("in use: the kernel does not give it away exclusively (mounted "
				"out of sight, or held by a driver)"),
			xstrdup("stop its user or choose another device"));
}

static void rule_reserved(const struct opened *o, struct findings *found)
{
	unsigned nr = reservation_keys(o->fd, o->s->dev);

	if (nr > 0)
		findings_add(found, ERR_REFUSED,
			     xasprintf("used by a cluster (persistent-reservation keys: %u)", nr),
			     xstrdup("have the cluster give it up or choose another device"));
}

static void rule_esp(const struct opened *o, struct findings *found)
{
	for (size_t i = 0; i < o->v->signatures.nr; i++) {
		const struct signature *s = &o->v->signatures.list[i];
		_cleanup_free_ char *what = s->esp ? signature_text(s) : NULL;

		if (what)
			findings_add(found, ERR_REFUSED, xasprintf("holds %s", what),
				     xstrdup("choose another device; no word in the scenario "
					     "allows this"));
	}
}

static const struct signature *named_by(const struct signatures *list, const char *word)
{
	for (size_t i = 0; i < list->nr; i++)
		if (signature_is_named(&list->list[i], word))
			return &list->list[i];
	return NULL;
}

static char *all_signatures(const struct signatures *list)
{
	enum { SHOWN = 6 };
	char *text = xstrdup("holds ");

	for (size_t i = 0; i < list->nr && i < SHOWN; i++) {
		_cleanup_free_ char *one = signature_text(&list->list[i]);
		char *longer = xasprintf("%s%s%s", text, i ? " and " : "", one);

		free(text);
		text = longer;
	}
	if (list->nr > SHOWN) {
		char *longer = xasprintf("%s and %zu more", text, list->nr - SHOWN);

		free(text);
		text = longer;
	}
	return text;
}

/* How to name something alive: by itself, or, when there are several, by the table that they lie in. */
static const char *word_for(const struct signatures *list, const struct signature *s)
{
	size_t nr_alive = 0;

	for (size_t i = 0; i < list->nr; i++)
		nr_alive += list->list[i].alive != NULL;
	for (size_t i = 0; i < list->nr && nr_alive > 1 && s->partition; i++)
		if (!list->list[i].partition && list->list[i].uuid)
			return list->list[i].uuid;
	return signature_word(s);
}

/* Returns how many signatures look alive and are not named by the scenario. */
static size_t note_alive(const struct opened *o, const struct signature *named,
			 struct findings *found)
{
	const struct signatures *list = &o->v->signatures;
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		const struct signature *s = &list->list[i];
		_cleanup_free_ char *what = NULL;

		/* In use on this host: that is why it looks alive, and is refused by itself. */
		if (!s->alive || o->v->in_use || s == named ||
		    (named && !named->partition && s->partition))
			continue;
		nr++;
		what = signature_text(s);
		findings_add(found, ERR_REFUSED,
			     xasprintf("holds %s, and %s: somebody may be using it, also on "
				       "another host",
				       what, s->alive),
			     xasprintf("if nobody does, write 'destroy: {uuid: %s}' in target '%s'",
				       word_for(list, s), o->s->target->name));
	}
	return nr;
}

static void rule_content(const struct opened *o, struct findings *found)
{
	const struct work_target *t = o->s->target;
	const struct signatures *list = &o->v->signatures;
	const char *word = t->destroy_uuid && *t->destroy_uuid ? t->destroy_uuid : NULL;
	const struct signature *named = named_by(list, word);

	if (t->destroy == DESTROY_NO && !word) {
		findings_add(found, ERR_CONFIG,
			     list->nr ? all_signatures(list)
				      : xstrdup("a job writes to it, which destroys what it holds"),
			     xasprintf("to allow that write 'destroy: %s' in target '%s'",
				       list->nr ? "force" : "true", t->name));
		return;
	}
	if (list->nr == 0 || note_alive(o, named, found) > 0)
		return;
	if (word && !named) {
		_cleanup_free_ char *holds = all_signatures(list);

		findings_add(found, ERR_REFUSED,
			     xasprintf("%s, but the scenario's destroy names '%s'", holds, word),
			     xasprintf("look whether this is the right device; then write "
				       "'destroy: {uuid: %s}' in target '%s'",
				       signature_word(&list->list[0]), t->name));
	} else if (!word && t->destroy != DESTROY_FORCE) {
		findings_add(
			found, ERR_REFUSED, all_signatures(list),
			xasprintf("to destroy it write 'destroy: force' in target '%s'", t->name));
	}
}

/* clang-format off */
static const struct rule rules[] = {
	{ ON_DEVICE | ON_FILE | FOR_READ,               .permission = rule_readable },
	{ ON_DEVICE | ON_FILE | FOR_WRITE,              .permission = rule_writable },
	{ ON_DEVICE | FOR_WRITE,                        .permission = rule_system },
	{ ON_DEVICE | FOR_READ | FOR_WRITE,             .permission = rule_medium },
	{ ON_DEVICE | FOR_WRITE,                        .permission = rule_read_only },
	{ ON_FILE | FOR_WRITE,                          .permission = rule_place },
	{ ON_FILE | FOR_WRITE,                          .permission = rule_foreign },
	{ ON_FILE | FOR_WRITE,                          .permission = rule_space },
	{ ON_DEVICE | FOR_READ | FOR_WRITE | UNGUARDED, .use = find_mounted },
	{ ON_DEVICE | ON_FILE | FOR_READ | FOR_WRITE,   .use = find_swap },
	{ ON_DEVICE | FOR_READ | FOR_WRITE | UNGUARDED, .use = find_held },
	{ ON_DEVICE | FOR_READ | FOR_WRITE | UNGUARDED, .use = find_multipath },
	{ ON_DEVICE | ON_FILE | FOR_READ | FOR_WRITE,   .use = find_loop_backing },
	{ ON_DEVICE | ON_FILE | FOR_READ | FOR_WRITE,   .use = find_exported },
	{ ON_DEVICE | FOR_READ | FOR_WRITE,             .use = find_opened },
	{ ON_DEVICE | FOR_WRITE,                        .content = rule_exclusive },
	{ ON_DEVICE | FOR_WRITE,                        .content = rule_reserved },
	{ ON_DEVICE | FOR_WRITE,                        .content = rule_esp },
	{ ON_DEVICE | FOR_WRITE,                        .content = rule_content },
};
/* clang-format on */

static bool rule_applies(const struct rule *rule, const struct subject *s)
{
	if (!(rule->applies & (s->dev ? ON_DEVICE : ON_FILE)))
		return false;
	if ((rule->applies & UNGUARDED) && s->guarded)
		return false;
	return ((rule->applies & FOR_READ) && s->reads) ||
	       ((rule->applies & FOR_WRITE) && s->writes);
}

/* `whose`: "" or "its partition /dev/sda1 is ". */
static void refuse(struct verdict *v, const struct subject *s, const char *whose,
		   const struct finding *f)
{
	_cleanup_free_ char *text = xasprintf("%s: %s%s%s%s", s->label, whose, f->text,
					      f->remedy ? "; " : "", f->remedy ? f->remedy : "");
	_cleanup_free_ char *clean = str_printable(text);

	error_append(&v->refusals, error_new(f->code, "%s", clean));
}

static void note_use(struct verdict *v, const char *whose, const struct finding *f)
{
	_cleanup_free_ char *text = xasprintf("%s%s%s%s", v->in_use ? v->in_use : "",
					      v->in_use ? ", " : "", whose, f->text);

	free(v->in_use);
	v->in_use = str_printable(text);
}

static void check_use(const struct rule *rule, const struct subject *s,
		      const struct block_device *dev, const char *whose, struct verdict *v)
{
	struct used used = {
		.root = s->root, .dev = dev, .path = s->path, .st = s->st, .quick = s->guarded
	};
	struct findings found = { 0 };

	rule->use(&used, &found);
	for (size_t i = 0; i < found.nr; i++) {
		note_use(v, whose, &found.list[i]);
		if (s->writes)
			refuse(v, s, whose, &found.list[i]);
	}
	findings_fini(&found);
}

static void check_permission(const struct rule *rule, const struct subject *s, struct verdict *v)
{
	struct findings found = { 0 };

	rule->permission(s, &found);
	for (size_t i = 0; i < found.nr; i++) {
		refuse(v, s, "", &found.list[i]);
		v->untouchable = true;
	}
	findings_fini(&found);
}

void safety_check_closed(const struct subject *s, struct verdict *v)
{
	struct relatives relatives = { 0 };

	if (s->dev)
		relatives = block_device_relatives(s->root, s->dev);
	for (size_t i = 0; i < array_size(rules); i++) {
		const struct rule *rule = &rules[i];

		if (!rule_applies(rule, s))
			continue;
		if (rule->permission)
			check_permission(rule, s, v);
		if (!rule->use || (!s->dev && !s->exists))
			continue;
		check_use(rule, s, s->dev, "", v);
		for (size_t k = 0; k < relatives.nr; k++) {
			const struct block_device *dev = relatives.devices[k];
			_cleanup_free_ char *whose = xasprintf(
				"its %s %s is ", dev->partition ? "partition" : "disk", dev->node);

			check_use(rule, s, dev, whose, v);
		}
	}
	relatives_fini(&relatives);
}

void safety_check_opened(const struct subject *s, int fd, struct verdict *v)
{
	struct opened opened = { .s = s, .fd = fd, .v = v };
	struct error *err;

	if (!s->dev)
		return;
	err = signatures_read(fd, &v->signatures);
	if (err && s->writes) {
		error_append(&v->refusals, error_context(err, "%s", s->label));
		err = NULL;
	}
	error_destroy(&err);
	if (v->signatures.nr > 0)
		v->signature = signature_text(&v->signatures.list[0]);
	for (size_t i = 0; i < array_size(rules); i++) {
		struct findings found = { 0 };

		if (!rules[i].content || !rule_applies(&rules[i], s))
			continue;
		rules[i].content(&opened, &found);
		for (size_t k = 0; k < found.nr; k++)
			refuse(v, s, "", &found.list[k]);
		findings_fini(&found);
	}
}

void verdict_fini(struct verdict *v)
{
	error_destroy(&v->refusals);
	signatures_fini(&v->signatures);
	free(v->in_use);
	free(v->signature);
	*v = (struct verdict) { 0 };
}
