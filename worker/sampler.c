/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sampler.h"

void sampler_begin(struct sampler *s, const struct stats_block *block, size_t nr_members,
		   uint64_t start_ns)
{
	sampler_fini(s);
	*s = (struct sampler) {
		.block = block,
		.nr_members = nr_members,
		.last_ns = start_ns,
		.before = { .members = xcalloc(nr_members ? nr_members : 1,
					       sizeof(*s->before.members)),
			    .nr_members = nr_members },
	};
}

void sampler_fini(struct sampler *s)
{
	tally_fini(&s->before);
	*s = (struct sampler) { 0 };
}

static void take(struct sampler *s, uint64_t now_ns, int64_t interval, unsigned flags,
		 struct msg_sample *ret)
{
	struct tally now;

	tally_read(s->block, s->nr_members, now_ns, flags, &now);
	*ret = (struct msg_sample) {
		.sequence = s->sequence,
		.interval = interval,
		.from_ns = s->last_ns,
		.to_ns = now_ns,
		.running = now.running,
		.oldest_ns = now.oldest_ns,
	};
	tally_rows(&now, &s->before, &ret->rows, &ret->nr_rows);
	tally_fini(&s->before);
	s->before = now;
	s->last_ns = now_ns;
	s->sequence++;
}

void sampler_take(struct sampler *s, uint64_t now_ns, int64_t interval, struct msg_sample *ret)
{
	take(s, now_ns, interval, TALLY_LAT_ONLY, ret);
}

bool sampler_take_rest(struct sampler *s, uint64_t now_ns, struct msg_sample *ret)
{
	take(s, now_ns, -1, TALLY_LAT_ONLY, ret);
	if (ret->nr_rows)
		return true;
	free(ret->rows);
	*ret = (struct msg_sample) { 0 };
	s->sequence--;
	return false;
}

void sampler_salvage(struct sampler *s, const struct assignment *a, uint64_t start_ns,
		     uint64_t now_ns, struct msg_sample *ret_rest, struct msg_done *ret)
{
	take(s, now_ns, -1, TALLY_UNFINISHED, ret_rest);
	*ret = (struct msg_done) { .samples = s->sequence };
	tally_members(s->block, a, start_ns, now_ns, &ret->members, &ret->nr_members);
	tally_rows(&s->before, NULL, &ret->rows, &ret->nr_rows);
	tally_stuck(s->block, a, now_ns, &ret->stuck, &ret->nr_stuck);
}
