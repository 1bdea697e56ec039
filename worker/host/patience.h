/* SPDX-License-Identifier: Apache-2.0 */
/* patience.h - questions about things other than the targets: they may lie on a device or a server that does not
 * answer, and must not hold up a target that does.
 *
 * Each question is asked on a thread of its own, and is left alone after PATIENCE_NS. One that is still open is not
 * asked a second time: the answer is "not known" at once. Supervisor thread of the I/O process only.
 */
#ifndef SALVO_HOST_PATIENCE_H
#define SALVO_HOST_PATIENCE_H

#include <linux/loop.h>
#include <stdbool.h>
#include <sys/stat.h>

/* 0.2 s. */
enum { PATIENCE_NS = 200 * 1000 * 1000 };

/* False: no such thing, or no answer. */
bool patient_stat(const char *path, struct stat *ret);
/* What the loop driver says of the device at `node`; it asks the file behind it. */
bool patient_loop_status(const char *node, struct loop_info64 *ret);

#endif
