/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/samples.h"

#include "common/base/hist.h"

#include <msgpack.h>

static int add_bytes(void *data, const char *bytes, size_t len)
{
	buf_add(data, bytes, len);
	return 0;
}

static void pack_text(msgpack_packer *pk, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (!text) {
		msgpack_pack_nil(pk);
		return;
	}
	msgpack_pack_str(pk, len);
	msgpack_pack_str_body(pk, text, len);
}

static void pack_count(msgpack_packer *pk, const char *key, uint64_t value)
{
	pack_text(pk, key);
	msgpack_pack_uint64(pk, value);
}

static void pack_pair(msgpack_packer *pk, const char *key, const char *text)
{
	pack_text(pk, key);
	pack_text(pk, text);
}

static void pack_integer(msgpack_packer *pk, const char *key, int64_t value)
{
	pack_text(pk, key);
	msgpack_pack_int64(pk, value);
}

static void pack_pairs(msgpack_packer *pk, const char *key, const struct text_pair *pairs,
		       size_t nr)
{
	pack_text(pk, key);
	msgpack_pack_map(pk, nr);
	for (size_t i = 0; i < nr; i++)
		pack_pair(pk, pairs[i].key, pairs[i].value);
}

/* What each host is: by the inventory, and by its own words in WELCOME. */
static void pack_about(msgpack_packer *pk, const struct result *so_far)
{
	msgpack_pack_array(pk, so_far->nr_hosts);
	for (size_t i = 0; i < so_far->nr_hosts; i++) {
		const struct result_host *h = &so_far->hosts[i];

		msgpack_pack_map(pk, 4);
		pack_pair(pk, "address", h->address);
		pack_pair(pk, "role", h->role);
		pack_pairs(pk, "labels", h->labels, h->nr_labels);
		pack_pairs(pk, "environment", h->environment, h->nr_environment);
	}
}

void samples_header(struct buf *out, const struct plan *plan, const struct result *so_far)
{
	msgpack_packer pk;

	msgpack_packer_init(&pk, out, add_bytes);
	msgpack_pack_map(&pk, 11);
	pack_pair(&pk, "record", "header");
	pack_pair(&pk, "content", "salvo samples");
	pack_count(&pk, "format", SAMPLES_FORMAT);
	pack_pair(&pk, "version", so_far->version);
	pack_pair(&pk, "run", so_far->id);
	pack_pair(&pk, "clock", "CLOCK_MONOTONIC, ns, of the worker");
	pack_pair(&pk, "histogram",
		  "varints sum, min, max, then (gap, count) pairs of log-linear buckets");
	pack_count(&pk, "histogram_sub_bits", HIST_SUB_BITS);
	pack_count(&pk, "interval_ns", plan->scenario->interval_ns);
	pack_text(&pk, "hosts");
	msgpack_pack_array(&pk, plan->hosts.nr_hosts);
	for (size_t i = 0; i < plan->hosts.nr_hosts; i++)
		pack_text(&pk, plan->hosts.hosts[i].name);
	pack_text(&pk, "about");
	pack_about(&pk, so_far);
}

static void pack_members(msgpack_packer *pk, const struct assignment *work)
{
	msgpack_pack_array(pk, work ? work->nr_members : 0);
	for (size_t i = 0; work && i < work->nr_members; i++) {
		const struct work_member *m = &work->members[i];

		msgpack_pack_map(pk, 4);
		pack_pair(pk, "job", m->job.name);
		pack_pair(pk, "target", work->targets[m->target].name);
		pack_pair(pk, "group", m->job.group);
		pack_count(pk, "threads", m->job.numjobs);
	}
}

/* With which START was sent; nil: unknown. */
static void pack_clocks(msgpack_packer *pk, const struct result *so_far)
{
	msgpack_pack_array(pk, so_far->nr_hosts);
	for (size_t i = 0; i < so_far->nr_hosts; i++) {
		const struct result_host *h = &so_far->hosts[i];

		if (!h->has_clock) {
			msgpack_pack_nil(pk);
			continue;
		}
		msgpack_pack_map(pk, 2);
		pack_integer(pk, "offset_ns", h->clock_offset_ns);
		pack_count(pk, "error_ns", h->clock_error_ns);
	}
}

void samples_step(struct buf *out, const struct plan *plan, size_t step, uint64_t start_ns,
		  const struct result *so_far)
{
	const struct step *s = &plan->steps[step];
	const struct point *point = &plan->points[s->point];
	msgpack_packer pk;

	msgpack_packer_init(&pk, out, add_bytes);
	msgpack_pack_map(&pk, 9);
	pack_pair(&pk, "record", "step");
	pack_count(&pk, "step", step);
	pack_text(&pk, "point");
	msgpack_pack_map(&pk, point->nr_values);
	for (size_t i = 0; i < point->nr_values; i++)
		pack_pair(&pk, point->values[i].key, point->values[i].value);
	pack_count(&pk, "repeat", s->repeat + 1);
	pack_pair(&pk, "phase", s->phase_name);
	pack_text(&pk, "measured");
	if (s->measured)
		msgpack_pack_true(&pk);
	else
		msgpack_pack_false(&pk);
	pack_count(&pk, "start_ns", start_ns);
	pack_text(&pk, "members");
	msgpack_pack_array(&pk, plan->hosts.nr_hosts);
	for (size_t i = 0; i < plan->hosts.nr_hosts; i++)
		pack_members(&pk, s->hosts[i]);
	pack_text(&pk, "clocks");
	pack_clocks(&pk, so_far);
}

void samples_sample(struct buf *out, size_t step, size_t host, int64_t offset_ns,
		    const uint8_t *bytes, size_t len)
{
	msgpack_packer pk;

	msgpack_packer_init(&pk, out, add_bytes);
	msgpack_pack_map(&pk, 5);
	pack_pair(&pk, "record", "sample");
	pack_count(&pk, "step", step);
	pack_count(&pk, "host", host);
	pack_integer(&pk, "offset_ns", offset_ns);
	pack_text(&pk, "sample");
	buf_add(out, bytes, len);
}

void samples_totals(struct buf *out, size_t step, size_t host, const uint8_t *bytes, size_t len)
{
	msgpack_packer pk;

	msgpack_packer_init(&pk, out, add_bytes);
	msgpack_pack_map(&pk, 4);
	pack_pair(&pk, "record", "totals");
	pack_count(&pk, "step", step);
	pack_count(&pk, "host", host);
	pack_text(&pk, "totals");
	buf_add(out, bytes, len);
}
