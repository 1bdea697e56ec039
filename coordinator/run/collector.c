/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/collector.h"

#include "common/model/inventory.h"
#include "coordinator/run/checks.h"
#include "coordinator/run/step_sums.h"
#include "coordinator/run/summary.h"

struct collector {
	const struct plan *plan;
	struct result result;
	struct ready_devices *ready; /* one per host of the plan, of the step at hand */
	bool is_running;             /* between begin and end */
	struct step_sums step;
	uint64_t step_start_ns;
	bool has_started;
	uint64_t run_start_ns; /* of the first step, on the coordinator's clock */
	uint64_t errors;       /* of the steps that have ended */
};

static char *copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

/* What is known of a host before it answers. */
static void add_host(struct result_host *to, const struct host *from)
{
	const struct inventory_host *entry = from->entry;

	*to = (struct result_host) {
		.name = xstrdup(from->name),
		.address = copy_text(from->address),
		.role = host_is_observer(from) ? xstrdup("observer") : NULL,
	};
	if (!entry)
		return;
	to->labels = xcalloc(entry->nr_labels, sizeof(*to->labels));
	to->nr_labels = entry->nr_labels;
	for (size_t i = 0; i < entry->nr_labels; i++)
		to->labels[i] = (struct text_pair) {
			.key = xstrdup(entry->labels[i].key),
			.value = xstrdup(entry->labels[i].value),
		};
}

struct collector *collector_new(const struct plan *plan, const char *run_id, const char *version)
{
	const struct scenario *sc = plan->scenario;
	struct collector *c = xcalloc(1, sizeof(*c));
	struct result *r = &c->result;

	c->plan = plan;
	c->ready = xcalloc(plan->hosts.nr_hosts, sizeof(*c->ready));
	r->id = xstrdup(run_id);
	r->name = copy_text(sc->name);
	r->description = copy_text(sc->description);
	r->version = xstrdup(version);
	r->labels = xcalloc(sc->nr_labels, sizeof(*r->labels));
	r->nr_labels = sc->nr_labels;
	for (size_t i = 0; i < sc->nr_labels; i++)
		r->labels[i] = (struct text_pair) {
			.key = xstrdup(sc->labels[i].key),
			.value = xstrdup(sc->labels[i].value),
		};
	r->hosts = xcalloc(plan->hosts.nr_hosts, sizeof(*r->hosts));
	r->nr_hosts = plan->hosts.nr_hosts;
	for (size_t i = 0; i < r->nr_hosts; i++)
		add_host(&r->hosts[i], &plan->hosts.hosts[i]);
	return c;
}

static void ready_fini(struct ready_devices *r)
{
	for (size_t i = 0; i < r->nr_devices; i++) {
		free(r->devices[i].path);
		free(r->devices[i].identity);
		free(r->devices[i].transport);
		free(r->devices[i].warning);
	}
	free(r->devices);
	*r = (struct ready_devices) { 0 };
}

void collector_destroy(struct collector **self_p)
{
	struct collector *c = take_ptr(*self_p);

	if (!c)
		return;
	step_sums_fini(&c->step);
	for (size_t i = 0; i < c->result.nr_hosts; i++)
		ready_fini(&c->ready[i]);
	free(c->ready);
	result_fini(&c->result);
	free(c);
}

void collector_host_facts(struct collector *c, size_t host, const struct msg_welcome *w)
{
	struct result_host *h = &c->result.hosts[host];

	for (size_t i = 0; i < h->nr_environment; i++) {
		free(h->environment[i].key);
		free(h->environment[i].value);
	}
	free(h->environment);
	h->environment = xcalloc(w->nr_facts, sizeof(*h->environment));
	h->nr_environment = 0;
	for (size_t i = 0; i < w->nr_facts; i++)
		if (w->facts[i].key && w->facts[i].value)
			h->environment[h->nr_environment++] = (struct text_pair) {
				.key = xstrdup(w->facts[i].key),
				.value = xstrdup(w->facts[i].value),
			};
}

void collector_warn(struct collector *c, const char *host, const char *target, const char *text)
{
	result_warn(&c->result, host, target, text);
}

void collector_fault(struct collector *c, const char *host, const char *target, const char *text)
{
	result_fault(&c->result, host, target, text);
}

void collector_clock(struct collector *c, size_t host, int64_t offset_ns, uint64_t error_ns,
		     double drift_ppb)
{
	struct result_host *h = &c->result.hosts[host];

	h->has_clock = true;
	h->clock_offset_ns = offset_ns;
	h->clock_error_ns = error_ns;
	h->clock_drift_ppb = drift_ppb;
	if (c->is_running)
		step_sums_clock(&c->step, host, offset_ns, error_ns, c->step_start_ns);
}

void collector_begin(struct collector *c, size_t step, uint64_t start_ns)
{
	assert(!c->is_running && step < c->plan->nr_steps);
	step_sums_init(&c->step, c->plan, step, start_ns, &c->result);
	c->is_running = true;
	c->step_start_ns = start_ns;
	if (!c->has_started)
		c->run_start_ns = start_ns;
	c->has_started = true;
}

