/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/report/hosts.h"

#include "common/base/clock.h"
#include "common/base/units.h"
#include "common/model/inventory.h"

#include <jansson.h>

static const char *fact(const struct msg_welcome *w, const char *key)
{
	for (size_t i = 0; w && i < w->nr_facts; i++)
		if (streq(w->facts[i].key, key))
			return w->facts[i].value;
	return NULL;
}

/* Text of a peer, made fit for a terminal. */
static char *shown(const char *text)
{
	return str_printable(text && *text ? text : "-");
}

static char *state_text(const struct peer_view *v)
{
	_cleanup_free_ char *owner = NULL;

	if (!v->welcome)
		return xstrdup(v->failure_code == ERR_AUTH ? "keys refused" : "unreachable");
	if (!v->welcome->owner)
		return xstrdup("free");
	owner = shown(v->welcome->owner);
	return xasprintf("busy: %s since %.0f s", owner,
			 (double)v->welcome->owned_for_ns / NS_PER_S);
}

static void clock_text(char offset[UNITS_TEXT], char error[UNITS_TEXT], const struct peer_view *v)
{
	snprintf(offset, UNITS_TEXT, "-");
	snprintf(error, UNITS_TEXT, "-");
	if (!v->has_clock)
		return;
	snprintf(offset, UNITS_TEXT, "%+.6f s", (double)v->offset_ns / NS_PER_S);
	units_human_ns(error, (double)v->error_ns);
}

/* `role` NULL: no column for it. */
static void print_row(FILE *out, int width, const char *role, const char *const cells[6])
{
	fprintf(out, "%-*s  ", width, cells[0]);
	if (role)
		fprintf(out, "%-9s  ", role);
	fprintf(out, "%-10s  %-24s  %20s  %10s  %s\n", cells[1], cells[2], cells[3], cells[4],
		cells[5]);
}

static const char *role_text(const struct host *h)
{
	return host_is_observer(h) ? "observer" : "initiator";
}

struct error *hosts_write_text(const struct hostlist *hosts, const struct run *run, FILE *out)
{
	static const char *const head[6] = { "HOST",         "VERSION", "KERNEL",
					     "CLOCK OFFSET", "+-",      "STATE" };
	int width = (int)strlen(head[0]);
	bool has_roles = false;

	for (size_t i = 0; i < hosts->nr_hosts; i++) {
		has_roles |= hosts->hosts[i].entry != NULL;
		if ((int)strlen(hosts->hosts[i].name) > width)
			width = (int)strlen(hosts->hosts[i].name);
	}
	print_row(out, width, has_roles ? "ROLE" : NULL, head);
	for (size_t i = 0; i < hosts->nr_hosts; i++) {
		_cleanup_free_ char *version = NULL, *kernel = NULL, *state = NULL;
		char offset[UNITS_TEXT], error[UNITS_TEXT];
		struct peer_view v;

		run_peer_view(run, i, &v);
		version = shown(v.welcome ? v.welcome->version : NULL);
		kernel = shown(fact(v.welcome, "kernel"));
		state = state_text(&v);
		clock_text(offset, error, &v);
		print_row(out, width, has_roles ? role_text(&hosts->hosts[i]) : NULL,
			  (const char *const[6]) { hosts->hosts[i].name, version, kernel, offset,
						   error, state });
	}
	return fflush(out) ? error_new(ERR_OUTPUT, "the table could not be written") : NULL;
}

static json_t *text_or_null(const char *text)
{
	_cleanup_free_ char *clean = text ? str_printable(text) : NULL;

	return clean ? json_string(clean) : json_null();
}

static json_t *labels_json(const struct inventory_host *entry)
{
	json_t *o = json_object();

	for (size_t i = 0; entry && i < entry->nr_labels; i++)
		json_object_set_new(o, entry->labels[i].key, text_or_null(entry->labels[i].value));
	return o;
}

static json_t *host_json(const struct host *host, const struct peer_view *v)
{
	const struct msg_welcome *w = v->welcome;
	json_t *o = json_object();

	json_object_set_new(o, "name", text_or_null(host->name));
	json_object_set_new(o, "address", text_or_null(host->address));
	json_object_set_new(o, "role", json_string(role_text(host)));
	json_object_set_new(o, "labels", labels_json(host->entry));
	json_object_set_new(o, "reachable", json_boolean(w || v->failure_code == ERR_AUTH));
	json_object_set_new(o, "authenticated", json_boolean(w != NULL));
	json_object_set_new(o, "version", text_or_null(w ? w->version : NULL));
	json_object_set_new(o, "kernel", text_or_null(fact(w, "kernel")));
	json_object_set_new(o, "clock",
			    v->has_clock
				    ? json_pack("{s:I, s:I}", "offset_ns", (json_int_t)v->offset_ns,
						"error_ns", (json_int_t)v->error_ns)
				    : json_null());
	json_object_set_new(o, "busy", w ? json_boolean(w->owner != NULL) : json_null());
	json_object_set_new(o, "owner", text_or_null(w ? w->owner : NULL));
	json_object_set_new(o, "owned_for_ns",
			    w && w->owner ? json_integer((json_int_t)w->owned_for_ns)
					  : json_null());
	json_object_set_new(o, "error", text_or_null(v->failure));
	return o;
}

struct error *hosts_write_json(const struct hostlist *hosts, const struct run *run, FILE *out)
{
	json_t *root = json_object(), *list = json_array();
	bool written;

	json_object_set_new(root, "hosts", list);
	for (size_t i = 0; i < hosts->nr_hosts; i++) {
		struct peer_view v;

		run_peer_view(run, i, &v);
		json_array_append_new(list, host_json(&hosts->hosts[i], &v));
	}
	written = json_dumpf(root, out, JSON_INDENT(2)) == 0 && fputc('\n', out) != EOF &&
		  fflush(out) == 0;
	json_decref(root);
	return written ? NULL : error_new(ERR_OUTPUT, "the table could not be written");
}
