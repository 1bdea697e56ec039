/* SPDX-License-Identifier: Apache-2.0 */
#include "common/model/hostlist.h"

#include "common/base/str.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Design notes: an expression is split at commas outside of brackets; each entry's ranges are expanded into
 * plain entries; each of those becomes a host. `[...]` is a range when it holds digits, commas and dashes,
 * and an IPv6 address when it holds a colon. */

enum { FILE_LINE_MAX = 4096, FOLD_DIGITS_MAX = 9 };

struct expansion {
	const struct host_source *source; /* NULL: none */
	struct hostlist list;
};

static struct error *add_expression(struct expansion *x, const char *text, bool from_file);

static struct error *bad(const char *entry, const char *what)
{
	_cleanup_free_ char *clean = str_printable(entry);

	return error_new(ERR_CONFIG, "host '%s': %s", clean, what);
}

/* Sets the position and length of the first range of an entry; false when it has none. */
static bool find_range(const char *entry, const char **ret_open, const char **ret_close)
{
	for (const char *open = strchr(entry, '['); open; open = strchr(open + 1, '[')) {
		const char *close = strchr(open, ']');

		if (!close)
			return false;
		if (!memchr(open, ':', (size_t)(close - open))) {
			*ret_open = open;
			*ret_close = close;
			return true;
		}
	}
	return false;
}

/* The first character that no host name, address or socket path has; NULL when all are fine. */
static const char *bad_character(const char *text, bool path)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr(path ? "._-:/@+" : "._-:%[]", *text))
			return text;
	return NULL;
}

static struct error *show_character(const char *entry, const char *at)
{
	unsigned char c = (unsigned char)*at;
	size_t len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	_cleanup_free_ char *one = xstrndup(at, len), *shown = str_printable(one);
	_cleanup_free_ char *what =
		c == '[' || c == ']'
			? xasprintf("brackets that do not match")
			: xasprintf("the character '%s' cannot be part of a host's name", shown);

	return bad(entry, what);
}

/* Splits "name:port"; without a port `name` takes all of it and port is 0. False: the port is no port. */
static bool split_port(const char *entry, char **ret_name, unsigned *ret_port)
{
	const char *colon = strrchr(entry, ':');
	bool bare_ipv6 = colon && strchr(entry, ':') != colon && entry[0] != '[';
	unsigned long port = 0;
	char *end;

	if (!colon || bare_ipv6 || strchr(colon, ']')) {
		*ret_name = xstrdup(entry);
		*ret_port = 0;
		return true;
	}
	if (!isdigit((unsigned char)colon[1]))
		return false;
	port = strtoul(colon + 1, &end, 10);
	if (*end || port < 1 || port > 65535)
		return false;
	*ret_name = xstrndup(entry, (size_t)(colon - entry));
	*ret_port = (unsigned)port;
	return true;
}

void hostlist_append(struct hostlist *list, struct host host)
{
	list->hosts = xrealloc(list->hosts, list->nr_hosts + 1, sizeof(*list->hosts));
	list->hosts[list->nr_hosts++] = host;
}

/* Adds an entry without ranges. */
static struct error *add_host(struct hostlist *list, const char *entry)
{
	const char *host = str_starts(entry, "tcp://") ? entry + strlen("tcp://") : entry;
	_cleanup_free_ char *name = NULL;
	bool ipc = str_starts(entry, "ipc://");
	const char *odd = bad_character(host, ipc);
	unsigned port;
	char *address;

	if (odd)
		return show_character(entry, odd);
	if (list->nr_hosts >= HOSTLIST_MAX)
		return error_new(ERR_CONFIG, "more than %d hosts", HOSTLIST_MAX);
	if (ipc) {
		hostlist_append(
			list, (struct host) { .name = xstrdup(entry), .address = xstrdup(entry) });
		return NULL;
	}
	if (!split_port(host, &name, &port))
		return bad(entry, "the port is not a number from 1 to 65535");
	if (!*name)
		return bad(entry, "the name is empty");
	if (name[0] != '[' && strchr(name, ':'))
		return bad(entry, "an IPv6 address is written in brackets: [fe80::1]:7600");
	if ((name[0] == '[') != (strchr(name, ']') != NULL) || strchr(name + 1, '['))
		return bad(entry, "brackets that do not match");
	address = xasprintf("tcp://%s:%u", name, port ? port : HOST_DEFAULT_PORT);
	hostlist_append(list, (struct host) { .name = take_ptr(name), .address = address });
	return NULL;
}

static struct error *add_known_or_host(struct expansion *x, const char *entry)
{
	bool known = false;
	struct error *err = NULL;

