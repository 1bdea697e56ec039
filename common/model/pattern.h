/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - the text of buffer_pattern as bytes. Pure; any thread. */
#ifndef SALVO_MODEL_PATTERN_H
#define SALVO_MODEL_PATTERN_H

#include "common/base/error.h"

#include <stddef.h>

enum { PATTERN_MAX = 512 };

struct pattern {
	unsigned char bytes[PATTERN_MAX];
	size_t nr;
};

/* "0xdeadbeef": the bytes de ad be ef; anything else is the text itself. The error says what is wrong with it. */
struct error *pattern_parse(const char *text, struct pattern *ret) _must_check_;

#endif
