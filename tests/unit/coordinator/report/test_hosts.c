/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/report/hosts.h"

#include "common/base/clock.h"
#include "tests/unit/coordinator/run/sim.h"

#include <criterion/criterion.h>
#include <jansson.h>

static struct sim sim;

/* w0 is free, w1 unreachable. */
static char *written(struct error *(*write)(const struct hostlist *, const struct run *, FILE *))
{
	struct error *err;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cr_assert_not_null(out);
	sim_init(&sim, 2, 1);
	sim.workers[1].fault = SIM_NO_LINK;
	sim_begin(&sim, MODE_OBSERVE);
	cr_assert(sim_go(&sim, 60 * NS_PER_S));
	err = write(&sim.plan->hosts, sim.run, out);
	cr_assert_null(err);
	fclose(out);
	sim_fini(&sim);
	return text;
}

Test(hosts, table)
{
	_cleanup_free_ char *text = written(hosts_write_text);

	cr_assert_not_null(strstr(text, "w0    1.0"), "%s", text);
	cr_assert_not_null(strstr(text, "free"), "%s", text);
	cr_assert_not_null(strstr(text, "unreachable"), "%s", text);
	/* its clock is 500 s behind; half of the time it thinks counts as on its way */
	cr_assert_not_null(strstr(text, "-499.999995 s"), "%s", text);
}

Test(hosts, json)
{
	_cleanup_free_ char *text = written(hosts_write_json);
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *list, *w0, *w1;

	cr_assert_not_null(root, "%s", text);
	list = json_object_get(root, "hosts");
	cr_assert_eq(json_array_size(list), 2);
	w0 = json_array_get(list, 0);
	w1 = json_array_get(list, 1);
	cr_assert(json_is_true(json_object_get(w0, "reachable")));
	cr_assert(json_is_false(json_object_get(w0, "busy")));
	cr_assert(json_is_null(json_object_get(w0, "owner")));
	cr_assert(json_is_integer(json_object_get(json_object_get(w0, "clock"), "error_ns")));
	cr_assert(json_is_false(json_object_get(w1, "reachable")));
	cr_assert(json_is_null(json_object_get(w1, "clock")));
	cr_assert(json_is_string(json_object_get(w1, "error")));
	json_decref(root);
}
