#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every engine writes a device once over and reads it once over, on a loop device and on zram; what the device itself
# counted in each step is what the engine says it moved. mmap goes through the page cache: its writes read first, and
# pages at which the worker looked before count as hits.
. "$(dirname "$0")/lib.sh"
need_loop
need_tools jq
test_begin

MIB=8
BYTES=$((MIB * 1048576))
IOS=$((BYTES / 4096))
ENGINES=(io_uring libaio psync sync pvsync2 mmap)

scenario() {
	local list
	list=$(printf '%s, ' "${ENGINES[@]}")
	cat <<-YAML
		name: engines
		targets: {disk: {device: $1, destroy: true, share: partition}}
		defaults: {target: disk, bs: 4k, iodepth: 8, numjobs: 2, end_fsync: true}
		phases:
		  - name: write
		    jobs: [{name: write, rw: randwrite}]
		  - name: read
		    jobs: [{name: read, rw: randread}]
		sweep: {engine: [${list%, }]}
	YAML
}

# check_step ENGINE DIRECTION: counters of the step of both sides.
check_step() {
	local at=".results[] | select(.point.engine == \"$1\" and .phase == \"$2\")" device moved written=0
	expect_eq "$1, $2s" "$(json "$R" "$at | .groups[0].$2.ios")" $IOS
	expect_eq "$1, $2 errors" "$(json "$R" "$at | .groups[0].$2.errors")" 0
	device="$at | .devices[0]"
	moved="$(json "$R" "$device | .read_bytes") $(json "$R" "$device | .write_bytes")"
	if [ "$1" = mmap ]; then
		expect "mmap, bytes that the device read of the $2s" "${moved% *} <= $BYTES && ${moved% *} > $BYTES - 1048576"
		[ "$2" = read ] || written=$BYTES
		expect_eq "mmap, bytes that the device wrote of the $2s" "${moved#* }" $written
	elif [ "$2" = write ]; then
		expect_eq "$1, bytes that the device read and wrote" "$moved" "0 $BYTES"
	else
		expect_eq "$1, bytes that the device read and wrote" "$moved" "$BYTES 0"
	fi
}

run_on() {
	local kind=$1 device=$2 before after engine
	read -ra before <<<"$(stat_of "$device")"
	scenario "$device" >"$T/$kind.yaml"
	fair_scheduling
	salvo_run 100 run "$T/$kind.yaml" --output "$T/$kind" --quiet
	expect_rc 0 "salvo run on $kind"
	R=$T/$kind/result.json
	expect_eq "steps" "$(json "$R" '.results | length')" $((2 * ${#ENGINES[@]}))
	for engine in "${ENGINES[@]}"; do
		check_step "$engine" write
		check_step "$engine" read
	done
	read -ra after <<<"$(stat_of "$device")"
	expect_eq "bytes written to the device in all" $((after[5] - before[5])) $((${#ENGINES[@]} * BYTES))
	expect "warnings about the depth that psync cannot have" \
		"$(json "$R" '[.warnings[] | select(.text | test("iodepth.*psync|psync.*iodepth"))] | length') > 0"
	json "$R" ".results[] | \"$kind \\(.point.engine) \\(.phase): \\(.groups[0].total.iops | floor) IOPS\""
}

loop_make ${MIB}M
run_on loop "$LOOP"
if [ -e /sys/class/zram-control/hot_add ]; then
	zram_make ${MIB}M
	run_on zram "$ZRAM"
else
	echo "no zram here: the second run is left out"
fi
