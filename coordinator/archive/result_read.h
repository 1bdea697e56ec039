/* SPDX-License-Identifier: Apache-2.0 */
/* result_read.h - result.json as a struct result again: what reports print of it is what they printed of the run,
 * byte for byte, and result_json_write writes the same file.
 *
 * The file may be anything: what is wrong is told with the file's name and the path in it, as ERR_CONFIG. Of
 * keys that this version does not know nothing is kept. What can be computed from the rest (percentiles,
 * means) is not read but computed again. Memory grows with the file, to some 100 times its size at worst.
 */
#ifndef SALVO_ARCHIVE_RESULT_READ_H
#define SALVO_ARCHIVE_RESULT_READ_H

#include "common/base/error.h"
#include "common/model/result.h"

#define RESULT_NAME      "result.json"
#define RESULT_BYTES_MAX (2ull << 30) /* a larger file is refused */

/* `name` stands for the file in messages. *ret: to be finished by result_fini; zeroed on error. */
struct error *result_read_text(const char *name, const char *text, size_t len,
			       struct result *ret) _must_check_;
struct error *result_read_file(const char *path, struct result *ret) _must_check_;

#endif
