/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - what this host is, as key and value: kernel, cmdline, cpu_model, nr_cpus, memory_bytes,
 * clocksource, boot_id, governor, os, ... Only what could be read; nothing is guessed. */
#ifndef SALVO_HOST_FACTS_H
#define SALVO_HOST_FACTS_H

#include "common/net/message.h"
#include "worker/host/sysfs.h"

void facts_collect(struct fact **ret, size_t *ret_nr);
/* The same for a host whose files lie elsewhere. */
void facts_collect_at(const struct host_root *root, struct fact **ret, size_t *ret_nr);
void facts_free(struct fact **facts, size_t *nr);

/* What WELCOME says of this host but for its owner: init without the facts, refresh reads them anew. */
void welcome_init(struct msg_welcome *w, const char *version);
void welcome_refresh(struct msg_welcome *w);
void welcome_fini(struct msg_welcome *w);

#endif
