/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/cpulist.h"

#include "common/base/str.h"

#include <ctype.h>
#include <stdio.h>

static struct error *bad(const char *text, const char *what)
{
	_cleanup_free_ char *clean = str_printable(text);

	return error_new(ERR_CONFIG, "'%s' %s; write for example 0-3,8", clean, what);
}

/* Reads a number at *p and moves behind it; false when there is none. Too large ones become CPU_SETSIZE. */
static bool read_cpu(const char **p, unsigned *ret)
{
	*ret = 0;
	if (!isdigit((unsigned char)**p))
		return false;
	for (; isdigit((unsigned char)**p); ++*p)
		if (*ret < CPU_SETSIZE)
			*ret = *ret * 10 + (unsigned)(**p - '0');
	return true;
}

struct error *cpulist_parse(const char *text, cpu_set_t *ret)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (const char *p = text;; p++) {
		unsigned from, to;

		if (!read_cpu(&p, &from))
			return bad(text, "is no list of processors");
		to = from;
		if (*p == '-' && (p++, !read_cpu(&p, &to)))
			return bad(text, "is no list of processors");
		if (*p && *p != ',')
			return bad(text, "is no list of processors");
		if (to < from)
			return bad(text, "has a range that runs backwards");
		if (to >= CPU_SETSIZE)
			return error_new(ERR_CONFIG,
					 "'%s' names processors above %d, the last one "
					 "that can be named",
					 text, CPU_SETSIZE - 1);
		for (unsigned i = from; i <= to; i++)
			CPU_SET(i, &set);
		if (!*p)
			break;
	}
	*ret = set;
	return NULL;
}
