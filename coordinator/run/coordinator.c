/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/run/coordinator.h"

#include "common/base/clock.h"
#include "common/base/limits.h"
#include "common/net/resolve.h"
#include "coordinator/run/embedded.h"

#include <pwd.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
	TICK_MS = 20,
	MESSAGES_AT_ONCE = 64, /* of one host, before the others have their turn */
};

#define RESOLVE_LIMIT_NS (4 * NS_PER_S)

struct shell;

/* One host: what its socket's handler needs. */
struct link {
	struct shell *shell;
	size_t host;
	struct channel *channel;
	bool closing; /* destroyed at the next tick: a handler may be at work on it */
};

struct shell {
	struct coordinator_options o;
	struct run *run;
	struct link *links;
	struct embedded *embedded;
	zloop_t *loop;
	int signals;
	struct buf raw; /* the bytes of the message at hand */
};

void coordinator_init(void)
{
	zsys_handler_set(NULL);
	zsys_set_logstream(stderr);
	zsys_set_max_sockets(0);
}

char *coordinator_keys_dir(const char *option)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (option)
		return xstrdup(option);
	if (config && *config)
		return xasprintf("%s/salvo/keys", config);
	return xasprintf("%s/.config/salvo/keys", home ? home : "");
}

/* --- what the machine wants ----------------------------------------------------------------------- */

static void outlet_send(void *arg, size_t host, const struct message *m)
{
	struct shell *s = arg;
	struct message ping;

	if (!s->links[host].channel || s->links[host].closing)
		return;
	if (m->type == MSG_PING) {
		ping = *m;
		ping.ping.sent_ns = clock_mono_ns();
		m = &ping;
	}
	channel_send(s->links[host].channel, m);
}

static void outlet_close(void *arg, size_t host)
{
	struct shell *s = arg;

	s->links[host].closing = true;
}

static void outlet_started(void *arg, size_t step, uint64_t start_ns)
{
	const struct coordinator_hooks *hooks = &((struct shell *)arg)->o.hooks;

	if (hooks->started)
		hooks->started(hooks->arg, step, start_ns);
}

static void outlet_sampled(void *arg, size_t step, size_t host, int64_t offset_ns)
{
	struct shell *s = arg;
	const struct coordinator_hooks *hooks = &s->o.hooks;

	if (hooks->sampled)
		hooks->sampled(hooks->arg, step, host, offset_ns, s->raw.data, s->raw.len);
}

static void outlet_totalled(void *arg, size_t step, size_t host)
{
	struct shell *s = arg;
	const struct coordinator_hooks *hooks = &s->o.hooks;

	if (hooks->totalled)
		hooks->totalled(hooks->arg, step, host, s->raw.data, s->raw.len);
}

static void outlet_probed(void *arg, size_t host, size_t step, struct msg_ready *ready)
{
	const struct coordinator_hooks *hooks = &((struct shell *)arg)->o.hooks;

	if (hooks->probed)
		hooks->probed(hooks->arg, host, step, ready);
}

/* --- what happens --------------------------------------------------------------------------------- */

/* Handlers end the loop with -1. */
static int verdict(const struct shell *s)
{
	return run_is_finished(s->run) ? -1 : 0;
}

static int on_message(zloop_t *loop, zsock_t *socket, void *arg)
{
	struct link *l = arg;
	struct shell *s = l->shell;

	for (int i = 0; i < MESSAGES_AT_ONCE && !l->closing; i++) {
		struct message m;
		struct error *err;
		bool got;

		s->raw.len = 0;
		err = channel_receive(l->channel, &m, &got, &s->raw);
		if (err) {
			run_host_failed(s->run, l->host, err, clock_mono_ns());
			break;
		}
		if (!got)
			break;
		run_message(s->run, l->host, &m, clock_mono_ns());
		message_fini(&m);
	}
	if (l->closing)
		zloop_reader_end(loop, socket);
	return verdict(s);
}

static void watch_link(struct link *l, uint64_t now_ns)
{
	struct error *err = NULL;

	if (!l->channel || l->closing)
		return;
	switch (channel_watch(l->channel, now_ns, &err)) {
	case CHANNEL_CONNECTING:
		return;
	case CHANNEL_UP:
		run_link_up(l->shell->run, l->host, now_ns);
		return;
	case CHANNEL_FAILED:
		if (err)
			run_host_failed(l->shell->run, l->host, err, now_ns);
		return;
	}
}

static void close_link(struct link *l)
{
	if (!l->closing || !l->channel)
		return;
	zloop_reader_end(l->shell->loop, channel_socket(l->channel));
	channel_destroy(&l->channel);
}

static int on_tick(_unused_ zloop_t *loop, _unused_ int timer, void *arg)
{
	struct shell *s = arg;
	struct run_view view;
	uint64_t now_ns = clock_mono_ns();

	for (size_t i = 0; i < s->o.hosts->nr_hosts; i++) {
		close_link(&s->links[i]);
		watch_link(&s->links[i], now_ns);
	}
	run_tick(s->run, now_ns);
	if (s->o.progress) {
		run_view(s->run, &view);
		progress_update(s->o.progress, &view, s->o.collector, now_ns);
	}
	return verdict(s);
}

