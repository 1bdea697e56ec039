/* SPDX-License-Identifier: Apache-2.0 */
/* endpoint.h - where coordinators reach the worker: a ROUTER with CURVE and the handler that says whose keys
 * are good.
 *
 * Control process only, in its zloop. Not a security boundary for ipc://: there the socket's mode is (0600).
 */
#ifndef SALVO_WORKER_ENDPOINT_H
#define SALVO_WORKER_ENDPOINT_H

#include "worker/config.h"
#include "worker/session.h"

#include <czmq.h>

struct endpoint;

/* Binds. The configuration is borrowed for the endpoint's life. */
struct error *endpoint_open(const struct worker_config *c, struct endpoint **ret) _must_check_;
void endpoint_close(struct endpoint **self_p);

/* To be polled for input; endpoint_receive and endpoint_answer_zap take what comes. */
zsock_t *endpoint_router(const struct endpoint *e);
zsock_t *endpoint_zap(const struct endpoint *e); /* NULL without keys */

struct received {
	struct peer peer;
	char key[41]; /* public key as text; "" without keys */
	char *key_name; /* of the file that allows the key now; "" without keys; NULL: it is not allowed */
	zframe_t *frame; /* the message's bytes; NULL: not a single frame */
};
/* False when nothing is there (any more). */
bool endpoint_receive(struct endpoint *e, struct received *ret);
void received_fini(struct received *r);

/* Goes nowhere when the peer is gone, or takes nothing any more. `keep`: an answer that the owner waits for, to be
 * sent again over a new link when the one that it went over has broken: nobody can say whether it came. */
void endpoint_send(struct endpoint *e, const struct peer *to, const struct buf *bytes, bool keep);
void endpoint_send_again(struct endpoint *e, const struct peer *to);
void endpoint_forget_answer(struct endpoint *e);
/* Answers one question about a key. */
void endpoint_answer_zap(struct endpoint *e);

#endif
