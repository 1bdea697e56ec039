/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/identity.h"

#include "common/base/str.h"
#include "worker/host/devices.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static char *lower_without(const char *text, const char *drop)
{
	char *copy = xstrdup(text), *to = copy;

	for (const char *from = text; *from; from++)
		if (!strchr(drop, *from))
			*to++ = (char)tolower((unsigned char)*from);
	*to = '\0';
	return copy;
}

static bool all_zero(const char *hex)
{
	return hex[strspn(hex, "0- ")] == '\0';
}

/* nguid, eui and uuid of an NVMe namespace, for kernels without `wwid`. */
static char *nvme_identity(const char *diskdir)
{
	static const struct {
		const char *attr, *prefix, *drop;
	} sources[] = { { "uuid", "uuid.", "" }, { "nguid", "eui.", "-" }, { "eui", "eui.", " " } };

	for (size_t i = 0; i < array_size(sources); i++) {
		_cleanup_free_ char *text = sysfs_text(diskdir, sources[i].attr);
		_cleanup_free_ char *plain = NULL;

		if (!text || all_zero(text))
			continue;
		plain = lower_without(text, sources[i].drop);
		return xasprintf("%s%s", sources[i].prefix, plain);
	}
	return NULL;
}

enum { DESIGNATOR_T10 = 1, DESIGNATOR_EUI = 2, DESIGNATOR_NAA = 3, DESIGNATOR_NAME = 8 };

/* Which designator says most surely what medium this is; 0: none of use. */
static int designator_rank(int type)
{
	switch (type) {
	case DESIGNATOR_NAA:
		return 4;
	case DESIGNATOR_EUI:
		return 3;
	case DESIGNATOR_NAME:
		return 2;
	case DESIGNATOR_T10:
		return 1;
	default:
		return 0;
	}
}

static char *designator_text(int type, const uint8_t *data, size_t len)
{
	struct buf hex = { 0 };

	if (type == DESIGNATOR_T10 || type == DESIGNATOR_NAME) {
		_cleanup_free_ char *text = xstrndup((const char *)data, len);
		_cleanup_free_ char *clean = str_printable(text);

		return type == DESIGNATOR_T10 ? xasprintf("t10.%s", clean) : xstrdup(clean);
	}
	for (size_t i = 0; i < len; i++) {
		char two[3];

		snprintf(two, sizeof(two), "%02x", data[i]);
		buf_add(&hex, two, 2);
	}
	buf_add(&hex, "", 1);

	char *text =
		xasprintf("%s.%s", type == DESIGNATOR_NAA ? "naa" : "eui", (const char *)hex.data);

	buf_fini(&hex);
	return text;
}

char *identity_from_vpd83(const uint8_t *page, size_t len)
{
	enum { HEADER = 4, OF_THE_UNIT = 0 };
	const uint8_t *best = NULL;
	int best_rank = 0;
	size_t end;

	if (len < HEADER || page[1] != 0x83)
		return NULL;
	end = HEADER + ((size_t)page[2] << 8 | page[3]);
	if (end > len)
		end = len;
	for (size_t at = HEADER; at + HEADER <= end; at += HEADER + page[at + 3]) {
		int rank = designator_rank(page[at + 1] & 0xf);

		if (at + HEADER + page[at + 3] > end || page[at + 3] == 0)
			break;
		if ((page[at + 1] >> 4 & 3) == OF_THE_UNIT && rank > best_rank) {
			best = page + at;
			best_rank = rank;
		}
	}
	return best ? designator_text(best[1] & 0xf, best + HEADER, best[3]) : NULL;
}

static char *scsi_identity(const char *diskdir)
{
	_cleanup_free_ char *wwid = sysfs_text(diskdir, "device/wwid");
	_cleanup_free_ char *page = NULL;
	size_t len;

	if (wwid)
		return take_ptr(wwid);
	page = sysfs_bytes(diskdir, "device/vpd_pg83", &len);
	return page ? identity_from_vpd83((const uint8_t *)page, len) : NULL;
}

/* A multipath device is its LUN: "mpath-3600…" is the LUN's NAA with the type in front. */
static char *dm_identity(const char *diskdir)
{
	_cleanup_free_ char *uuid = sysfs_text(diskdir, "dm/uuid");

	if (!uuid)
		return NULL;
	if (str_starts(uuid, "mpath-3"))
		return xasprintf("naa.%s", uuid + strlen("mpath-3"));
	if (str_starts(uuid, "mpath-2"))
		return xasprintf("eui.%s", uuid + strlen("mpath-2"));
	if (str_starts(uuid, "mpath-"))
		return xstrdup(uuid + strlen("mpath-"));
	return str_starts(uuid, "LVM-") ? xasprintf("dm.%s", uuid) : NULL;
}

char *disk_identity(const char *diskdir)
{
	char *identity = sysfs_text(diskdir, "wwid");

	if (!identity && str_starts(last_part(diskdir), "nvme"))
		identity = nvme_identity(diskdir);
	if (!identity)
		identity = scsi_identity(diskdir);
	if (!identity)
		identity = dm_identity(diskdir);
	return identity;
}

