/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/stored.h"

#include "coordinator/archive/rebuild.h"
#include "coordinator/archive/result_read.h"
#include "coordinator/archive/samples.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

struct stored {
	struct result own;      /* read from result.json */
	struct rebuilt rebuilt; /* or added up from samples */
	const struct result *result;
};

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static struct error *open_dir(const char *path, struct stored *s)
{
	_cleanup_free_ char *json = xasprintf("%s/%s", path, RESULT_NAME);
	_cleanup_free_ char *samples = xasprintf("%s/%s", path, SAMPLES_NAME);
	struct error *err;

	if (is_there(json))
		return result_read_file(json, &s->own);
	if (!is_there(samples))
		return error_new(ERR_USAGE,
				 "%s: is no result: it holds neither %s nor %s; name the folder of "
				 "a run",
				 path, RESULT_NAME, SAMPLES_NAME);
	err = rebuild(path, &s->rebuilt);
	s->result = s->rebuilt.result;
	return err;
}

struct error *stored_open(const char *path, struct stored **ret)
{
	_cleanup_(stored_destroy) struct stored *s = xcalloc(1, sizeof(*s));
	struct error *err;
	struct stat st;

	s->result = &s->own;
	if (stat(path, &st) < 0)
		return error_new(ERR_USAGE, "%s: %s", path, strerror(errno));
	err = S_ISDIR(st.st_mode) ? open_dir(path, s) : result_read_file(path, &s->own);
	if (!err)
		*ret = take_ptr(s);
	return err;
}

const struct result *stored_result(const struct stored *s)
{
	return s->result;
}

void stored_destroy(struct stored **self_p)
{
	struct stored *s = take_ptr(*self_p);

	if (!s)
		return;
	result_fini(&s->own);
	rebuilt_fini(&s->rebuilt);
	free(s);
}