	if (x->source)
		err = x->source->add(x->source->arg, entry, &x->list, &known);
	if (!err && x->list.nr_hosts > HOSTLIST_MAX)
		err = error_new(ERR_CONFIG, "more than %d hosts", HOSTLIST_MAX);
	return err || known ? err : add_host(&x->list, entry);
}

/* Parses "01-16" or "20" at *p and moves behind it; false when it is no such thing. */
static bool parse_span(const char **p, uint64_t *ret_from, uint64_t *ret_to, int *ret_width)
{
	const char *start = *p;
	char *end;

	if (!isdigit((unsigned char)*start))
		return false;
	*ret_from = *ret_to = strtoull(start, &end, 10);
	*ret_width = *start == '0' ? (int)(end - start) : 0;
	if (end - start > FOLD_DIGITS_MAX)
		return false;
	if (*end == '-') {
		start = end + 1;
		if (!isdigit((unsigned char)*start))
			return false;
		*ret_to = strtoull(start, &end, 10);
		if (end - start > FOLD_DIGITS_MAX)
			return false;
	}
	*p = end;
	return true;
}

/* Expands the entry's first range and adds what comes out, whose own ranges are expanded in turn. */
static struct error *add_entry(struct expansion *x, const char *entry)
{
	const char *open, *close;

	if (!find_range(entry, &open, &close))
		return add_known_or_host(x, entry);
	for (const char *p = open + 1;;) {
		uint64_t from, to;
		int width;

		if (!parse_span(&p, &from, &to, &width) || (*p != ',' && p != close))
			return bad(entry, "a range is written like [01-16,20]");
		if (from > to)
			return bad(entry, "the range runs backwards");
		for (uint64_t i = from; i <= to; i++) {
			_cleanup_free_ char *one =
				xasprintf("%.*s%0*" PRIu64 "%s", (int)(open - entry), entry, width,
					  i, close + 1);
			struct error *err = add_entry(x, one);

			if (err)
				return err;
		}
		if (p++ == close)
			return NULL;
	}
}

static struct error *add_file(struct expansion *x, const char *path)
{
	FILE *in = fopen(path, "re");
	struct error *err = NULL;
	char line[FILE_LINE_MAX];
	unsigned number = 0;

	if (!in)
		return error_new(ERR_CONFIG, "host list '%s': cannot open: %s", path,
				 strerror(errno));
	while (!err && fgets(line, sizeof(line), in)) {
		size_t len = strcspn(line, "#\r\n");

		number++;
		if (strlen(line) + 1 == sizeof(line))
			err = error_new(ERR_CONFIG, "the line is too long");
		line[len] = '\0';
		if (!err && line[strspn(line, " \t")])
			err = add_expression(x, line, true);
		err = error_context(err, "%s:%u", path, number);
	}
	fclose(in);
	return err;
}

/* Adds one entry of an expression, still with blanks around it. */
static struct error *add_trimmed(struct expansion *x, const char *start, size_t len, bool from_file)
{
	_cleanup_free_ char *entry = NULL;

	while (len && isspace((unsigned char)*start)) {
		start++;
		len--;
	}
	while (len && isspace((unsigned char)start[len - 1]))
		len--;
	if (!len)
		return error_new(ERR_CONFIG, "an entry of the host list is empty");
	entry = xstrndup(start, len);
	if (entry[0] != '^')
		return add_entry(x, entry);
	if (from_file)
		return bad(entry, "a host list file cannot name another one");
	return add_file(x, entry + 1);
}

static struct error *add_expression(struct expansion *x, const char *text, bool from_file)
{
	const char *start = text;
	bool inside = false;

	for (const char *p = text;; p++) {
		if (*p == '[' || *p == ']')
			inside = *p == '[';
		if (*p && (*p != ',' || inside))
			continue;
		if (inside)
			return bad(start, "brackets that do not match");

		struct error *err = add_trimmed(x, start, (size_t)(p - start), from_file);

		if (err || !*p)
			return err;
		start = p + 1;
	}
}

static int compare_hosts_by_name(const void *a, const void *b)
{
	return strcmp((*(const struct host *const *)a)->name,
		      (*(const struct host *const *)b)->name);
}

static int compare_hosts_by_address(const void *a, const void *b)
{
	return strcmp((*(const struct host *const *)a)->address,
		      (*(const struct host *const *)b)->address);
}

/* Gives hosts that share a name their port as well; the same address twice is a mistake. */
static struct error *make_unique(struct hostlist *list)
{
	_cleanup_free_ struct host **sorted = xcalloc(list->nr_hosts, sizeof(*sorted));

