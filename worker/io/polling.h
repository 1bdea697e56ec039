/* SPDX-License-Identifier: Apache-2.0 */
/* polling.h - can I/O to this file be polled for? Asked before the first I/O: without poll queues the kernel takes
 * the flag and then fails each I/O, or waits for an interrupt all the same, by its version.
 */
#ifndef SALVO_IO_POLLING_H
#define SALVO_IO_POLLING_H

#include "worker/io/engine.h"

/* NULL when the block device under env->fd has poll queues; `flag` is the kernel's name for the wish. */
struct error *polling_check(const char *engine, const char *flag,
			    const struct engine_env *env) _must_check_;

#endif
