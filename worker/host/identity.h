/* SPDX-License-Identifier: Apache-2.0 */
/* identity.h - identity, serial, model and transport of a disk, as strings from its sysfs folder. */
#ifndef SALVO_HOST_IDENTITY_H
#define SALVO_HOST_IDENTITY_H

#include "worker/host/sysfs.h"

/* `diskdir`: the resolved sysfs folder of a whole disk. All return NULL where there is none; owned by the
 * caller. */
char *disk_identity(const char *diskdir);
char *disk_serial(const char *diskdir);
char *disk_model(const char *diskdir);
char *disk_transport(const struct host_root *root, const char *diskdir);

/* The best designator of a logical unit in a SCSI device identification page: "naa.6001405…", "eui.…". */
char *identity_from_vpd83(const uint8_t *page, size_t len);

#endif
