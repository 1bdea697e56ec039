/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/split.h"

struct range split_part(struct range whole, uint64_t align, uint64_t index, uint64_t nr)
{
	uint64_t units = whole.bytes / align;
	uint64_t each = units / nr, more = units % nr;
	uint64_t before = index * each + (index < more ? index : more);

	return (struct range) {
		.start = whole.start + before * align,
		.bytes = (each + (index < more)) * align,
	};
}
