/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a file with real blocks before it is read: the part of file.h that writes. */
#include "common/base/str.h"
#include "worker/host/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1024 * 1024, CHUNKS_PER_REPORT = 64, STATE_WORDS = 4 };

/* xoshiro256**: far faster than any disk, and nothing can compress it. */
static uint64_t next_random(uint64_t s[STATE_WORDS])
{
	uint64_t product = s[1] * 5, t = s[1] << 17;
	uint64_t value = (product << 7 | product >> 57) * 9;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = s[3] << 45 | s[3] >> 19;
	return value;
}

static void seed(uint64_t s[STATE_WORDS])
{
	if (getrandom(s, STATE_WORDS * sizeof(*s), 0) != STATE_WORDS * sizeof(*s))
		s[1] = (uint64_t)getpid();
	s[0] |= 1; /* the state must not be all zero */
}

/* The next stretch at or after `from` that a read would find empty; false: none before `end`. */
static bool next_hole(int fd, uint64_t from, uint64_t end, bool all, uint64_t *start,
		      uint64_t *stop)
{
	off_t hole, data;

	if (from >= end)
		return false;
	if (all) {
		*start = from;
		*stop = end;
		return true;
	}
	hole = lseek(fd, (off_t)from, SEEK_HOLE);
	if (hole < 0 || (uint64_t)hole >= end)
		return false;
	data = lseek(fd, hole, SEEK_DATA);
	*start = (uint64_t)hole;
	*stop = data < 0 || (uint64_t)data > end ? end : (uint64_t)data;
	return true;
}

static struct error *write_fully(int fd, const char *path, const uint64_t *data, size_t len,
				 uint64_t offset)
{
	const char *from = (const char *)data;

	while (len > 0) {
		ssize_t n = pwrite(fd, from, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_new(ERR_REFUSED, "%s: cannot be laid out: %s at offset %llu",
					 path, n < 0 ? strerror(errno) : "nothing was written",
					 (unsigned long long)offset);
		from += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return NULL;
}

/* One layout under way. */
struct layout {
	int fd;
	const char *path;
	uint64_t bytes;
	target_progress progress;
	void *arg;
	uint64_t *written;
	uint64_t *chunk;
	uint64_t state[STATE_WORDS];
	unsigned chunks;
};

static struct error *report(struct layout *l, uint64_t done)
{
	if (++l->chunks % CHUNKS_PER_REPORT != 0)
		return NULL;
	/* Keep the device busy and the amount of unwritten memory small, so that progress is real. */
	if (sync_file_range(l->fd, 0, 0, SYNC_FILE_RANGE_WRITE) < 0 && errno != ENOSYS &&
	    errno != EINVAL && errno != ESPIPE)
		return error_new(ERR_REFUSED, "%s: cannot be laid out: %s", l->path,
				 strerror(errno));
	if (l->progress && !l->progress(l->arg, l->path, done, l->bytes))
		return error_new(ERR_INTERRUPTED, "%s: layout stopped", l->path);
	return NULL;
}

static struct error *fill(struct layout *l, uint64_t start, uint64_t stop)
{
	struct error *err = NULL;

	for (uint64_t at = start; at < stop && !err;) {
		size_t len = stop - at < CHUNK_BYTES ? (size_t)(stop - at) : CHUNK_BYTES;

		for (size_t i = 0; i < CHUNK_BYTES / sizeof(uint64_t); i++)
			l->chunk[i] = next_random(l->state);
		err = write_fully(l->fd, l->path, l->chunk, len, at);
		if (err)
			return err;
		at += len;
		*l->written += len;
		err = report(l, at);
	}
	return err;
}

struct error *file_lay_out(int fd, const char *path, uint64_t bytes, target_progress progress,
			   void *arg, uint64_t *written)
{
	enum { BLOCK = 512 };
	_cleanup_free_ uint64_t *chunk = xcalloc(CHUNK_BYTES, 1);
	struct layout l = { .fd = fd,
			    .path = path,
			    .bytes = bytes,
			    .progress = progress,
			    .arg = arg,
			    .chunk = chunk };
	struct error *err;
	struct stat st;
	uint64_t at = 0, start, stop;
	bool all;

	l.written = written;
	if (fstat(fd, &st) < 0)
		return error_new(ERR_REFUSED, "%s: %s", path, strerror(errno));
	/* Fewer blocks than bytes and yet no holes: a file system that does not tell. */
	all = (uint64_t)st.st_size >= bytes && (uint64_t)st.st_blocks * BLOCK < bytes &&
	      (uint64_t)lseek(fd, 0, SEEK_HOLE) >= bytes;
	err = file_reserve(fd, path, bytes, FALLOCATE_TRUNCATE);
	if (err)
		return err;
	seed(l.state);
	while (!err && next_hole(fd, at, bytes, all, &start, &stop)) {
		err = fill(&l, start, stop);
		at = stop;
	}
	if (err || *written == 0)
		return err;
	if (fsync(fd) < 0)
		return error_new(ERR_REFUSED, "%s: cannot be laid out: fsync: %s", path,
				 strerror(errno));
	/* Reads shall find it on the device, not in the memory that it was written through. */
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return NULL;
}
