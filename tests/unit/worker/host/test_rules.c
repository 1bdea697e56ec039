/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/rules.h"

#include "common/base/compiler.h"

#include <criterion/criterion.h>

static bool match(const char *pattern, const char *name, const char *identity)
{
	char *patterns[] = { (char *)pattern }, *names[] = { (char *)"/else/where", (char *)name };

	return rules_match(patterns, 1, names, array_size(names), identity);
}

Test(rules, star_matches_within_one_folder_only)
{
	cr_assert(match("/dev/nvme*", "/dev/nvme0n1", NULL));
	cr_assert(match("/srv/salvo/*", "/srv/salvo/file", NULL));
	cr_assert(match("/dev/sd?", "/dev/sda", NULL));
	cr_assert(match("/dev/sd[ab]", "/dev/sdb", NULL));
	cr_assert_not(match("/dev/*", "/dev/disk/by-id/x", NULL));
	cr_assert_not(match("/srv/salvo/*", "/srv/salvo/sub/file", NULL));
	cr_assert_not(match("/srv?salvo", "/srv/salvo", NULL));
	cr_assert_not(match("*", "/dev/sda", NULL));
}

Test(rules, a_disk_is_not_its_partition)
{
	cr_assert(match("/dev/sda", "/dev/sda", NULL));
	cr_assert_not(match("/dev/sda", "/dev/sda1", NULL));
	cr_assert_not(match("/dev/sda1", "/dev/sda", NULL));
	cr_assert_not(match("wwn:naa.6001", "/dev/sda1", "naa.6001-part1"));
}

Test(rules, any_of_the_names_is_enough)
{
	cr_assert(match("/else/where", "/dev/sda", NULL));
	cr_assert(match("/dev/disk/by-id/nvme-*", "/dev/disk/by-id/nvme-eui.0025", NULL));
}

Test(rules, identities_match_by_their_own_patterns_only)
{
	cr_assert(match("wwn:naa.6001405*", "/dev/sda", "naa.6001405a1b2c"));
	cr_assert(match("wwn:NAA.6001405*", "/dev/sda", "naa.6001405a1b2c"));
	cr_assert_not(match("wwn:naa.6001405*", "/dev/sda", "naa.500"));
	cr_assert_not(match("wwn:*", "/dev/sda", NULL));
	cr_assert_not(match("wwn:*", "/dev/sda", ""));
	cr_assert_not(match("naa.6001405*", "/dev/sda", "naa.6001405a1b2c"));
	cr_assert_not(match("wwn:/dev/sda", "/dev/sda", NULL));
}

Test(rules, nothing_is_allowed_by_default)
{
	char *names[] = { (char *)"/dev/sda" };

	cr_assert_not(rules_match(NULL, 0, names, 1, "naa.1"));
}
