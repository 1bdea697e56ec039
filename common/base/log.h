/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - talk to people on stderr: "TIME LEVEL COMPONENT message".
 *
 * Only programs log (main, the shells of coordinator and worker), and once, where an error stops;
 * libraries return errors. Control characters are escaped. Not for I/O threads.
 */
#ifndef SALVO_BASE_LOG_H
#define SALVO_BASE_LOG_H

#include "common/base/compiler.h"

enum log_level { LOG_LEVEL_ERR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* `component` ("salvo", "worker") is borrowed for the life of the process. */
void log_init(const char *component, enum log_level level);
void log_at(enum log_level level, const char *fmt, ...) _printf_(2, 3);

#define log_err(...)   log_at(LOG_LEVEL_ERR, __VA_ARGS__)
#define log_warn(...)  log_at(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  log_at(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
