/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.h - what `salvo hosts` prints. Pure but for the stream. */
#ifndef SALVO_REPORT_HOSTS_H
#define SALVO_REPORT_HOSTS_H

#include "coordinator/run/run.h"

#include <stdio.h>

struct error *hosts_write_text(const struct hostlist *hosts, const struct run *run,
			       FILE *out) _must_check_;
/* {"hosts": [{"name", "address", "reachable", "authenticated", "version", "kernel", "clock": {...} or null,
 * "busy", "owner", "owned_for_ns", "error"}]} */
struct error *hosts_write_json(const struct hostlist *hosts, const struct run *run,
			       FILE *out) _must_check_;

#endif
