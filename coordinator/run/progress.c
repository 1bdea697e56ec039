/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/progress.h"

#include "common/base/clock.h"
#include "common/base/units.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define REDRAW_NS (250 * NS_PER_MS)
#define LINE_NS   (10 * NS_PER_S)
enum { DEFAULT_WIDTH = 80 };

struct progress {
	const struct plan *plan;
	FILE *out;
	bool terminal, drawn, ended;
	uint64_t next_ns;
};

struct progress *progress_new(const struct plan *plan, FILE *out)
{
	struct progress *p = xcalloc(1, sizeof(*p));
	const char *term = getenv("TERM");

	p->plan = plan;
	p->out = out;
	p->terminal = isatty(fileno(out)) && term && !streq(term, "dumb");
	return p;
}

void progress_destroy(struct progress **self_p)
{
	if (*self_p)
		progress_end(*self_p);
	freep(self_p);
}

/* "[2/10] bs=4k, repeat 2, main" */
static char *where_text(const struct plan *plan, const struct run_view *v)
{
	const struct step *s = &plan->steps[v->step];
	_cleanup_free_ char *point = plan_point_text(plan, s->point);
	_cleanup_free_ char *nr = xasprintf("[%zu/%zu] ", v->step + 1, plan->nr_steps);

	return xasprintf("%s%s%s%s", plan->nr_steps > 1 ? nr : "", point, *point ? ", " : "",
			 s->phase_name ? s->phase_name : "run");
}

static void seconds_text(char text[UNITS_TEXT], uint64_t ns)
{
	unsigned long long s = (ns + NS_PER_S / 2) / NS_PER_S;

	if (s < 60)
		snprintf(text, UNITS_TEXT, "%llus", s);
	else if (s < 3600)
		snprintf(text, UNITS_TEXT, "%llum%02llus", s / 60, s % 60);
	else
		snprintf(text, UNITS_TEXT, "%lluh%02llum", s / 3600, s / 60 % 60);
}

/* Of this step and all after it, as far as their ends are known. */
static uint64_t remaining_ns(const struct plan *plan, const struct run_view *v, uint64_t now_ns)
{
	uint64_t left = v->end_ns > now_ns ? v->end_ns - now_ns : 0;

	if (v->phase == PHASE_RESTING)
		left += plan->steps[v->step].duration_ns;
	for (size_t i = v->step + 1; i < plan->nr_steps; i++)
		left += plan->steps[i].rest_ns + plan->steps[i].duration_ns;
	return left;
}

static char *running_text(const struct plan *plan, const struct run_view *v,
			  const struct live *live, uint64_t now_ns)
{
	_cleanup_free_ char *where = where_text(plan, v);
	char elapsed[UNITS_TEXT], left[UNITS_TEXT], iops[UNITS_TEXT], bw[UNITS_TEXT];
	_cleanup_free_ char *left_text = NULL, *errors = NULL, *rates = NULL;

	seconds_text(elapsed, now_ns > v->start_ns ? now_ns - v->start_ns : 0);
	seconds_text(left, remaining_ns(plan, v, now_ns));
	units_human_count(iops, live->iops);
	units_human_bytes(bw, live->bw_bytes);
	left_text = v->end_ns ? xasprintf(", %s left", left) : xstrdup("");
	errors = live->errors ? xasprintf(", %llu errors", (unsigned long long)live->errors)
			      : xstrdup("");
	rates = live->has_rates ? xasprintf(", %s IOPS, %s/s", iops, bw) : xstrdup("");
	return xasprintf("%s: %s%s, %zu/%zu hosts%s%s", where, elapsed, left_text,
			 live->hosts_running, live->hosts_total, rates, errors);
}

static char *resting_text(const struct plan *plan, const struct run_view *v, uint64_t now_ns)
{
	_cleanup_free_ char *where = where_text(plan, v);
	char rest[UNITS_TEXT], left[UNITS_TEXT];

	seconds_text(rest, v->end_ns > now_ns ? v->end_ns - now_ns : 0);
	seconds_text(left, remaining_ns(plan, v, now_ns));
	return xasprintf("%s: resting, begins in %s, %s left", where, rest, left);
}

static char *preparing_text(const struct plan *plan, const struct run_view *v)
{
	_cleanup_free_ char *where = where_text(plan, v);
	_cleanup_free_ char *host = v->doing ? str_printable(v->doing_host) : NULL;
	_cleanup_free_ char *doing = v->doing ? str_printable(v->doing) : NULL;

	if (doing)
		return xasprintf("%s: preparing, %zu/%zu hosts ready; %s: %s", where,
				 v->hosts_ready, v->hosts, host, doing);
	return xasprintf("%s: preparing, %zu/%zu hosts ready", where, v->hosts_ready, v->hosts);
}

char *progress_text(const struct plan *plan, const struct run_view *view, const struct live *live,
		    uint64_t now_ns)
{
	_cleanup_free_ char *where = NULL;

	switch (view->phase) {
	case PHASE_CONNECTING:
		return xasprintf("connecting, %zu/%zu hosts", view->hosts_ready, view->hosts);
	case PHASE_RESTING:
		return resting_text(plan, view, now_ns);
	case PHASE_PREPARING:
		return preparing_text(plan, view);
	case PHASE_SYNCING:
	case PHASE_STARTING:
		where = where_text(plan, view);
		return xasprintf("%s: starting", where);
	case PHASE_RUNNING:
		if (live)
			return running_text(plan, view, live, now_ns);
		break;
	case PHASE_STOPPING:
		return xstrdup("stopping: what is in flight is awaited");
	case PHASE_LEAVING:
	case PHASE_FINISHED:
		break;
	}
	return xstrdup("");
}

static void draw(struct progress *p, const char *text)
{
	struct winsize size;
	int width = DEFAULT_WIDTH;

	if (!p->terminal) {
		fprintf(p->out, "%s\n", text);
		return;
	}
	if (ioctl(fileno(p->out), TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
		width = size.ws_col;
	/* One column less: a full line would wrap, and the next return would leave it behind. */
	fprintf(p->out, "\r%.*s\033[K", width - 1, text);
	fflush(p->out);
	p->drawn = true;
}

void progress_update(struct progress *p, const struct run_view *view,
		     const struct collector *collector, uint64_t now_ns)
{
	_cleanup_free_ char *text = NULL;
	struct live live;

	if (p->ended)
		return;
	/* The first line elsewhere comes after ten seconds as well: short runs stay quiet. */
	if (p->next_ns == 0)
		p->next_ns = now_ns + (p->terminal ? 0 : LINE_NS);
	if (now_ns < p->next_ns)
		return;
	p->next_ns = now_ns + (p->terminal ? REDRAW_NS : LINE_NS);
	if (view->phase == PHASE_RUNNING && collector)
		collector_live(collector, &live);
	text = progress_text(p->plan, view,
			     view->phase == PHASE_RUNNING && collector ? &live : NULL, now_ns);
	if (*text || p->drawn)
		draw(p, text);
}

void progress_end(struct progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", p->out);
	fflush(p->out);
	p->drawn = false;
	p->ended = true;
}

void progress_say(struct progress *p, const char *fmt, ...)
{
	va_list ap;

	if (p->drawn)
		fputs("\r\033[K", p->out);
	p->drawn = false;
	va_start(ap, fmt);
	vfprintf(p->out, fmt, ap);
	va_end(ap);
	fputc('\n', p->out);
	fflush(p->out);
}
