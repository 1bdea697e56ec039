/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/step_devices.h"

#include "common/base/units.h"
#include "common/model/workload.h"

#include <inttypes.h>
#include <math.h>

/* Foreign I/O that is less than all of these is counted and not warned about: a prober looked at the device. */
static const double FOREIGN_WARN_SHARE = 0.001;
enum { FOREIGN_WARN_IOS = 32, FOREIGN_WARN_BYTES = 1 << 20 };
/* So much of the reads from memory is worth a warning. */
static const double CACHED_WARN_SHARE = 0.01;

/* --- taking ----------------------------------------------------------------------------------------- */

static char *copy_text(const char *text)
{
	return text && *text ? xstrdup(text) : NULL;
}

static const struct device_stat *stat_of(const struct host_sums *h, uint64_t target)
{
	for (size_t i = 0; i < h->nr_devices; i++)
		if (h->devices[i].target == target)
			return &h->devices[i];
	return NULL;
}

void step_devices_take(struct host_sums *h, const struct msg_done *m)
{
	h->devices = xcalloc(m->nr_devices, sizeof(*h->devices));
	for (size_t i = 0; i < m->nr_devices; i++) {
		struct device_stat *to = &h->devices[h->nr_devices];

		if (stat_of(h, m->devices[i].target))
			continue;
		*to = m->devices[i];
		to->disk = copy_text(to->disk);
		to->partition_of = copy_text(to->partition_of);
		h->nr_devices++;
	}
	h->stuck = xcalloc(m->nr_stuck, sizeof(*h->stuck));
	for (size_t i = 0; i < m->nr_stuck; i++)
		h->stuck[h->nr_stuck++] = m->stuck[i];
}

void step_devices_fini(struct host_sums *h)
{
	for (size_t i = 0; i < h->nr_devices; i++) {
		free(h->devices[i].disk);
		free(h->devices[i].partition_of);
	}
	free(h->devices);
	free(h->stuck);
}

/* --- what this host did on a disk ------------------------------------------------------------------- */

enum { READ, WRITE, NR_WAYS };

/* All members' I/O on one disk, completed whenever. */
struct disk_use {
	uint64_t ios[NR_WAYS], bytes[NR_WAYS];
	uint64_t pieces[NR_WAYS]; /* ios as the device gets them */
	uint64_t syncs;
	bool is_exact; /* direct to the device and all well: the device must count the same bytes */
	bool has_buffered_reads, has_buffered_writes;
	size_t nr_readers; /* targets that are read */
};

/* What a partition does is in its disk's counters as well. */
static bool counts_for(const struct device_stat *d, const char *disk)
{
	return d && d->disk &&
	       (streq(d->disk, disk) || (d->partition_of && streq(d->partition_of, disk)));
}

static uint64_t all_ios(const struct counts *c)
{
	return c->ios + c->ramp_ios + c->drain_ios;
}

static uint64_t all_bytes(const struct counts *c)
{
	return c->bytes + c->ramp_bytes + c->drain_bytes;
}

static bool is_clean(const struct member_sums *m)
{
	struct counts sum = { 0 };

	for (unsigned dir = 0; dir < DIR_COUNT; dir++)
		counts_merge(&sum, &m->dir[dir].counts);
	return m->is_done && !m->done.nr_errors && !sum.errors && !sum.short_ios &&
	       !sum.unfinished_ios;
}

static void add_way(struct disk_use *use, unsigned way, const struct counts *c, uint64_t pieces)
{
	use->ios[way] += all_ios(c);
	use->bytes[way] += all_bytes(c);
	use->pieces[way] += all_ios(c) * pieces;
}

