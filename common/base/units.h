/* SPDX-License-Identifier: Apache-2.0 */
/* units.h - numbers as people write and read them.
 *
 * Sizes: none, B = bytes; k K KiB = 1024 (likewise M G T P); kB KB = 1000 (MB ...). Counts: k = 1000,
 * M = 10^6. Durations need a unit in lower case: ns us ms s m h d; 0 may stand alone. Decimals are
 * allowed where the result is whole ("1.5k", "0.5s"). Pure; any thread.
 */
#ifndef SALVO_BASE_UNITS_H
#define SALVO_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* 0, -EINVAL (not of this form), or -ERANGE (does not fit in 64 bits). No sign, no spaces. */
int units_parse_size(const char *text, uint64_t *ret_bytes);
int units_parse_count(const char *text, uint64_t *ret);
int units_parse_duration(const char *text, uint64_t *ret_ns);

enum { UNITS_TEXT = 32 }; /* enough for every text below */

/* Exact: "4KiB", "1536B", "10s", "1500ms": the largest unit that divides the value. These parse back
 * to the same value. */
void units_format_size(char text[UNITS_TEXT], uint64_t bytes);
void units_format_duration(char text[UNITS_TEXT], uint64_t ns);

/* For reading: three or four significant digits and a unit: "12.3 us", "1.21 ms", "4.00 GiB", "3.28 MB". */
void units_human_ns(char text[UNITS_TEXT], double ns);
void units_human_bytes(char text[UNITS_TEXT], double bytes);    /* binary: KiB MiB GiB TiB */
void units_human_bytes_si(char text[UNITS_TEXT], double bytes); /* decimal: kB MB GB TB    */
void units_human_count(char text[UNITS_TEXT], double n);        /* 950, 12.3k, 4.56M       */

#endif
