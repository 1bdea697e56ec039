/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_message.c - libFuzzer on everything that a peer's bytes pass through. */
#include "tests/fuzz/messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)try_message(data, size);
	return 0;
}
