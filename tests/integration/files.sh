#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How files are made, opened and left: what a job asks for is what ext4 and its block device show.
. "$(dirname "$0")/lib.sh"
need_loop
need_tools jq mkfs.ext4 filefrag fincore
test_begin

MIB=1048576
SIZE=$((64 * MIB))
loop_make 400M
NAME=${LOOP#/dev/}
# All of it now, or the kernel writes inode tables while jobs are measured.
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$LOOP" || skip "mkfs.ext4 makes no file system"
mkdir "$T/cwd/mnt"
mount -o noatime "$LOOP" "$T/cwd/mnt" || skip "ext4 cannot be mounted"
note mount "$T/cwd/mnt"
F=$T/cwd/mnt/file

# counted FIELD: of /sys/block/*/stat, from 1: 1 reads, 5 writes, 7 sectors written, 16 flushes
counted() {
	awk -v field="$1" '{ print $field }' "/sys/block/$NAME/stat"
}

# run_job NAME KEYS [SIZE]: one step of one job on the file; what the device counted meanwhile is in READS, WRITTEN
# (bytes), FLUSHES.
run_job() {
	local reads sectors flushes
	cat >"$T/$1.yaml" <<-YAML
		name: files
		targets: {t: {file: $F, size: ${3:-64m}}}
		jobs: [{name: j, target: t, $2}]
	YAML
	sync -f "$T/cwd/mnt"
	reads=$(counted 1) sectors=$(counted 7) flushes=$(counted 16)
	salvo_run 60 run "$T/$1.yaml" --output "$T/$1" --quiet
	if grep -q "did not confirm the start in time" "$T/err"; then # a machine too busy to begin
		rm -rf "${T:?}/$1"
		salvo_run 60 run "$T/$1.yaml" --output "$T/$1" --quiet
	fi
	READS=$(($(counted 1) - reads)) WRITTEN=$((($(counted 7) - sectors) * 512))
	FLUSHES=$(($(counted 16) - flushes))
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

bytes_on_disk() {
	echo $(($(stat -c %b "$F") * 512))
}

unwritten_extents() {
	filefrag -v "$F" | grep -c unwritten
}

# --- fallocate: one small write to a file of 64 MiB, which is then as it was made ---

# made HOW SIZE BLOCKS-FROM BLOCKS-TO
made() {
	rm -f "$F"
	run_job "alloc-$1" "rw: write, bs: 4k, number_ios: 1, end_fsync: true, fallocate: '$1'"
	expect_rc 0 "fallocate: $1"
	expect_eq "size with fallocate: $1" "$(stat -c %s "$F")" "$2"
	within "bytes on disk with fallocate: $1" "$(bytes_on_disk)" "$3" "$4"
}
made none 4096 4096 65536
made 0 4096 4096 65536
made keep 4096 $SIZE $((SIZE + 65536))
made truncate $SIZE 4096 65536
made native $SIZE $SIZE $((SIZE + 65536))
made posix $SIZE $SIZE $((SIZE + 65536))
made 1 $SIZE $SIZE $((SIZE + 65536))

# --- a new file is written once, by the job ---

rm -f "$F"
run_job once "rw: write, bs: 1m, end_fsync: true"
expect_rc 0 once
expect_eq "bytes of the job" "$(result once write.bytes)" $SIZE
within "bytes that reached the device" "$WRITTEN" $SIZE $((SIZE * 105 / 100))

# --- overwrite: the first write of a job meets blocks that hold data ---

rm -f "$F"
run_job fresh "rw: write, bs: 4k, number_ios: 1, end_fsync: true"
[ "$(unwritten_extents)" -gt 0 ] || fail "a file that was only reserved has no unwritten extents"
rm -f "$F"
run_job over "rw: write, bs: 4k, number_ios: 1, end_fsync: true, overwrite: true"
expect_rc 0 overwrite
expect_eq "unwritten extents with overwrite" "$(unwritten_extents)" 0
within "the layout" "$WRITTEN" $SIZE $((SIZE * 105 / 100))
run_job over2 "rw: write, bs: 4k, number_ios: 1, end_fsync: true, overwrite: true"
within "the second time" "$WRITTEN" 4096 $MIB

# --- sync: flushes, one at least for each write; and the flags of the descriptor ---

for how in none sync dsync; do
	run_job "sync-$how" "rw: randwrite, bs: 4k, number_ios: 200, direct: true, sync: $how, engine: psync"
	expect_rc 0 "sync: $how"
	if [ $how = none ]; then
		within "flushes with sync: none" "$FLUSHES" 0 20
	else
		within "flushes with sync: $how" "$FLUSHES" 200 500
	fi
done
# flags_seen: does any process have the file open with all flags of MASK, and none of WITHOUT?
flags_seen() {
	local link flags
	for link in /proc/[0-9]*/fd/*; do
		[ "$(readlink "$link")" = "$F" ] || continue
		flags=$(awk '$1 == "flags:" { print $2 }' "${link%/fd/*}/fdinfo/${link##*/}")
		[ $((8#${flags:-0} & $1)) -eq $(($1)) ] && [ $((8#${flags:-0} & $2)) -eq 0 ] && return 0
	done 2>/dev/null
	return 1
}

# expect_flags SYNC MASK WITHOUT
expect_flags() {
	local pid
	cat >"$T/flags.yaml" <<-YAML
		name: flags
		targets: {t: {file: $F, size: 64m}}
		jobs: [{name: j, target: t, rw: randwrite, time_based: true, runtime: 60s, sync: $1}]
	YAML
	setsid "$SALVO" run "$T/flags.yaml" --output "$T/flags-$1" --quiet >/dev/null 2>&1 </dev/null &
	pid=$!
	note pid "$pid" "$("$LIB_DIR/undo.sh" --born "$pid")"
	wait_for 20 flags_seen "$2" "$3" || fail "no descriptor shows sync: $1"
	kill -INT "$pid"
	wait "$pid"
}
O_RDWR=8#2 O_DSYNC=8#10000 O_SYNC=8#4010000
expect_flags dsync "$O_RDWR | $O_DSYNC" $((O_SYNC & ~O_DSYNC))
expect_flags sync "$O_RDWR | $O_SYNC" 0

# --- syncs: every 32 of 256 writes; and one that comes when the file is left ---

run_job fsync "rw: write, bs: 4k, number_ios: 256, fsync: 32"
expect_eq "syncs of 256 writes" "$(result fsync sync.ios)" 8
within "flushes of 8 syncs" "$FLUSHES" 8 40
run_job close "rw: write, bs: 4k, number_ios: 256, fsync_on_close: true"
expect_rc 0 fsync_on_close
expect_eq "syncs within the time, and after it" "$(result close 'sync | "\(.ios) \(.drain.ios)"')" "0 1"
within "bytes written back by fsync_on_close" "$WRITTEN" $MIB $((2 * MIB))
within "its flushes" "$FLUSHES" 1 5

# --- the page cache: filled before the job; read ahead or not, as the kernel was told ---

run_job all "rw: write, bs: 1m, end_fsync: true"
run_job cold "rw: read, bs: 64k, engine: psync"
within "reads that nothing kept in memory" "$READS" 16 100000
run_job warm "rw: read, bs: 64k, engine: psync, pre_read: true, number_ios: 1"
expect_rc 0 pre_read
expect_eq "bytes in the page cache" "$(fincore -b -n -o RES "$F")" $SIZE
run_job part "rw: randread, bs: 4k, pre_read: true, invalidate: true, size: 1m, offset: 1m"
expect_text "$T/out" "invalidate does nothing" "a contradiction"
echo 3 >/proc/sys/vm/drop_caches
for hint in random sequential 1; do
	run_job "hint-$hint" "rw: read, bs: 4k, number_ios: 4096, engine: psync, fadvise_hint: '$hint'"
	expect_rc 0 "fadvise_hint: $hint"
	if [ "$hint" = random ]; then
		within "reads of single pages" "$READS" 4096 5000
	else
		within "reads ahead with fadvise_hint: $hint" "$READS" 16 1000
	fi
done

# --- create_only: laid out, and no I/O ---

rm -f "$F"
run_job create "rw: randread, bs: 4k, create_only: true, time_based: true, runtime: 20s"
expect_rc 0 create_only
expect_eq "I/Os" "$(result create total.ios)" 0
expect_eq "unwritten extents" "$(unwritten_extents)" 0
within "bytes of the layout" "$WRITTEN" $SIZE $((SIZE * 105 / 100))
run_job created "rw: read, bs: 1m, number_ios: 1, readonly: true"
expect_rc 0 readonly
within "bytes written for a readonly job" "$WRITTEN" 0 $MIB

# --- readonly: nothing is made ---

rm -f "$F"
run_job absent "rw: read, readonly: true"
expect_rc 3 "a file that is not there"
expect_text "$T/err" "no file is made for readonly jobs"
[ ! -e "$F" ] || fail "a file was made for a readonly job"

# --- unlink: Salvo's own file, and no other ---

run_job unlink "rw: write, bs: 1m, unlink: true"
expect_rc 0 unlink
[ ! -e "$F" ] || fail "the file is still there after unlink"
run_job unlink2 "rw: randread, bs: 1m, unlink: true, time_based: true, runtime: 200ms"
expect_rc 0 "unlink of a reader"
[ ! -e "$F" ] || fail "the file is still there after a reader's unlink"

head -c $MIB /dev/urandom >"$F"
sum=$(sha256sum <"$F")
run_job foreign "rw: read, unlink: true" 1m
expect_rc 3 "unlink of a foreign file"
expect_text "$T/err" "was not made by Salvo, and unlink would remove it"
expect_eq "a foreign file" "$(sha256sum <"$F")" "$sum"
cat >"$T/mine.yaml" <<-YAML
	name: files
	targets: {t: {file: $F, size: 1m, destroy: true}}
	jobs: [{name: j, target: t, rw: write, unlink: true}]
YAML
salvo_run 60 run "$T/mine.yaml" --output "$T/mine" --quiet
expect_rc 0 "a foreign file that may be overwritten"
expect_text "$T/out" "was not removed: it is not Salvo's own"
[ -e "$F" ] || fail "a foreign file was removed"

# Each repeat makes the file anew.
rm -f "$F"
cat >"$T/again.yaml" <<-YAML
	name: files
	targets: {t: {file: $F, size: 8m}}
	repeat: 3
	jobs: [{name: j, target: t, rw: write, bs: 1m, unlink: true}]
YAML
salvo_run 60 run "$T/again.yaml" --output "$T/again" --quiet
expect_rc 0 "three repeats with unlink"
[ ! -e "$F" ] || fail "the file is still there after three repeats"
echo "files are made, opened, synced and left as jobs ask for it"
