/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/stuck.h"

#include "common/schema/schema.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* clang-format off */
static const struct field target_fields[] = {
	F_STRING(struct stuck_target, path, .flags = FIELD_REQUIRED, .help = "As it was asked for"),
	F_STRING(struct stuck_target, canonical, .flags = FIELD_OPTIONAL, .help = "As it was found"),
	F_STRING(struct stuck_target, text, .flags = FIELD_REQUIRED, .help = "Since when and why"),
	{ NULL },
};
static const struct schema target_schema = {
	.name = "stuck_target", .help = "A target that is held", .size = sizeof(struct stuck_target),
	.fields = target_fields,
};
static const struct field record_fields[] = {
	F_COUNT(struct stuck_record, pid, .flags = FIELD_REQUIRED, .help = "The process that holds them"),
	F_COUNT(struct stuck_record, pid_started, .flags = FIELD_REQUIRED, .help = "When it started"),
	F_STRING(struct stuck_record, boot, .flags = FIELD_REQUIRED, .help = "Of the kernel that runs it"),
	F_LIST(struct stuck_record, targets, nr_targets, &target_schema, .help = "What it holds"),
	{ NULL },
};
static const struct schema record_schema = {
	.name = "stuck", .help = "An I/O process that could not end", .size = sizeof(struct stuck_record),
	.fields = record_fields,
};
/* clang-format on */

enum { LINE_BYTES = 1024 };

/* The first line of a small file of /proc or /sys; false when there is none. */
static bool read_line(const char *path, char line[LINE_BYTES])
{
	FILE *file = fopen(path, "re");
	bool ok = file && fgets(line, LINE_BYTES, file);

	if (file)
		fclose(file);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}

static char *boot_id(void)
{
	char line[LINE_BYTES];

	return xstrdup(read_line("/proc/sys/kernel/random/boot_id", line) ? line : "unknown");
}

/* How many threads the process still has; a leader that has ended counts until it is reaped. */
static unsigned process_threads(uint64_t pid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%llu/task", (unsigned long long)pid);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	unsigned nr = 0;

	while (dir && (entry = readdir(dir)))
		nr += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return nr;
}

/* Field 22 of /proc/PID/stat, counted from behind the name (which may hold anything); 0: no such process, or
 * nothing but its entry is left, which its parent has not taken notice of. */
static uint64_t process_started(uint64_t pid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%llu/stat", (unsigned long long)pid);
	char line[LINE_BYTES];
	const char *field;

	if (!read_line(path, line))
		return 0;
	field = strrchr(line, ')');
	/* A leader whose threads still hang is a zombie as well. */
	if (field && str_starts(field, ") Z") && process_threads(pid) <= 1)
		return 0;
	/* After the name comes field 3, behind a space; the one wanted is behind the 20th. */
	for (int i = 0; field && i < 20; i++) {
		field = strchr(field, ' ');
		field = field ? field + 1 : NULL;
	}
	return field ? strtoull(field, NULL, 10) : 0;
}

static bool device_in_flight(const char *canonical)
{
	char line[LINE_BYTES], name[LINE_BYTES];
	char *rest = line;
	uint64_t reads, writes;

	if (!canonical || !str_starts(canonical, "/dev/"))
		return false;
	snprintf(name, sizeof(name), "%s", canonical + strlen("/dev/"));
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '!'; /* as sysfs writes it */
	_cleanup_free_ char *path = xasprintf("/sys/class/block/%s/inflight", name);

	if (!read_line(path, line))
		return false;
	reads = strtoull(rest, &rest, 10);
	writes = strtoull(rest, NULL, 10);
	return reads || writes;
}

void stuck_record_init(struct stuck_record *r, pid_t pid)
{
	*r = (struct stuck_record) {
		.pid = (uint64_t)pid,
		.pid_started = process_started((uint64_t)pid),
		.boot = boot_id(),
	};
}

void stuck_record_add(struct stuck_record *r, const char *path, const char *canonical,
		      const char *text)
{
	r->targets = xrealloc(r->targets, r->nr_targets + 1, sizeof(*r->targets));
	r->targets[r->nr_targets++] = (struct stuck_target) {
		.path = xstrdup(path),
		.canonical = canonical ? xstrdup(canonical) : NULL,
		.text = xstrdup(text),
	};
}

void stuck_record_fini(struct stuck_record *r)
{
	schema_fini(&record_schema, r);
}

static bool process_is_there(const struct stuck_record *r)
{
	return r->pid_started && process_started(r->pid) == r->pid_started;
}

/* Has the process a descriptor of it? What a thread hangs in stays open; the rest is closed. True when that
 * cannot be told: a leader that has ended before its threads lists none. */
