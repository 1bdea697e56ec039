/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/worker/host/fixture.h"
#include "worker/host/reservation.h"

#include <fcntl.h>

Test(reservation, scsi_read_keys)
{
	static const uint8_t none[8] = { 0, 0, 0, 9 }, two[24] = { 0, 0, 0, 9, 0, 0, 0, 16, 1 };

	cr_assert_eq(reservation_keys_scsi(none, sizeof(none)), 0);
	cr_assert_eq(reservation_keys_scsi(two, sizeof(two)), 2);
	cr_assert_eq(reservation_keys_scsi(two, 7), 0);
}

Test(reservation, nvme_report)
{
	static const uint8_t none[24] = { 7 }, some[24] = { 7, 0, 0, 0, 1, 3, 1 };

	cr_assert_eq(reservation_keys_nvme(none, sizeof(none)), 0);
	cr_assert_eq(reservation_keys_nvme(some, sizeof(some)), 0x103);
	cr_assert_eq(reservation_keys_nvme(some, 23), 0);
}

Test(reservation, what_cannot_be_asked_has_none)
{
	static const char *const transports[] = { "iscsi", "nvme-tcp", "dm", "loop", NULL };
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < array_size(transports); i++) {
		struct block_device dev = { .transport = (char *)transports[i],
					    .identity = (char *)"naa.6001" };

		cr_assert_eq(reservation_keys(fd, &dev), 0);
	}
	close(fd);
}
