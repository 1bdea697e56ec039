/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/units.h"
#include "coordinator/cmd_check.h"
#include "coordinator/run/coordinator.h"

/* One device of one host, over all steps that use it. */
struct found {
	size_t host;
	char *target; /* its name in the scenario */
	struct device_info info;
};

struct findings {
	const struct plan *plan;
	struct found *list;
	size_t nr;
};

static void findings_fini(struct findings *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		struct device_info *d = &f->list[i].info;

		free(f->list[i].target);
		free(d->path);
		free(d->model);
		free(d->serial);
		free(d->identity);
		free(d->transport);
		free(d->in_use);
		free(d->signature);
		free(d->warning);
	}
	free(f->list);
}

static struct found *find(struct findings *f, size_t host, const char *target)
{
	for (size_t i = 0; i < f->nr; i++)
		if (f->list[i].host == host && streq(f->list[i].target, target))
			return &f->list[i];
	return NULL;
}

static void add(struct findings *f, size_t host, const char *target, struct device_info *d)
{
	struct found *old = find(f, host, target);

	if (old) {
		if (d->max_write_bytes > old->info.max_write_bytes)
			old->info.max_write_bytes = d->max_write_bytes;
		return;
	}
	f->list = xrealloc(f->list, f->nr + 1, sizeof(*f->list));
	f->list[f->nr++] = (struct found) { host, xstrdup(target), *d };
	*d = (struct device_info) { .target = d->target }; /* its texts are ours now */
}

static void on_probed(void *arg, size_t host, size_t step, struct msg_ready *ready)
{
	struct findings *f = arg;
	const struct assignment *work = f->plan->steps[step].hosts[host];

	for (size_t i = 0; i < ready->nr_devices; i++)
		if (ready->devices[i].target < work->nr_targets)
			add(f, host, work->targets[ready->devices[i].target].name,
			    &ready->devices[i]);
}

static int by_host(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return strcmp(x->target, y->target);
}

static void print_text(FILE *out, const char *label, const char *text)
{
	_cleanup_free_ char *clean = NULL;

	if (!text || !*text)
		return;
	clean = str_printable(text);
	fprintf(out, "    %-10s %s\n", label, clean);
}

static void print_found(const struct findings *f, const struct found *d, FILE *out)
{
	_cleanup_free_ char *path = str_printable(d->info.path ? d->info.path : "simulated");
	char size[UNITS_TEXT], write[UNITS_TEXT];

	units_human_bytes(size, (double)d->info.size_bytes);
	units_human_bytes(write, (double)d->info.max_write_bytes);
	fprintf(out, "  %s %s: %s, %s", f->plan->hosts.hosts[d->host].name, d->target, path, size);
	if (d->info.max_write_bytes)
		fprintf(out, ", up to %s of it can be written", write);
	else
		fprintf(out, ", only read");
	fprintf(out, "\n");
	print_text(out, "model", d->info.model);
	print_text(out, "serial", d->info.serial);
	print_text(out, "identity", d->info.identity);
	print_text(out, "transport", d->info.transport);
	print_text(out, "in use", d->info.in_use);
	print_text(out, "signature", d->info.signature);
	print_text(out, "warning", d->info.warning);
}

struct error *check_online(const struct plan *plan, const struct options *opts, FILE *out)
{
	_cleanup_free_ char *keys_dir = coordinator_keys_dir(opts->keys);
	_cleanup_(channel_keys_fini) struct channel_keys keys = { 0 };
	_cleanup_(findings_fini) struct findings found = { .plan = plan };
	_cleanup_(run_destroy) struct run *run = NULL;
	struct error *err = NULL;

	coordinator_init();
	if (!plan->embedded)
		err = channel_keys_load(keys_dir, opts->insecure, &plan->hosts, &keys);
	if (err)
		return err;
	run = coordinator_run(&(struct coordinator_options) {
		.mode = MODE_PROBE,
		.hosts = &plan->hosts,
		.plan = plan,
		.fleet = &plan->scenario->fleet,
		.keys = &keys,
		.embedded = plan->embedded,
		.hooks = { .arg = &found, .probed = on_probed },
	});
	if (found.nr) {
		qsort(found.list, found.nr, sizeof(*found.list), by_host);
		fprintf(out, "\nWhat the hosts see:\n");
	}
	for (size_t i = 0; i < found.nr; i++)
		print_found(&found, &found.list[i], out);
	return run_take_errors(run);
}