static bool process_holds(uint64_t pid, const struct stuck_target *t)
{
	_cleanup_free_ char *path = xasprintf("/proc/%llu/fd", (unsigned long long)pid);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	bool holds = false;
	size_t nr = 0;

	while (dir && !holds && (entry = readdir(dir))) {
		char name[LINE_BYTES];
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, name, sizeof(name) - 1);

		name[n > 0 ? n : 0] = '\0';
		nr += n > 0;
		holds = streq(name, t->canonical) || streq(name, t->path);
	}
	if (dir)
		closedir(dir);
	return holds || nr == 0;
}

/* A process that hangs in one target has let go of the others, but for one whose name was not yet known. */
static bool target_is_over(const struct stuck_record *r, const struct stuck_target *t, bool running)
{
	if (running && (!t->canonical || process_holds(r->pid, t)))
		return false;
	return !device_in_flight(t->canonical);
}

static void target_fini(struct stuck_target *t)
{
	free(t->path);
	free(t->canonical);
	free(t->text);
}

size_t stuck_prune(struct stuck_record *r, stuck_released *released, void *arg)
{
	bool running = process_is_there(r);
	size_t kept = 0, before = r->nr_targets;

	for (size_t i = 0; i < before; i++) {
		struct stuck_target *t = &r->targets[i];

		if (!target_is_over(r, t, running)) {
			r->targets[kept++] = *t;
			continue;
		}
		if (released)
			released(arg, t);
		target_fini(t);
	}
	r->nr_targets = kept;
	return before - kept;
}

static char *record_path(const char *state, const struct stuck_record *r)
{
	return xasprintf("%s/stuck.d/%llu.yaml", state, (unsigned long long)r->pid);
}

struct error *stuck_save(const char *state, const struct stuck_record *r)
{
	_cleanup_free_ char *dir = xasprintf("%s/stuck.d", state);
	_cleanup_free_ char *path = record_path(state, r);
	_cleanup_free_ char *fresh = xasprintf("%s.new", path);
	FILE *file = NULL;
	bool ok = mkdir(dir, 0700) == 0 || errno == EEXIST;

	ok = ok && (file = fopen(fresh, "we"));
	if (ok) {
		schema_print_yaml(&record_schema, r, file);
		/* For this boot only, so nothing is synced: that would wait for a disk. */
		ok = fflush(file) == 0;
	}
	if (file)
		ok = fclose(file) == 0 && ok;
	if (!ok || rename(fresh, path) != 0)
		return error_new(ERR_OUTPUT, "%s: cannot be written: %s", path, strerror(errno));
	return NULL;
}

void stuck_forget(const char *state, const struct stuck_record *r)
{
	_cleanup_free_ char *dir = xasprintf("%s/stuck.d", state);
	_cleanup_free_ char *path = record_path(state, r);

	unlink(path);
	rmdir(dir); /* stays while there are others */
}

/* True when the file holds a record that still counts. What cannot be read is left for a person to look at. */
static bool load_one(const char *state, const char *path, struct stuck_record *ret)
{
	_cleanup_free_ char *boot = boot_id();
	struct error *err = schema_load_file(&record_schema, path, ret);

	if (err) {
		error_destroy(&err);
		return false;
	}
	if (streq(ret->boot, boot) && ret->pid == (uint64_t)getpid()) {
		stuck_record_fini(ret);
		return false;
	}
	if (streq(ret->boot, boot)) {
		stuck_prune(ret, NULL, NULL);
		if (ret->nr_targets)
			return true;
	}
	stuck_forget(state, ret);
	stuck_record_fini(ret);
	return false;
}

void stuck_load(const char *state, struct stuck_record **ret, size_t *ret_nr)
{
	_cleanup_free_ char *dir = xasprintf("%s/stuck.d", state);
	DIR *stream = opendir(dir);
	const struct dirent *entry;

	*ret = NULL;
	*ret_nr = 0;
	while (stream && (entry = readdir(stream))) {
		const char *dot = strrchr(entry->d_name, '.');
		_cleanup_free_ char *path = xasprintf("%s/%s", dir, entry->d_name);
		struct stuck_record record;

		if (!dot || !streq(dot, ".yaml") || !load_one(state, path, &record))
			continue;
		*ret = xrealloc(*ret, *ret_nr + 1, sizeof(**ret));
		(*ret)[(*ret_nr)++] = record;
	}
	if (stream)
		closedir(stream);
}

void stuck_records_free(struct stuck_record **records, size_t *nr)
{
	for (size_t i = 0; i < *nr; i++)
		stuck_record_fini(&(*records)[i]);
	freep(records);
	*nr = 0;
}
