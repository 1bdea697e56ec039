/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/inventory.h"

#include "tests/unit/common/model/scenario_text.h"

static const char lab[] = "hosts:\n"
			  "  db1: {address: \"10.0.0.5:7601\", labels: {rack: a, os: deb 12}}\n"
			  "  \"node[01-04]\": {address: \"10.0.1.[1-4]\"}\n"
			  "  near: \"ipc:///run/near\"\n"
			  "  plain: {}\n"
			  "  tgt: {address: \"[fe80::1]:7600\", role: observer}\n"
			  "groups:\n"
			  "  oltp: \"db1,node[01-02]\"\n"
			  "  mixed: [\"node[02-03]\", tgt]\n"
			  "  watch: tgt\n";

static char path[64];

static const char *write_file(const char *text)
{
	int fd;

	strcpy(path, "/tmp/salvo-test-XXXXXX");
	fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	return path;
}

static struct error *load(const char *text, struct inventory **ret)
{
	struct error *err = inventory_load(write_file(text), ret);

	unlink(path);
	return err;
}

static struct inventory *load_lab(void)
{
	struct inventory *inv = NULL;
	struct error *err = load(lab, &inv);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	return inv;
}

/* The names of the list, folded. */
static void check_names(const struct hostlist *list, const char *expected)
{
	const char **names = xcalloc(list->nr_hosts, sizeof(*names));
	_cleanup_free_ char *folded = NULL;

	for (size_t i = 0; i < list->nr_hosts; i++)
		names[i] = list->hosts[i].name;
	folded = hostlist_fold(names, list->nr_hosts);
	cr_expect_str_eq(folded, expected);
	free(names);
}

Test(inventory, hosts_and_their_addresses)
{
	struct inventory *inv = load_lab();
	const struct host *h = inventory_find(inv, "node03");

	check_names(&inv->all, "db1,node[01-04],near,plain,tgt");
	cr_assert_not_null(h);
	cr_expect_str_eq(h->address, "tcp://10.0.1.3:7600");
	cr_expect_not(host_is_observer(h));
	cr_expect_str_eq(inventory_find(inv, "db1")->address, "tcp://10.0.0.5:7601");
	cr_expect_eq(inventory_find(inv, "db1")->entry->nr_labels, 2);
	cr_expect_str_eq(inventory_find(inv, "near")->address, "ipc:///run/near");
	cr_expect_str_eq(inventory_find(inv, "plain")->address, "tcp://plain:7600");
	cr_expect(host_is_observer(inventory_find(inv, "tgt")));
	cr_expect_null(inventory_find(inv, "node[01-04]"));
	cr_expect_null(inventory_find(NULL, "db1"));
	inventory_destroy(&inv);
}

Test(inventory, names_groups_and_addresses_together)
{
	static char *const list[] = { (char *)"oltp,mixed", (char *)"node[01-02],other:7700" };
	struct inventory *inv = load_lab();
	struct hostlist hosts;
	struct error *err = inventory_expand(inv, list, array_size(list), &hosts);

	cr_assert_null(err, "%s", err ? error_message(err) : "");
	/* Once each, in the order in which they are named first. */
	check_names(&hosts, "db1,node[01-03],tgt,other");
	cr_expect_null(hosts.hosts[5].entry);
	cr_expect_str_eq(hosts.hosts[5].address, "tcp://other:7700");
	hostlist_fini(&hosts);
	inventory_all(inv, &hosts);
	check_names(&hosts, "db1,node[01-04],near,plain,tgt");
	hostlist_fini(&hosts);
	inventory_destroy(&inv);
}

Test(inventory, jobs_take_the_initiators_of_a_group)
{
	static char *const mixed[] = { (char *)"mixed" }, *const watch[] = { (char *)"watch" };
	static char *const named[] = { (char *)"tgt" };
	struct inventory *inv = load_lab();
	struct hostlist hosts = { 0 };

	cr_assert_null(inventory_expand_initiators(inv, mixed, 1, &hosts));
	check_names(&hosts, "node[02-03]");
	hostlist_fini(&hosts);
	cr_assert_null(inventory_expand_initiators(inv, watch, 1, &hosts));
	cr_expect_eq(hosts.nr_hosts, 0);
	hostlist_fini(&hosts);
	/* Named itself, it is a mistake that the scenario's rules tell. */
	cr_assert_null(inventory_expand_initiators(inv, named, 1, &hosts));
	check_names(&hosts, "tgt");
	hostlist_fini(&hosts);
	inventory_destroy(&inv);
}

