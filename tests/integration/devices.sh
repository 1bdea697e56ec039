#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# devices.sh - what devices count beside what is reported: totals agree with the kernel's counters; a stranger's I/O is
# seen; reads from memory are flagged; and what one repeat wrote is not written back into the next.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_loop
need_tools jq dd mkfs.ext4 mount
test_begin

loop_make 512M --direct-io=on
dd if=/dev/urandom of="$LOOP" bs=1M oflag=direct status=none 2>/dev/null

# The warnings of a run, one a line: a report wraps them.
warnings() {
	jq -r '.warnings[].text' "$1/result.json" >"$T/warnings"
}

scenario() {
	cat >s.yaml
}

# --- totals agree with the kernel's counters, for five jobs on one device and both directions -----------

scenario <<EOF
name: counters
targets: {d: {device: $LOOP, destroy: true, share: shared, allow_overlap: true}}
defaults: {target: d, iodepth: 4, time_based: true, runtime: 1500ms, ramp_time: 200ms}
phases:
  - name: mixed
    jobs:
      - {name: a, rw: randread, bs: 4k, numjobs: 2}
      - {name: b, rw: randwrite, bs: 8k, fsync: 50}
      - {name: c, rw: read, bs: 256k, iodepth: 1}
      - {name: d, rw: randrw, bs: 4k, engine: psync}
EOF
declare -A before after
read -r _ _ "before[read]" _ _ "before[write]" < <(stat_of "$LOOP")
salvo_run 60 run s.yaml --output counters
expect_rc 0
read -r _ _ "after[read]" _ _ "after[write]" < <(stat_of "$LOOP")
f=counters/result.json
for dir in read write; do
	own=$(jq ".results[0].groups[0].$dir | .bytes + .ramp.bytes + .drain.bytes" $f)
	counted=$(json $f ".results[0].devices[0].${dir}_bytes")
	expect_eq "$dir: reported bytes and the device's" "$own" "$counted"
	# The look at the device before it is written is not in it.
	expect_near "$dir: the device's bytes by itself" "$counted" $((after[$dir] - before[$dir])) 1
done
warnings counters
refuse_text "$T/warnings" 'not ours'

# --- a stranger --------------------------------------------------------------------------------------

scenario <<EOF
name: stranger
targets: {d: {device: $LOOP}}
jobs: [{name: r, target: d, rw: randread, bs: 4k, iodepth: 4, time_based: true, runtime: 3s}]
EOF
(
	wait_for 20 samples_kept stranger 1
	dd if="$LOOP" of=/dev/null bs=64k count=512 iflag=direct status=none
) &
salvo_run 60 run s.yaml --output stranger
wait $!
expect_rc 0
f=stranger/result.json
expect_eq "foreign bytes" "$(json $f '.results[0].devices[0].foreign_bytes')" $((32 << 20))
expect_eq "foreign I/Os" "$(json $f '.results[0].devices[0].foreign_ios')" 512
warnings stranger
expect_text "$T/warnings" "'$LOOP' did 512 I/Os \(32.0 MiB\) that were not ours, .* % of what we did"

# --- the page cache ----------------------------------------------------------------------------------

mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$LOOP" || fail "mkfs.ext4"
mkdir "$T/mnt"
mount "$LOOP" "$T/mnt" || fail "mount"
note mount "$T/mnt"
disk=${LOOP#/dev/}
scenario <<EOF
name: cache
targets: {f: {file: $T/mnt/x, size: 64MiB, share: shared}}
jobs: [{name: r, target: f, rw: read, bs: 64k, direct: false, engine: psync}]
repeat: 2
EOF
# The embedded worker may write files below the current folder.
cd "$T/mnt" || exit 1

# Invalidated before each repeat, all bytes come from the device, which is the file system's.
salvo_run 60 run "$T/cwd/s.yaml" --output "$T/cold"
expect_rc 0
for i in 0 1; do
	expect_eq "repeat $i: disk" "$(json "$T/cold/result.json" ".results[$i].devices[0].disk")" "$disk"
	expect "repeat $i: read from the device" \
		"$(json "$T/cold/result.json" ".results[$i].devices[0].read_bytes") >= 67108864"
	expect_eq "repeat $i: from memory" "$(jq ".results[$i].devices[0].cached_bytes" "$T/cold/result.json")" 0
done
warnings "$T/cold"
refuse_text "$T/warnings" 'from the page cache'

salvo_run 60 run "$T/cwd/s.yaml" --output "$T/warm" --set 'jobs[0].invalidate=false'
expect_rc 0
expect_eq "from memory" "$(json "$T/warm/result.json" '.results[1].devices[0].cached_bytes')" 67108864
warnings "$T/warm"
expect_text "$T/warnings" "100 % of the reads \(64.0 MiB of 64.0 MiB\) came from the page cache"

salvo_run 60 run "$T/cwd/s.yaml" --output "$T/dropped" --set 'jobs[0].invalidate=false' --set 'jobs[0].drop_caches=true'
expect_rc 0
expect "after drop_caches: read from the device" \
	"$(json "$T/dropped/result.json" '.results[0].devices[0].read_bytes') >= 67108864"

# --- what a repeat wrote is on the device before the next one --------------------------------------------

# One pass over 64 MiB stays in memory when the step ends; the phase between reads with direct I/O.
cat >"$T/cwd/s.yaml" <<EOF
name: settled
targets: {f: {file: $T/mnt/x, size: 64MiB, share: shared}}
phases:
  - {name: w, jobs: [{name: w, target: f, rw: write, bs: 64k, direct: false, engine: psync}]}
  - {name: r, jobs: [{name: r, target: f, rw: randread, bs: 4k, direct: true, invalidate: false, time_based: true, runtime: 1s}]}
repeat: 2
EOF
salvo_run 60 run "$T/cwd/s.yaml" --output "$T/settled"
expect_rc 0
f=$T/settled/result.json
for i in 0 2; do
	expect "repeat $((i / 2 + 1)): the writes were in memory at the end" \
		"$(json "$f" ".results[$i].devices[0] | .write_bytes + 1") < 67108864 / 2"
	expect "repeat $((i / 2 + 1)): nothing of them was written in the next phase" \
		"$(json "$f" ".results[$((i + 1))].devices[0] | .write_bytes + 1") < 1048576"
done
warnings "$T/settled"
expect_text "$T/warnings" "of the writes .* were in the page cache and not on '$disk' at the end"
cd "$T" || exit 1
