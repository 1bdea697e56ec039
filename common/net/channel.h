/* SPDX-License-Identifier: Apache-2.0 */
/* channel.h - the coordinator's link to one worker: a DEALER socket, CURVE, and what became of it.
 *
 * The socket's monitor tells the reasons apart why a link does not come up: nobody listens, the worker does
 * not know our key, it is not the worker whose key we have, one side speaks CURVE and the other does not.
 * A link that was up once and breaks is made again by ZeroMQ; only the lease decides that a worker is lost.
 * Belongs to one thread, the one that runs the loop. Signals that the loop takes by signalfd must be
 * blocked before the first channel is made: its I/O thread inherits the mask.
 */
#ifndef SALVO_NET_CHANNEL_H
#define SALVO_NET_CHANNEL_H

#include "common/model/hostlist.h"
#include "common/net/keys.h"
#include "common/net/message.h"

struct channel;

/* How the links are secured: loaded once, used for every host. */
struct channel_keys {
	char *dir;    /* the coordinator's key folder */
	zcert_t *own; /* NULL: links over ipc and insecure ones only */
	bool insecure;
};

/* Reads our secret key from `dir` if any of the hosts is reached over TCP and `insecure` is false. A missing
 * secret key, or a missing key of a host, is ERR_KEYS (all of them at once). */
struct error *channel_keys_load(const char *dir, bool insecure, const struct hostlist *hosts,
				struct channel_keys *ret) _must_check_;
void channel_keys_fini(struct channel_keys *keys);

enum channel_state { CHANNEL_CONNECTING, CHANNEL_UP, CHANNEL_FAILED };

/* Begins to connect to `endpoint`: the host's address, or what resolve.h made of it. */
struct error *channel_new(const struct host *host, const char *endpoint,
			  const struct channel_keys *keys, uint64_t now_ns,
			  struct channel **ret) _must_check_;
void channel_destroy(struct channel **self_p);

/* For the loop: readable when messages wait. Borrowed. */
zsock_t *channel_socket(const struct channel *c);
/* Looks, without waiting, what the monitor says; to be called every few milliseconds until the state is no
 * longer CONNECTING. FAILED comes with an error, once: ERR_AUTH, ERR_UNREACHABLE or ERR_PROTOCOL. */
enum channel_state channel_watch(struct channel *c, uint64_t now_ns, struct error **ret);

/* Sends without waiting. A message that finds no room is dropped: the lease tells. */
void channel_send(struct channel *c, const struct message *m);
/* Takes one waiting message. *got is false when there is none. Several frames, too many bytes, or bytes that
 * are no message: ERR_PROTOCOL; the caller drops the host. `raw`, when not NULL, gets its bytes appended. */
struct error *channel_receive(struct channel *c, struct message *ret, bool *got,
			      struct buf *raw) _must_check_;

#endif
