/* SPDX-License-Identifier: Apache-2.0 */
/* safety.h - may this be read, may this be written? One table of rules; every refusal is one function.
 *
 * The rules run in two steps: before the thing is opened (who may, who uses it), and on the descriptor, opened
 * read-only (what it holds, whether the kernel gives it away exclusively). Nothing here opens anything for
 * writing. All reasons are collected, none hides another.
 */
#ifndef SALVO_HOST_SAFETY_H
#define SALVO_HOST_SAFETY_H

#include "common/model/assignment.h"
#include "worker/host/devices.h"
#include "worker/host/rules.h"
#include "worker/host/signature.h"

#include <sys/stat.h>

/* What is judged. All borrowed. */
struct subject {
	const struct host_root *root;
	const struct work_target *target;
	const struct access_rules *rules;
	const char *label; /* how messages call it */
	const char *path;  /* canonical */
	bool reads;
	bool writes; /* also: a file that must be made or filled before it can be read */
	/* a device; of a generic device (/dev/sg0) the block device behind it; NULL: a file */
	const struct block_device *dev;
	bool guarded; /* this process holds the device exclusively already */
	/* a file */
	bool exists, ours;
	struct stat st;      /* where it exists */
	uint64_t need, free; /* bytes that must be allocated, and that the file system has */
};

struct verdict {
	struct error *refusals;
	bool untouchable; /* must not even be opened for reading */
	char *in_use;     /* by what; NULL: by nobody */
	struct signatures signatures;
	char *signature; /* the first of them as text; NULL: none */
};

void safety_check_closed(const struct subject *s, struct verdict *v);
/* `fd`: open for reading. To be called after safety_check_closed with the same verdict. */
void safety_check_opened(const struct subject *s, int fd, struct verdict *v);
void verdict_fini(struct verdict *v);

#endif
