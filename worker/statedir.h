/* SPDX-License-Identifier: Apache-2.0 */
/* statedir.h - the worker's state folder, and the locks that keep a second worker away from it and from the
 * socket (a second bind of an ipc path would take it over without an error). */
#ifndef SALVO_WORKER_STATEDIR_H
#define SALVO_WORKER_STATEDIR_H

#include "worker/config.h"

enum { STATEDIR_LOCKS = 2 };
struct statedir {
	struct {
		char *path;
		int fd;
	} locks[STATEDIR_LOCKS]; /* the folder's; the ipc socket's */
	char *socket;            /* path of the ipc socket; NULL with TCP */
	char *folder;            /* to be removed; NULL: it stays */
};

/* Makes the folder when it is missing, and locks it and the ipc socket. */
struct error *statedir_lock(const struct worker_config *c, struct statedir *ret) _must_check_;
/* Removes the socket and the lock files, and lets the locks go. The folder of an embedded worker goes, too, when
 * nothing else is in it: its coordinator removes it, but may have been killed. */
void statedir_unlock(struct statedir *s);

#endif
