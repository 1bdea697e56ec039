/* SPDX-License-Identifier: Apache-2.0 */
/* messages.h - what the fuzzers of the decoder share: messages to start from, and the test of one input. */
#ifndef SALVO_TESTS_FUZZ_MESSAGES_H
#define SALVO_TESTS_FUZZ_MESSAGES_H

#include "common/net/message.h"

/* Appends the bytes of a message of this type in which every field holds something. */
void seed_message(enum message_type type, struct buf *out);

/* Decodes the bytes as a peer's message, its histograms too. Of what is accepted the encoding must decode again, to
 * the same bytes; anything else aborts. Returns whether the message was accepted. */
bool try_message(const uint8_t *data, size_t len);

#endif
