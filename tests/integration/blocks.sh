#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a fleet writes: two hosts with four threads each fill an image, in blocks of 4 and of 64 KiB, at random and in
# sequence, again and again. No two 4 KiB blocks of the image are equal, nor is one equal to any of the runs before:
# storage that saves equal blocks once has nothing to save.
. "$(dirname "$0")/lib.sh"
need_loop
need_tools jq basenc sort uniq
test_begin

PART=$((16 * 1048576)) # of each host
loop_make $((2 * PART)) --sizelimit $PART
IMAGE=$LOOP_FILE
devices=("$LOOP")
devices+=("$(losetup -f --show --offset $PART --sizelimit $PART "$IMAGE")") || skip "losetup gives no loop device"
note loop "${devices[1]}" "$IMAGE"
local_workers 2 "${devices[@]}"

# equal_blocks FILE...: how many 4 KiB blocks of all these files are equal to another one. A line is a block in hex.
equal_blocks() {
	cat "$@" | basenc --base16 -w 8192 | sort -S 128M -T "$T" | uniq -D | wc -l
}

for kind in "randwrite 4k" "write 4k" "randwrite 64k" "write 64k" "write 64k"; do
	read -r rw bs <<<"$kind"
	run=$((${run:-0} + 1))
	cat >"$T/blocks.yaml" <<-YAML
		name: blocks
		hosts: [$LOCAL_HOSTS]
		targets:
		  image:
		    device: ${devices[0]}
		    destroy: true
		    share: partition
		    per_host: {"${LOCAL[2]}": {device: "${devices[1]}"}}
		jobs: [{name: fill, target: image, rw: $rw, bs: $bs, iodepth: 8, numjobs: 4}]
	YAML
	fair_scheduling
	salvo_run 60 run "$T/blocks.yaml" --insecure --output "$T/run$run" --quiet
	expect_rc 0 "$rw of $bs"
	expect_eq "bytes written by $rw of $bs" \
		"$(json "$T/run$run/result.json" '.results[0].groups[0].write.bytes')" $((2 * PART))
	cp "$IMAGE" "$T/image$run"
	expect_eq "equal blocks after $rw of $bs" "$(equal_blocks "$T/image$run")" 0
done
expect_eq "blocks that are equal to one of another run" "$(equal_blocks "$T"/image?)" 0
echo "no two of $((run * 2 * PART / 4096)) blocks of $run runs are equal"

# The counting itself: an image twice is found.
expect_eq "equal blocks of two times the same" "$(equal_blocks "$T/image1" "$T/image1")" $((2 * 2 * PART / 4096))
