/* SPDX-License-Identifier: Apache-2.0 */
/* range.h - does what a member wants fit on what the target turned out to be? Pure. */
#ifndef SALVO_HOST_RANGE_H
#define SALVO_HOST_RANGE_H

#include "common/net/message.h"

/* Offset and size within the target, bs and offset multiples of its logical block with direct I/O, one block at
 * least for each thread's part. All mistakes at once. */
struct error *range_check(const struct device_info *info, const struct work_member *m) _must_check_;

#endif
