/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - CURVE key files in CZMQ's certificate format, and the folders they live in.
 *
 * Worker's folder:      worker.key_secret, coordinators/NAME.key (the coordinators it obeys)
 * Coordinator's folder: coordinator.key_secret, workers/NAME.key, workers/default.key
 * Folders are read anew at every question, so a new or withdrawn key counts at once.
 */
#ifndef SALVO_NET_KEYS_H
#define SALVO_NET_KEYS_H

#include "common/base/error.h"

#include <czmq.h>
#include <stdint.h>

enum { KEY_BYTES = 32 };

/* Makes DIR (mode 0700) and in it ROLE.key (0644) and ROLE.key_secret (0600); ROLE is "worker" or
 * "coordinator". Existing keys are never overwritten: an error (ERR_KEYS) says so. */
struct error *keys_generate(const char *dir, const char *role) _must_check_;
/* Loads DIR/ROLE.key_secret. A file that others than the owner may read is an error that says what to do. */
struct error *keys_load_secret(const char *dir, const char *role, zcert_t **ret) _must_check_;
/* The name (without .key) of the file in DIR that holds this public key; NULL: none. Owned by the caller. Where
 * there are no descriptors or no memory to look with, NULL and *ret_undecided. */
char *keys_find(const char *dir, const uint8_t public_key[KEY_BYTES], bool *ret_undecided);
/* The public key of worker `name` from DIR/workers: NAME.key, else default.key. */
struct error *keys_load_worker_public(const char *dir, const char *name,
				      uint8_t ret[KEY_BYTES]) _must_check_;

#endif
