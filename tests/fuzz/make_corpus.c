/* SPDX-License-Identifier: Apache-2.0 */
/* make_corpus DIR - a file with one message of each type, for libFuzzer to start from. */
#include "tests/fuzz/messages.h"

#include <stdio.h>

static bool write_seed(const char *dir, enum message_type type)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, message_name(type));
	_cleanup_(buf_fini) struct buf b = { 0 };
	FILE *out = fopen(path, "wbe");
	bool ok;

	if (!out)
		return false;
	seed_message(type, &b);
	ok = fwrite(b.data, 1, b.len, out) == b.len;
	return fclose(out) == 0 && ok;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_corpus DIR\n");
		return 2;
	}
	for (int type = 0; type < MSG_COUNT; type++) {
		if (!write_seed(argv[1], (enum message_type)type)) {
			fprintf(stderr, "make_corpus: %s: cannot write: %m\n", argv[1]);
			return 1;
		}
	}
	return 0;
}
