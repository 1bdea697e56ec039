/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/resolve.h"

#include "common/base/clock.h"
#include "common/base/str.h"

#include <netdb.h>
#include <stdio.h>

static const char scheme[] = "tcp://";

/* One name under way. On the heap of its own: where it cannot be cancelled it outlives us. */
struct query {
	struct gaicb request;
	struct addrinfo hints;
	char *name;
	const char *port; /* ":7600", borrowed from the host list */
};

static struct query *query_new(const struct host *host, struct error **err)
{
	const char *text = host->address + strlen(scheme), *colon = strrchr(text, ':');
	struct query *q;
	size_t len;

	if (!colon || colon == text) {
		*err = error_new(ERR_CONFIG, "host '%s': '%s' has no port", host->name,
				 host->address);
		return NULL;
	}
	len = (size_t)(colon - text);
	q = xcalloc(1, sizeof(*q));
	q->name = text[0] == '[' && text[len - 1] == ']' ? xstrndup(text + 1, len - 2)
							 : xstrndup(text, len);
	q->port = colon;
	q->hints = (struct addrinfo) { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	q->request.ar_name = q->name;
	q->request.ar_request = &q->hints;
	return q;
}

static void query_free(struct query *q)
{
	if (q->request.ar_result)
		freeaddrinfo(q->request.ar_result);
	free(q->name);
	free(q);
}

/* An IPv4 address where there is one: workers listen on 0.0.0.0 more often than on [::]. */
static const struct addrinfo *choose(const struct addrinfo *list)
{
	for (const struct addrinfo *a = list; a; a = a->ai_next)
		if (a->ai_family == AF_INET)
			return a;
	return list;
}

static char *numeric_endpoint(const struct query *q)
{
	const struct addrinfo *a = choose(q->request.ar_result);
	char numeric[NI_MAXHOST];

	if (getnameinfo(a->ai_addr, a->ai_addrlen, numeric, sizeof(numeric), NULL, 0,
			NI_NUMERICHOST))
		return xasprintf("%s%s%s", scheme, q->name, q->port);
	return xasprintf(a->ai_family == AF_INET6 ? "%s[%s]%s" : "%s%s%s", scheme, numeric,
			 q->port);
}

/* Takes the query. */
static void answer(const struct host *host, struct query *q, struct resolved *ret)
{
	int rc = gai_error(&q->request);

	if (rc == 0)
		ret->endpoint = numeric_endpoint(q);
	else if (rc == EAI_INPROGRESS)
		ret->err = error_new(ERR_UNREACHABLE,
				     "host '%s': no name server says what '%s' is; check the "
				     "resolver's configuration, or use addresses",
				     host->name, q->name);
	else
		ret->err =
			error_new(ERR_UNREACHABLE,
				  "host '%s': the name '%s' does not resolve (%s); check the host "
				  "list",
				  host->name, q->name, gai_strerror(rc));
	if (rc != EAI_INPROGRESS || gai_cancel(&q->request) == EAI_CANCELED)
		query_free(q);
}

static void wait_all(struct gaicb **list, size_t nr, uint64_t limit_ns)
{
	uint64_t end_ns = clock_mono_ns() + limit_ns;

	for (size_t i = 0; i < nr; i++) {
		const struct gaicb *one = list[i];

		while (gai_error(list[i]) == EAI_INPROGRESS) {
			uint64_t now_ns = clock_mono_ns();
			struct timespec left;

			if (now_ns >= end_ns)
				return;
			left = clock_timespec(end_ns - now_ns);
			gai_suspend(&one, 1, &left);
		}
	}
}

struct resolved *resolve_hosts(const struct hostlist *hosts, uint64_t limit_ns)
{
	struct resolved *ret = xcalloc(hosts->nr_hosts + 1, sizeof(*ret));
	_cleanup_free_ struct query **queries = xcalloc(hosts->nr_hosts + 1, sizeof(*queries));
	_cleanup_free_ struct gaicb **list = xcalloc(hosts->nr_hosts + 1, sizeof(*list));
	size_t nr = 0;

	for (size_t i = 0; i < hosts->nr_hosts; i++) {
		const struct host *host = &hosts->hosts[i];

		if (!str_starts(host->address, scheme))
			ret[i].endpoint = xstrdup(host->address);
		else
			queries[i] = query_new(host, &ret[i].err);
		if (queries[i])
			list[nr++] = &queries[i]->request;
	}
	if (nr)
		getaddrinfo_a(GAI_NOWAIT, list, (int)nr, NULL);
	wait_all(list, nr, limit_ns);
	for (size_t i = 0; i < hosts->nr_hosts; i++)
		if (queries[i])
			answer(&hosts->hosts[i], queries[i], &ret[i]);
	return ret;
}

void resolved_free(struct resolved **list_p, size_t nr)
{
	for (size_t i = 0; *list_p && i < nr; i++) {
		free((*list_p)[i].endpoint);
		error_destroy(&(*list_p)[i].err);
	}
	freep(list_p);
}
