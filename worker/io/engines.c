/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/engine.h"

static const struct engine_ops *const engines[] = {
	[ENGINE_IO_URING] = &engine_uring,  [ENGINE_LIBAIO] = &engine_libaio,
	[ENGINE_PSYNC] = &engine_psync,     [ENGINE_SYNC] = &engine_sync,
	[ENGINE_PVSYNC2] = &engine_pvsync2, [ENGINE_MMAP] = &engine_mmap,
};
static_assert(array_size(engines) == JOB_ENGINES, "every engine of the scenario is here");

const struct engine_ops *engine_of(enum job_engine engine, bool simulated)
{
	if (simulated)
		return &engine_simulated;
	assert((size_t)engine < array_size(engines));
	return engines[engine];
}
