/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/complaints.h"

#include "common/base/log.h"

bool complaints_pass(struct complaints *c, uint64_t now_ns, uint64_t *ret_hidden)
{
	if (now_ns >= c->since_ns + COMPLAINTS_EVERY_NS) {
		c->since_ns = now_ns;
		c->nr = 0;
	}
	if (++c->nr > COMPLAINTS_MAX) {
		c->nr_hidden++;
		return false;
	}
	*ret_hidden = c->nr_hidden;
	c->nr_hidden = 0;
	return true;
}

void complaint_log(struct complaints *c, uint64_t now_ns, const char *text)
{
	uint64_t hidden;

	if (!complaints_pass(c, now_ns, &hidden))
		return;
	if (hidden)
		log_warn("%llu more lines of this kind were left out", (unsigned long long)hidden);
	log_warn("%s", text);
}
