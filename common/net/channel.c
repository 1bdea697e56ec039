/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/channel.h"

#include "common/base/clock.h"

#include <errno.h>
#include <zmq.h>

enum {
	UNREACHABLE_AFTER_MS = 5000,
	RECONNECT_MS = 200,
	/* A worker that dies in the middle of a handshake looks once like one with another key. */
	WRONG_KEY_TRIES = 3,
	/* Beyond the limit of messages, so that one which is a little too long is seen and named, not only
	 * a link that breaks. */
	SOCKET_MAX_BYTES = MESSAGE_MAX_BYTES + 4096,
};

struct channel {
	char *name, *endpoint;
	zsock_t *socket;  /* DEALER */
	zsock_t *monitor; /* PAIR; NULL once the link is up */
	enum channel_state state;
	bool secure;
	uint64_t since_ns;
	unsigned broken_handshakes;
};

static bool is_tcp(const char *endpoint)
{
	return str_starts(endpoint, "tcp://");
}

struct error *channel_keys_load(const char *dir, bool insecure, const struct hostlist *hosts,
				struct channel_keys *ret)
{
	struct channel_keys keys = { .insecure = insecure };
	struct error *errors = NULL;
	uint8_t public_key[KEY_BYTES];
	bool tcp = false;

	for (size_t i = 0; i < hosts->nr_hosts; i++) {
		if (!is_tcp(hosts->hosts[i].address))
			continue;
		tcp = true;
		if (!insecure)
			error_append(&errors, keys_load_worker_public(dir, hosts->hosts[i].name,
								      public_key));
	}
	if (tcp && !insecure)
		error_append(&errors, keys_load_secret(dir, "coordinator", &keys.own));
	if (errors) {
		error_append(&errors,
			     error_new(ERR_KEYS,
				       "hosts over TCP need keys on both sides; --insecure "
				       "does without, and without knowing who is who"));
		zcert_destroy(&keys.own);
		return errors;
	}
	keys.dir = xstrdup(dir);
	*ret = keys;
	return NULL;
}

void channel_keys_fini(struct channel_keys *keys)
{
	zcert_destroy(&keys->own);
	freep(&keys->dir);
}

/* The monitor's PAIR, read by this thread: czmq's zmonitor would cost a thread per host. */
static zsock_t *monitor_new(zsock_t *socket)
{
	_cleanup_free_ char *bind = xasprintf("inproc://monitor-%p", (void *)socket);
	_cleanup_free_ char *connect = xasprintf(">%s", bind);

	if (zmq_socket_monitor(zsock_resolve(socket), bind, ZMQ_EVENT_ALL))
		return NULL;
	return zsock_new_pair(connect);
}

static struct error *secure(struct channel *c, const struct channel_keys *keys)
{
	uint8_t server[KEY_BYTES];
	struct error *err;

	if (!is_tcp(c->endpoint) || keys->insecure)
		return NULL;
	err = keys_load_worker_public(keys->dir, c->name, server);
	if (err)
		return err;
	zcert_apply(keys->own, c->socket);
	zsock_set_curve_serverkey_bin(c->socket, server);
	c->secure = true;
	return NULL;
}

struct error *channel_new(const struct host *host, const char *endpoint,
			  const struct channel_keys *keys, uint64_t now_ns, struct channel **ret)
{
	_cleanup_(channel_destroy) struct channel *c = xcalloc(1, sizeof(*c));
	struct error *err;

	c->name = xstrdup(host->name);
	c->endpoint = xstrdup(host->address);
	c->since_ns = now_ns;
	c->socket = zsock_new(ZMQ_DEALER);
	if (!c->socket)
		return error_new(ERR_IO, "host '%s': no socket: %s; raise the limit of open files",
				 c->name, zmq_strerror(zmq_errno()));
	zsock_set_linger(c->socket, 0);
	zsock_set_maxmsgsize(c->socket, SOCKET_MAX_BYTES);
	zsock_set_reconnect_ivl(c->socket, RECONNECT_MS);
	zsock_set_ipv6(c->socket, strchr(endpoint, '[') != NULL);
	err = secure(c, keys);
	if (err)
		return err;
	c->monitor = monitor_new(c->socket);
	if (!c->monitor || zsock_connect(c->socket, "%s", endpoint))
		return error_new(ERR_UNREACHABLE, "host '%s': cannot connect to '%s': %s", c->name,
				 endpoint, zmq_strerror(zmq_errno()));
	*ret = take_ptr(c);
	return NULL;
}

static void monitor_end(struct channel *c)
{
	if (!c->monitor)
		return;
	zmq_socket_monitor(zsock_resolve(c->socket), NULL, 0);
	zsock_destroy(&c->monitor);
}

