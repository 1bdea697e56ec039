/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - regular files as targets: found, made, marked as Salvo's own, filled with real blocks. */
#ifndef SALVO_HOST_FILE_H
#define SALVO_HOST_FILE_H

#include "common/base/error.h"
#include "worker/host/target.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* A path as it is on disk. path_fd and parent_fd are O_PATH: holding them opens nothing. */
struct place {
	char *path; /* canonical; all links resolved */
	bool exists;
	int path_fd;   /* of the thing itself, -1 where it does not exist */
	int parent_fd; /* of its folder, -1 where the thing exists */
	struct stat st;
};

/* Resolves `path`. The error (ERR_REFUSED) says what is wrong with the path alone: no such folder, a link to
 * nowhere. */
struct error *place_find(const char *path, struct place *ret) _must_check_;
void place_fini(struct place *p);
/* Opens the very thing that was found; -errno where that is not possible. */
int place_open(const struct place *p, int flags);

/* Made by Salvo: marked, or made by this process; and no second name leads to it. */
bool file_is_ours(const struct place *p);
/* Does a read of the first `bytes` bytes reach real blocks everywhere? */
bool file_is_laid_out(const struct place *p, uint64_t bytes);
/* Bytes free on the file system for a file at this place. */
uint64_t file_free_bytes(const struct place *p);
/* Makes the file, marks it, and finds it again in `p`; on success *ret is open for reading and writing. */
struct error *file_make(struct place *p, int *ret) _must_check_;
/* Gives a file of less than `bytes` its room; `how`: enum job_fallocate. */
struct error *file_reserve(int fd, const char *path, uint64_t bytes, int how) _must_check_;
/* Removes it, if that very file is still there and Salvo's own; *is_gone says whether it was. */
struct error *file_unlink(const struct place *p, bool *is_gone) _must_check_;
/* "ext4 on /dev/vda, mounted on /srv"; NULL: unknown; owned by the caller. */
char *file_system_text(const struct place *p, dev_t dev);

/* Writes data that does not compress to every hole of the first `bytes` bytes; see target_layout. */
struct error *file_lay_out(int fd, const char *path, uint64_t bytes, target_progress progress,
			   void *arg, uint64_t *written) _must_check_;

#endif
