/* SPDX-License-Identifier: Apache-2.0 */
/* control_pair.h - frames over the socketpair between control process and I/O process.
 *
 * A frame is a length (32 bits, this machine's byte order: both ends are one program) and that many bytes. The
 * descriptor is not blocking; nothing here waits but control_pair_flush_wait. One thread at each end.
 */
#ifndef SALVO_WORKER_CONTROL_PAIR_H
#define SALVO_WORKER_CONTROL_PAIR_H

#include "common/net/message.h"

struct control_pair {
	int fd; /* owned; -1: none */
	struct buf in, out;
	size_t in_pos, out_pos;
};

/* Takes fd and makes it non-blocking. */
void control_pair_init(struct control_pair *p, int fd);
void control_pair_fini(struct control_pair *p);

/* Queues a frame and sends as much as goes. Bytes beyond MESSAGE_MAX_BYTES are a programming mistake. */
void control_pair_send(struct control_pair *p, const uint8_t *data, size_t len);
void control_pair_send_message(struct control_pair *p, const struct message *m);
/* Sends what is queued, as much as goes; false when the other end is gone. */
bool control_pair_flush(struct control_pair *p);
/* The same, and waits until all of it went. */
bool control_pair_flush_wait(struct control_pair *p);
bool control_pair_has_output(const struct control_pair *p);

/* Reads what is there; false when the other end is gone (frames read before are still to be had). */
bool control_pair_fill(struct control_pair *p);
/* The next whole frame: 1 and its bytes, valid until the next fill; 0: none yet; -EPROTO: no frames at all. */
int control_pair_next(struct control_pair *p, const uint8_t **ret, size_t *ret_len);

#endif
