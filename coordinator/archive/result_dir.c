/* SPDX-License-Identifier: Apache-2.0 */
#include "coordinator/archive/result_dir.h"

#include "coordinator/archive/result_json.h"
#include "coordinator/archive/samples.h"
#include "coordinator/report/report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char DEFAULT_PARENT[] = "./salvo-results";
enum { MAX_SAME_NAME = 1000 }; /* runs of one name that begin in the same second */

struct result_dir {
	char *path; /* NULL: nothing is kept */
	int fd;
	int samples_fd; /* -1: not begun, or given up after an error */
	bool is_used;   /* something was written: it stays */
	bool was_made;  /* it did not exist before */
	bool locked;    /* by us: no other run is using it */
	bool made_parent;
};

static char *default_path(const char *name, time_t now)
{
	_cleanup_free_ char *safe = xstrdup(name);
	struct tm utc;
	char stamp[32];

	for (char *p = safe; *p; p++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-",
			    *p))
			*p = '_';
	if (safe[0] == '.')
		safe[0] = '_';
	gmtime_r(&now, &utc);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
	return xasprintf("%s/%s-%s", DEFAULT_PARENT, safe, stamp);
}

/* What the user named wrongly is a usage error, what the machine cannot do is not. */
static struct error *path_error(const char *path, int errnum)
{
	if (errnum == ENOENT)
		return error_new(ERR_USAGE, "%s: its parent folder does not exist; make it first",
				 path);
	if (errnum == ENOTDIR || errnum == EEXIST)
		return error_new(ERR_USAGE, "%s: is in the way or not a folder; name another one",
				 path);
	return error_new(ERR_OUTPUT, "%s: cannot be made or opened: %s", path, strerror(errnum));
}

static struct error *check_empty(const char *path, int fd)
{
	int copy = dup(fd);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *entry;
	bool is_empty = true;

	if (!dir) {
		closep(&copy);
		return path_error(path, errno);
	}
	while ((entry = readdir(dir)))
		is_empty &= streq(entry->d_name, ".") || streq(entry->d_name, "..");
	closedir(dir);
	if (is_empty)
		return NULL;
	return error_new(ERR_USAGE,
			 "%s: is not empty; name a folder that is empty or not there yet", path);
}

/* Full disks and read-only folders are found now, not after the run. */
static struct error *check_writable(const char *path, int fd)
{
	static const char name[] = ".probe";
	int probe = openat(fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int errnum = errno;

	if (probe < 0)
		return path_error(path, errnum);
	close(probe);
	unlinkat(fd, name, 0);
	return NULL;
}

/* Two runs that were given one empty folder: the second is refused. Where nothing can be locked, nothing is. */
static struct error *lock(const char *path, int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return NULL;
	return error_new(ERR_USAGE, "%s: another run is using it; name another folder", path);
}

static struct error *take_over(struct result_dir *dir)
{
	struct error *err;

	dir->fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd < 0)
		return path_error(dir->path, errno);
	err = lock(dir->path, dir->fd);
	dir->locked = !err;
	if (!err)
		err = check_empty(dir->path, dir->fd);
	return err ? err : check_writable(dir->path, dir->fd);
}

static struct result_dir *result_dir_new(void)
{
	struct result_dir *dir = xcalloc(1, sizeof(*dir));

	dir->fd = dir->samples_fd = -1;
	return dir;
}

struct error *result_dir_create(const char *path, struct result_dir **ret)
{
	_cleanup_(result_dir_destroy) struct result_dir *dir = result_dir_new();
	struct error *err = NULL;

	if (path) {
		dir->path = xstrdup(path);
		dir->was_made = mkdir(path, 0777) == 0;
		err = dir->was_made || errno == EEXIST ? take_over(dir) : path_error(path, errno);
	}
	if (!err)
		*ret = take_ptr(dir);
	return err;
}

struct error *result_dir_create_default(const char *name, time_t now, struct result_dir **ret)
{
	_cleanup_free_ char *path = default_path(name, now);
	_cleanup_(result_dir_destroy) struct result_dir *dir = result_dir_new();
	struct error *err;

	dir->path = xstrdup(path);
	dir->made_parent = mkdir(DEFAULT_PARENT, 0777) == 0;
	if (!dir->made_parent && errno != EEXIST)
		return path_error(DEFAULT_PARENT, errno);
	for (int nr = 2; mkdir(dir->path, 0777) < 0; nr++) {
		if (errno != EEXIST || nr > MAX_SAME_NAME)
			return path_error(dir->path, errno);
		free(dir->path);
		dir->path = xasprintf("%s-%d", path, nr);
	}
	dir->was_made = true;
	err = take_over(dir);
	if (!err)
		*ret = take_ptr(dir);
	return err;
}

void result_dir_destroy(struct result_dir **self_p)
{
	struct result_dir *dir = take_ptr(*self_p);

	if (!dir)
		return;
	/* Another run may have taken it over between its making and our lock. */
	if (dir->was_made && dir->locked && !dir->is_used)
		rmdir(dir->path);
	if (dir->made_parent && !dir->is_used)
		rmdir(DEFAULT_PARENT); /* stays when another run has put something there */
	closep(&dir->samples_fd);
	closep(&dir->fd);
	free(dir->path);
	free(dir);
}

