/* SPDX-License-Identifier: Apache-2.0 */
/* slow.h - a call on a descriptor that a device may hold up for as long as it likes, made on a thread of its own:
 * the caller goes on looking at the world meanwhile, and may leave the call alone. */
#ifndef SALVO_WORKER_SLOW_H
#define SALVO_WORKER_SLOW_H

#include <stdbool.h>
#include <stdint.h>

/* Returns 0 or -errno. */
typedef int (*slow_function)(int fd);
/* Asked every SLOW_LOOK_NS; false: leave the call alone. */
typedef bool (*slow_look)(void *arg);
enum { SLOW_LOOK_NS = 20 * 1000 * 1000 };

/* What call(fd) returned; -ECANCELED: it was left alone and may still be at work, on a duplicate of fd. */
int slow_call(slow_function call, int fd, slow_look look, void *arg);

#endif
