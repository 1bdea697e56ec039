/* SPDX-License-Identifier: Apache-2.0 */
/* run_medium.c - one medium that several hosts see, by what their READY said of it. */
#include "coordinator/run/run_internal.h"

struct seen {
	const char *identity, *host;
	const struct work_target *target;
};

static int by_identity(const void *a, const void *b)
{
	return strcmp(((const struct seen *)a)->identity, ((const struct seen *)b)->identity);
}

static size_t collect_seen(const struct run *r, struct seen *list)
{
	size_t n = 0;

	for (size_t i = 0; i < r->nr_peers; i++) {
		const struct peer *p = &r->peers[i];
		const struct assignment *work = run_step_of(r)->hosts[i];

		if (p->state != PEER_READY)
			continue;
		for (size_t d = 0; d < p->ready.ready.nr_devices; d++) {
			const struct device_info *info = &p->ready.ready.devices[d];

			if (!info->identity || !*info->identity || info->target >= work->nr_targets)
				continue;
			if (list)
				list[n] = (struct seen) { info->identity, p->name,
							  &work->targets[info->target] };
			n++;
		}
	}
	return n;
}

struct error *run_refuse_shared(const struct run *r)
{
	size_t n = collect_seen(r, NULL);
	_cleanup_free_ struct seen *list = xcalloc(n + 1, sizeof(*list));
	struct error *errors = NULL;

	collect_seen(r, list);
	qsort(list, n, sizeof(*list), by_identity);
	for (size_t i = 1; i < n; i++) {
		const struct seen *a = &list[i - 1], *b = &list[i];

		if (!streq(a->identity, b->identity) || streq(a->host, b->host))
			continue;
		if (!a->target->writes && !b->target->writes)
			continue;
		error_append(
			&errors,
			error_new(ERR_REFUSED,
				  "target '%s' of host '%s' and target '%s' of host '%s' are the "
				  "same medium (%s), and it is written: not supported yet; let "
				  "one host write it, or give each its own",
				  a->target->name, a->host, b->target->name, b->host, a->identity));
	}
	return errors;
}