static void add_member(struct disk_use *use, const struct host_sums *h, const struct member_sums *m,
		       const struct device_stat *d)
{
	const struct job *job = &m->work->job;
	uint64_t pieces = 1;

	/* The kernel splits what is larger. */
	if (d->max_io_bytes && job_max_bytes(job) > d->max_io_bytes)
		pieces = (job_max_bytes(job) + d->max_io_bytes - 1) / d->max_io_bytes;
	add_way(use, READ, &m->dir[DIR_READ].counts, pieces);
	add_way(use, WRITE, &m->dir[DIR_WRITE].counts, pieces);
	use->syncs += all_ios(&m->dir[DIR_SYNC].counts);
	use->is_exact &= job->direct && is_clean(m) && (pieces == 1 || job_size_is_fixed(job)) &&
			 h->work->targets[m->work->target].kind == TARGET_DEVICE;
	use->has_buffered_reads |= !job->direct && job_reads(job);
	use->has_buffered_writes |= !job->direct && job_writes(job);
}

static struct disk_use use_of(const struct host_sums *h, const char *disk)
{
	struct disk_use use = { .is_exact = !h->is_salvaged };

	for (size_t i = 0; i < h->work->nr_members; i++) {
		const struct device_stat *d = stat_of(h, h->members[i].work->target);

		if (counts_for(d, disk))
			add_member(&use, h, &h->members[i], d);
	}
	for (size_t i = 0; i < h->nr_devices; i++)
		use.nr_readers += counts_for(&h->devices[i], disk) &&
				  h->work->targets[h->devices[i].target].reads;
	return use;
}

static const char *boot_id(const struct result_host *h)
{
	for (size_t i = 0; i < h->nr_environment; i++)
		if (streq(h->environment[i].key, "boot_id"))
			return h->environment[i].value;
	return NULL;
}

/* Do two hosts of this run have one kernel and use the same disk of it? Then neither's own I/O is all. */
static bool is_shared(const struct step_sums *s, size_t host, const char *disk)
{
	const char *own = boot_id(&s->result->hosts[host]);

	for (size_t i = 0; own && i < s->plan->hosts.nr_hosts; i++) {
		const char *other = boot_id(&s->result->hosts[i]);

		if (i == host || !s->hosts[i].work || !other || !streq(own, other))
			continue;
		if (!s->hosts[i].is_done)
			return true; /* nobody knows what it did */
		for (size_t d = 0; d < s->hosts[i].nr_devices; d++)
			if (counts_for(&s->hosts[i].devices[d], disk))
				return true;
	}
	return false;
}

/* --- comparing -------------------------------------------------------------------------------------- */

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Bytes first: the kernel splits and merges, which changes the number of I/Os and never the bytes. */
static void set_foreign(const struct disk_use *use, const struct device_stat *d,
			struct result_device *to)
{
	const uint64_t bytes[NR_WAYS] = { d->read_bytes, d->write_bytes };
	const uint64_t ios[NR_WAYS] = { d->read_ios + d->read_merges,
					d->write_ios + d->write_merges };

	for (unsigned way = 0; way < NR_WAYS; way++)
		if (bytes[way] < use->bytes[way])
			return; /* it does not count all that it does */
	to->has_foreign = true;
	for (unsigned way = 0; way < NR_WAYS; way++) {
		uint64_t own = use->pieces[way], more;

		/* A flush is a write of nothing, where the device has a cache. */
		if (way == WRITE)
			own += use->syncs < d->flush_ios ? use->syncs : d->flush_ios;
		if (bytes[way] == use->bytes[way])
			continue;
		more = minus(ios[way], own);
		to->foreign_ios += more ? more : 1;
		to->foreign_bytes += bytes[way] - use->bytes[way];
	}
}

static void set_cached(const struct disk_use *use, const struct device_stat *d, bool reads,
		       struct result_device *to)
{
	if (!use->has_buffered_reads || use->nr_readers != 1 || !reads)
		return;
	to->has_cached = true;
	to->cached_bytes = minus(use->bytes[READ], d->read_bytes);
}

/* --- warnings --------------------------------------------------------------------------------------- */

/* "1,234,567" */
static char *with_commas(uint64_t n)
{
	_cleanup_free_ char *digits = xasprintf("%" PRIu64, n);
	size_t len = strlen(digits), at = 0;
	char *text = xcalloc(2 * len + 1, 1);

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	return text;
}

static void warn(struct step_sums *s, const struct result_device *d, char *text)
{
	_cleanup_free_ char *label = step_label(s->plan, s->step);
	_cleanup_free_ char *owned = text, *all = xasprintf("%s%s", label, owned);

	result_warn(s->result, d->host, d->target, all);
}

