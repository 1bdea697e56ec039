/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.h - the names of a host list as numeric addresses, all at the same time and within a bound.
 *
 * libzmq would resolve a name in the one thread that serves all links, again at each try to connect, and keep
 * the reason of a failure to itself; one dead name server would stall the whole fleet.
 */
#ifndef SALVO_NET_RESOLVE_H
#define SALVO_NET_RESOLVE_H

#include "common/model/hostlist.h"

#include <stdint.h>

struct resolved {
	char *endpoint;    /* as in the list, with a numeric address; NULL: see error */
	struct error *err; /* ERR_UNREACHABLE: does not resolve, or not in time */
};

/* One answer per host, in order; endpoints other than tcp:// are copied. Owned by the caller. */
struct resolved *resolve_hosts(const struct hostlist *hosts, uint64_t limit_ns) _returns_nonnull_;
void resolved_free(struct resolved **list_p, size_t nr);

#endif
