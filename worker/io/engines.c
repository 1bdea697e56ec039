/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/utsname.h>

static const struct engine_ops *const engines[] = {
	[ENGINE_IO_URING] = &engine_uring,  [ENGINE_LIBAIO] = &engine_libaio,
	[ENGINE_PSYNC] = &engine_psync,     [ENGINE_SYNC] = &engine_sync,
	[ENGINE_PVSYNC2] = &engine_pvsync2, [ENGINE_MMAP] = &engine_mmap,
};
static_assert(array_size(engines) == JOB_ENGINES, "every engine of the scenario is here");

const struct engine_ops *engine_of(const struct job *job, bool simulated)
{
	if (simulated)
		return &engine_simulated;
	if (job->engine == ENGINE_IO_URING && (job->hipri || job->sqthread_poll))
		return &engine_uring_wishes;
	assert((size_t)job->engine < array_size(engines));
	return engines[job->engine];
}

struct error *engine_lacks(const char *engine, const char *flag, const char *why, ...)
{
	struct utsname kernel = { .release = "?" };
	char text[512];
	va_list args;

	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	uname(&kernel);
	return error_new(ERR_REFUSED, "engine %s: %s: Linux %s: %s", engine, flag, kernel.release,
			 text);
}