/* READY comes before the start instant is known, so this may be called before collector_begin, too. */
void collector_ready(struct collector *c, size_t host, const struct msg_ready *ready)
{
	struct ready_devices *r = &c->ready[host];

	ready_fini(r);
	r->devices = xcalloc(ready->nr_devices, sizeof(*r->devices));
	r->nr_devices = ready->nr_devices;
	for (size_t i = 0; i < ready->nr_devices; i++) {
		const struct device_info *d = &ready->devices[i];

		r->devices[i] = (struct ready_device) {
			.target = d->target,
			.path = copy_text(d->path),
			.identity = copy_text(d->identity),
			.transport = copy_text(d->transport),
			.warning = copy_text(d->warning),
		};
	}
}

struct error *collector_sample(struct collector *c, size_t host, const struct msg_sample *s)
{
	if (!c->is_running)
		return error_new(ERR_PROTOCOL, "sent a sample while nothing runs");
	return step_sums_sample(&c->step, host, s);
}

struct error *collector_done(struct collector *c, size_t host, const struct msg_done *d)
{
	if (!c->is_running)
		return error_new(ERR_PROTOCOL, "sent totals while nothing runs");
	return step_sums_done(&c->step, host, d);
}

void collector_lost(struct collector *c, size_t host, enum host_state state, uint64_t at_ns)
{
	struct result_host *h = &c->result.hosts[host];
	bool after_start = c->has_started && at_ns > c->run_start_ns;
	_cleanup_free_ char *text = NULL;

	if (c->is_running)
		step_sums_lost(&c->step, host);
	if (h->state != HOST_COMPLETE)
		return;
	h->state = state;
	/* 0 would say that it was not lost. */
	h->lost_at_ns = after_start ? at_ns - c->run_start_ns : 1;
	if (!after_start)
		text = xasprintf("%s before the first I/O", host_state_names[state]);
	else if (h->role)
		text = xasprintf(
			"%s %.3f s after the start: an observer, so nothing of the load is "
			"missing",
			host_state_names[state], (double)h->lost_at_ns / 1e9);
	else if (c->is_running && c->step.hosts[host].work && !c->step.hosts[host].is_done)
		text = xasprintf(
			"%s %.3f s after the start; what its samples told of the step's first "
			"%.3f s is in the result",
			host_state_names[state], (double)h->lost_at_ns / 1e9,
			(double)c->step.hosts[host].last_read_ns / 1e9);
	else
		text = xasprintf("%s %.3f s after the start", host_state_names[state],
				 (double)h->lost_at_ns / 1e9);
	result_fault(&c->result, h->name, NULL, text);
}

void collector_cut(struct collector *c)
{
	c->step.is_cut = c->is_running;
}

void collector_abandon(struct collector *c)
{
	c->step.is_abandoned = c->is_running;
}

void collector_end(struct collector *c)
{
	struct result *r = &c->result;
	struct result_step step;

	assert(c->is_running);
	if (step_sums_finish(&c->step, c->ready, &step)) {
		r->steps = xrealloc(r->steps, r->nr_steps + 1, sizeof(*r->steps));
		r->steps[r->nr_steps++] = step;
	}
	c->errors += c->step.errors;
	step_sums_fini(&c->step);
	for (size_t i = 0; i < r->nr_hosts; i++)
		ready_fini(&c->ready[i]);
	c->is_running = false;
}

void collector_live(const struct collector *c, struct live *ret)
{
	*ret = (struct live) { .errors = collector_errors(c) };
	if (!c->is_running)
		return;
	for (size_t i = 0; i < c->result.nr_hosts; i++) {
		const struct host_sums *h = &c->step.hosts[i];

		if (!h->work)
			continue;
		ret->hosts_total++;
		if (h->is_done || h->is_lost)
			continue;
		ret->hosts_running++;
		ret->has_rates |= h->nr_samples > 0;
		ret->iops += h->iops;
		ret->bw_bytes += h->bw_bytes;
		if (h->oldest_ns > ret->oldest_ns)
			ret->oldest_ns = h->oldest_ns;
	}
}

uint64_t collector_errors(const struct collector *c)
{
	return c->errors + (c->is_running ? c->step.errors : 0);
}

struct error *collector_check(struct collector *c)
{
	if (c->is_running)
		collector_end(c);
	return checks_evaluate(c->plan->scenario, &c->result);
}

const struct result *collector_result(const struct collector *c)
{
	return &c->result;
}

/* A run that was ended early shows no trace of the steps that it never came to. */
static void warn_missing(struct collector *c)
{
	_cleanup_free_ char *text = NULL;
	size_t measured = 0;

	for (size_t i = 0; i < c->plan->nr_steps; i++)
		measured += c->plan->steps[i].measured;
	if (c->result.nr_steps >= measured)
		return;
	text = xasprintf("%zu of %zu measured steps did not run", measured - c->result.nr_steps,
			 measured);
	result_warn(&c->result, NULL, NULL, text);
}

const struct result *collector_finish(struct collector *c, enum run_status status, int exit_status,
				      const char *started, const char *ended)
{
	struct result *r = &c->result;

	if (c->is_running)
		collector_end(c);
	r->status = status;
	r->exit_status = exit_status;
	r->started = copy_text(started);
	r->ended = copy_text(ended);
	if (ended)
		warn_missing(c);
	summary_fill(r);
	return r;
}

void collector_set_exit_status(struct collector *c, int exit_status)
{
	c->result.exit_status = exit_status;
}