Test(inventory, a_name_of_the_inventory_keeps_it)
{
	static char *const list[] = { (char *)"db1", (char *)"db1:7602" };
	struct inventory *inv = load_lab();
	struct hostlist hosts;

	cr_assert_null(inventory_expand(inv, list, 2, &hosts));
	check_names(&hosts, "db1,db1:7602");
	hostlist_fini(&hosts);
	inventory_destroy(&inv);
}

static void check_unknown(const char *name, const char *part)
{
	char *list[] = { (char *)name };
	struct inventory *inv = load_lab();
	struct hostlist hosts = { 0 };
	struct error *err = inventory_expand(inv, list, 1, &hosts);

	cr_assert_not_null(err, "%s", name);
	cr_expect(strstr(error_message(err), part), "%s", error_message(err));
	error_destroy(&err);
	inventory_destroy(&inv);
}

Test(inventory, what_is_not_in_it)
{
	check_unknown("opltp", "did you mean 'oltp'?");
	check_unknown("node[01-05]", "'node05' is no host and no group");
	check_unknown("elsewhere", "written with its port: elsewhere:7600");
	check_unknown("elsewhere:x", "port");
}

Test(inventory, without_one_it_is_a_host_list)
{
	static char *const list[] = { (char *)"n[1-2]" };
	struct hostlist hosts;

	cr_assert_null(inventory_expand(NULL, list, 1, &hosts));
	check_names(&hosts, "n[1-2]");
	hostlist_fini(&hosts);
}

/* All mistakes at once are golden tests; these are the ends of the file's forms. */
Test(inventory, mistakes_have_places)
{
	struct inventory *inv = NULL;
	struct error *err = load("hosts:\n  a: 10.0.0.1\n  b: {address: 10.0.0.1}\n", &inv);
	_cleanup_free_ char *start = xasprintf("%s:3:6: hosts.b: 'b' has the address of 'a'", path);

	cr_assert_not_null(err);
	cr_expect(str_starts(error_message(err), start), "%s", error_message(err));
	error_destroy(&err);
	err = load("groups: {a: b}\n", &inv);
	cr_assert_not_null(err);
	cr_expect(strstr(error_message(err), "missing key 'hosts'"), "%s", error_message(err));
	error_destroy(&err);
	cr_expect_null(inv);
}

/* --- in a scenario ---------------------------------------------------------------------------------- */

static struct scenario *load_scenario(const char *text, char *hosts)
{
	const struct scenario_changes changes = { .inventory = write_file(lab),
						  .hosts = &hosts,
						  .nr_hosts = hosts != NULL };
	struct scenario *sc = good_text(text, &changes);

	unlink(path);
	return sc;
}

static void check_scenario_hosts(const struct scenario *sc, const char *expected)
{
	struct hostlist hosts = { 0 };
	struct error *err = scenario_hosts(sc, &hosts);

	cr_assert_null(err);
	check_names(&hosts, expected);
	hostlist_fini(&hosts);
}

#define TARGET_AND_JOB                              \
	"targets: {d: {simulated: {size: 1GiB}}}\n" \
	"jobs: [{name: a, target: d, hosts: mixed}]\n"

Test(inventory, all_of_it_unless_hosts_are_named)
{
	struct scenario *sc = load_scenario("name: x\n" TARGET_AND_JOB, NULL);

	check_scenario_hosts(sc, "db1,node[01-04],near,plain,tgt");
	/* A job's hosts are plain names, and no observers. */
	cr_expect_eq(sc->phases[0].jobs[0].nr_hosts, 2);
	cr_expect_str_eq(sc->phases[0].jobs[0].hosts[0], "node02");
	cr_expect_str_eq(sc->phases[0].jobs[0].hosts[1], "node03");
	scenario_destroy(&sc);
	sc = load_scenario("name: x\nhosts: [mixed, plain]\n" TARGET_AND_JOB, NULL);
	check_scenario_hosts(sc, "node[02-03],tgt,plain");
	scenario_destroy(&sc);
	sc = load_scenario("name: x\nhosts: oltp\n" TARGET_AND_JOB, (char *)"mixed");
	check_scenario_hosts(sc, "node[02-03],tgt");
	scenario_destroy(&sc);
}

Test(inventory, resolved_scenario_names_its_hosts)
{
	struct scenario *sc = load_scenario("name: x\n" TARGET_AND_JOB, (char *)"mixed,spare:7605");
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	char list[] = "node[02-03],tgt,tcp://spare:7605";

	scenario_print(sc, 1, out);
	fclose(out);
	cr_expect(strstr(text, list), "%s", text);
	scenario_destroy(&sc);
	/* It loads again, and then has the same hosts. */
	sc = load_scenario(text, NULL);
	check_scenario_hosts(sc, "node[02-03],tgt,spare");
	scenario_destroy(&sc);
}
