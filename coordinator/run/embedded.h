/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.h - the worker that `salvo` starts itself when no hosts are named: the salvo-worker program on an
 * ipc socket in a private folder, which goes when it goes.
 */
#ifndef SALVO_RUN_EMBEDDED_H
#define SALVO_RUN_EMBEDDED_H

#include "common/base/error.h"

struct embedded;

/* Finds the program ($SALVO_WORKER, beside our own, ../worker, ../libexec, then PATH) and starts it. */
struct error *embedded_start(struct embedded **ret) _must_check_;
/* Ends it (it is asked, and killed when it does not go) and removes its folder. */
void embedded_stop(struct embedded **self_p);

const char *embedded_endpoint(const struct embedded *e); /* ipc://... */
/* Readable once the process has ended. Borrowed. */
int embedded_pidfd(const struct embedded *e);
/* To be called when it is: reaps it and says how it ended. */
struct error *embedded_ended(struct embedded *e) _returns_nonnull_ _must_check_;

#endif
