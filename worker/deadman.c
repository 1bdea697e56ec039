/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/deadman.h"

#include "common/base/clock.h"

#include <signal.h>
#include <stddef.h>

/* Before the lease's end. The threads stop LEASE_GUARD_NS (20 ms, loop.c) before it, then the supervisor looks, then
 * the kernel acts. */
#define LOOK_BEFORE_NS (15 * NS_PER_MS)
#define KILL_BEFORE_NS (1 * NS_PER_MS)
/* How often a lease that has ended is looked at: it does not come back, but the step may take time to end. */
#define LOOK_AFTER_NS (100 * NS_PER_MS)

void deadman_init(struct deadman *d)
{
	struct sigevent kill = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };

	*d = (struct deadman) { .next_ns = UINT64_MAX };
	d->is_made = timer_create(CLOCK_MONOTONIC, &kill, &d->timer) == 0;
}

void deadman_fini(struct deadman *d)
{
	if (d->is_made)
		timer_delete(d->timer);
	d->is_made = false;
}

/* In ns from now; 0: not at all. */
static void set_timer(const struct deadman *d, uint64_t in_ns)
{
	struct itimerspec when = { .it_value = clock_timespec(in_ns) };

	if (d->is_made)
		timer_settime(d->timer, 0, &when, NULL);
}

void deadman_tick(struct deadman *d, uint64_t lease_end_ns, uint64_t now_ns)
{
	uint64_t look_ns = lease_end_ns > LOOK_BEFORE_NS ? lease_end_ns - LOOK_BEFORE_NS : 0;

	if (lease_end_ns == UINT64_MAX)
		return;
	if (now_ns >= look_ns) {
		set_timer(d, 0);
		d->lease_end_ns = 0;
		d->next_ns = now_ns + LOOK_AFTER_NS;
		return;
	}
	if (lease_end_ns != d->lease_end_ns)
		set_timer(d, lease_end_ns - KILL_BEFORE_NS - now_ns);
	d->lease_end_ns = lease_end_ns;
	/* Half of what is left, again and again: early enough also when the lease is short. */
	d->next_ns = look_ns - now_ns > 2 * NS_PER_MS ? now_ns + (look_ns - now_ns) / 2 : look_ns;
}

void deadman_rest(struct deadman *d)
{
	set_timer(d, 0);
	d->lease_end_ns = 0;
	d->next_ns = UINT64_MAX;
}
