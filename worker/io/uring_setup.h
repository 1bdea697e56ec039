/* SPDX-License-Identifier: Apache-2.0 */
/* uring_setup.h - makes the ring of one I/O thread: the set-up that suits it best of those that this kernel
 * knows, or a refusal that says what is missing.
 *
 * To be called by the I/O thread itself, before the gate.
 */
#ifndef SALVO_IO_URING_SETUP_H
#define SALVO_IO_URING_SETUP_H

#include "worker/io/engine.h"

#include <liburing.h>

/* On success *ret_features are the kernel's IORING_FEAT_*, less those that env pretends away. */
struct error *uring_setup(struct io_uring *ring, const struct engine_env *env,
			  unsigned *ret_features) _must_check_;
/* What sqthread_poll needs beyond the ring; fixed_file: the file could be registered. */
struct error *uring_check_sqthread(unsigned features, bool fixed_file) _must_check_;

#endif