void channel_destroy(struct channel **self_p)
{
	struct channel *c = *self_p;

	if (!c)
		return;
	monitor_end(c);
	zsock_destroy(&c->socket);
	free(c->name);
	free(c->endpoint);
	free(c);
	*self_p = NULL;
}

zsock_t *channel_socket(const struct channel *c)
{
	return c->socket;
}

/* What one event means. NULL: nothing yet. */
static struct error *judge(struct channel *c, unsigned event, uint32_t value)
{
	switch (event) {
	case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
		c->state = CHANNEL_UP;
		return NULL;
	case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
		return error_new(ERR_AUTH,
				 "host '%s' does not know this coordinator's key; copy "
				 "coordinator.key into its coordinators/ folder (status %u)",
				 c->name, (unsigned)value);
	case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
		return error_new(
			ERR_AUTH, "host '%s': %s", c->name,
			c->secure ? "something listens there that does not speak CURVE; is it "
				    "a worker that runs without keys (see --insecure)?"
				  : "it asks for CURVE keys; leave out --insecure and give "
				    "this coordinator keys");
	case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
		if (++c->broken_handshakes < WRONG_KEY_TRIES)
			return NULL;
		return c->secure
			       ? error_new(ERR_AUTH,
					   "host '%s' is not the worker whose key we have; compare "
					   "its worker.key with workers/%s.key (or "
					   "workers/default.key) here",
					   c->name, c->name)
			       : error_new(ERR_AUTH,
					   "host '%s': it breaks the handshake off; a worker that "
					   "has "
					   "keys wants them here, too: leave out --insecure",
					   c->name);
	default:
		return NULL;
	}
}

static struct error *monitor_read(struct channel *c)
{
	struct error *err = NULL;
	zframe_t *event;

	while (!err && c->state == CHANNEL_CONNECTING && (zsock_events(c->monitor) & ZMQ_POLLIN)) {
		_cleanup_(zmsg_destroy) zmsg_t *msg = zmsg_recv(c->monitor);
		uint16_t number;
		uint32_t value;

		event = msg ? zmsg_first(msg) : NULL;
		if (!event || zframe_size(event) != sizeof(number) + sizeof(value))
			break;
		memcpy(&number, zframe_data(event), sizeof(number));
		memcpy(&value, zframe_data(event) + sizeof(number), sizeof(value));
		err = judge(c, number, value);
	}
	return err;
}

enum channel_state channel_watch(struct channel *c, uint64_t now_ns, struct error **ret)
{
	struct error *err;

	if (c->state != CHANNEL_CONNECTING)
		return c->state;
	err = monitor_read(c);
	if (!err && c->state == CHANNEL_CONNECTING &&
	    now_ns > c->since_ns + UNREACHABLE_AFTER_MS * NS_PER_MS)
		err = error_new(
			ERR_UNREACHABLE,
			"host '%s': nothing answers at '%s'; is salvo-worker running there, "
			"and does it listen on that address?",
			c->name, c->endpoint);
	if (err) {
		c->state = CHANNEL_FAILED;
		*ret = err;
	}
	if (c->state != CHANNEL_CONNECTING)
		monitor_end(c);
	return c->state;
}

void channel_send(struct channel *c, const struct message *m)
{
	_cleanup_(buf_fini) struct buf bytes = { 0 };

	message_encode(m, &bytes);
	/* EAGAIN is the only failure of interest here, and it needs no other treatment than loss. */
	(void)zmq_send(zsock_resolve(c->socket), bytes.data, bytes.len, ZMQ_DONTWAIT);
}

/* Skips the frames that belong to the message that was just begun. */
static void drop_rest(zsock_t *socket)
{
	while (zsock_rcvmore(socket)) {
		_cleanup_(zframe_destroy) zframe_t *frame = zframe_recv(socket);

		if (!frame)
			return;
	}
}

struct error *channel_receive(struct channel *c, struct message *ret, bool *got, struct buf *raw)
{
	_cleanup_(zframe_destroy) zframe_t *frame = NULL;
	struct error *err;

	*got = false;
	if (!(zsock_events(c->socket) & ZMQ_POLLIN))
		return NULL;
	frame = zframe_recv(c->socket);
	if (!frame)
		return NULL;
	if (zframe_more(frame)) {
		drop_rest(c->socket);
		return error_new(ERR_PROTOCOL, "host '%s': a message of several frames", c->name);
	}
	if (zframe_size(frame) > MESSAGE_MAX_BYTES)
		return error_new(ERR_PROTOCOL, "host '%s': a message of %zu bytes; at most %d",
				 c->name, zframe_size(frame), MESSAGE_MAX_BYTES);
	err = message_decode(zframe_data(frame), zframe_size(frame), ret);
	if (err)
		return error_context(err, "host '%s'", c->name);
	if (raw)
		buf_add(raw, zframe_data(frame), zframe_size(frame));
	*got = true;
	return NULL;
}
