/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/facts.h"

static struct fixture f;

static void make(void)
{
	fixture_init(&f);
}

static void unmake(void)
{
	fixture_fini(&f);
}

TestSuite(facts, .init = make, .fini = unmake);

static const char *value_of(const struct fact *facts, size_t nr, const char *key)
{
	for (size_t i = 0; i < nr; i++)
		if (streq(facts[i].key, key))
			return facts[i].value;
	return NULL;
}

Test(facts, this_host_has_a_kernel_and_processors)
{
	struct fact *facts;
	size_t nr;

	facts_collect(&facts, &nr);
	cr_assert_not_null(value_of(facts, nr, "kernel"));
	cr_assert_geq(atoi(value_of(facts, nr, "nr_cpus")), 1);
	cr_assert_geq(atoll(value_of(facts, nr, "memory_bytes")), 1 << 20);
	for (size_t i = 0; i < nr; i++)
		cr_assert_neq(*facts[i].value, '\0', "%s is empty", facts[i].key);
	facts_free(&facts, &nr);
	cr_assert_null(facts);
	cr_assert_eq(nr, 0);
}

Test(facts, what_cannot_be_read_is_absent)
{
	struct fact *facts;
	size_t nr;

	facts_collect_at(&f.root, &facts, &nr);
	cr_assert_null(value_of(facts, nr, "governor"));
	cr_assert_null(value_of(facts, nr, "cpu_model"));
	cr_assert_null(value_of(facts, nr, "boot_id"));
	facts_free(&facts, &nr);
}

Test(facts, what_stands_in_the_files)
{
	struct fact *facts;
	size_t nr;

	fixture_text(f.proc, "cpuinfo",
		     "processor\t: 0\nmodel name\t: ACME 9000 \nmicrocode\t: 0x1\n");
	fixture_text(f.proc, "cmdline", "root=/dev/vda chap_password=geheim quiet luks.KEY=x\n");
	fixture_text(f.sys, "devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
	facts_collect_at(&f.root, &facts, &nr);
	cr_assert_str_eq(value_of(facts, nr, "cpu_model"), "ACME 9000");
	cr_assert_str_eq(value_of(facts, nr, "microcode"), "0x1");
	cr_assert_str_eq(value_of(facts, nr, "governor"), "performance");
	cr_assert_str_eq(value_of(facts, nr, "cmdline"),
			 "root=/dev/vda chap_password= quiet luks.KEY=", "no secrets");
	facts_free(&facts, &nr);
}