	for (size_t i = 0; i < list->nr_hosts; i++)
		sorted[i] = &list->hosts[i];
	qsort(sorted, list->nr_hosts, sizeof(*sorted), compare_hosts_by_address);
	for (size_t i = 1; i < list->nr_hosts; i++)
		if (streq(sorted[i]->address, sorted[i - 1]->address))
			return bad(sorted[i]->name, "named twice");
	qsort(sorted, list->nr_hosts, sizeof(*sorted), compare_hosts_by_name);
	for (size_t i = 0, end; i < list->nr_hosts; i = end) {
		for (end = i + 1; end < list->nr_hosts; end++)
			if (!streq(sorted[end]->name, sorted[i]->name))
				break;
		for (size_t k = i; end - i > 1 && k < end; k++) {
			if (sorted[k]->entry)
				continue; /* the others have to make way */
			free(sorted[k]->name);
			sorted[k]->name = xstrdup(sorted[k]->address + strlen("tcp://"));
		}
	}
	return NULL;
}

struct error *hostlist_expand_from(const struct host_source *source, char *const *expressions,
				   size_t nr, struct hostlist *ret)
{
	struct expansion x = { .source = source };
	struct error *err = NULL;

	for (size_t i = 0; i < nr && !err; i++)
		err = add_expression(&x, expressions[i], false);
	if (!err)
		err = make_unique(&x.list);
	if (err)
		hostlist_fini(&x.list);
	else
		*ret = x.list;
	return err;
}

struct error *hostlist_expand(char *const *expressions, size_t nr, struct hostlist *ret)
{
	return hostlist_expand_from(NULL, expressions, nr, ret);
}

void hostlist_fini(struct hostlist *list)
{
	for (size_t i = 0; i < list->nr_hosts; i++) {
		free(list->hosts[i].name);
		free(list->hosts[i].address);
	}
	free(list->hosts);
	*list = (struct hostlist) { 0 };
}

/* A name as "prefix NUMBER suffix", cut at its last digits. */
struct numbered {
	const char *name;
	size_t start, end; /* of the digits; start == end: there are none */
	uint64_t number;
};

static struct numbered parse_numbered(const char *name)
{
	struct numbered n = { .name = name };
	size_t end = strlen(name);

	while (end && !isdigit((unsigned char)name[end - 1]))
		end--;
	n.start = n.end = end;
	while (n.start && isdigit((unsigned char)name[n.start - 1]))
		n.start--;
	if (n.end - n.start > FOLD_DIGITS_MAX || strchr(name, '['))
		n.start = n.end = 0;
	n.number = strtoull(name + n.start, NULL, 10);
	return n;
}

/* May both stand in one bracket? The same text around the digits, and digits that one range writes alike. */
static bool folds_with(const struct numbered *a, const struct numbered *b)
{
	bool padded = a->name[a->start] == '0' || b->name[b->start] == '0';

	return a->start != a->end && b->start != b->end && a->start == b->start &&
	       strncmp(a->name, b->name, a->start) == 0 &&
	       streq(a->name + a->end, b->name + b->end) &&
	       (!padded || a->end - a->start == b->end - b->start);
}

static void print_number(const struct numbered *n, FILE *out)
{
	fprintf(out, "%.*s", (int)(n->end - n->start), n->name + n->start);
}

/* Prints names[0..nr), which all fold with one another, as one entry. */
static void print_folded(const struct numbered *names, size_t nr, FILE *out)
{
	fprintf(out, "%.*s[", (int)names->start, names->name);
	for (size_t i = 0, last; i < nr; i = last + 1) {
		for (last = i; last + 1 < nr; last++)
			if (names[last + 1].number != names[last].number + 1)
				break;
		if (i)
			fputc(',', out);
		print_number(&names[i], out);
		if (last > i) {
			fputc('-', out);
			print_number(&names[last], out);
		}
	}
	fprintf(out, "]%s", names->name + names->end);
}

char *hostlist_fold(const char *const *names, size_t nr)
{
	_cleanup_free_ struct numbered *parsed = xcalloc(nr, sizeof(*parsed));
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert(out);
	for (size_t i = 0; i < nr; i++)
		parsed[i] = parse_numbered(names[i]);
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i + 1; end < nr; end++)
			if (!folds_with(&parsed[i], &parsed[end]))
				break;
		if (i)
			fputc(',', out);
		if (end - i == 1)
			fputs(names[i], out);
		else
			print_folded(&parsed[i], end - i, out);
	}
	fclose(out);
	return text;
}
