#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every engine writes a device once over and reads it once over, on a loop device and on zram; what the device itself
# counted in each step is what the engine says it moved. mmap goes through the page cache: its writes read first, and
# pages at which the worker looked before count as hits. Then io_uring with a kernel thread that submits, and a wish that
# the device cannot fulfil: refused before any I/O, with engine, flag, kernel and host.
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
	local at=".results[] | select(.point.engine == \"$1\" and .phase == \"$2\")" device depth moved written=0
	expect_eq "$1, $2s" "$(json "$R" "$at | .groups[0].$2.ios")" $IOS
	expect_eq "$1, $2 errors" "$(json "$R" "$at | .groups[0].$2.errors")" 0
	case $1 in
	io_uring | libaio) depth=8 ;;
	*) depth=1 ;; # one I/O in flight, whatever iodepth says
	esac
	expect_eq "$1, depth of the $2s" "$(json "$R" "$at | .groups[0].effective_depth")" $depth
	device="$at | .devices[0]"
	moved="$(json "$R" "$device | .read_bytes") $(json "$R" "$device | .write_bytes")"
	if [ "$1" = mmap ]; then
		expect "mmap, bytes that the device read of the $2s" "${moved% *} <= $BYTES && ${moved% *} > $BYTES - 1048576"
		[ "$2" = read ] || written=$BYTES
		# The sync of one thread may write a page in the middle of the other's copy, and then once more.
		expect "mmap, bytes that the device wrote of the $2s" "${moved#* } >= $written && ${moved#* } < $written + 1048576"
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
	expect_eq "bytes written to the device in all" $((after[5] - before[5])) \
		"$(json "$R" '[.results[].devices[0].write_bytes] | add')"
	json "$R" ".results[] | \"$kind \\(.point.engine) \\(.phase): \\(.groups[0].total.iops | floor) IOPS\""
}

# with_key DEVICE KEY...: $T/key.yaml, one job with more keys.
with_key() {
	cat >"$T/key.yaml" <<-YAML
		name: key
		targets: {disk: {device: $1, destroy: true, share: partition}}
		jobs: [{name: w, target: disk, rw: randwrite, bs: 4k, iodepth: 8, numjobs: 2, $2}]
	YAML
}

kernel_thread_submits() {
	local before after
	with_key "$1" "sqthread_poll: true"
	read -ra before <<<"$(stat_of "$1")"
	salvo_run 60 run "$T/key.yaml" --output "$T/sqthread" --quiet
	expect_rc 0 "sqthread_poll"
	read -ra after <<<"$(stat_of "$1")"
	R=$T/sqthread/result.json
	expect_eq "writes with sqthread_poll" "$(json "$R" '.results[0].groups[0].write.ios')" $IOS
	expect_eq "bytes written with sqthread_poll" $((after[5] - before[5])) $BYTES
	expect "CPU time, the kernel's thread included" "$(json "$R" '.results[0].groups[0].cpu.sys') > 0"
}

cannot_poll() {
	local before
	[ "$(cat "/sys/block/${1#/dev/}/queue/io_poll" 2>/dev/null)" = 0 ] || return 0
	before=$(stat_of "$1" | cut -d' ' -f4)
	with_key "$1" "hipri: true"
	salvo_run 60 run "$T/key.yaml" --output "$T/hipri" --quiet
	expect_rc 3 "hipri without poll queues"
	expect_text "$T/err" "local.*engine io_uring: hipri .*Linux $(uname -r): the device has no poll queues" "the refusal"
	expect_eq "writes after a refusal" "$(stat_of "$1" | cut -d' ' -f4)" "$before"
}

loop_make ${MIB}M
run_on loop "$LOOP"
kernel_thread_submits "$LOOP"
cannot_poll "$LOOP"
if [ -e /sys/class/zram-control/hot_add ]; then
	zram_make ${MIB}M
	run_on zram "$ZRAM"
else
	echo "no zram here: the second run is left out"
fi
