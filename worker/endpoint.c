/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/endpoint.h"

#include "common/base/clock.h"
#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/net/keys.h"
#include "worker/complaints.h"

#include <sys/stat.h>
#include <unistd.h>

#define ZAP_ENDPOINT "inproc://zeromq.zap.01"
#define ZAP_DOMAIN   "salvo"

enum {
	/* Messages of one peer that may wait: each can be MESSAGE_MAX_BYTES. */
	RECEIVE_HWM = 16,
	SEND_HWM = 1000,
	HANDSHAKE_MS = 5000,
	HEARTBEAT_MS = 5000,
	HEARTBEAT_LOST_MS = 20000,
	LINGER_MS = 1000, /* for the last answers */
	BACKLOG = 64,
	ZAP_FRAMES = 7,
};

struct endpoint {
	const struct worker_config *config;
	zsock_t *router, *zap;
	char *coordinators; /* folder of their keys; NULL: none are needed */
	struct complaints complaints;
	bool is_short;     /* of descriptors: keys cannot be read */
	struct buf answer; /* the last one that the owner waited for; empty: none */
};

/* --- opening -------------------------------------------------------------------------------------- */

static void set_options(zsock_t *router)
{
	zsock_set_ipv6(router, 1);
	zsock_set_router_mandatory(router, 1);
	zsock_set_maxmsgsize(router, MESSAGE_MAX_BYTES);
	zsock_set_rcvhwm(router, RECEIVE_HWM);
	zsock_set_sndhwm(router, SEND_HWM);
	zsock_set_handshake_ivl(router, HANDSHAKE_MS);
	zsock_set_heartbeat_ivl(router, HEARTBEAT_MS);
	zsock_set_heartbeat_timeout(router, HEARTBEAT_LOST_MS);
	zsock_set_linger(router, LINGER_MS);
	zsock_set_backlog(router, BACKLOG);
}

/* The handler is there before the server is: no handshake goes past it. */
static struct error *use_keys(struct endpoint *e)
{
	_cleanup_(zcert_destroy) zcert_t *cert = NULL;
	struct error *err = keys_load_secret(e->config->keys, "worker", &cert);

	if (err)
		return err;
	e->coordinators = xasprintf("%s/coordinators", e->config->keys);
	e->zap = zsock_new(ZMQ_REP);
	if (zsock_bind(e->zap, ZAP_ENDPOINT) != 0)
		return error_new(ERR_INTERNAL, "%s: %s", ZAP_ENDPOINT, zmq_strerror(errno));
	zsock_set_zap_domain(e->router, ZAP_DOMAIN);
	zsock_set_curve_server(e->router, 1);
	zcert_apply(cert, e->router);
	return NULL;
}

/* An ipc socket is for its owner only, from the moment at which it is there. */
static struct error *bind_router(struct endpoint *e)
{
	mode_t before = umask(0177);
	int rc = zsock_bind(e->router, "%s", e->config->listen);
	int errnum = errno;

	umask(before);
	if (rc < 0)
		return error_new(ERR_CONFIG, "listen: '%s': %s", e->config->listen,
				 zmq_strerror(errnum));
	return NULL;
}

struct error *endpoint_open(const struct worker_config *c, struct endpoint **ret)
{
	struct endpoint *e = xcalloc(1, sizeof(*e));
	struct error *err = NULL;

	e->config = c;
	limits_raise_files(); /* connections of strangers take some, too */
	e->router = zsock_new(ZMQ_ROUTER);
	set_options(e->router);
	if (worker_config_is_tcp(c) && c->keys)
		err = use_keys(e);
	if (!err)
		err = bind_router(e);
	if (err) {
		endpoint_close(&e);
		return err;
	}
	*ret = e;
	return NULL;
}

void endpoint_close(struct endpoint **self_p)
{
	struct endpoint *e = *self_p;

	if (!e)
		return;
	zsock_destroy(&e->router);
	zsock_destroy(&e->zap);
	free(e->coordinators);
	buf_fini(&e->answer);
	free(e);
	*self_p = NULL;
}

zsock_t *endpoint_router(const struct endpoint *e)
{
	return e->router;
}

zsock_t *endpoint_zap(const struct endpoint *e)
{
	return e->zap;
}

/* --- messages ------------------------------------------------------------------------------------- */

static bool has_more(const struct endpoint *e)
{
	return zsock_rcvmore(e->router) != 0;
}

/* The handler below gave the key as the user's name. It is looked up anew: it may have been withdrawn. False when
 * that cannot be told now: a flood of connections, which need no key, must not end the session of one that has
 * one. If it lasts, the lease does. */
static bool identify(struct endpoint *e, struct received *r)
{
	const char *user = zframe_meta(r->frame, "User-Id");
	uint8_t key[KEY_BYTES];
	bool undecided;

	if (!e->coordinators) {
		r->key_name = xstrdup("");
		return true;
	}
	if (!user || strlen(user) != sizeof(r->key) - 1 || !zmq_z85_decode(key, user))
		return true;
	memcpy(r->key, user, sizeof(r->key));
	r->key_name = keys_find(e->coordinators, key, &undecided);
	if (undecided && !e->is_short)
		log_warn(
			"no descriptors or memory to read the keys with: messages are passed over");
	e->is_short = undecided;
	return !undecided;
}

