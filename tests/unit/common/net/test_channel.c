/* SPDX-License-Identifier: Apache-2.0 */
/* Real sockets on loopback and ipc: what a link says about each way in which it can fail. */
#include "common/net/channel.h"

#include "common/base/clock.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <unistd.h>

enum { PORT_TEXT = 64, WAIT_MS = 10, LIMIT_MS = 10000 };

static char folder[] = "/tmp/salvo-test-channel-XXXXXX";
static zactor_t *auth;
static zsock_t *server;
static char endpoint[PORT_TEXT];

static char *at(const char *path)
{
	return xasprintf("%s/%s", folder, path);
}

static void must(struct error *err)
{
	cr_assert_null(err, "%s", err ? error_message(err) : "");
}

static void copy(const char *from, const char *to)
{
	_cleanup_free_ char *command = xasprintf("mkdir -p '%s/%s' && cp '%s/%s' '%s/%s/'", folder,
						 to, folder, from, folder, to);

	cr_assert_eq(system(command), 0);
}

static void generate(const char *dir, const char *role)
{
	_cleanup_free_ char *full = at(dir);

	must(keys_generate(full, role));
}

/* mine/: a coordinator's folder; its: a worker's, with mine among its coordinators. */
static void setup(void)
{
	zsys_handler_set(NULL);
	cr_assert_not_null(mkdtemp(folder));
	generate("mine", "coordinator");
	generate("its", "worker");
	generate("other", "worker");
	generate("stranger", "coordinator");
	copy("mine/coordinator.key", "its/coordinators");
	auth = zactor_new(zauth, NULL);
}

static void teardown(void)
{
	zdir_t *dir = zdir_new(folder, NULL);

	zsock_destroy(&server);
	zactor_destroy(&auth);
	zdir_remove(dir, true);
	zdir_destroy(&dir);
}

TestSuite(channel, .init = setup, .fini = teardown, .timeout = 30);

/* NULL: without CURVE. The name of its file is that of the worker, "w". */
static void serve(const char *key_dir)
{
	_cleanup_free_ char *full = key_dir ? at(key_dir) : NULL, *allowed = at("its/coordinators");
	_cleanup_(zcert_destroy) zcert_t *cert = NULL;

	server = zsock_new(ZMQ_ROUTER);
	if (key_dir) {
		must(keys_load_secret(full, "worker", &cert));
		zstr_sendx(auth, "CURVE", allowed, NULL);
		zsock_wait(auth);
		zcert_apply(cert, server);
		zsock_set_curve_server(server, 1);
		zsock_set_zap_domain(server, "global");
	}
	cr_assert_gt(zsock_bind(server, "tcp://127.0.0.1:*"), 0);
	snprintf(endpoint, sizeof(endpoint), "%s", zsock_endpoint(server));
}

/* The worker's public key as the coordinator has it. */
static void know(const char *key_dir)
{
	_cleanup_free_ char *from = xasprintf("%s/worker.key", key_dir);
	_cleanup_free_ char *command = xasprintf("mv '%s/mine/workers/worker.key' "
						 "'%s/mine/workers/w.key'",
						 folder, folder);

	copy(from, "mine/workers");
	cr_assert_eq(system(command), 0);
}

static struct channel *open_channel(const char *keys_dir, bool insecure, struct channel_keys *keys)
{
	struct host host = { .name = (char *)"w", .address = (char *)endpoint };
	struct hostlist hosts = { .hosts = &host, .nr_hosts = 1 };
	_cleanup_free_ char *full = at(keys_dir);
	struct channel *c = NULL;

	must(channel_keys_load(full, insecure, &hosts, keys));
	must(channel_new(&host, endpoint, keys, clock_mono_ns(), &c));
	return c;
}

static enum channel_state settle(struct channel *c, struct error **err)
{
	uint64_t end_ns = clock_mono_ns() + LIMIT_MS * NS_PER_MS;
	enum channel_state state;

