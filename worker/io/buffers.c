/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/io/buffers.h"

#include "common/base/str.h"
#include "common/base/units.h"
#include "worker/io/contents.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HUGE_FROM_BYTES = 4 << 20 }; /* smaller mappings gain nothing from huge pages */

static uint64_t alignment(const struct buffers_spec *spec)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return spec->block_bytes > page ? spec->block_bytes : page;
}

static uint64_t stride_of(const struct buffers_spec *spec)
{
	uint64_t align = alignment(spec);

	return (spec->io_bytes + align - 1) / align * align;
}

static unsigned nr_of(const struct buffers_spec *spec)
{
	return spec->depth * ((unsigned)spec->reads + (unsigned)spec->writes);
}

uint64_t buffers_need(const struct buffers_spec *spec)
{
	uint64_t slack = alignment(spec) - (uint64_t)sysconf(_SC_PAGESIZE), bytes;

	if (!nr_of(spec))
		return 0;
	if (__builtin_mul_overflow(stride_of(spec), nr_of(spec), &bytes) ||
	    __builtin_add_overflow(bytes, slack, &bytes))
		return UINT64_MAX;
	return bytes;
}

uint64_t buffers_available(void)
{
	static const char key[] = "MemAvailable:";
	FILE *f = fopen("/proc/meminfo", "re");
	uint64_t kib = 0;
	char line[128];

	while (f && !kib && fgets(line, sizeof(line), f))
		if (str_starts(line, key))
			kib = strtoull(line + strlen(key), NULL, 10);
	if (f)
		fclose(f);
	return kib ? kib * 1024 : UINT64_MAX;
}

static bool has_ipc_lock(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &head, caps) == 0 && caps[0].effective & 1u << CAP_IPC_LOCK;
}

bool buffers_may_lock(uint64_t bytes, uint64_t *ret_limit)
{
	struct rlimit memlock = { RLIM_INFINITY, RLIM_INFINITY };

	getrlimit(RLIMIT_MEMLOCK, &memlock);
	*ret_limit = memlock.rlim_cur;
	return has_ipc_lock() || memlock.rlim_cur == RLIM_INFINITY ||
	       bytes <= memlock.rlim_cur - memlock.rlim_cur / 4;
}

/* Where the stamps of each slot's writes go, and the constant half of them. */
static bool place_stamps(struct buffers *b, const struct buffers_spec *spec)
{
	uint64_t tail = spec->io_bytes % STAMP_CHUNK;
	unsigned nr = (unsigned)(spec->io_bytes / STAMP_CHUNK) + (tail >= sizeof(struct stamp));
	bool has_stamps = spec->writes && nr && spec->contents->stamps;

	b->nr_stamps = has_stamps ? nr : 1;
	b->stamps = calloc(spec->depth, sizeof(struct stamp *));
	for (unsigned slot = 0; b->stamps && slot < spec->depth; slot++) {
		char *at = has_stamps ? buffers_write(b, slot) : (char *)&b->nowhere;

		b->stamps[slot] = (struct stamp *)at;
		for (unsigned i = 0; i < b->nr_stamps; i++)
			((struct stamp *)(at + (size_t)i * STAMP_CHUNK))->writer = spec->writer;
	}
	return b->stamps;
}

static struct error *map_buffers(struct buffers *b, const struct buffers_spec *spec)
{
	uint64_t align = alignment(spec);

	b->map = mmap(NULL, b->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (b->map == MAP_FAILED) {
		char need[UNITS_TEXT];

		b->map = NULL;
		units_human_bytes(need, (double)b->map_bytes);
		return error_new(ERR_REFUSED, "%u buffers need %s: %s; lower iodepth or bs",
				 nr_of(spec), need, strerrordesc_np(errno));
	}
	b->base = (char *)b->map + (align - (uintptr_t)b->map % align) % align;
	if (b->map_bytes >= HUGE_FROM_BYTES)
		madvise(b->map, b->map_bytes, MADV_HUGEPAGE);
	memset(b->base, 0x5a, b->nr_read * b->stride); /* faults them in */
	for (unsigned slot = 0; slot < b->nr_write; slot++)
		contents_fill(spec->contents, buffers_write(b, slot), b->stride);
	return NULL;
}

struct error *buffers_init(struct buffers *b, const struct buffers_spec *spec)
{
	struct error *err = NULL;

	*b = (struct buffers) {
		.stride = stride_of(spec),
		.map_bytes = buffers_need(spec),
		.nr_read = spec->reads ? spec->depth : 0,
		.nr_write = spec->writes ? spec->depth : 0,
	};
	if (b->map_bytes)
		err = map_buffers(b, spec);
	if (!err && !place_stamps(b, spec))
		err = error_new(ERR_NOMEM, "out of memory for %u buffers", nr_of(spec));
	return err;
}

void buffers_fini(struct buffers *b)
{
	if (b->map)
		munmap(b->map, b->map_bytes);
	free(b->stamps);
	*b = (struct buffers) { 0 };
}
