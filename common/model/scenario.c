/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/scenario.h"

/* clang-format off */
const struct choice destroy_choices[] = {
	{ "false", DESTROY_NO,    "nothing on it may be overwritten" },
	{ "true",  DESTROY_YES,   "its data may be overwritten, when no signature is found on it" },
	{ "force", DESTROY_FORCE, "a filesystem, RAID or partition table on it as well" },
	{ NULL }
};
/* clang-format on */