/* The message that `id` begins; false: it is passed over. */
static bool receive_rest(struct endpoint *e, zframe_t *id, struct received *ret)
{
	bool decided = true;

	ret->peer.len = (uint8_t)zframe_size(id); /* at most 255 by ZMTP */
	memcpy(ret->peer.id, zframe_data(id), ret->peer.len);
	if (has_more(e)) {
		ret->frame = zframe_recv(e->router);
		decided = identify(e, ret);
	}
	if (!has_more(e))
		return decided;
	/* Not ours: a message is one frame. The rest is read and let go. */
	zframe_destroy(&ret->frame);
	while (has_more(e)) {
		zframe_t *rest = zframe_recv(e->router);

		zframe_destroy(&rest);
	}
	return decided;
}

bool endpoint_receive(struct endpoint *e, struct received *ret)
{
	*ret = (struct received) { 0 };
	while (zsock_events(e->router) & ZMQ_POLLIN) {
		_cleanup_(zframe_destroy) zframe_t *id = zframe_recv(e->router);

		if (!id)
			return false;
		if (receive_rest(e, id, ret))
			return true;
		received_fini(ret);
		*ret = (struct received) { 0 };
	}
	return false;
}

void received_fini(struct received *r)
{
	zframe_destroy(&r->frame);
	freep(&r->key_name);
}

static void send_bytes(struct endpoint *e, const struct peer *to, const struct buf *bytes)
{
	_cleanup_(zframe_destroy) zframe_t *id = zframe_new(to->id, to->len);
	_cleanup_(zframe_destroy) zframe_t *frame = zframe_new(bytes->data, bytes->len);

	if (zframe_send(&id, e->router, ZFRAME_MORE | ZFRAME_DONTWAIT) != 0 ||
	    zframe_send(&frame, e->router, ZFRAME_DONTWAIT) != 0)
		log_debug("%zu bytes went nowhere: the peer is gone or takes nothing", bytes->len);
}

void endpoint_send(struct endpoint *e, const struct peer *to, const struct buf *bytes, bool keep)
{
	if (keep) {
		endpoint_forget_answer(e);
		buf_add(&e->answer, bytes->data, bytes->len);
	}
	send_bytes(e, to, bytes);
}

void endpoint_send_again(struct endpoint *e, const struct peer *to)
{
	if (e->answer.len)
		send_bytes(e, to, &e->answer);
}

void endpoint_forget_answer(struct endpoint *e)
{
	buf_fini(&e->answer);
}

/* --- who may connect ------------------------------------------------------------------------------ */

static const char *judge(struct endpoint *e, zframe_t *const frames[ZAP_FRAMES], char text[41],
			 bool *undecided)
{
	if (!zframe_streq(frames[0], "1.0"))
		return NULL;
	if (!zframe_streq(frames[5], "CURVE") || zframe_size(frames[6]) != KEY_BYTES)
		return NULL;
	_cleanup_free_ char *name = keys_find(e->coordinators, zframe_data(frames[6]), undecided);
	_cleanup_free_ char *address = zframe_strdup(frames[3]);

	zmq_z85_encode(text, zframe_data(frames[6]), KEY_BYTES);
	if (!name && !*undecided) {
		_cleanup_free_ char *line = xasprintf("%s was refused: its key %s is not in '%s'",
						      address, text, e->coordinators);

		complaint_log(&e->complaints, clock_mono_ns(), line);
	}
	return name ? text : NULL;
}

void endpoint_answer_zap(struct endpoint *e)
{
	_cleanup_(zmsg_destroy) zmsg_t *request = zmsg_recv(e->zap);
	zmsg_t *reply = zmsg_new();
	zframe_t *frames[ZAP_FRAMES] = { 0 };
	char text[41];
	const char *user = NULL;
	bool undecided = false;

	if (request && zmsg_size(request) == ZAP_FRAMES) {
		frames[0] = zmsg_first(request);
		for (int i = 1; i < ZAP_FRAMES; i++)
			frames[i] = zmsg_next(request);
		user = judge(e, frames, text, &undecided);
	}
	zmsg_addstr(reply, "1.0");
	zmsg_addmem(reply, frames[1] ? zframe_data(frames[1]) : NULL,
		    frames[1] ? zframe_size(frames[1]) : 0);
	/* 300: later, perhaps. */
	zmsg_addstr(reply, user ? "200" : undecided ? "300" : "400");
	zmsg_addstr(reply, user ? "OK" : "key not known");
	zmsg_addstr(reply, user ? user : "");
	zmsg_addmem(reply, NULL, 0);
	zmsg_send(&reply, e->zap);
}
