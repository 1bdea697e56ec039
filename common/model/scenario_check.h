/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_check.h - the rules between a scenario's keys. Pure but for a host list ^FILE. */
#ifndef SALVO_MODEL_SCENARIO_CHECK_H
#define SALVO_MODEL_SCENARIO_CHECK_H

#include "common/model/hostlist.h"
#include "common/model/scenario.h"

/* Checks a scenario whose defaults are merged; mistakes as "PATH: what", each once, and warnings in
 * sc->warnings. `known` tells where loading found mistakes already; a mistake of a value that came by --set
 * is told as one of --set. */
struct error *scenario_check(struct scenario *sc, const struct scenario_changes *changes,
			     const struct schema_positions *known) _must_check_;

#endif
