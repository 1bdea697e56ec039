/* SPDX-License-Identifier: Apache-2.0 */
/* trim.h - discarding a part of a target: BLKDISCARD of a block device, a hole punched into a file. */
#ifndef SALVO_IO_TRIM_H
#define SALVO_IO_TRIM_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Cold. Can the target be trimmed? *ret_is_device: it is a block device. */
struct error *trim_check(int fd, bool *ret_is_device) _must_check_;
/* Hot. The bytes, or -errno. */
int32_t trim_now(int fd, bool is_device, uint64_t offset, uint32_t bytes);

#endif
