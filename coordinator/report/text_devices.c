/* SPDX-License-Identifier: Apache-2.0 */
/* text_devices.c - fio's disk stats: what the block devices counted themselves. */
#include "coordinator/report/text.h"

#include <inttypes.h>
#include <math.h>

enum {
	DEVICES_MAX = 12,  /* of more, those that stand out */
	TARGETS_NAMED = 3, /* of those on one disk */
};

/* Which of the names tell the devices apart; the others stand in the title. */
struct columns {
	bool host, target;
};

static struct columns columns_of(const struct result_step *s)
{
	struct columns c = { 0 };

	for (size_t i = 1; i < s->nr_devices; i++) {
		c.host |= !streq(s->devices[i].host, s->devices[0].host);
		c.target |= !streq(s->devices[i].target, s->devices[0].target);
	}
	return c;
}

static void add_head(struct table *t, const struct columns *c)
{
	static const char *const heads[] = { "host",     "target", "disk",   "",
					     "ios",      "bytes",  "merges", "ticks",
					     "in_queue", "util",   "foreign" };

	table_init(t, &"llllrrrrrrr"[!c->host + !c->target]);
	for (size_t i = 0; i < array_size(heads); i++)
		if ((i > 0 || c->host) && (i != 1 || c->target))
			table_cell(t, "%s", heads[i]);
}

static void add_time(struct table *t, uint64_t ns)
{
	char text[UNITS_TEXT];

	units_human_ns(text, (double)ns);
	table_cell(t, "%s", text);
}

static void add_counts(struct table *t, const char *what, uint64_t ios, uint64_t bytes,
		       uint64_t merges, uint64_t ticks_ns)
{
	char text[UNITS_TEXT];

	units_human_bytes(text, (double)bytes);
	table_cell(t, "%s", what);
	table_cell(t, "%" PRIu64, ios);
	table_cell(t, "%s", text);
	table_cell(t, "%" PRIu64, merges);
	add_time(t, ticks_ns);
}

/* Files of one disk, say: its counters are the same for all of them. */
static bool is_same_disk(const struct result_device *a, const struct result_device *b)
{
	return a->disk && b->disk && streq(a->disk, b->disk) && streq(a->host, b->host) &&
	       a->is_file == b->is_file;
}

/* "a, b and 3 more": the targets whose counters stand in d's row, the first of its disk. */
static char *targets_text(const struct result_step *s, const struct result_device *d)
{
	char *text = xstrdup(d->target);
	size_t nr = 1;

	for (const struct result_device *e = d + 1; e < s->devices + s->nr_devices; e++) {
		char *longer;

		if (!is_same_disk(d, e) || nr++ >= TARGETS_NAMED)
			continue;
		longer = xasprintf("%s, %s", text, e->target);
		free(text);
		text = longer;
	}
	if (nr > TARGETS_NAMED) {
		char *longer = xasprintf("%s and %zu more", text, nr - TARGETS_NAMED);

		free(text);
		text = longer;
	}
	return text;
}

static bool is_first_of_disk(const struct result_step *s, size_t device)
{
	for (size_t i = 0; i < device; i++)
		if (is_same_disk(&s->devices[i], &s->devices[device]))
			return false;
	return true;
}

static void add_names(struct table *t, const struct result_step *s, const struct columns *c,
		      const struct result_device *d)
{
	_cleanup_free_ char *disk = NULL, *targets = targets_text(s, d);

	if (d->disk)
		disk = xasprintf("%s%s", d->disk, d->is_file ? " (file)" : "");
	if (c->host)
		table_text(t, d->host);
	if (c->target)
		table_text(t, targets);
	table_text(t, disk ? disk : d->path ? d->path : "-");
}

static void add_blank(struct table *t, size_t nr)
{
	while (nr--)
		table_cell(t, "%s", "");
}

/* One of a simulated target has no counters. */
static bool is_counted(const struct result_device *d)
{
	return d->disk || d->read_ios || d->write_ios || isfinite(d->util);
}

