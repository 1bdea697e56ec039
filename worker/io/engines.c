/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/engine.h"

static const struct engine_ops *const engines[] = {
	[ENGINE_IO_URING] = &engine_uring,
	[ENGINE_PSYNC] = &engine_psync,
};

const struct engine_ops *engine_of(enum job_engine engine, bool simulated)
{
	if (simulated)
		return &engine_simulated;
	assert((size_t)engine < array_size(engines));
	return engines[engine];
}