static void warn_foreign(struct step_sums *s, const struct disk_use *use,
			 const struct result_device *d)
{
	uint64_t ios = use->ios[READ] + use->ios[WRITE],
		 bytes = use->bytes[READ] + use->bytes[WRITE];
	double of_ios = ios ? (double)d->foreign_ios / (double)ios : INFINITY;
	double of_bytes = bytes ? (double)d->foreign_bytes / (double)bytes : INFINITY;
	double share = fmax(of_ios, of_bytes);
	_cleanup_free_ char *count = NULL, *of_ours = NULL;
	char amount[UNITS_TEXT];

	if (!d->has_foreign || share < FOREIGN_WARN_SHARE ||
	    (d->foreign_ios < FOREIGN_WARN_IOS && d->foreign_bytes < FOREIGN_WARN_BYTES))
		return;
	count = with_commas(d->foreign_ios);
	units_human_bytes(amount, (double)d->foreign_bytes);
	of_ours = isfinite(of_bytes) ? xasprintf(", %.*f %% of what we did", of_bytes < 0.1 ? 1 : 0,
						 of_bytes * 100)
				     : xstrdup("");
	warn(s, d,
	     xasprintf("'%s' did %s I/Os (%s) that were not ours%s: another user of the device?",
		       d->path ? d->path : d->disk, count, amount, of_ours));
}

/* How much of what was moved the device knows nothing of; false: too little to speak of. */
static bool is_in_memory(uint64_t own, uint64_t counted, double *ret_percent, char text[UNITS_TEXT],
			 char all[UNITS_TEXT])
{
	uint64_t cached = minus(own, counted);
	double share = own ? (double)cached / (double)own : 0;

	*ret_percent = share * 100;
	units_human_bytes(text, (double)cached);
	units_human_bytes(all, (double)own);
	return share >= CACHED_WARN_SHARE;
}

static void warn_cached(struct step_sums *s, const struct disk_use *use,
			const struct device_stat *counted, const struct result_device *d)
{
	char cached[UNITS_TEXT], all[UNITS_TEXT];
	double percent;

	if (use->has_buffered_reads &&
	    is_in_memory(use->bytes[READ], counted->read_bytes, &percent, cached, all))
		warn(s, d,
		     xasprintf("%.0f %% of the reads (%s of %s) came from the page cache and not "
			       "from '%s'; for the device's speed set 'direct: true', or read more "
			       "than memory holds",
			       percent, cached, all, d->disk));
	if (use->has_buffered_writes &&
	    is_in_memory(use->bytes[WRITE], counted->write_bytes, &percent, cached, all))
		warn(s, d,
		     xasprintf("%.0f %% of the writes (%s of %s) were in the page cache and not on "
			       "'%s' at the end; for the device's speed set 'direct: true', or "
			       "'end_fsync: true'",
			       percent, cached, all, d->disk));
}

/* A device that counts less than was moved by direct I/O: one of the two is wrong. */
static void warn_less(struct step_sums *s, const struct disk_use *use,
		      const struct device_stat *counted, const struct result_device *d)
{
	uint64_t own = use->bytes[READ] + use->bytes[WRITE];
	uint64_t its = counted->read_bytes + counted->write_bytes;
	char less[UNITS_TEXT], all[UNITS_TEXT];

	if (!use->is_exact || (double)its >= 0.99 * (double)own)
		return;
	units_human_bytes(less, (double)its);
	units_human_bytes(all, (double)own);
	warn(s, d,
	     xasprintf("'%s' counted only %s of the %s that were moved: its own counters, or the "
		       "totals, are wrong",
		       d->path ? d->path : d->disk, less, all));
}

/* --- the step --------------------------------------------------------------------------------------- */

static void describe(struct result_device *to, const struct ready_devices *ready, uint64_t target)
{
	for (size_t i = 0; i < ready->nr_devices; i++) {
		const struct ready_device *known = &ready->devices[i];

		if (known->target != target)
			continue;
		to->path = copy_text(known->path);
		to->identity = copy_text(known->identity);
		to->transport = copy_text(known->transport);
		return;
	}
}

