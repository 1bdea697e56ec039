/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/held.h"

#include <criterion/criterion.h>

static struct held_targets held;
static const struct access_rules rules = { 0 };

static struct work_target simulated(const char *name, uint64_t size)
{
	return (struct work_target) {
		.name = (char *)name,
		.kind = TARGET_SIMULATED,
		.size = size,
		.reads = true,
	};
}

static struct open_target *open_and_hold(const struct work_target *spec)
{
	struct open_target *t = NULL;
	struct error *err = target_open(spec, 0, &rules, false, &t);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	held_targets_add(&held, spec, t);
	return t;
}

static void teardown(void)
{
	held_targets_fini(&held);
}

TestSuite(held, .fini = teardown);

Test(held, same_thing_is_found_under_any_name)
{
	struct work_target a = simulated("a", 4096), b = simulated("b", 4096);
	struct open_target *t = open_and_hold(&a);

	cr_assert_eq(held_targets_find(&held, &b), t);
	b.size++;
	cr_assert_null(held_targets_find(&held, &b));
	b = simulated("a", 4096);
	b.writes = true;
	cr_assert_null(held_targets_find(&held, &b), "it was not opened for writing");
}

Test(held, what_the_next_step_does_not_want_is_closed)
{
	struct work_target a = simulated("a", 4096), b = simulated("b", 8192);
	struct assignment next = { .targets = &b, .nr_targets = 1 };
	struct open_target *t;

	open_and_hold(&a);
	t = open_and_hold(&b);
	held_targets_keep(&held, &next);
	cr_assert_eq(held.nr, 1);
	cr_assert_eq(held_targets_find(&held, &b), t);
	held_targets_close(&held, t);
	cr_assert_eq(held.nr, 0);
	held_targets_close(&held, t);
}
