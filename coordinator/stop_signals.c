/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/stop_signals.h"

#include "common/base/compiler.h"

#include <stddef.h>
#include <unistd.h>

enum { STATUS_INTERRUPTED = 130 };

static const int numbers[NR_STOP_SIGNALS] = { SIGINT, SIGTERM, SIGHUP };
static volatile sig_atomic_t nr_noted;

static void note(_unused_ int number)
{
	if (nr_noted++)
		_exit(STATUS_INTERRUPTED);
}

void stop_signals_hold(struct stop_signals *s)
{
	struct sigaction noting = { .sa_handler = note, .sa_flags = SA_RESTART };
	struct sigaction ignoring = { .sa_handler = SIG_IGN };

	nr_noted = 0;
	s->held = true;
	for (size_t i = 0; i < NR_STOP_SIGNALS; i++) {
		sigaction(numbers[i], NULL, &s->before[i]);
		/* nohup means that it is to go on. */
		if (numbers[i] != SIGHUP || s->before[i].sa_handler != SIG_IGN)
			sigaction(numbers[i], &noting, NULL);
	}
	sigaction(SIGPIPE, &ignoring, &s->pipe_before);
}

bool stop_signals_release(struct stop_signals *s)
{
	for (size_t i = 0; s->held && i < NR_STOP_SIGNALS; i++)
		sigaction(numbers[i], &s->before[i], NULL);
	return nr_noted > 0;
}

void stop_signals_fini(struct stop_signals *s)
{
	if (!s->held)
		return;
	stop_signals_release(s);
	sigaction(SIGPIPE, &s->pipe_before, NULL);
	s->held = false;
}