static int on_signal(_unused_ zloop_t *loop, _unused_ zmq_pollitem_t *item, void *arg)
{
	struct shell *s = arg;
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		run_interrupt(s->run, clock_mono_ns());
	return verdict(s);
}

static int on_child_end(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
	struct shell *s = arg;

	zloop_poller_end(loop, item);
	run_host_failed(s->run, 0, embedded_ended(s->embedded), clock_mono_ns());
	return verdict(s);
}

/* --- set up and down ------------------------------------------------------------------------------ */

static char *owner_text(void)
{
	const struct passwd *user = getpwuid(getuid());
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	return xasprintf("%s@%s pid %d", user ? user->pw_name : "?", host, (int)getpid());
}

static uint64_t random_session(void)
{
	uint64_t session = 0;

	while (session == 0) {
		if (getrandom(&session, sizeof(session), 0) != (ssize_t)sizeof(session))
			session = clock_mono_ns() ^ (uint64_t)getpid() << 32;
		session >>= 1; /* so that those of many hosts can follow it */
	}
	return session;
}

static void take_signals(sigset_t *before, struct sigaction *pipe_before, int *fd)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, hangup;
	sigset_t taken;

	sigemptyset(&taken);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGTERM);
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN) /* by nohup: it is to go on */
		sigaddset(&taken, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &taken, before);
	/* A reader of our stderr that goes away must not end a run. */
	sigaction(SIGPIPE, &ignore, pipe_before);
	*fd = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void give_signals_back(const sigset_t *before, const struct sigaction *pipe_before, int *fd)
{
	struct signalfd_siginfo info;

	/* What came after the run's end was meant for the run. */
	while (read(*fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
	closep(fd);
	sigaction(SIGPIPE, pipe_before, NULL);
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void make_link(struct shell *s, size_t host, const char *endpoint)
{
	struct link *l = &s->links[host];
	struct error *err = channel_new(&s->o.hosts->hosts[host], endpoint, s->o.keys,
					clock_mono_ns(), &l->channel);

	if (err)
		run_host_failed(s->run, host, err, clock_mono_ns());
	else
		zloop_reader(s->loop, channel_socket(l->channel), on_message, l);
}

static void make_embedded(struct shell *s)
{
	zmq_pollitem_t item = { .events = ZMQ_POLLIN };
	struct error *err = embedded_start(&s->embedded);

	if (err) {
		run_host_failed(s->run, 0, err, clock_mono_ns());
		return;
	}
	item.fd = embedded_pidfd(s->embedded);
	zloop_poller(s->loop, &item, on_child_end, s);
	make_link(s, 0, embedded_endpoint(s->embedded));
}

static void make_links(struct shell *s)
{
	struct resolved *resolved;

	s->links = xcalloc(s->o.hosts->nr_hosts, sizeof(*s->links));
	for (size_t i = 0; i < s->o.hosts->nr_hosts; i++)
		s->links[i] = (struct link) { .shell = s, .host = i };
	if (s->o.embedded) {
		make_embedded(s);
		return;
	}
	resolved = resolve_hosts(s->o.hosts, RESOLVE_LIMIT_NS);
	for (size_t i = 0; i < s->o.hosts->nr_hosts; i++) {
		if (resolved[i].err)
			run_host_failed(s->run, i, take_ptr(resolved[i].err), clock_mono_ns());
		else
			make_link(s, i, resolved[i].endpoint);
	}
	resolved_free(&resolved, s->o.hosts->nr_hosts);
}

static void make_loop(struct shell *s)
{
	zmq_pollitem_t item = { .fd = s->signals, .events = ZMQ_POLLIN };

	s->loop = zloop_new();
	zloop_timer(s->loop, TICK_MS, 0, on_tick, s);
	zloop_poller(s->loop, &item, on_signal, s);
}

struct run *coordinator_run(const struct coordinator_options *options)
{
	_cleanup_free_ char *owner = owner_text();
	struct shell s = { .o = *options };
	struct sigaction pipe_before;
	sigset_t before;

	take_signals(&before, &pipe_before, &s.signals);
	/* A socket and its monitor's pair for each host, with their event descriptors. */
	limits_raise_files();
	s.run = run_new(
		&(struct run_options) {
			.mode = options->mode,
			.hosts = options->hosts,
			.plan = options->plan,
			.collector = options->collector,
			.fleet = options->fleet,
			.session = random_session(),
			.version = SALVO_VERSION,
			.owner = owner,
		},
		&(struct run_outlet) {
			.arg = &s,
			.send = outlet_send,
			.close = outlet_close,
			.started = outlet_started,
			.sampled = outlet_sampled,
			.totalled = outlet_totalled,
			.probed = outlet_probed,
		},
		clock_mono_ns());
	make_loop(&s);
	make_links(&s);
	if (!run_is_finished(s.run))
		zloop_start(s.loop);
	if (s.o.progress)
		progress_end(s.o.progress);
	zloop_destroy(&s.loop);
	for (size_t i = 0; i < options->hosts->nr_hosts; i++)
		channel_destroy(&s.links[i].channel);
	embedded_stop(&s.embedded);
	free(s.links);
	buf_fini(&s.raw);
	give_signals_back(&before, &pipe_before, &s.signals);
	return s.run;
}
