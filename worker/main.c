/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/streams.h"
#include "worker/agent.h"
#include "worker/ioproc.h"
#include "worker/options.h"

#include <signal.h>
#include <sys/prctl.h>

static int complain(struct error *err)
{
	int status = error_exit_status(err);

	for (const struct error *e = err; e; e = error_next(e)) {
		_cleanup_free_ char *text = str_printable(error_message(e));

		fprintf(stderr, "salvo-worker: error: %s\n", text);
	}
	error_destroy(&err);
	return status;
}

/* Before the first socket: its threads inherit the mask, and signals come by a descriptor only. */
static void arrange_signals(const struct worker_options *o)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t mask;

	agent_signals(&o->config, &mask);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	if (o->config.embedded)
		prctl(PR_SET_PDEATHSIG, AGENT_ORPHANED);
}

int main(int argc, char **argv)
{
	struct worker_options o;
	struct error *err;

	streams_occupy();
	err = worker_options_parse(argc, argv, &o);
	if (err)
		return complain(err);
	switch (o.mode) {
	case WORKER_MODE_SERVE:
		log_init("worker", o.log_level);
		arrange_signals(&o);
		err = agent_run(&o.config);
		break;
	case WORKER_MODE_IO_PROCESS:
		worker_options_fini(&o);
		return ioproc_main();
	case WORKER_MODE_HELP:
		worker_options_print_help(stdout);
		break;
	case WORKER_MODE_VERSION:
		printf("salvo-worker %s\n", SALVO_VERSION);
		break;
	}
	worker_options_fini(&o);
	return err ? complain(err) : 0;
}
