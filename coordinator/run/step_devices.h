/* SPDX-License-Identifier: Apache-2.0 */
/* step_devices.h - what the devices themselves counted in a step, beside what was asked of them: a part of
 * step_sums.h. Pure.
 *
 * A device that did more than all of this host's direct I/O on it had another user; of buffered reads, what the
 * device did not have to read came from memory. Neither is guessed: where it cannot be told, has_foreign and
 * has_cached are false.
 */
#ifndef SALVO_RUN_STEP_DEVICES_H
#define SALVO_RUN_STEP_DEVICES_H

#include "coordinator/run/step_sums.h"

/* Copies the devices and stuck I/Os of DONE, each target once. */
void step_devices_take(struct host_sums *h, const struct msg_done *m);
void step_devices_fini(struct host_sums *h);
/* Fills devices and stuck of *ret and warns; before the members' sums are moved away. */
void step_devices_finish(struct step_sums *s, const struct ready_devices *ready,
			 struct result_step *ret);

#endif