	while ((state = channel_watch(c, clock_mono_ns(), err)) == CHANNEL_CONNECTING &&
	       clock_mono_ns() < end_ns)
		zclock_sleep(WAIT_MS);
	return state;
}

static void check_fails(const char *keys_dir, bool insecure, enum error_code code, const char *part)
{
	_cleanup_(channel_keys_fini) struct channel_keys keys = { 0 };
	_cleanup_(channel_destroy) struct channel *c = open_channel(keys_dir, insecure, &keys);
	_cleanup_(error_destroy) struct error *err = NULL;

	cr_assert_eq(settle(c, &err), CHANNEL_FAILED);
	cr_assert_not_null(err);
	cr_assert_eq(error_code(err), code, "%s", error_message(err));
	cr_assert_not_null(strstr(error_message(err), part), "%s", error_message(err));
	/* Told once. */
	error_destroy(&err);
	cr_assert_eq(channel_watch(c, clock_mono_ns(), &err), CHANNEL_FAILED);
	cr_assert_null(err);
}

Test(channel, own_key_is_not_known)
{
	serve("its");
	know("its");
	copy("mine/workers/w.key", "stranger/workers");
	check_fails("stranger", false, ERR_AUTH, "does not know this coordinator's key");
}

Test(channel, worker_has_another_key)
{
	serve("other");
	know("its");
	check_fails("mine", false, ERR_AUTH, "is not the worker whose key we have");
}

Test(channel, worker_without_keys)
{
	serve(NULL);
	know("its");
	check_fails("mine", false, ERR_AUTH, "does not speak CURVE");
}

Test(channel, insecure_coordinator_and_a_worker_with_keys)
{
	serve("its");
	check_fails("mine", true, ERR_AUTH, "asks for CURVE keys");
}

/* A port that is taken, so that no other test gets it, and at which nobody listens. */
static int reserve_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert_geq(fd, 0);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, len), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	snprintf(endpoint, sizeof(endpoint), "tcp://127.0.0.1:%u", ntohs(address.sin_port));
	return fd;
}

Test(channel, nobody_listens)
{
	_cleanup_close_ int port = reserve_port();

	know("its");
	check_fails("mine", false, ERR_UNREACHABLE, "nothing answers");
}

Test(channel, all_missing_keys_are_told_at_once)
{
	struct host list[] = { { .name = (char *)"a", .address = (char *)"tcp://a:1" },
			       { .name = (char *)"b", .address = (char *)"tcp://b:1" } };
	struct hostlist hosts = { .hosts = list, .nr_hosts = 2 };
	_cleanup_free_ char *dir = at("nothing");
	struct channel_keys keys = { 0 };
	_cleanup_(error_destroy) struct error *err = channel_keys_load(dir, false, &hosts, &keys);
	size_t n = 0;

	for (const struct error *e = err; e; e = error_next(e), n++)
		cr_assert_eq(error_code(e), ERR_KEYS);
	cr_assert_eq(n, 4); /* two workers', our own, and what could be done without */
	cr_assert_eq(error_exit_status(err), 2);
}

Test(channel, ipc_needs_no_keys)
{
	struct host host = { .name = (char *)"a", .address = (char *)"ipc:///tmp/x" };
	struct hostlist hosts = { .hosts = &host, .nr_hosts = 1 };
	_cleanup_(channel_keys_fini) struct channel_keys keys = { 0 };

	must(channel_keys_load("/nowhere", false, &hosts, &keys));
}

/* --- a link that is up ---------------------------------------------------------------------------- */

static struct channel *up(struct channel_keys *keys)
{
	struct error *err = NULL;
	struct channel *c;

	serve("its");
	know("its");
	c = open_channel("mine", false, keys);
	cr_assert_eq(settle(c, &err), CHANNEL_UP, "%s", err ? error_message(err) : "time is over");
	return c;
}

