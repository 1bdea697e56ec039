/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_result.c - libFuzzer on result.json: no text may crash the reader or a report of what it accepts, and what
 * is written of that must read and write the same again. */
#include "coordinator/archive/result_read.h"
#include "coordinator/report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const struct result *r,
		   struct error *(*write)(const struct result *r, FILE *out), size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);
	struct error *err;

	assert(out);
	err = write(r, out);
	assert(!err);
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *json = NULL, *again = NULL, *text = NULL;
	size_t len, again_len, text_len;
	struct result r;
	struct error *err = result_read_text("f", (const char *)data, size, &r);

	if (err) {
		assert(error_code(err) == ERR_CONFIG);
		error_destroy(&err);
		return 0;
	}
	text = print(&r, report_text, &text_len);
	json = print(&r, report_json, &len);
	result_fini(&r);
	err = result_read_text("written", json, len, &r);
	if (err)
		fprintf(stderr, "%s\n%s", error_message(err), json);
	assert(!err);
	again = print(&r, report_json, &again_len);
	result_fini(&r);
	assert(len == again_len && memcmp(json, again, len) == 0);
	return 0;
}
