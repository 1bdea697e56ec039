/* SPDX-License-Identifier: Apache-2.0 */
/* Opens one target under the rules given as options, prints what it is or why it was refused, and does what
 * else is asked for. Exit status: that of the refusal, 0 when the target was opened. For safety.sh. */
#include "common/base/str.h"
#include "worker/host/target.h"

#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

struct request {
	struct work_target target;
	struct access_rules rules;
	bool probe, recheck, scribble, stat;
	uint64_t layout, hold_s;
};

static void add(char ***list, size_t *nr, char *text)
{
	*list = xrealloc(*list, *nr + 1, sizeof(**list));
	(*list)[(*nr)++] = text;
}

static bool parse_destroy(struct work_target *t, char *word)
{
	static const char *const words[] = { "no", "true", "force" };

	for (int i = 0; i < (int)array_size(words); i++)
		if (streq(word, words[i])) {
			t->destroy = i;
			return true;
		}
	t->destroy = DESTROY_YES;
	t->destroy_uuid = word;
	return true;
}

static bool parse(int argc, char **argv, struct request *r)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "file", required_argument, NULL, 'f' },
		{ "size", required_argument, NULL, 's' },
		{ "read", no_argument, NULL, 'r' },
		{ "write", no_argument, NULL, 'w' },
		{ "destroy", required_argument, NULL, 'D' },
		{ "allow-read", required_argument, NULL, 'R' },
		{ "allow-write", required_argument, NULL, 'W' },
		{ "below", required_argument, NULL, 'b' },
		{ "probe", no_argument, NULL, 'p' },
		{ "layout", required_argument, NULL, 'l' },
		{ "recheck", no_argument, NULL, 'c' },
		{ "scribble", no_argument, NULL, 'x' },
		{ "stat", no_argument, NULL, 't' },
		{ "hold", required_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'd':
		case 'f':
			r->target.kind = c == 'd' ? TARGET_DEVICE : TARGET_FILE;
			r->target.path = optarg;
			break;
		case 's':
			r->target.size = strtoull(optarg, NULL, 10);
			break;
		case 'r':
			r->target.reads = true;
			break;
		case 'w':
			r->target.writes = true;
			break;
		case 'D':
			parse_destroy(&r->target, optarg);
			break;
		case 'R':
			add(&r->rules.read, &r->rules.nr_read, optarg);
			break;
		case 'W':
			add(&r->rules.write, &r->rules.nr_write, optarg);
			break;
		case 'b':
			r->rules.below = optarg;
			break;
		case 'p':
			r->probe = true;
			break;
		case 'l':
			r->layout = strtoull(optarg, NULL, 10);
			break;
		case 'c':
			r->recheck = true;
			break;
		case 'x':
			r->scribble = true;
			break;
		case 't':
			r->stat = true;
			break;
		case 'h':
			r->hold_s = strtoull(optarg, NULL, 10);
			break;
		default:
			return false;
		}
	}
	return r->target.path && optind == argc;
}

static void print_info(const struct device_info *i)
{
	printf("path: %s\nsize: %llu\nlogical: %llu\n", i->path, (unsigned long long)i->size_bytes,
	       (unsigned long long)i->logical_block_bytes);
	printf("model: %s\ntransport: %s\n", i->model ? i->model : "-",
	       i->transport ? i->transport : "-");
	printf("in use: %s\nsignature: %s\nwarning: %s\n", i->in_use ? i->in_use : "-",
	       i->signature ? i->signature : "-", i->warning ? i->warning : "-");
}

static struct error *scribble(struct open_target *t)
{
	static const char block[512] = "written by target_probe";
	int fd;
	struct error *err = target_fd(t, &(struct target_access) { .write = true }, &fd);

	if (!err && pwrite(fd, block, sizeof(block), 0) != sizeof(block))
		err = error_new(ERR_IO, "write");
	return err;
}

static struct error *use(struct open_target *t, const struct request *r)
{
	struct error *err = NULL;
	struct device_stat st;
	uint64_t written;

	print_info(target_info(t));
	if (r->layout) {
		err = target_layout(t, r->layout, NULL, NULL, &written);
		if (!err)
			printf("laid out: %llu\n", (unsigned long long)written);
	}
	fflush(stdout);
	if (!err && r->hold_s)
		sleep((unsigned)r->hold_s);
	if (!err && r->recheck)
		err = target_recheck(t);
	if (!err && r->scribble)
		err = scribble(t);
	if (r->stat && target_stat(t, &st))
		printf("written by stat: %llu\n", (unsigned long long)st.write_bytes);
	return err;
}

int main(int argc, char **argv)
{
	struct request r = { .target.name = xstrdup("t") };
	struct open_target *t = NULL;
	struct error *err;
	int status;

	if (!parse(argc, argv, &r)) {
		fprintf(stderr, "target_probe: bad options\n");
		return 64;
	}
	err = target_open(&r.target, 0, &r.rules, r.probe, &t);
	if (!err)
		err = use(t, &r);
	for (const struct error *e = err; e; e = error_next(e))
		printf("%s: %s\n", error_code_name(error_code(e)), error_message(e));
	status = error_exit_status(err);
	error_destroy(&err);
	target_close(&t);
	free(r.target.name);
	free(r.rules.read);
	free(r.rules.write);
	return status;
}