char *disk_serial(const char *diskdir)
{
	enum { PAGE_HEADER = 4 };
	char *serial = sysfs_text(diskdir, "serial");
	_cleanup_free_ char *page = NULL;
	size_t len;

	if (!serial)
		serial = sysfs_text(diskdir, "device/serial");
	if (serial)
		return serial;
	page = sysfs_bytes(diskdir, "device/vpd_pg80", &len);
	if (!page || len <= PAGE_HEADER)
		return NULL;

	char *start = page + PAGE_HEADER;

	start += strspn(start, " ");
	for (len = strlen(start); len > 0 && start[len - 1] == ' '; len--)
		;
	return len ? xstrndup(start, len) : NULL;
}

char *disk_model(const char *diskdir)
{
	const char *name = last_part(diskdir);
	_cleanup_free_ char *model = sysfs_text(diskdir, "device/model");
	_cleanup_free_ char *other = NULL;

	if (model) {
		other = sysfs_text(diskdir, "device/vendor");
		/* virtio and PCI give a number here */
		if (!other || str_starts(other, "0x") || streq(other, "ATA"))
			return take_ptr(model);
		return xasprintf("%s %s", other, model);
	}
	if (str_starts(name, "loop")) {
		other = loop_backing_file(diskdir);
		return other ? xasprintf("loop (%s)", other) : xstrdup("loop");
	}
	other = sysfs_text(diskdir, "dm/name");
	if (other)
		return xasprintf("device-mapper %s", other);
	other = sysfs_text(diskdir, "md/level");
	if (other)
		return xasprintf("md %s", other);
	if (str_starts(name, "zram"))
		return xstrdup("zram");
	return str_starts(name, "vd") ? xstrdup("virtio") : NULL;
}

/* An NVMe disk's controller, or the first of its subsystem when the kernel does the multipathing. */
static char *nvme_transport(const char *diskdir)
{
	char *transport = sysfs_text(diskdir, "device/transport");
	_cleanup_free_ char *subsystem = xasprintf("%s/device", diskdir);
	struct names list = names_of_folder(subsystem);

	for (size_t i = 0; i < list.nr && !transport; i++) {
		_cleanup_free_ char *attr = xasprintf("%s/transport", list.names[i]);

		if (str_starts(list.names[i], "nvme"))
			transport = sysfs_text(subsystem, attr);
	}
	names_fini(&list);
	if (!transport)
		return xstrdup("nvme");

	char *text = xasprintf("nvme-%s", transport);

	free(transport);
	return text;
}

static char *scsi_transport(const struct host_root *root, const char *diskdir)
{
	static const struct {
		const char *part, *transport;
	} by_path[] = { { "/ata", "sata" },
			{ "/usb", "usb" },
			{ "/end_device-", "sas" },
			{ "/rport-", "fc" },
			{ "/virtio", "virtio" } };
	const char *host = strstr(diskdir, "/host");
	_cleanup_free_ char *name = NULL, *dir = NULL, *driver = NULL, *fc = NULL;

	if (!host)
		return NULL;
	name = xstrndup(host + 1, strcspn(host + 1, "/"));
	dir = xasprintf("%s/class/scsi_host/%s", root->sys, name);
	driver = sysfs_text(dir, "proc_name");
	if (driver && strstr(driver, "iser"))
		return xstrdup("iser");
	if (driver && strstr(driver, "srp"))
		return xstrdup("srp");
	fc = xasprintf("class/fc_host/%s", name);
	if (sysfs_exists(root->sys, fc))
		return xstrdup("fc");
	if (strstr(diskdir, "/session"))
		return xstrdup("iscsi");
	for (size_t i = 0; i < array_size(by_path); i++)
		if (strstr(diskdir, by_path[i].part))
			return xstrdup(by_path[i].transport);
	return xstrdup("scsi");
}

char *disk_transport(const struct host_root *root, const char *diskdir)
{
	static const struct {
		const char *prefix, *transport;
	} by_name[] = {
		{ "loop", "loop" },   { "zram", "zram" },     { "vd", "virtio" },
		{ "pmem", "nvdimm" }, { "nbd", "nbd" },       { "rbd", "rbd" },
		{ "ublk", "ublk" },   { "mmcblk", "mmc" },    { "nullb", "null_blk" },
		{ "ram", "ram" },     { "dm-", "dm" },        { "md", "md" },
		{ "drbd", "drbd" },   { "bcache", "bcache" },
	};
	const char *name = last_part(diskdir);

	if (str_starts(name, "nvme"))
		return nvme_transport(diskdir);
	for (size_t i = 0; i < array_size(by_name); i++)
		if (str_starts(name, by_name[i].prefix))
			return xstrdup(by_name[i].transport);
	return scsi_transport(root, diskdir);
}
