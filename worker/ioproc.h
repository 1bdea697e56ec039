/* SPDX-License-Identifier: Apache-2.0 */
/* ioproc.h - the I/O process: `salvo-worker --io-process`, started by child.c with its fixed descriptors. */
#ifndef SALVO_WORKER_IOPROC_H
#define SALVO_WORKER_IOPROC_H

/* Serves the control process until the pair is closed and nothing is in flight. Returns the exit status. */
int ioproc_main(void);

#endif
