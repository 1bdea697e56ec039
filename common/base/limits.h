/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - what the system lets this process have. */
#ifndef SALVO_LIMITS_H
#define SALVO_LIMITS_H

/* As many open files as may be: the soft limit becomes the hard one. */
void limits_raise_files(void);

#endif
