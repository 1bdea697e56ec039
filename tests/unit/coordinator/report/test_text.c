/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for every result: of the numbers that the text report computes, and of its lines. */
#include "coordinator/report/text.h"

#include "coordinator/report/report.h"
#include "coordinator/run/summary.h"
#include "tests/unit/coordinator/report/rig.h"

#include <criterion/criterion.h>
#include <math.h>

/* --- latency buckets and shares --------------------------------------------------------------------- */

static uint64_t bucket_of(uint64_t ns)
{
	uint64_t counts[NR_LATENCY_BUCKETS];
	struct hist h = { 0 };
	size_t found = 0;

	hist_add(&h, ns, 3);
	latency_counts(&h, counts);
	for (size_t i = 0; i < NR_LATENCY_BUCKETS; i++)
		if (counts[i]) {
			cr_expect_eq(counts[i], 3);
			found = found * 1000 + i + 1;
		}
	hist_fini(&h);
	cr_assert(found);
	return found - 1;
}

Test(text, latency_bounds_are_fios)
{
	static const struct {
		uint64_t ns;
		const char *unit;
		unsigned bound;
	} cases[] = {
		{ 0, "ns", 2 },          { 1, "ns", 2 },
		{ 2, "ns", 4 },          { 249, "ns", 250 },
		{ 250, "ns", 500 },      { 999, "ns", 1000 },
		{ 1000, "us", 2 },       { 1999, "us", 2 },
		{ 2000, "us", 4 },       { 499999, "us", 500 },
		{ 500000, "us", 750 },   { 1000000, "ms", 2 },
		{ 3999999, "ms", 4 },    { 1999999999, "ms", 2000 },
		{ 2000000000, "ms", 0 }, { 86400000000000, "ms", 0 },
	};

	for (size_t i = 0; i < array_size(cases); i++) {
		const struct latency_bucket *b = &latency_buckets[bucket_of(cases[i].ns)];

		cr_expect_str_eq(b->unit, cases[i].unit, "%lu ns", cases[i].ns);
		cr_expect_eq(b->bound, cases[i].bound, "%lu ns: %u", cases[i].ns, b->bound);
	}
}

static uint64_t seed;

/* Numbers that are small and large alike: of up to `bits` bits. */
static uint64_t draw(unsigned bits)
{
	uint64_t x;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	x = (seed ^ seed >> 29) * 0xbf58476d1ce4e5b9u;
	x ^= x >> 32;
	seed += 0x9e3779b97f4a7c15u;
	return x >> (64 - bits + x % bits) % 64;
}

Test(text, latency_buckets_add_up_to_the_count)
{
	seed = 1;
	for (int round = 0; round < 200; round++) {
		uint64_t counts[NR_LATENCY_BUCKETS], shares[NR_LATENCY_BUCKETS];
		uint64_t count = 0, share = 0;
		struct hist h = { 0 };

		for (uint64_t n = draw(6); n; n--)
			hist_add(&h, draw(45), draw(20));
		latency_counts(&h, counts);
		share_units(counts, NR_LATENCY_BUCKETS, 10000, shares);
		for (size_t i = 0; i < NR_LATENCY_BUCKETS; i++) {
			count += counts[i];
			share += shares[i];
			if (!counts[i])
				cr_assert_eq(shares[i], 0);
		}
		cr_assert_eq(count, h.count);
		cr_assert_eq(share, h.count ? 10000 : 0);
		hist_fini(&h);
	}
}

/* No share is further than one unit from the exact one. */
Test(text, shares_are_rounded_to_a_whole)
{
	const uint64_t thirds[] = { 1, 1, 1, 0 };
	uint64_t got[4];

	share_units(thirds, 4, 1000, got);
	cr_expect_eq(got[0], 334);
	cr_expect_eq(got[1], 333);
	cr_expect_eq(got[2], 333);
	cr_expect_eq(got[3], 0);
}

/* --- lines ------------------------------------------------------------------------------------------ */

/* Names of any length, of characters that print, some that do not, and some of several bytes. */
static char *draw_name(unsigned bits)
{
	static const char *const parts[] = { "x",       "7",  "-", ":",  "q7",   "\xc3\xbc",
					     "\x1b[2J", "\n", " ", "zz", "\xff", "0.5" };
	size_t nr = draw(bits) + 1, len = 0;
	char *name = xcalloc(nr + 1, 5);

	for (size_t i = 0; i < nr; i++)
		len += (size_t)sprintf(name + len, "%s",
				       parts[i ? draw(16) % array_size(parts) : 0]);
	return name;
}

