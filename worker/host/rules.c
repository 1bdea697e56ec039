/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/rules.h"

#include "common/base/str.h"

#include <fnmatch.h>

static const char identity_prefix[] = "wwn:";

static bool matches_identity(const char *pattern, const char *identity)
{
	return identity && *identity && fnmatch(pattern, identity, FNM_CASEFOLD) == 0;
}

static bool matches_name(const char *pattern, char *const *names, size_t nr_names)
{
	for (size_t i = 0; i < nr_names; i++)
		if (fnmatch(pattern, names[i], FNM_PATHNAME) == 0)
			return true;
	return false;
}

bool rules_match(char *const *patterns, size_t nr_patterns, char *const *names, size_t nr_names,
		 const char *identity)
{
	for (size_t i = 0; i < nr_patterns; i++) {
		const char *pattern = patterns[i];

		if (str_starts(pattern, identity_prefix)) {
			if (matches_identity(pattern + strlen(identity_prefix), identity))
				return true;
		} else if (matches_name(pattern, names, nr_names)) {
			return true;
		}
	}
	return false;
}
