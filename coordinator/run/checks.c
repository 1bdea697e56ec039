/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/checks.h"

#include "common/model/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const struct result_group *find_group(const struct result_step *s, const char *name)
{
	for (size_t i = 0; i < s->nr_groups; i++)
		if (streq(s->groups[i].name, name))
			return &s->groups[i];
	return NULL;
}

/* Sets state, value and reason. */
static void evaluate_at(const struct check *c, const struct result_step *s,
			struct result_check *ret)
{
	const char *group = c->group ? c->group : "all";
	const struct result_group *g = find_group(s, group);
	_cleanup_free_ char *value = NULL;

	ret->state = CHECK_SKIPPED;
	ret->value = NAN;
	if (s->partial) {
		ret->why = s->hosts_text ? xasprintf("partial: %s", s->hosts_text)
					 : xstrdup("partial: it was stopped before its time");
		return;
	}
	if (!g) {
		ret->why = xasprintf("no group '%s' in this phase", group);
		return;
	}
	ret->value = metric_path_value(&c->path, s, g);
	if (isnan(ret->value)) {
		ret->why = xasprintf("'%s' was not measured here", c->metric);
		return;
	}
	ret->state = check_holds(c, ret->value) ? CHECK_PASSED : CHECK_FAILED;
	value = check_value_text(c, ret->value);
	ret->why = xasprintf("%s is %s", c->metric, value);
}

static void add_check(struct result *r, const char *text, const struct check *c,
		      const struct result_step *s)
{
	struct result_check *to;

	r->checks = xrealloc(r->checks, r->nr_checks + 1, sizeof(*r->checks));
	to = &r->checks[r->nr_checks++];
	*to = (struct result_check) {
		.text = xstrdup(text),
		.point = xcalloc(s->nr_point, sizeof(*to->point)),
		.nr_point = s->nr_point,
		.repeat = s->repeat,
		.phase = xstrdup(s->phase),
	};
	for (size_t i = 0; i < s->nr_point; i++)
		to->point[i] = (struct text_pair) { .key = xstrdup(s->point[i].key),
						    .value = xstrdup(s->point[i].value) };
	evaluate_at(c, s, to);
}

/* "bs=4k, repeat 2, phase 'main': " as far as the scenario has several of each. */
static char *where_text(const struct scenario *sc, const struct result_check *c)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert(out);
	for (size_t i = 0; i < c->nr_point; i++)
		fprintf(out, "%s%s=%s", i ? " " : "", c->point[i].key, c->point[i].value);
	if (sc->repeat > 1)
		fprintf(out, "%srepeat %" PRIu64, c->nr_point ? ", " : "", c->repeat);
	if (sc->nr_phases > 1)
		fprintf(out, "%sphase '%s'", c->nr_point || sc->repeat > 1 ? ", " : "", c->phase);
	if (c->nr_point || sc->repeat > 1 || sc->nr_phases > 1)
		fputs(": ", out);
	fclose(out);
	return text;
}

/* Was it said of the check already when the scenario was loaded? */
static bool is_warned_of(const struct result *r, size_t index)
{
	_cleanup_free_ char *path = xasprintf("checks[%zu]: ", index);

	for (size_t i = 0; i < r->nr_warnings; i++)
		if (str_starts(r->warnings[i].text, path))
			return true;
	return false;
}

/* What came of one check, whose results are list[0..nr). */
static struct error *sum_up(const struct scenario *sc, struct result *r, size_t index,
			    const struct result_check *list, size_t nr)
{
	const struct result_check *first = NULL;
	_cleanup_free_ char *where = NULL, *text = NULL;
	size_t failed = 0, skipped = 0;

	for (size_t i = 0; i < nr; i++) {
		if (list[i].state == CHECK_FAILED && !failed++)
			first = &list[i];
		skipped += list[i].state == CHECK_SKIPPED;
	}
	if (nr && skipped == nr && !is_warned_of(r, index)) {
		text = xasprintf("check '%s' could not be made: %s", list->text, list->why);
		result_warn(r, NULL, NULL, text);
	}
	if (!first)
		return NULL;
	where = where_text(sc, first);
	if (nr == 1)
		return error_new(ERR_CHECK, "check '%s' failed: %s", first->text, first->why);
	return error_new(ERR_CHECK, "check '%s' failed at %zu of %zu steps, first at %s%s",
			 first->text, failed, nr - skipped, where, first->why);
}

struct error *checks_evaluate(const struct scenario *sc, struct result *r)
{
	struct error *errors = NULL;

	for (size_t i = 0; i < sc->nr_checks; i++) {
		_cleanup_(check_fini) struct check c = { 0 };
		size_t before = r->nr_checks;
		struct error *err = check_parse(sc->checks[i], &c);

		assert(!err); /* it was checked when the scenario was loaded */
		for (size_t s = 0; s < r->nr_steps; s++)
			add_check(r, sc->checks[i], &c, &r->steps[s]);
		error_append(&errors, sum_up(sc, r, i, r->checks + before, r->nr_checks - before));
	}
	return errors;
}