/* A row each for reads and writes, and for discards and flushes where there were any. */
static void add_device(struct table *t, const struct result_step *s, const struct columns *c,
		       const struct result_device *d)
{
	size_t nr_names = 1 + c->host + c->target;
	char util[UNITS_TEXT];

	text_percent(util, d->util);
	add_names(t, s, c, d);
	add_counts(t, "r", d->read_ios, d->read_bytes, d->read_merges, d->read_ticks_ns);
	add_time(t, d->in_queue_ns);
	table_cell(t, "%s", util);
	if (d->has_foreign)
		table_cell(t, "%" PRIu64, d->foreign_ios);
	else
		table_cell(t, "-");
	add_blank(t, nr_names);
	add_counts(t, "w", d->write_ios, d->write_bytes, d->write_merges, d->write_ticks_ns);
	add_blank(t, 3);
	if (d->discard_ios) {
		char bytes[UNITS_TEXT];

		units_human_bytes(bytes, (double)d->discard_bytes);
		add_blank(t, nr_names);
		table_cell(t, "discard");
		table_cell(t, "%" PRIu64, d->discard_ios);
		table_cell(t, "%s", bytes);
		add_blank(t, 5);
	}
	if (d->flush_ios) {
		add_blank(t, nr_names);
		table_cell(t, "flush");
		table_cell(t, "%" PRIu64, d->flush_ios);
		add_blank(t, 6);
	}
}

static void print_title(const struct result_step *s, const struct columns *c, FILE *out)
{
	_cleanup_free_ char *target =
		c->target ? xstrdup("") : xasprintf(" of %s", s->devices[0].target);
	_cleanup_free_ char *host = c->host ? xstrdup("") : xasprintf(" at %s", s->devices[0].host);
	_cleanup_free_ char *text = xasprintf(
		"Disk stats%s%s (the devices' own counters, ramp and drain included):", target,
		host);
	_cleanup_free_ char *printable = str_printable(text);

	fputc('\n', out);
	text_wrap(out, printable, 0, 2, REPORT_WIDTH);
}

static void print_cached(const struct result_step *s, FILE *out)
{
	for (size_t i = 0; i < s->nr_devices; i++) {
		const struct result_device *d = &s->devices[i];
		_cleanup_free_ char *text = NULL, *printable = NULL;
		char bytes[UNITS_TEXT];

		if (!d->has_cached || !d->cached_bytes)
			continue;
		units_human_bytes(bytes, (double)d->cached_bytes);
		text = xasprintf("%s: %s: %s of the reads came from the page cache", d->host,
				 d->target, bytes);
		printable = str_printable(text);
		fputs("  ", out);
		text_wrap(out, printable, 2, 4, REPORT_WIDTH);
	}
}

static double busy(const struct result_device *d)
{
	return isfinite(d->util) ? d->util : -1;
}

/* Those that others use as well are looked at first, then the busy ones. */
static int compare_devices(const void *a, const void *b)
{
	const struct result_device *const *x = a, *const *y = b;
	bool x_foreign = (*x)->has_foreign && (*x)->foreign_ios;
	bool y_foreign = (*y)->has_foreign && (*y)->foreign_ios;

	if (x_foreign != y_foreign)
		return x_foreign ? -1 : 1;
	if (busy(*x) > busy(*y) || busy(*x) < busy(*y))
		return busy(*x) > busy(*y) ? -1 : 1;
	return *x < *y ? -1 : 1;
}

void text_devices(const struct result_step *s, FILE *out)
{
	_cleanup_free_ const struct result_device **devices =
		xcalloc(s->nr_devices, sizeof(*devices));
	_cleanup_(table_fini) struct table t = { 0 };
	struct columns c = columns_of(s);
	size_t nr = 0, shown;

	for (size_t i = 0; i < s->nr_devices; i++)
		if (is_counted(&s->devices[i]) && is_first_of_disk(s, i))
			devices[nr++] = &s->devices[i];
	if (!nr)
		return;
	if (nr > DEVICES_MAX)
		qsort(devices, nr, sizeof(*devices), compare_devices);
	shown = nr > DEVICES_MAX ? DEVICES_MAX : nr;
	add_head(&t, &c);
	for (size_t i = 0; i < shown; i++)
		add_device(&t, s, &c, devices[i]);
	print_title(s, &c, out);
	table_print(&t, out, 2);
	if (shown < nr)
		fprintf(out, "  and %zu more, less busy ones: devices[] of result.json\n",
			nr - shown);
	print_cached(s, out);
}