const char *result_dir_path(const struct result_dir *dir)
{
	return dir->path;
}

bool result_dir_is_used(const struct result_dir *dir)
{
	return dir->is_used;
}

static struct error *write_error(const struct result_dir *dir, const char *name, int errnum)
{
	return error_new(ERR_OUTPUT, "%s/%s: cannot be written: %s", dir->path, name,
			 strerror(errnum));
}

/* --- whole files: written beside, synced, renamed --------------------------------------------------- */

typedef struct error *file_writer(const void *what, FILE *out);

static struct error *write_and_sync(struct result_dir *dir, const char *name, file_writer *writer,
				    const void *what, FILE *out)
{
	struct error *err = writer(what, out);

	if (err)
		return error_context(err, "%s/%s", dir->path, name);
	if (fflush(out) == EOF || ferror(out) || fsync(fileno(out)) < 0)
		return write_error(dir, name, errno);
	return NULL;
}

static struct error *write_file(struct result_dir *dir, const char *name, file_writer *writer,
				const void *what)
{
	_cleanup_free_ char *temporary = xasprintf(".%s.new", name);
	int fd = openat(dir->fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
	struct error *err;

	if (!out) {
		err = write_error(dir, name, errno);
		closep(&fd);
		return err;
	}
	err = write_and_sync(dir, name, writer, what, out);
	if (fclose(out) == EOF && !err)
		err = write_error(dir, name, errno);
	if (!err && renameat(dir->fd, temporary, dir->fd, name) < 0)
		err = write_error(dir, name, errno);
	if (err)
		unlinkat(dir->fd, temporary, 0);
	else
		dir->is_used = true;
	return err;
}

static struct error *write_text(const void *what, FILE *out)
{
	if (fputs(what, out) == EOF)
		return error_new(ERR_OUTPUT, "cannot be written: %s", strerror(errno));
	return NULL;
}

struct error *result_dir_write_scenario(struct result_dir *dir, const char *yaml)
{
	return dir->path ? write_file(dir, "scenario.yaml", write_text, yaml) : NULL;
}

static struct error *write_json(const void *what, FILE *out)
{
	return report_json(what, out);
}

static struct error *write_report(const void *what, FILE *out)
{
	return report_text(what, out);
}

struct error *result_dir_finish(struct result_dir *dir, const struct result *r)
{
	struct error *errors = NULL;

	if (!dir->path)
		return NULL;
	if (dir->samples_fd >= 0 && fsync(dir->samples_fd) < 0)
		error_append(&errors, write_error(dir, SAMPLES_NAME, errno));
	error_append(&errors, write_file(dir, "result.json", write_json, r));
	error_append(&errors, write_file(dir, "report.txt", write_report, r));
	if (fsync(dir->fd) < 0)
		error_append(&errors, write_error(dir, "", errno));
	return errors;
}

/* --- samples.msgpack: one write per record ---------------------------------------------------------- */

/* Appends a record, and takes it back when it only fits in part: the file then ends with a whole one.
 * After an error no more is tried. */
static struct error *append(struct result_dir *dir, const struct buf *record)
{
	size_t done = 0;
	ssize_t n = 0;
	int errnum;
	off_t end;

	while (done < record->len) {
		n = write(dir->samples_fd, record->data + done, record->len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (done == record->len)
		return NULL;
	errnum = n < 0 ? errno : ENOSPC;
	end = lseek(dir->samples_fd, 0, SEEK_END);
	if (end >= (off_t)done && ftruncate(dir->samples_fd, end - (off_t)done) < 0)
		errnum = errno;
	closep(&dir->samples_fd);
	return write_error(dir, SAMPLES_NAME, errnum);
}

struct error *result_dir_write_plan(struct result_dir *dir, const struct plan *plan,
				    const struct result *so_far)
{
	_cleanup_(buf_fini) struct buf record = { 0 };

	if (!dir->path)
		return NULL;
	dir->samples_fd = openat(dir->fd, SAMPLES_NAME,
				 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0666);
	if (dir->samples_fd < 0)
		return write_error(dir, SAMPLES_NAME, errno);
	dir->is_used = true;
	samples_header(&record, plan, so_far);
	return append(dir, &record);
}

struct error *result_dir_append_step(struct result_dir *dir, const struct plan *plan, size_t step,
				     uint64_t start_ns, const struct result *so_far)
{
	_cleanup_(buf_fini) struct buf record = { 0 };

	if (dir->samples_fd < 0)
		return NULL;
	samples_step(&record, plan, step, start_ns, so_far);
	return append(dir, &record);
}

struct error *result_dir_append_sample(struct result_dir *dir, size_t step, size_t host,
				       int64_t offset_ns, const uint8_t *bytes, size_t len)
{
	_cleanup_(buf_fini) struct buf record = { 0 };

	if (dir->samples_fd < 0)
		return NULL;
	samples_sample(&record, step, host, offset_ns, bytes, len);
	return append(dir, &record);
}

struct error *result_dir_append_totals(struct result_dir *dir, size_t step, size_t host,
				       const uint8_t *bytes, size_t len)
{
	_cleanup_(buf_fini) struct buf record = { 0 };

	if (dir->samples_fd < 0)
		return NULL;
	samples_totals(&record, step, host, bytes, len);
	return append(dir, &record);
}
