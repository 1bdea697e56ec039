/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/host/reservation.h"

#include "common/base/str.h"

#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <sys/ioctl.h>

enum { ANSWER_BYTES = 4096, TIMEOUT_MS = 5000 };

unsigned reservation_keys_scsi(const uint8_t *answer, size_t len)
{
	enum { LENGTH_AT = 4, HEADER = 8, KEY = 8 };
	uint32_t bytes;

	if (len < HEADER)
		return 0;
	bytes = (uint32_t)answer[LENGTH_AT] << 24 | (uint32_t)answer[LENGTH_AT + 1] << 16 |
		(uint32_t)answer[LENGTH_AT + 2] << 8 | answer[LENGTH_AT + 3];
	return bytes / KEY;
}

unsigned reservation_keys_nvme(const uint8_t *answer, size_t len)
{
	enum { REGISTERED_AT = 5, HEADER = 24 };

	if (len < HEADER)
		return 0;
	return (unsigned)answer[REGISTERED_AT] | (unsigned)answer[REGISTERED_AT + 1] << 8;
}

static unsigned ask_scsi(int fd)
{
	/* the first command after a reset is answered with a "unit attention" only */
	enum { PERSISTENT_RESERVE_IN = 0x5e, READ_KEYS = 0, TRIES = 3 };
	uint8_t answer[ANSWER_BYTES] = { 0 }, sense[64];
	uint8_t command[10] = { PERSISTENT_RESERVE_IN, READ_KEYS, [7] = ANSWER_BYTES >> 8 };

	for (int i = 0; i < TRIES; i++) {
		struct sg_io_hdr io = { .interface_id = 'S',
					.dxfer_direction = SG_DXFER_FROM_DEV,
					.cmd_len = sizeof(command),
					.cmdp = command,
					.dxferp = answer,
					.dxfer_len = sizeof(answer),
					.sbp = sense,
					.mx_sb_len = sizeof(sense),
					.timeout = TIMEOUT_MS };

		if (ioctl(fd, SG_IO, &io) < 0)
			return 0;
		if (io.status == 0 && io.host_status == 0)
			return reservation_keys_scsi(answer, sizeof(answer));
	}
	return 0;
}

static unsigned ask_nvme(int fd)
{
	enum { RESERVATION_REPORT = 0x0e, DWORD = 4 };
	uint8_t answer[ANSWER_BYTES] = { 0 };
	int nsid = ioctl(fd, NVME_IOCTL_ID);

	if (nsid <= 0)
		return 0;
	/* Hosts have long identifiers on fabrics and may have short ones elsewhere; the report has two forms. */
	for (unsigned extended = 1;; extended--) {
		struct nvme_passthru_cmd command = { .opcode = RESERVATION_REPORT,
						     .nsid = (uint32_t)nsid,
						     .addr = (uintptr_t)answer,
						     .data_len = sizeof(answer),
						     .cdw10 = ANSWER_BYTES / DWORD - 1,
						     .cdw11 = extended,
						     .timeout_ms = TIMEOUT_MS };

		if (ioctl(fd, NVME_IOCTL_IO_CMD, &command) == 0)
			return reservation_keys_nvme(answer, sizeof(answer));
		if (extended == 0)
			return 0;
	}
}

unsigned reservation_keys(int fd, const struct block_device *dev)
{
	static const char *const scsi[] = { "iscsi", "iser", "srp", "fc", "sas", "scsi" };
	static const char *const nvme[] = { "nvme-tcp", "nvme-rdma", "nvme-fc", "nvme-loop" };
	const char *transport = dev->transport ? dev->transport : "";

	for (size_t i = 0; i < array_size(scsi); i++)
		if (streq(transport, scsi[i]))
			return ask_scsi(fd);
	for (size_t i = 0; i < array_size(nvme); i++)
		if (streq(transport, nvme[i]))
			return ask_nvme(fd);
	/* A multipath device passes the question on to one of its paths. */
	return streq(transport, "dm") && dev->identity && str_starts(dev->identity, "naa.")
		       ? ask_scsi(fd)
		       : 0;
}