/* The server's view of one message: answers it with `reply`, in `frames` frames. */
static void answer(const void *reply, size_t len, int frames)
{
	_cleanup_(zmsg_destroy) zmsg_t *in = zmsg_recv(server);
	zmsg_t *out = zmsg_new();

	cr_assert_eq(zmsg_size(in), 2);
	zmsg_addmem(out, zframe_data(zmsg_first(in)), zframe_size(zmsg_first(in)));
	for (int i = 0; i < frames; i++)
		zmsg_addmem(out, reply, len);
	cr_assert_eq(zmsg_send(&out, server), 0);
}

static struct error *receive(struct channel *c, struct message *ret, bool *got, struct buf *raw)
{
	uint64_t end_ns = clock_mono_ns() + NS_PER_S;
	struct error *err;

	do {
		err = channel_receive(c, ret, got, raw);
	} while (!err && !*got && clock_mono_ns() < end_ns);
	return err;
}

static void ping(struct channel *c)
{
	struct message m = { .type = MSG_PING, .session = 7 };

	channel_send(c, &m);
}

Test(channel, message_there_and_back)
{
	_cleanup_(channel_keys_fini) struct channel_keys keys = { 0 };
	_cleanup_(channel_destroy) struct channel *c = up(&keys);
	struct message m = { .type = MSG_BYE, .session = 7 }, got_m;
	_cleanup_(buf_fini) struct buf bytes = { 0 }, raw = { 0 };
	bool got;

	ping(c);
	message_encode(&m, &bytes);
	answer(bytes.data, bytes.len, 1);
	must(receive(c, &got_m, &got, &raw));
	cr_assert(got);
	cr_assert_eq(got_m.type, MSG_BYE);
	cr_assert_eq(got_m.session, 7);
	cr_assert_eq(raw.len, bytes.len);
	message_fini(&got_m);
	must(channel_receive(c, &got_m, &got, NULL));
	cr_assert_not(got);
}

static void check_bad(const void *reply, size_t len, int frames, const char *part)
{
	_cleanup_(channel_keys_fini) struct channel_keys keys = { 0 };
	_cleanup_(channel_destroy) struct channel *c = up(&keys);
	_cleanup_(error_destroy) struct error *err = NULL;
	struct message m;
	bool got;

	ping(c);
	answer(reply, len, frames);
	err = receive(c, &m, &got, NULL);
	cr_assert_not_null(err);
	cr_assert_eq(error_code(err), ERR_PROTOCOL);
	cr_assert_not_null(strstr(error_message(err), part), "%s", error_message(err));
}

Test(channel, bytes_that_are_no_message)
{
	check_bad("hello", 5, 1, "host 'w'");
}

Test(channel, several_frames)
{
	check_bad("\x80", 1, 3, "several frames");
}

Test(channel, message_beyond_the_limit)
{
	_cleanup_free_ char *big = xcalloc(1, MESSAGE_MAX_BYTES + 100);

	check_bad(big, MESSAGE_MAX_BYTES + 100, 1, "at most");
}

static void serve_ipc(void)
{
	server = zsock_new(ZMQ_ROUTER);
	/* The old socket is closed in the background. */
	while (zsock_bind(server, "%s", endpoint) != 0)
		zclock_sleep(WAIT_MS);
}

Test(channel, link_comes_back_after_the_worker_was_away)
{
	_cleanup_(channel_keys_fini) struct channel_keys keys = { 0 };
	_cleanup_(channel_destroy) struct channel *c = NULL;
	struct error *err = NULL;

	snprintf(endpoint, sizeof(endpoint), "ipc://%s/x", folder);
	serve_ipc();
	c = open_channel("mine", false, &keys);
	cr_assert_eq(settle(c, &err), CHANNEL_UP);
	zsock_destroy(&server);
	serve_ipc();
	/* What goes into the link that is about to break is lost, as on any network. */
	for (int i = 0; i < LIMIT_MS / WAIT_MS && !(zsock_events(server) & ZMQ_POLLIN); i++) {
		ping(c);
		zclock_sleep(WAIT_MS);
	}
	answer("\x80", 1, 1);
}
