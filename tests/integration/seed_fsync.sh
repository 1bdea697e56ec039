#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# configs/seed-ext4-fsync.yaml on an ext4 file system, with a short run time: its figures agree with one another and with
# the disk's counters. Then fio with the same job on the same file, in turn: both reports side by side, and each line of
# fio's has its counterpart in ours.
. "$(dirname "$0")/lib.sh"
need_loop
need_tools jq fio mkfs.ext4 pr
test_begin

RUNTIME=2
BS=16384
loop_make 512M
mkfs.ext4 -q -F "$LOOP" || skip "no ext4 here"
mkdir fs
mount "$LOOP" fs || skip "cannot mount ext4"
note mount "$PWD/fs"

ours() {
	fair_scheduling
	salvo_run 60 run "$ROOT/configs/seed-ext4-fsync.yaml" --set jobs[0].runtime=${RUNTIME}s --set targets.file.size=64MiB \
		--set targets.file.file=fs/salvo-scratch.dat --output "$T/ours$1" --quiet
	expect_rc 0 "configs/seed-ext4-fsync.yaml"
	cp "$T/out" "$T/ours$1.txt"
}

theirs() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	timeout 60 fio --name=fsync --filename=fs/salvo-scratch.dat --size=64m --rw=randwrite --bs=16k --ioengine=psync \
		--fsync=1 --numjobs=16 --thread --time_based --runtime=$RUNTIME --group_reporting --eta=never \
		--output="$T/theirs$1.txt" || fail "fio: $(tail -n 3 "$T/theirs$1.txt")"
}

# --- what one report says agrees with itself and with the disk
check_figures() {
	local r=$1 of=".results[0].groups[0]" ios syncs
	ios=$(json "$r" "$of.write.ios")
	syncs=$(json "$r" "$of.sync.lat_ns.n")
	expect "I/Os" "$ios > 100"
	expect_eq "I/Os x block size" "$(json "$r" "$of.write.bytes")" $((ios * BS))
	expect_eq "run time in ns" "$(json "$r" "$of.write.runtime_ns")" $((RUNTIME * 1000000000))
	expect_near "I/Os / run time" "$(json "$r" "$of.write.iops")" "$(calc "$ios / $RUNTIME")" 0.001
	expect_eq "write latencies" "$(json "$r" "$of.write | .lat_ns.n - .drain.ios")" "$ios"
	# Every write that came back in time has its fsync; that of the last may have come back later.
	expect_eq "fsyncs, those that were drained included" "$syncs" "$ios"
	expect_eq "fsyncs in time and drained" "$(json "$r" "$of.sync | .ios + .drain.ios")" "$syncs"
	expect "fsyncs that were drained" "$(json "$r" "$of.sync.drain.ios") <= 16"
	expect "median of a write and of an fsync" \
		"$(json "$r" "$of.write.lat_ns.percentiles[\"50\"]") < $(json "$r" "$of.sync.lat_ns.percentiles[\"50\"]")"
	expect_eq "errors and short I/Os" "$(json "$r" "$of | [.write, .sync] | map(.errors + .short_ios) | add | tostring")" 0
	# Two threads may write the same block between two flushes, and the journal is written besides.
	expect "bytes that the disk counted for $((ios * BS)) written" \
		"$(json "$r" '.results[0].devices[0].write_bytes') > 0.9 * $ios * $BS &&
		 $(json "$r" '.results[0].devices[0].write_bytes') < 4 * $ios * $BS"
}

