/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h - the scenario's checks against what was measured. Pure. */
#ifndef SALVO_RUN_CHECKS_H
#define SALVO_RUN_CHECKS_H

#include "common/model/result.h"
#include "common/model/scenario.h"

/* Fills r->checks: every check at every step of the result, in the order of the checks. A step is skipped, with
 * the reason, where the metric was not measured, where the group has no part in the phase, and where the step is
 * partial: its numbers are of another load than the one asked for, so they neither meet a demand nor fail it. (A
 * partial step already has another exit status than 0.) A check that was skipped at all steps is also warned of.
 *
 * Returns one ERR_CHECK for each check that failed, with the first step at which it did; NULL: none. */
struct error *checks_evaluate(const struct scenario *sc, struct result *r) _must_check_;

#endif