static double draw_real(void)
{
	switch (draw(3)) {
	case 0:
		return NAN;
	case 1:
		return 0;
	case 2:
		return INFINITY;
	default:
		return (double)draw(50) / 1024;
	}
}

static void draw_samples(struct sample_stats *s)
{
	*s = (struct sample_stats) { draw(8),     draw_real(), draw_real(),
				     draw_real(), draw_real(), draw(34) };
}

static void draw_direction(struct result_direction *d)
{
	struct counts *c = &d->sum.counts;

	d->used = true;
	for (size_t i = 0; i < NR_METRICS; i++)
		*metric_cell(c, &metrics[i]) = draw(2) ? draw(40) : 0;
	for (uint64_t n = draw(5); n; n--) {
		hist_add(&d->sum.lat, draw(45), draw(30));
		hist_add(&d->sum.slat, draw(30), draw(30));
	}
	d->runtime_ns = draw(44);
	d->iops = draw_real();
	d->bw_bytes = draw_real() * 1024;
	d->has_common = draw(1);
	d->common_start_ns = draw(40);
	d->common_end_ns = draw(44);
	d->common_iops = draw_real();
	d->common_bw_bytes = draw_real();
	draw_samples(&d->iops_samples);
	draw_samples(&d->bw_samples);
}

static void draw_group(struct result_group *g, char *name)
{
	g->name = name;
	g->threads = draw(12);
	g->buffered_threads = draw(12);
	g->depth = draw(20);
	g->effective_depth = draw(12);
	g->runtime_ns = draw(40);
	for (unsigned dir = 0; dir < DIR_COUNT; dir++)
		if (draw(1))
			draw_direction(&g->dir[dir]);
	if (draw(2))
		draw_direction(&g->total);
	g->has_cpu = draw(1);
	g->cpu_usr = draw_real();
	g->cpu_sys = draw_real();
	g->cpu_iowq = draw_real();
	g->ctx = draw(40);
	g->majf = draw(20);
	g->minf = draw(30);
	g->has_depths = draw(1);
	for (size_t i = 0; i < POW2_BUCKETS; i++)
		g->depths.bucket[i] = g->submits.bucket[i] = draw(2) ? draw(40) : 0;
	for (uint64_t n = draw(3); n; n--) {
		_cleanup_free_ char *host = draw_name(6), *target = draw_name(5);

		rig_add_error(g, &(struct rig_error) { (int)draw(3), draw(8), "EWHATEVER", draw(40),
						       host, target, draw(60), draw(40) });
	}
}

static void draw_members(struct result_group **list, size_t *nr, const struct result *names)
{
	size_t n = draw(7) % 70;
	struct result_group *rows = rig_add_members(list, nr, n);

	for (size_t i = 0; i < n; i++)
		draw_group(&rows[i],
			   i < names->nr_hosts ? xstrdup(names->hosts[i].name) : draw_name(4));
}

static void draw_device(struct result_step *s)
{
	_cleanup_free_ char *host = draw_name(5), *target = draw_name(5), *disk = draw_name(4);
	struct result_device *d = rig_add_device(s, host, target, draw(2) ? disk : NULL);

	d->path = draw(1) ? draw_name(8) : NULL;
	d->is_file = draw(1);
	d->util = draw(2) ? (double)draw(7) : NAN;
	d->read_ios = draw(34);
	d->read_bytes = draw(50);
	d->write_ios = draw(34);
	d->write_merges = draw(30);
	d->write_ticks_ns = draw(50);
	d->in_queue_ns = draw(50);
	d->discard_ios = draw(10);
	d->flush_ios = draw(20);
	d->has_foreign = draw(1);
	d->foreign_ios = draw(30);
	d->has_cached = draw(1);
	d->cached_bytes = draw(40);
}

