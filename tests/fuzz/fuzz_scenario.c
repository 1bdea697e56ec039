/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_scenario.c - libFuzzer on scenario files: no text may crash the loader, and what it accepts must come back
 * from its own printing. */
#include "common/model/scenario.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const struct scenario *sc, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	assert(out);
	schema_print_yaml(&scenario_schema, sc, out);
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = NULL, *again = NULL;
	struct scenario sc;
	struct error *err;
	size_t len, again_len;

	err = schema_load_text(&scenario_schema, "f", (const char *)data, size, &sc);
	if (err) {
		for (const struct error *e = err; e; e = error_next(e))
			assert(error_code(e) == ERR_CONFIG);
		error_destroy(&err);
		return 0;
	}
	text = print(&sc, &len);
	schema_fini(&scenario_schema, &sc);
	err = schema_load_text(&scenario_schema, "printed", text, len, &sc);
	if (err)
		fprintf(stderr, "%s\n%s", error_message(err), text);
	assert(!err);
	again = print(&sc, &again_len);
	schema_fini(&scenario_schema, &sc);
	assert(len == again_len && memcmp(text, again, len) == 0);
	return 0;
}
