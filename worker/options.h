/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of salvo-worker. */
#ifndef SALVO_WORKER_OPTIONS_H
#define SALVO_WORKER_OPTIONS_H

#include "common/base/log.h"
#include "worker/config.h"

enum worker_mode {
	WORKER_MODE_SERVE,
	WORKER_MODE_IO_PROCESS, /* internal: the I/O process of a session */
	WORKER_MODE_HELP,
	WORKER_MODE_VERSION,
};

struct worker_options {
	enum worker_mode mode;
	enum log_level log_level;
	struct worker_config config; /* finished: file and command line are merged */
};

/* On error the options own nothing. */
struct error *worker_options_parse(int argc, char **argv, struct worker_options *ret) _must_check_;
void worker_options_fini(struct worker_options *o);
void worker_options_print_help(FILE *out);

#endif
