/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - worker.yaml: how this worker is reached, whom it obeys, what it may touch. Data only. */
#ifndef SALVO_WORKER_CONFIG_H
#define SALVO_WORKER_CONFIG_H

#include "common/schema/schema.h"

struct worker_allow {
	char **read, **write;
	size_t nr_read, nr_write;
	struct fieldset set;
};

struct worker_limits {
	uint64_t threads;
	uint64_t memory; /* bytes of buffers and statistics of one step */
	struct fieldset set;
};

struct worker_config {
	char *listen; /* endpoint: tcp://ADDRESS[:PORT] or ipc://PATH */
	char *state;  /* folder: socket, lock, stuck targets */
	bool insecure;
	char *keys; /* folder, see common/net/keys.h; NULL: none */
	struct worker_allow allow;
	struct worker_limits limits;
	struct fieldset set;
	/* Not keys of the file. */
	bool embedded; /* started by a coordinator for itself alone */
};

extern const struct schema worker_config_schema;

/* The defaults. */
void worker_config_init(struct worker_config *c);
void worker_config_fini(struct worker_config *c);
/* Loads a file in place of what is there; all mistakes at once. */
struct error *worker_config_load(struct worker_config *c, const char *path) _must_check_;
/* Completes and judges it when everything is in: default port, endpoints that are none, TCP without keys. */
struct error *worker_config_finish(struct worker_config *c) _must_check_;
/* Is the endpoint a TCP one? */
bool worker_config_is_tcp(const struct worker_config *c);
/* The file system path of an ipc endpoint; NULL for TCP. Borrowed from the configuration. */
const char *worker_config_ipc_path(const struct worker_config *c);

#endif
