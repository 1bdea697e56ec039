#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sizes that vary, discards, sequences with holes, loops: what a job asks for is what the block device counts.
. "$(dirname "$0")/lib.sh"
need_loop
need_tools jq
test_begin

SIZE=$((128 * 1048576))
# On Linux 6.18 a loop device that once stood over a file without discard (of a FUSE mount) never has it again: go on to
# one that has.
loop_make $SIZE
for _ in {1..32}; do
	[ "$(cat "/sys/block/${LOOP#/dev/}/queue/discard_max_bytes")" = 0 ] || break
	loop_make $SIZE
done
DEV=$LOOP
NAME=${DEV#/dev/}

# counted FIELD: of /sys/block/*/stat, from 1
counted() {
	tr -s ' ' '\n' <"/sys/block/$NAME/stat" | sed '/^$/d' | sed -n "${1}p"
}

# run_job NAME KEYS: one step of one job; what the device counted meanwhile is in ALL_READS, SECTORS, DISCARDS (merged
# ones as well), DISCARDED.
run_job() {
	local reads sectors discards discarded
	cat >"$T/$1.yaml" <<-YAML
		name: workloads
		targets: {t: {device: $DEV, destroy: true}}
		jobs: [{name: j, target: t, invalidate: false, $2}]
	YAML
	reads=$(counted 1) sectors=$(counted 3) discards=$(($(counted 12) + $(counted 13))) discarded=$(counted 14)
	salvo_run 60 run "$T/$1.yaml" --output "$T/$1" --quiet
	# The safety checks read as well, a little, through the page cache.
	ALL_READS=$(($(counted 1) - reads)) SECTORS=$(($(counted 3) - sectors))
	DISCARDS=$(($(counted 12) + $(counted 13) - discards)) DISCARDED=$(($(counted 14) - discarded))
}

# result NAME FILTER
result() {
	json "$T/$1/result.json" ".results[0].groups[0].$2"
}

# within WHAT VALUE LOW HIGH
within() {
	if [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
		fail "$1: $2 is not between $3 and $4"
	fi
}

# --- sizes ---

run_job split "rw: randread, bssplit: '4k/10:64k/50:32k/40', iodepth: 8"
expect_rc 0 split
expect_eq "bytes of a pass" "$(result split read.bytes)" $SIZE
# 4k * 0.1 + 64k * 0.5 + 32k * 0.4 = 45.2k each: 2900 of them, give or take.
within "I/Os of the split" "$(result split read.ios)" 2750 3050
within "the device's reads" "$ALL_READS" "$(result split read.ios)" $(($(result split read.ios) + 300))
within "the device's sectors" "$SECTORS" $((SIZE / 512)) $((SIZE / 512 + 20000))

run_job range "rw: write, bsrange: 4k-64k, number_ios: 500"
expect_rc 0 range
expect_eq "number_ios" "$(result range write.ios)" 500

# --- sequences ---

run_job skip "rw: read, bs: 1m, skip: 512k"
expect_rc 0 skip
expect_eq "I/Os with holes between them" "$(result skip read.ios) $(result skip read.bytes)" "85 89128960"

run_job loops "rw: read, bs: 4k, size: 1m, loops: 3"
expect_eq "three loops" "$(result loops read.ios)" 768
run_job loops2 "rw: randread, bs: 4k, size: 1m, loops: 3, io_size: 64k"
expect_eq "three loops of 64k" "$(result loops2 read.bytes)" 196608

# --- discards ---

for engine in psync io_uring; do
	head -c $SIZE /dev/zero | tr '\0' x >"$LOOP_FILE"
	run_job "trim-$engine" "rw: randtrim, bs: 64k, engine: $engine, iodepth: 4"
	if [ "$engine" = io_uring ] && grep -q "does not discard on block devices" "$T/err"; then
		expect_rc 3 "a kernel that cannot"
		continue
	fi
	expect_rc 0 "randtrim with $engine"
	expect_eq "discards" "$(result "trim-$engine" trim.ios)" $((SIZE / 65536))
	expect_eq "the device's discards" "$DISCARDS" $((SIZE / 65536))
	expect_eq "the device's discarded bytes" $((DISCARDED * 512)) $SIZE
	expect_eq "bytes that are left" "$(dd if="$DEV" bs=1M iflag=direct status=none | tr -d '\0' | wc -c)" 0
done

run_job trimwrite "rw: trimwrite, bs: 64k, engine: psync"
expect_rc 0 trimwrite
expect_eq "trims and writes" "$(result trimwrite trim.ios) $(result trimwrite write.ios)" \
	"$((SIZE / 65536)) $((SIZE / 65536))"

# zram knows no I/O without waiting, and io_uring asks for it when it discards.
if [ -e /sys/class/zram-control/hot_add ]; then
	zram_make $((4 * 1048576))
	cat >"$T/zram.yaml" <<-YAML
		name: workloads
		targets: {t: {device: $ZRAM, destroy: true}}
		jobs: [{name: j, target: t, rw: randtrim, bs: 64k, iodepth: 4}]
	YAML
	salvo_run 60 run "$T/zram.yaml" --output "$T/zram" --quiet
	if ! grep -q "does not discard on block devices" "$T/err"; then
		expect_rc 0 "randtrim of zram with io_uring"
		expect_eq "its discards" "$(result zram trim.ios)" 64
	fi
fi

# A device that discards nothing is refused before any I/O, not measured at the speed of an error.
if echo 0 2>/dev/null >"/sys/block/$NAME/queue/discard_max_bytes"; then
	run_job none "rw: trim, bs: 64k, engine: psync"
	expect_rc 3 "a device without discard"
	expect_text "$T/err" "does not support discard"
	expect_eq "discards of it" "$DISCARDS" 0
fi
echo "the device counted what the jobs asked for"
