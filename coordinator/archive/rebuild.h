/* SPDX-License-Identifier: Apache-2.0 */
/* rebuild.h - the result of a run that nobody ended, from its scenario.yaml and samples.msgpack. A part of
 * stored.h.
 *
 * The plan is made again from the scenario, and the collector is fed what it was fed then; the records and
 * the plan must agree on hosts and members.
 */
#ifndef SALVO_ARCHIVE_REBUILD_H
#define SALVO_ARCHIVE_REBUILD_H

#include "common/model/inventory.h"
#include "coordinator/run/collector.h"

struct rebuilt {
	struct inventory_host *entries; /* one per host, to which the plan's hosts point */
	size_t nr_entries;
	struct scenario *scenario;
	struct plan *plan;
	struct collector *collector;
	const struct result *result; /* the collector's */
};

/* On error *ret is as it was. */
struct error *rebuild(const char *dir, struct rebuilt *ret) _must_check_;
void rebuilt_fini(struct rebuilt *r);

#endif
