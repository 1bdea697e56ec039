/* SPDX-License-Identifier: Apache-2.0 */
/* notify.h - tells the service manager how the worker is, when there is one. */
#ifndef SALVO_WORKER_NOTIFY_H
#define SALVO_WORKER_NOTIFY_H

/* `state`: "READY=1", "STOPPING=1". Nothing happens without a NOTIFY_SOCKET (systemd's protocol, which is one
 * datagram and needs no library). */
void notify_manager(const char *state);

#endif
