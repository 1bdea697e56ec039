/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/signature.h"

#include "common/base/str.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

enum { SECTOR_BYTES = 512, PARTITIONS_MAX = 256 };

static const char esp_gpt_type[] = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b";
enum { ESP_MBR_TYPE = 0xef };

static void signatures_add(struct signatures *list, struct signature s)
{
	list->list = xrealloc(list->list, list->nr + 1, sizeof(*list->list));
	list->list[list->nr++] = s;
}

void signatures_fini(struct signatures *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->list[i].type);
		free(list->list[i].uuid);
		free(list->list[i].label);
		free(list->list[i].alive);
	}
	free(list->list);
	*list = (struct signatures) { 0 };
}

static char *value_of(blkid_probe probe, const char *name)
{
	const char *value = NULL;

	if (blkid_probe_lookup_value(probe, name, &value, NULL) != 0 || !value || !*value)
		return NULL;
	return str_printable(value);
}

static void probe_free(blkid_probe *probe)
{
	if (*probe)
		blkid_free_probe(*probe);
	*probe = NULL;
}

/* Every signature in [offset, offset + size), not only the first: an old one may lie behind a new one. */
static int read_area(int fd, uint64_t offset, uint64_t size, unsigned partition,
		     struct signatures *list)
{
	_cleanup_(probe_free) blkid_probe probe = blkid_new_probe();
	int rc;

	if (!probe || blkid_probe_set_device(probe, fd, (blkid_loff_t)offset, (blkid_loff_t)size))
		return -EIO;
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID |
							 BLKID_SUBLKS_LABEL | BLKID_SUBLKS_BADCSUM);
	blkid_probe_enable_partitions(probe, 1);
	blkid_probe_set_partitions_flags(probe, BLKID_PARTS_FORCE_GPT);
	while ((rc = blkid_do_probe(probe)) == 0) {
		struct signature s = { .partition = partition };

		s.type = value_of(probe, "TYPE");
		if (s.type) {
			s.uuid = value_of(probe, "UUID");
			s.label = value_of(probe, "LABEL");
			s.alive = signature_alive(fd, offset, s.type);
		} else {
			s.type = value_of(probe, "PTTYPE");
			s.uuid = value_of(probe, "PTUUID");
		}
		if (!s.type)
			s.type = xstrdup("something");
		signatures_add(list, s);
	}
	return rc < 0 ? -EIO : 0;
}

static bool is_esp(blkid_partition partition)
{
	const char *type = blkid_partition_get_type_string(partition);

	return (type && strcasecmp(type, esp_gpt_type) == 0) ||
	       blkid_partition_get_type(partition) == ESP_MBR_TYPE;
}

/* What lies in the partitions of a disk goes with it, also where the kernel does not know the table. */
static int read_partitions(int fd, struct signatures *list)
{
	_cleanup_(probe_free) blkid_probe probe = blkid_new_probe();
	blkid_partlist table;
	int nr;

	if (!probe || blkid_probe_set_device(probe, fd, 0, 0))
		return -EIO;
	blkid_probe_enable_partitions(probe, 1);
	blkid_probe_set_partitions_flags(probe, BLKID_PARTS_FORCE_GPT);
	table = blkid_probe_get_partitions(probe);
	if (!table)
		return 0;
	nr = blkid_partlist_numof_partitions(table);
	for (int i = 0; i < nr && i < PARTITIONS_MAX; i++) {
		blkid_partition part = blkid_partlist_get_partition(table, i);
		uint64_t start = (uint64_t)blkid_partition_get_start(part) * SECTOR_BYTES;
		uint64_t bytes = (uint64_t)blkid_partition_get_size(part) * SECTOR_BYTES;
		unsigned number = (unsigned)blkid_partition_get_partno(part);

		if (is_esp(part))
			signatures_add(list, (struct signature) { .partition = number,
								  .type = xstrdup("ESP"),
								  .esp = true });
		/* A partition beyond the device's end cannot be read; the table alone is reason enough. */
		if (!blkid_partition_is_extended(part) && bytes > 0)
			read_area(fd, start, bytes, number, list);
	}
	return 0;
}

/* A device that is itself a partition: what its disk's table calls it. */
static void read_own_entry(int fd, struct signatures *list)
{
	_cleanup_(probe_free) blkid_probe probe = blkid_new_probe();
	_cleanup_free_ char *type = NULL;

	if (!probe || blkid_probe_set_device(probe, fd, 0, 0))
		return;
	blkid_probe_enable_partitions(probe, 1);
	blkid_probe_set_partitions_flags(probe, BLKID_PARTS_ENTRY_DETAILS);
	if (blkid_do_fullprobe(probe) < 0)
		return;
	type = value_of(probe, "PART_ENTRY_TYPE");
	if (type && (strcasecmp(type, esp_gpt_type) == 0 || streq(type, "0xef")))
		signatures_add(list, (struct signature) { .type = xstrdup("ESP"), .esp = true });
}

struct error *signatures_read(int fd, struct signatures *ret)
{
	struct signatures list = { 0 };

	/* What was read before may be old: another host may have written since. */
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (read_area(fd, 0, 0, 0, &list) < 0 || read_partitions(fd, &list) < 0) {
		signatures_fini(&list);
		return error_new(ERR_REFUSED, "cannot be read to look for file systems on it; "
					      "look at the kernel's messages about the device");
	}
	read_own_entry(fd, &list);
	*ret = list;
	return NULL;
}

uint64_t signature_head(int fd)
{
	enum { HEAD_BYTES = 128 * 1024 };
	_cleanup_free_ uint8_t *head = xcalloc(HEAD_BYTES, 1);
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
	ssize_t len;

	(void)posix_fadvise(fd, 0, HEAD_BYTES, POSIX_FADV_DONTNEED);
	len = pread(fd, head, HEAD_BYTES, 0);
	for (ssize_t i = 0; i < len; i++)
		hash = (hash ^ head[i]) * 0x100000001b3;
	return hash;
}

char *signature_text(const struct signature *s)
{
	_cleanup_free_ char *label = s->label ? xasprintf(", label '%s'", s->label) : xstrdup("");
	_cleanup_free_ char *uuid = s->uuid ? xasprintf(", UUID %s", s->uuid) : xstrdup("");
	_cleanup_free_ char *where =
		s->partition ? xasprintf(" in partition %u", s->partition) : xstrdup("");
	const char *name = s->type;

	if (s->esp)
		name = "an EFI system partition";
	else if (streq(s->type, "gpt") || streq(s->type, "dos"))
		return xasprintf("a %s partition table%s%s", s->type, uuid, where);
	return xasprintf("%s%s%s%s", name, label, uuid, where);
}

const char *signature_word(const struct signature *s)
{
	return s->uuid ? s->uuid : s->type;
}

bool signature_is_named(const struct signature *s, const char *word)
{
	return word && *word && strcasecmp(signature_word(s), word) == 0;
}
