/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - a target on this host, opened under the safety rules and held for the session.
 *
 * Used by the I/O process only: every call here may block in the kernel for as long as a device likes.
 * All checks are made on the opened descriptor (never on a path alone), so that what was checked is what is
 * written. docs/security.md lists the rules.
 */
#ifndef SALVO_HOST_TARGET_H
#define SALVO_HOST_TARGET_H

#include "common/net/message.h"
#include "worker/host/rules.h"

struct open_target;

/* Opens and checks. A writer gets one O_EXCL guard descriptor (flocked) that is held until target_close; a
 * reader opens read-only without O_EXCL and may find the device in use (info.warning says by what).
 * `probe`: look only: nothing is created, laid out or held, and the device is opened read-only; refusals are
 * the same. All reasons at once (a list of errors). `index` is the target's index in the assignment. Files
 * that this process made may be written again, also where no mark can be kept. */
struct error *target_open(const struct work_target *t, uint64_t index,
			  const struct access_rules *rules, bool probe,
			  struct open_target **ret) _must_check_;
void target_close(struct open_target **self_p);

/* What it is; borrowed from the target. */
const struct device_info *target_info(const struct open_target *t);
/* Does what a member wants fit: its offset and size into the target, bs and offset to the logical block with
 * direct I/O, one block at least for each thread's part? All mistakes at once. */
struct error *target_check_member(const struct open_target *t,
				  const struct work_member *m) _must_check_;
/* How a job uses the target. */
struct target_access {
	bool write, direct;
	int sync;   /* enum job_sync; of a writer */
	int advice; /* of posix_fadvise; POSIX_FADV_NORMAL: none */
};
/* A further descriptor on the very same inode with these flags (checked by st_rdev or st_ino); owned by the
 * target, the same one for the same access. */
struct error *target_fd(struct open_target *t, const struct target_access *how,
			int *ret) _must_check_;

/* A descriptor to sync it and to ask about its cache with; -1: it has none. Borrowed. */
int target_look_fd(const struct open_target *t);
enum target_kind target_kind_of(const struct open_target *t);

/* Gives a new file its room; `how`: enum job_fallocate. Nothing for devices and for files that are large enough. */
struct error *target_reserve(struct open_target *t, int how) _must_check_;
/* Makes the file's first `bytes` bytes real (written with data that does not compress) before a job reads
 * them; nothing for devices and for files that have them already. `progress`
 * is called every 64 MiB or so; returning false stops the layout. *written: bytes written. */
typedef bool (*target_progress)(void *arg, const char *path, uint64_t done, uint64_t total);
struct error *target_layout(struct open_target *t, uint64_t bytes, target_progress progress,
			    void *arg, uint64_t *written) _must_check_;
/* Removes the file, if it is Salvo's own; *is_gone: it was. */
struct error *target_unlink(const struct open_target *t, bool *is_gone) _must_check_;
/* Are all conditions under which writing was allowed still true? To be asked again before the first write. */
struct error *target_recheck(struct open_target *t) _must_check_;

/* The counters since boot of the block device that does the target's I/O, of a file that of its file system;
 * false: there is none, or it does not count. See counters_read. */
bool target_stat(const struct open_target *t, struct device_stat *ret);
/* Which one that is: fills disk, partition_of (both the caller's to free), max_io_bytes and is_file. */
void target_describe_disk(const struct open_target *t, struct device_stat *ret);
/* I/Os in flight by the kernel's count; 0 where it is not counted. */
uint64_t target_inflight(const struct open_target *t);

#endif