static struct result_device *add_device(struct result_step *ret, const struct host_sums *h,
					const struct device_stat *d)
{
	struct result_device *to = &ret->devices[ret->nr_devices++];

	*to = (struct result_device) {
		.host = xstrdup(h->name),
		.target = xstrdup(h->work->targets[d->target].name),
		.disk = copy_text(d->disk),
		.is_file = d->is_file,
		.read_ios = d->read_ios,
		.write_ios = d->write_ios,
		.read_bytes = d->read_bytes,
		.write_bytes = d->write_bytes,
		.read_merges = d->read_merges,
		.write_merges = d->write_merges,
		.read_ticks_ns = d->read_ticks_ns,
		.write_ticks_ns = d->write_ticks_ns,
		.in_queue_ns = d->in_queue_ns,
		.elapsed_ns = d->elapsed_ns,
		.discard_ios = d->discard_ios,
		.discard_bytes = d->discard_bytes,
		.flush_ios = d->flush_ios,
		.util = NAN,
	};
	if (d->elapsed_ns)
		to->util = fmin(100.0, 100.0 * (double)d->busy_ns / (double)d->elapsed_ns);
	return to;
}

/* Of several targets on one disk the first one speaks for it. */
static bool is_first_of_disk(const struct host_sums *h, const struct device_stat *d)
{
	for (const struct device_stat *other = h->devices; other < d; other++)
		if (other->disk && streq(other->disk, d->disk))
			return false;
	return true;
}

static void compare(struct step_sums *s, size_t host, const struct device_stat *d,
		    struct result_device *to)
{
	const struct host_sums *h = &s->hosts[host];
	struct disk_use use = use_of(h, d->disk);
	bool is_shared_disk = is_shared(s, host, d->disk);

	if (use.is_exact && !is_shared_disk)
		set_foreign(&use, d, to);
	set_cached(&use, d, h->work->targets[d->target].reads, to);
	if (!is_first_of_disk(h, d) || is_shared_disk)
		return;
	warn_foreign(s, &use, to);
	warn_cached(s, &use, d, to);
	warn_less(s, &use, d, to);
}

static char *path_of(const struct ready_devices *ready, uint64_t target)
{
	for (size_t i = 0; i < ready->nr_devices; i++)
		if (ready->devices[i].target == target)
			return copy_text(ready->devices[i].path);
	return NULL;
}

static void finish_host(struct step_sums *s, size_t host, const struct ready_devices *ready,
			struct result_step *ret)
{
	const struct host_sums *h = &s->hosts[host];

	for (size_t i = 0; i < h->nr_devices; i++) {
		struct result_device *to = add_device(ret, h, &h->devices[i]);

		describe(to, ready, h->devices[i].target);
		if (to->disk)
			compare(s, host, &h->devices[i], to);
	}
	for (size_t i = 0; i < h->nr_stuck; i++)
		ret->stuck[ret->nr_stuck++] = (struct result_stuck) {
			.host = xstrdup(h->name),
			.target = xstrdup(h->work->targets[h->stuck[i].target].name),
			.path = path_of(ready, h->stuck[i].target),
			.offset = h->stuck[i].offset,
			.bytes = h->stuck[i].bytes,
			.age_ns = h->stuck[i].age_ns,
			.direction = h->stuck[i].direction,
		};
}

void step_devices_finish(struct step_sums *s, const struct ready_devices *ready,
			 struct result_step *ret)
{
	size_t nr_devices = 0, nr_stuck = 0;

	for (size_t i = 0; i < s->plan->hosts.nr_hosts; i++) {
		nr_devices += s->hosts[i].nr_devices;
		nr_stuck += s->hosts[i].nr_stuck;
	}
	ret->devices = xcalloc(nr_devices, sizeof(*ret->devices));
	ret->stuck = xcalloc(nr_stuck, sizeof(*ret->stuck));
	for (size_t i = 0; i < s->plan->hosts.nr_hosts; i++)
		finish_host(s, i, &ready[i], ret);
}
