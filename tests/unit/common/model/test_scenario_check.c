/* SPDX-License-Identifier: Apache-2.0 */
/* What the golden scenarios do not show: limits, and what is told at some or all points of a sweep. */
#include "tests/unit/common/model/scenario_text.h"

static struct error *mistakes(const char *text)
{
	struct scenario *sc = NULL;
	struct error *err = load_text(text, &no_changes, &sc);

	scenario_destroy(&sc);
	cr_assert_not_null(err, "%s", text);
	return err;
}

static void expect(const char *text, const char *want)
{
	struct error *err = mistakes(text);

	cr_assert_not_null(strstr(error_message(err), want), "%s", error_message(err));
	cr_assert_null(error_next(err), "%s", error_message(error_next(err)));
	cr_assert_eq(error_exit_status(err), 2);
	error_destroy(&err);
}

#define HEAD "name: x\ntargets: {t: {file: f, size: 1GiB}}\n"

/* "KEY: [1, 2, ... nr]" */
static char *axis(const char *key, unsigned nr)
{
	char *text = xasprintf("%s: [1", key);

	for (unsigned i = 2; i <= nr; i++) {
		char *more = xasprintf("%s, %u", text, i);

		free(text);
		text = more;
	}
	text = xrealloc(text, strlen(text) + 2, 1);
	return strcat(text, "]");
}

Test(scenario_check, a_sweep_has_a_limit)
{
	_cleanup_free_ char *depth = axis("iodepth", 400), *seed = axis("randseed", 251);
	_cleanup_free_ char *text =
		xasprintf(HEAD "jobs: [{name: a, target: t, rw: randread}]\nsweep:\n  %s\n  %s\n",
			  depth, seed);

	expect(text, "sweep: has more than 100000 points");
}

Test(scenario_check, a_run_has_a_limit)
{
	_cleanup_free_ char *depth = axis("iodepth", 11);
	_cleanup_free_ char *text = xasprintf(
		HEAD "jobs: [{name: a, target: t, rw: randread}]\nsweep: {%s}\nrepeat: 100000\n",
		depth);

	expect(text, "repeat: points x repeats x phases are more than 1000000");
}

Test(scenario_check, what_is_wrong_at_some_points_says_at_which)
{
	expect(HEAD "jobs: [{name: a, target: t, rw: randread, size: 16k}]\n"
		    "sweep: {iodepth: [1, 2], bs: [4k, 32k]}\n",
	       "jobs[0].size: 16KiB is less than one block (bs is 32KiB) (at iodepth=1 bs=32k)");
}

Test(scenario_check, what_is_wrong_at_all_points_says_so_once)
{
	struct error *err = mistakes(HEAD "jobs: [{name: a, target: t, size: 1k}]\n"
					  "sweep: {iodepth: [1, 2], rw: [randread, randwrite]}\n");

	cr_assert_null(strstr(error_message(err), "(at "), "%s", error_message(err));
	cr_assert_null(error_next(err));
	error_destroy(&err);
}

Test(scenario_check, what_does_nothing_at_all_points_is_a_warning)
{
	_cleanup_(scenario_destroy) struct scenario *some =
		good_text(HEAD "jobs: [{name: a, target: t, end_fsync: true}]\n"
			       "sweep: {rw: [randread, randwrite]}\n",
			  &no_changes);
	_cleanup_(scenario_destroy) struct scenario *all =
		good_text(HEAD "jobs: [{name: a, target: t, end_fsync: true}]\n"
			       "sweep: {rw: [randread, read]}\n",
			  &no_changes);

	cr_assert_eq(some->nr_warnings, 0);
	cr_assert_eq(all->nr_warnings, 1);
	cr_assert_str_eq(all->warnings[0], "jobs[0]: end_fsync does nothing: the job only reads");
}

Test(scenario_check, defaults_may_be_meant_for_others)
{
	_cleanup_(scenario_destroy) struct scenario *sc =
		good_text(HEAD "defaults: {target: t, fsync: 8, rwmixread: 70}\n"
			       "jobs: [{name: a, rw: randread}]\n",
			  &no_changes);

	cr_assert_eq(sc->nr_warnings, 0);
}

/* A misspelt key is not missing as well, and the job's other mistakes are told nevertheless. */
Test(scenario_check, one_mistake_hides_only_what_follows_from_it)
{
	struct error *err = mistakes(
		HEAD
		"jobs:\n"
		"  - {name: a, target: t, rw: randread, time_based: true, runtme: 3s, size: 1k}\n"
		"  - {name: b, target: t, rw: randread, time_based: true, runtime: 3}\n"
		"  - {name: c, target: t, rw: randread, time_based: true, iodpeth: 3}\n");
	static const char *const want[] = {
		":4:58: jobs[0]: unknown key 'runtme'; did you mean 'runtime'?",
		":4:76: jobs[0].size: 1KiB is less than one block (bs is 4KiB)",
		":5:67: jobs[1].runtime: '3' needs a unit",
		":6:5: jobs[2]: time_based needs a runtime",
		":6:58: jobs[2]: unknown key 'iodpeth'; did you mean 'iodepth'?",
	};
	const struct error *e = err;

	for (size_t i = 0; i < array_size(want); i++, e = error_next(e)) {
		cr_assert_not_null(e, "%s is missing", want[i]);
		cr_assert_not_null(strstr(error_message(e), want[i]), "%s, not %s",
				   error_message(e), want[i]);
	}
	cr_assert_null(e);
	error_destroy(&err);
}

Test(scenario_check, a_wrong_value_of_set_is_told_as_such)
{
	static const struct setting settings[] = { { "jobs[0].size", "1k" } };
	struct scenario_changes changes = { .settings = settings, .nr_settings = 1 };
	struct scenario *sc = NULL;
	struct error *err =
		load_text(HEAD "jobs: [{name: a, target: t, size: 1GiB}]\n", &changes, &sc);

	cr_assert_not_null(err);
	cr_assert_str_eq(
		error_message(err),
		"--set jobs[0].size=1k: jobs[0].size: 1KiB is less than one block (bs is 4KiB)");
	error_destroy(&err);
}
