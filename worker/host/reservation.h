/* SPDX-License-Identifier: Apache-2.0 */
/* reservation.h - has any host registered a persistent-reservation key with the medium? Clusters do that with the
 * LUNs that they use. Only asked of transports over which several hosts can reach one medium. */
#ifndef SALVO_HOST_RESERVATION_H
#define SALVO_HOST_RESERVATION_H

#include "worker/host/devices.h"

/* The number of keys; 0 also where the device does not know reservations or may not be asked. */
unsigned reservation_keys(int fd, const struct block_device *dev);

/* The number of keys in the answers: SCSI's READ KEYS, NVMe's Reservation Report. */
unsigned reservation_keys_scsi(const uint8_t *answer, size_t len);
unsigned reservation_keys_nvme(const uint8_t *answer, size_t len);

#endif
