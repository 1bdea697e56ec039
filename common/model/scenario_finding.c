/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/scenario_impl.h"

#include <stdarg.h>

static void add_finding(struct checker *c, bool warning, const char *path, char *text)
{
	struct finding *f = c->findings, *end = f + c->nr_findings;

	while (f < end && (f->warning != warning || !streq(f->path, path) || !streq(f->text, text)))
		f++;
	if (f < end) {
		f->nr_points += f->last_point != c->point;
		f->last_point = c->point;
		free(text);
		return;
	}
	c->findings = xrealloc(c->findings, c->nr_findings + 1, sizeof(*c->findings));
	c->findings[c->nr_findings++] = (struct finding) {
		.path = xstrdup(path),
		.text = text,
		.warning = warning,
		.at_points = c->at_points,
		.first_point = c->point,
		.last_point = c->point,
		.nr_points = 1,
	};
}

static _printf_(1, 0) char *format_text(const char *fmt, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0)
		return xstrdup("out of memory");
	return text;
}

void find_mistake(struct checker *c, const char *path, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_finding(c, false, path, format_text(fmt, ap));
	va_end(ap);
}

void find_warning(struct checker *c, const char *path, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_finding(c, true, path, format_text(fmt, ap));
	va_end(ap);
}

char *job_path(const struct checker *c, size_t phase, size_t job, const char *key)
{
	const char *dot = key ? "." : "";

	key = key ? key : "";
	if (c->sc->one_phase)
		return xasprintf("jobs[%zu]%s%s", job, dot, key);
	return xasprintf("phases[%zu].jobs[%zu]%s%s", phase, job, dot, key);
}

bool job_key_sure(const struct checker *c, size_t phase, size_t job, const char *key)
{
	_cleanup_free_ char *path = job_path(c, phase, job, key);
	_cleanup_free_ char *defaults = xasprintf("defaults.%s", key);

	return !schema_positions_wrong(c->known, path) &&
	       !schema_positions_wrong(c->known, defaults);
}

bool target_key_sure(const struct checker *c, const struct target *t, const char *key)
{
	_cleanup_free_ char *path = xasprintf("targets.%s.%s", t->name, key);

	return !schema_positions_wrong(c->known, path);
}

/* " (at bs=4k numjobs=8)" where the mistake is not there at all points. */
static char *where_found(const struct checker *c, const struct finding *f)
{
	char *text = xstrdup("");

	if (!f->at_points || f->nr_points == c->nr_points)
		return text;
	for (size_t axis = 0; axis < c->sc->nr_sweep; axis++) {
		char *more =
			xasprintf("%s%s%s=%s", text, axis ? " " : " (at ", c->sc->sweep[axis].key,
				  scenario_point_value(c->sc, f->first_point, axis));

		free(text);
		text = more;
	}
	if (*text) {
		char *more = xasprintf("%s)", text);

		free(text);
		text = more;
	}
	return text;
}

/* The --set that gave this very key its value, or NULL. */
static const struct setting *setting_of(const struct checker *c, const char *path)
{
	for (size_t i = c->changes->nr_settings; i > 0; i--)
		if (streq(c->changes->settings[i - 1].key, path))
			return &c->changes->settings[i - 1];
	return NULL;
}

struct error *take_findings(struct checker *c)
{
	struct scenario *sc = c->sc;
	struct error *errors = NULL;

	for (size_t i = 0; i < c->nr_findings; i++) {
		struct finding *f = &c->findings[i];
		const struct setting *set = setting_of(c, f->path);
		_cleanup_free_ char *where = where_found(c, f);

		if (f->warning && !*where) {
			sc->warnings =
				xrealloc(sc->warnings, sc->nr_warnings + 1, sizeof(*sc->warnings));
			sc->warnings[sc->nr_warnings++] = xasprintf("%s: %s", f->path, f->text);
		} else if (!f->warning && set) {
			error_append(&errors,
				     error_new(ERR_CONFIG, "--set %s=%s: %s: %s%s", set->key,
					       set->value, f->path, f->text, where));
		} else if (!f->warning) {
			error_append(&errors,
				     error_new(ERR_CONFIG, "%s: %s%s", f->path, f->text, where));
		}
		free(f->path);
		free(f->text);
	}
	free(c->findings);
	return errors;
}
