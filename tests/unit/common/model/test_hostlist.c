/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/hostlist.h"

#include "common/base/str.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

/* "name=address name=address" of one expression, or the error's message; owned by the caller. */
static char *expand(const char *expression)
{
	_cleanup_free_ char *copy = xstrdup(expression);
	_cleanup_(hostlist_fini) struct hostlist list = { 0 };
	struct error *err = hostlist_expand(&copy, 1, &list);
	char *text = xstrdup("");

	for (size_t i = 0; i < list.nr_hosts; i++) {
		char *more = xasprintf("%s%s%s=%s", text, i ? " " : "", list.hosts[i].name,
				       list.hosts[i].address);

		free(text);
		text = more;
	}
	if (err) {
		free(text);
		text = xstrdup(error_message(err));
	}
	error_destroy(&err);
	return text;
}

static void expect(const char *expression, const char *want)
{
	_cleanup_free_ char *got = expand(expression);

	cr_assert_str_eq(got, want, "%s gives %s", expression, got);
}

Test(hostlist, plain_names_get_the_default_port)
{
	expect("db1", "db1=tcp://db1:7600");
	expect("db1:7601, 10.0.0.5", "db1=tcp://db1:7601 10.0.0.5=tcp://10.0.0.5:7600");
	expect("tcp://db1:7601", "db1=tcp://db1:7601");
}

Test(hostlist, ranges_keep_their_zeros)
{
	expect("n[08-10]", "n08=tcp://n08:7600 n09=tcp://n09:7600 n10=tcp://n10:7600");
	expect("n[9-10,3]:1", "n9=tcp://n9:1 n10=tcp://n10:1 n3=tcp://n3:1");
}

Test(hostlist, two_ranges_multiply)
{
	expect("r[1-2]n[1-2]", "r1n1=tcp://r1n1:7600 r1n2=tcp://r1n2:7600 "
			       "r2n1=tcp://r2n1:7600 r2n2=tcp://r2n2:7600");
}

Test(hostlist, one_name_with_two_ports_gets_them_in_the_name)
{
	expect("::1", "host '::1': an IPv6 address is written in brackets: [fe80::1]:7600");
	expect("a:[1-2],b", "a:1=tcp://a:1 a:2=tcp://a:2 b=tcp://b:7600");
}

Test(hostlist, sockets_and_ipv6)
{
	expect("ipc:///run/w[1-2]", "ipc:///run/w1=ipc:///run/w1 ipc:///run/w2=ipc:///run/w2");
	expect("[fe80::1]", "[fe80::1]=tcp://[fe80::1]:7600");
	expect("[fe80::1]:99,a", "[fe80::1]=tcp://[fe80::1]:99 a=tcp://a:7600");
}

Test(hostlist, mistakes_are_named)
{
	expect("", "an entry of the host list is empty");
	expect("a,,b", "an entry of the host list is empty");
	expect("a b", "host 'a b': the character ' ' cannot be part of a host's name");
	expect("a\xe2\x80\x93"
	       "b",
	       "host 'a–b': the character '–' cannot be part of a host's name");
	expect("a,b,a", "host 'a': named twice");
	expect("a:0", "host 'a:0': the port is not a number from 1 to 65535");
	expect("a:65536", "host 'a:65536': the port is not a number from 1 to 65535");
	expect("a:http", "host 'a:http': the port is not a number from 1 to 65535");
	expect(":7600", "host ':7600': the name is empty");
	expect("n[3-1]", "host 'n[3-1]': the range runs backwards");
	expect("n[1-]", "host 'n[1-]': a range is written like [01-16,20]");
	expect("n[a-b]", "host 'n[a-b]': a range is written like [01-16,20]");
	expect("n[1-2", "host 'n[1-2': brackets that do not match");
	expect("n1-2]", "host 'n1-2]': brackets that do not match");
}

Test(hostlist, has_a_limit)
{
	_cleanup_free_ char *got = expand("n[1-999999999]");

	cr_assert_str_eq(got, "more than 8192 hosts");
}

Test(hostlist, files_have_comments_and_blank_lines)
{
	char path[] = "/tmp/salvo-hosts-XXXXXX";
	int fd = mkstemp(path);
	static const char text[] = "# the rack\nn[1-2]:7601\n\n  db1 # the database\n";
	_cleanup_free_ char *expression = xasprintf("^%s,last", path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
	close(fd);
	expect(expression, "n1=tcp://n1:7601 n2=tcp://n2:7601 db1=tcp://db1:7600 "
			   "last=tcp://last:7600");
	unlink(path);
}

Test(hostlist, a_file_says_where_it_is_wrong)
{
	char path[] = "/tmp/salvo-hosts-XXXXXX";
	int fd = mkstemp(path);
	_cleanup_free_ char *expression = xasprintf("^%s", path), *want = NULL, *nested = NULL;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "a\n^b\n", 5), 5);
	close(fd);
	want = xasprintf("%s:2: host '^b': a host list file cannot name another one", path);
	nested = expand(expression);
	cr_assert_str_eq(nested, want);
	unlink(path);
	expect("^/nonexistent", "host list '/nonexistent': cannot open: No such file or directory");
}

static void expect_fold(const char *const *names, size_t nr, const char *want)
{
	_cleanup_free_ char *got = hostlist_fold(names, nr);

	cr_assert_str_eq(got, want, "%s", got);
}

Test(hostlist, folds_what_stands_together)
{
	expect_fold((const char *[]) { "n01", "n02", "n03", "n20", "db1" }, 5, "n[01-03,20],db1");
	expect_fold((const char *[]) { "n9", "n10", "n11" }, 3, "n[9-11]");
	expect_fold((const char *[]) { "n9", "n010" }, 2, "n9,n010");
	expect_fold((const char *[]) { "a", "b" }, 2, "a,b");
	expect_fold((const char *[]) { "a:1", "a:2" }, 2, "a:[1-2]");
	expect_fold((const char *[]) { "r1n1", "r1n2", "r2n1" }, 3, "r1n[1-2],r2n1");
	expect_fold((const char *[]) { "[fe80::1]", "[fe80::2]" }, 2, "[fe80::1],[fe80::2]");
	expect_fold(NULL, 0, "");
}

Test(hostlist, a_folded_list_expands_to_the_same_names)
{
	_cleanup_free_ char *text = xstrdup("n[098-102],x[1-3]y:7601,db");
	_cleanup_(hostlist_fini) struct hostlist list = { 0 }, again = { 0 };
	const char *names[16];
	_cleanup_free_ char *folded = NULL;
	struct error *err = hostlist_expand(&text, 1, &list);

	cr_assert_null(err);
	for (size_t i = 0; i < list.nr_hosts; i++)
		names[i] = list.hosts[i].name;
	folded = hostlist_fold(names, list.nr_hosts);
	err = hostlist_expand(&folded, 1, &again);
	cr_assert_null(err);
	cr_assert_eq(again.nr_hosts, 9);
	for (size_t i = 0; i < list.nr_hosts; i++)
		cr_assert_str_eq(again.hosts[i].name, names[i]);
}
