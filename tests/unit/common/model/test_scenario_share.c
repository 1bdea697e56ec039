/* SPDX-License-Identifier: Apache-2.0 */
/* When sharing a target must be said, and when it goes without. */
#include "tests/unit/common/model/scenario_text.h"

/* The first mistake of a scenario with these hosts, target and jobs, without its position; "" for none. */
static char *mistake(const char *hosts, const char *target, const char *jobs)
{
	_cleanup_free_ char *text =
		xasprintf("name: x\nhosts: %s\ntargets: {t: {%s}, u: {%s}}\njobs: [%s]\n", hosts,
			  target, "simulated: {size: 1GiB}", jobs);
	_cleanup_(scenario_destroy) struct scenario *sc = NULL;
	struct error *err = load_text(text, &no_changes, &sc);
	char *what = xstrdup(err ? strstr(error_message(err), ": ") + 2 : "");

	error_destroy(&err);
	return what;
}

static void expect_fine(const char *hosts, const char *target, const char *jobs)
{
	_cleanup_free_ char *got = mistake(hosts, target, jobs);

	cr_assert_str_eq(got, "", "%s | %s | %s: %s", hosts, target, jobs, got);
}

static void expect_wrong(const char *hosts, const char *target, const char *jobs, const char *want)
{
	_cleanup_free_ char *got = mistake(hosts, target, jobs);

	cr_assert_not_null(strstr(got, want), "%s | %s | %s: %s", hosts, target, jobs, got);
}

#define ONE    "local"
#define TWO    "[n1, n2]"
#define DEVICE "device: /dev/a, destroy: true"
#define FILE_  "file: f, size: 1GiB"

Test(scenario_share, one_thread_shares_with_nobody)
{
	expect_fine(ONE, DEVICE, "{name: a, target: t, rw: randwrite}");
	expect_fine(ONE, DEVICE, "{name: a, target: t, rw: read}");
	expect_fine(TWO, DEVICE, "{name: a, target: t, rw: write, hosts: n1}");
}

Test(scenario_share, random_readers_share_by_themselves)
{
	expect_fine(TWO, DEVICE, "{name: a, target: t, rw: randread, numjobs: 8}");
	expect_fine(ONE, FILE_,
		    "{name: a, target: t, rw: randread}, {name: b, target: t, rw: randread}");
}

Test(scenario_share, several_threads_that_write_or_stream_must_say)
{
	static const char want[] = "targets.t: 2 threads use it at once and";

	expect_wrong(ONE, DEVICE, "{name: a, target: t, rw: randwrite, numjobs: 2}", want);
	expect_wrong(ONE, DEVICE, "{name: a, target: t, rw: read, numjobs: 2}", want);
	expect_wrong(ONE, DEVICE, "{name: a, target: t, rw: randrw, numjobs: 2}", want);
	expect_wrong(ONE, FILE_, "{name: a, target: t, rw: write, numjobs: 2}", want);
	expect_wrong(ONE, FILE_,
		     "{name: a, target: t, rw: randread}, {name: b, target: t, rw: randwrite}",
		     want);
	expect_wrong(TWO, DEVICE, "{name: a, target: t, rw: randwrite}", want);
}

Test(scenario_share, a_file_belongs_to_its_host)
{
	expect_fine(TWO, FILE_, "{name: a, target: t, rw: randwrite}");
	expect_fine(TWO, FILE_ ", share: shared",
		    "{name: a, target: t, rw: randwrite, numjobs: 4}");
}

Test(scenario_share, several_writing_hosts_need_a_word_more)
{
	static const char want[] = "2 hosts write the same blocks";

	expect_wrong(TWO, DEVICE ", share: shared", "{name: a, target: t, rw: randwrite}", want);
	expect_fine(TWO, DEVICE ", share: shared, allow_overlap: true",
		    "{name: a, target: t, rw: randwrite}");
	expect_fine(TWO, DEVICE ", share: partition", "{name: a, target: t, rw: randwrite}");
	/* One writes, both read. */
	expect_fine(TWO, DEVICE ", share: shared",
		    "{name: a, target: t, rw: randwrite, hosts: n1}, {name: b, target: t, rw: "
		    "randread}");
}

Test(scenario_share, simulated_targets_have_nothing_to_share)
{
	expect_fine(TWO, DEVICE, "{name: a, target: u, rw: write, numjobs: 4}");
}

Test(scenario_share, partitions_are_of_equal_or_disjoint_ranges)
{
	static const char p[] = DEVICE ", share: partition";

	expect_fine(ONE, p,
		    "{name: a, target: t, rw: write, size: 1MiB},"
		    "{name: b, target: t, rw: write, size: 1MiB},"
		    "{name: c, target: t, rw: write, offset: 1MiB}");
	expect_wrong(ONE, p,
		     "{name: a, target: t, rw: write, size: 1MiB},"
		     "{name: b, target: t, rw: write, offset: 512k, size: 1MiB}",
		     "jobs[1]: its range of target 't' overlaps a part of job 'a''s");
	expect_wrong(ONE, p,
		     "{name: a, target: t, rw: write}, {name: b, target: t, rw: write, size: 1MiB}",
		     "overlaps");
	/* They never meet. */
	expect_fine(TWO, p,
		    "{name: a, target: t, rw: write, size: 1MiB, hosts: n1},"
		    "{name: b, target: t, rw: write, size: 2MiB, hosts: n2}");
}

Test(scenario_share, every_thread_gets_a_block)
{
	static const char p[] = "file: f, size: 64KiB, share: partition";

	expect_fine(ONE, p, "{name: a, target: t, rw: write, numjobs: 16}");
	expect_wrong(ONE, p, "{name: a, target: t, rw: write, numjobs: 17}",
		     "17 threads on a host partition 16 blocks of 4096 bytes");
	expect_wrong(ONE, p,
		     "{name: a, target: t, rw: write, bs: 12k, numjobs: 1},"
		     "{name: b, target: t, rw: write, bs: 8k, numjobs: 2}",
		     "3 threads on a host partition 2 blocks of 24576 bytes");
	expect_wrong(ONE, DEVICE ", share: partition",
		     "{name: a, target: t, rw: write, bs: 1048064},"
		     "{name: b, target: t, rw: write, bs: 1GiB}",
		     "no common multiple");
}