# --- every line of fio's report has a counterpart: FIO-LINE => OURS, both extended expressions; @ is an end of line
counterparts() {
	cat <<-'LIST'
		^fsync: \(g=0\): rw=randwrite, bs=.*ioengine=psync, iodepth=1$ => fsync: rw=randwrite, bs=16KiB, iodepth=1, numjobs=16
		^\.\.\.$ => numjobs=16
		^fio-3 => ^run .*salvo [0-9]
		^Starting 16 threads$ => \(hosts=1, threads=16\)
		^fsync: \(groupid=0, jobs=16\): err= 0: pid= => ^all: \(hosts=1, threads=16\): err=0
		^  write: IOPS=.*BW=.*/[0-9]+msec => ^  write: IOPS=[0-9]+, BW=[0-9.]+ .iB/s \([0-9.]+ .B/s\), total=.*, ios=[0-9]+, run=
		^    slat .*min=.*max=.*avg=.*stdev= => ^ +slat +[0-9]
		^    clat .*min=.*max=.*avg=.*stdev= => ^ +min +mean +max +stdev +samples$
		^     lat .*min=.*max=.*avg=.*stdev= => ^ +lat( +[0-9.]+ [num]?s){4} +[0-9]+$
		^    clat percentiles => ^ +percentiles +1\.00th +5\.00th
		^     \|  1\.00th= => ^ +percentiles +1\.00th +5\.00th +10\.00th +20\.00th
		^     \| 30\.00th= => 20\.00th +30\.00th +40\.00th +50\.00th +60\.00th +70\.00th
		^     \| 70\.00th= => 80\.00th +90\.00th +95\.00th
		^     \| 99\.00th= => 99\.00th +99\.50th +99\.90th +99\.95th
		^     \| 99\.99th= => 99\.99th
		^   bw .*min=.*max=.*avg=.*stdev=.*samples= => ^ +bw \(.iB/s\)( +[0-9.]+){4} +[0-9]+ x [0-9]+m?s
		^   iops .*min=.*max=.*avg=.*stdev=.*samples= => ^ +iops( +[0-9.]+){4} +[0-9]+ x [0-9]+m?s
		^  lat \(nsec\) => ^    lat \(ns\): [0-9]+=
		^  lat \(usec\) => ^    lat \(us\): [0-9]+=
		^  lat \(msec\) => ^    lat \(ms\): [0-9]+=
		^  fsync/fdatasync/sync_file_range:$ => ^  sync \(fsync, fdatasync\): [0-9]+ per s
		^    sync .*min=.*max=.*avg=.*stdev= => @  sync \(fsync.*@ +lat( +[0-9.]+ [num]?s){4} +[0-9]+@
		^    sync percentiles => @  sync \(fsync.*@ +percentiles +1\.00th
		^  cpu +: usr=.*sys=.*ctx=.*majf=.*minf= => ^  cpu: usr=.*%, sys=.*%.*, ctx=[0-9]+, majf=[0-9]+, minf=[0-9]+
		^  IO depths +: 1= => ^  IO depths: 1=.*>=64=
		^     submit +: 0= => ^ +submit: 1=.*>=64=
		^     complete +: 0= => ^ +complete: 1=.*>=64=
		^     issued rwts: total=.*short=.*dropped= => @    issued=[0-9]+: .*window=[0-9]+.*errors=[0-9]+.*unfinished=[0-9]+;[ @]+short=[0-9]+
		^     latency +: target=0,.*depth= => at most 1 in flight per thread
		^Run status group 0 \(all jobs\):$ => ^RESULT +IOPS +MiB/s
		^  WRITE: bw=.*io=.*run= => total=.*, ios=[0-9]+, run=[0-9.]+ s
		^Disk stats \(read/write\):$ => ^Disk stats of [a-z]
		^  loop[0-9]+: ios=.*merge=.*ticks=.*in_queue=.*util= => ^  disk +ios +bytes +merges +ticks +in_queue +util
	LIST
}

# check_counterparts OURS THEIRS
check_counterparts() {
	local line pair theirs ours whole found
	whole=$(tr '\n' '@' <"$1") # for what must follow something else
	while IFS= read -r line; do
		[ -n "$line" ] || continue
		found=no
		while IFS= read -r pair; do
			theirs=${pair%% => *} ours=${pair##* => }
			grep -qE -- "$theirs" <<<"$line" || continue
			found=yes
			case $ours in
			*@*) grep -qE -- "$ours" <<<"$whole" ;;
			*) grep -qE -- "$ours" "$1" ;;
			esac || fail "our report has no line like '$ours', and fio's has: $line"
			break
		done < <(counterparts)
		[ $found = yes ] || fail "no counterpart is known for this line of fio's report: $line"
	done <"$2"
}

for round in 1 2; do
	ours $round
	check_figures "$T/ours$round/result.json"
	theirs $round
done
for round in 1 2; do
	check_counterparts "$T/ours$round.txt" "$T/theirs$round.txt"
done
pr -m -t -w 220 "$T/theirs2.txt" "$T/ours2.txt" | expand | head -c 30000

ours_iops=$(jq -n "[inputs.results[0].groups[0].write.iops] | add" "$T"/ours?/result.json)
their_iops=$(sed -n 's/.*issued rwts: total=0,\([0-9]*\),.*/\1/p' "$T"/theirs?.txt | awk -v t=$RUNTIME '{ n += $1 } END { print n / t }')
echo "IOPS of both rounds together: $ours_iops ours, $their_iops fio's: $(calc "$ours_iops / $their_iops") of it"
expect "both are of the same order" "$ours_iops > 0.2 * $their_iops && $ours_iops < 5 * $their_iops"
