/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/log.h"

#include "common/base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static const char *log_component = "salvo";
static enum log_level log_max = LOG_LEVEL_INFO;

void log_init(const char *component, enum log_level level)
{
	log_component = component;
	log_max = level;
}

void log_at(enum log_level level, const char *fmt, ...)
{
	static const char *const names[] = { "error", "warning", "info", "debug" };
	_cleanup_free_ char *text = NULL, *clean = NULL;
	char when[32];
	struct timespec ts;
	struct tm tm;
	va_list ap;
	int n;

	if (level > log_max)
		return;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	clean = str_printable(text);
	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
	fprintf(stderr, "%s.%03ldZ %s %s: %s\n", when, ts.tv_nsec / 1000000, names[level],
		log_component, clean);
}