static void draw_step(struct result *r)
{
	_cleanup_free_ char *phase = draw_name(6), *value = draw_name(5), *name = draw_name(6);
	struct result_step *s = rig_add_step(r, phase, 1 + draw(1));

	for (uint64_t n = draw(2); n; n--)
		rig_add_pair(&s->point, &s->nr_point, "iodepth", value);
	s->repeat = 1 + draw(2);
	s->has_start = draw(1);
	s->start_last_host = draw(1) ? draw_name(7) : NULL;
	s->start_spread_ns = draw(40);
	s->overlap = draw_real();
	s->min_overlap = (double)draw(10) / 1024;
	s->partial = draw(1);
	s->hosts_text = draw(1) ? draw_name(5) : NULL;
	for (size_t g = 0; g < s->nr_groups; g++) {
		draw_group(&s->groups[g], g ? draw_name(7) : xstrdup("all"));
		draw_members(&s->groups[g].hosts, &s->groups[g].nr_hosts, r);
		draw_members(&s->groups[g].targets, &s->groups[g].nr_targets, r);
	}
	for (uint64_t n = draw(3); n; n--)
		rig_add_job(s, name, "rw=randread bs=4KiB", name, value);
	for (uint64_t n = draw(5); n; n--)
		draw_device(s);
	for (uint64_t n = draw(4); n; n--) {
		s->stuck = xrealloc(s->stuck, s->nr_stuck + 1, sizeof(*s->stuck));
		s->stuck[s->nr_stuck++] = (struct result_stuck) {
			.host = draw_name(6),
			.target = draw_name(6),
			.path = draw(1) ? draw_name(7) : NULL,
			.offset = draw(60),
			.bytes = draw(30),
			.age_ns = draw(60),
			.direction = (int)draw(3),
		};
	}
	for (uint64_t n = draw(2); n; n--)
		rig_add_check(r, s, name, (int)(draw(8) % 3), draw(1) ? value : NULL);
}

static void draw_result(struct result *r)
{
	size_t nr = draw(6);
	char **names = xcalloc(nr, sizeof(*names));

	for (size_t i = 0; i < nr; i++)
		names[i] = draw_name(draw(2) ? 3 : 7);
	rig_fill_run(r, "random", (const char *const *)names, nr);
	for (size_t i = 0; i < nr; i++) {
		r->hosts[i].state = (int)(draw(8) % 3);
		r->hosts[i].lost_at_ns = draw(40);
		if (draw(1))
			rig_add_pair(&r->hosts[i].labels, &r->hosts[i].nr_labels, "rack", names[0]);
		if (draw(3) == 0)
			r->hosts[i].role = xstrdup("observer");
	}
	for (uint64_t n = draw(5); n; n--) {
		_cleanup_free_ char *text = draw_name(8);
		const char *host = nr && draw(1) ? names[draw(8) % nr] : NULL;

		if (draw(1))
			result_warn(r, host, NULL, text);
		else
			result_fault(r, host, "t", text);
	}
	for (uint64_t n = draw(3); n; n--)
		draw_step(r);
	summary_fill(r);
	for (size_t i = 0; i < nr; i++)
		free(names[i]);
	free(names);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* printf's words for what is no number. */
static bool has_no_number(const char *line, size_t len)
{
	for (size_t i = 0; i + 3 <= len; i++)
		if ((strncmp(line + i, "nan", 3) == 0 || strncmp(line + i, "inf", 3) == 0) &&
		    (i == 0 || !is_letter(line[i - 1])) && !is_letter(line[i + 3]))
			return true;
	return false;
}

static void expect_sane(const char *text, uint64_t round)
{
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		_cleanup_free_ char *copy = xstrndup(line, len);

		cr_assert_leq(text_width(copy), REPORT_WIDTH, "round %lu: %s", round, copy);
		cr_assert_not(has_no_number(copy, len), "round %lu: %s", round, copy);
		cr_assert(len == 0 || copy[len - 1] != ' ', "round %lu: '%s'", round, copy);
		for (size_t i = 0; i < len; i++)
			cr_assert((unsigned char)copy[i] >= 0x20 && copy[i] != 0x7f,
				  "round %lu: %s", round, copy);
		line += len + (line[len] == '\n');
	}
}

Test(text, random_results_print_well, .timeout = 60)
{
	for (uint64_t round = 0; round < 200; round++) {
		struct result r;
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);
		struct error *err;

		seed = round;
		draw_result(&r);
		err = report_text(&r, out);
		cr_assert_null(err);
		fclose(out);
		expect_sane(text, round);
		free(text);
		result_fini(&r);
	}
}
