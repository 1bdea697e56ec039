# SPDX-License-Identifier: Apache-2.0
# latency_witness.awk: latencies as the kernel's block tracepoints tell them.
#
# Input: a trace with block_bio_queue (the I/O arrives at the device) and block_rq_complete (the device has answered)
# of one device, on the monotonic clock. A completion belongs to all I/Os of its kind that were queued within its
# sectors: what the kernel merged comes back as one. -v region_sectors=N: the device is cut into regions of so many
# sectors, and each is counted by itself.
#
# Output, per region and kind: REGION read|write N MEAN_NS P50_NS P99_NS PENDING, where PENDING I/Os were queued
# and never answered. Percentiles are of the nearest rank, ceil(p x n). Times in a trace are whole microseconds.

function at_event(name,    i, stamp) {
	for (i = 2; i <= NF; i++)
		if ($i == name) {
			stamp = $(i - 1)
			sub(/:$/, "", stamp)
			split(stamp, part, ".")
			now_us = part[1] * 1000000 + part[2]
			return i
		}
	return 0
}

/ block_bio_queue: / {
	i = at_event("block_bio_queue:")
	kind = substr($(i + 2), 1, 1)
	queued[kind, $(i + 3)] = now_us
	next
}

/ block_rq_complete: / {
	i = at_event("block_rq_complete:")
	kind = substr($(i + 2), 1, 1)
	# `RS () 8192 + 8 none,0,0 [0]`: what stands in the brackets may be empty, the sector is before the plus.
	for (i += 3; $(i + 1) != "+"; i++)
		;
	first = $i
	for (sector = first; sector < first + $(i + 2); sector++)
		if ((kind, sector) in queued) {
			key = int(sector / region_sectors) " " (kind == "R" ? "read" : "write")
			lat[key, ++count[key]] = now_us - queued[kind, sector]
			delete queued[kind, sector]
		}
}

function sort(key, n,    i, j, v) {
	for (i = 2; i <= n; i++) {
		v = lat[key, i]
		for (j = i - 1; j > 0 && lat[key, j] > v; j--)
			lat[key, j + 1] = lat[key, j]
		lat[key, j + 1] = v
	}
}

function rank(p, n,    r) {
	r = int(p * n)
	return r < p * n ? r + 1 : r
}

END {
	for (pair in queued) {
		split(pair, part, SUBSEP)
		pending[int(part[2] / region_sectors) " " (part[1] == "R" ? "read" : "write")]++
	}
	for (key in count) {
		n = count[key]
		sort(key, n)
		sum = 0
		for (i = 1; i <= n; i++)
			sum += lat[key, i]
		printf "%s %d %.0f %.0f %.0f %d\n", key, n, sum * 1000 / n, lat[key, rank(0.5, n)] * 1000,
			lat[key, rank(0.99, n)] * 1000, pending[key]
	}
}
