/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h - stdin, stdout and stderr are what their numbers say.
 *
 * A program may be started with one of them closed. The next file that it opens then gets the number, and a message
 * to stderr goes into a socket, a result or a device.
 */
#ifndef SALVO_STREAMS_H
#define SALVO_STREAMS_H

/* Takes the numbers 0 to 2 that are free; reading from or writing to one of these fails. Before anything is opened. */
void streams_occupy(void);

#endif
