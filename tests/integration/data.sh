#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is written: zeros, a pattern, data of a given compressibility by the measure of real compressors, and blocks
# that are all different or all alike.
. "$(dirname "$0")/lib.sh"
need_loop
need_tools jq gzip zstd basenc cmp
test_begin

SIZE=$((16 * 1048576))
loop_make $SIZE

# write_with NAME KEYS: fills the device; a pass of every block.
write_with() {
	cat >"$T/$1.yaml" <<-YAML
		name: data
		targets: {t: {device: $LOOP, destroy: true}}
		jobs: [{name: j, target: t, iodepth: 8, $2}]
	YAML
	salvo_run 60 run "$T/$1.yaml" --output "$T/$1" --quiet
	expect_rc 0 "$1: $(cat "$T/err")"
	expect_eq "bytes of $1" "$(json "$T/$1/result.json" '.results[0].groups[0].write.bytes')" $SIZE
}

# different BYTES: how many blocks of the image of that size are different.
different() {
	basenc --base16 -w $((2 * $1)) "$LOOP_FILE" | sort -u -S 64M -T "$T" | wc -l
}

# compressed PROGRAM...: its output in percent of the image.
compressed() {
	calc "100 * $("$@" <"$LOOP_FILE" | wc -c) / $SIZE"
}

write_with random "rw: randwrite, bs: 4k"
expect_eq "different blocks of random data" "$(different 4096)" $((SIZE / 4096))

write_with zeros "rw: write, bs: 64k, zero_buffers: true"
cmp -s -n $SIZE "$LOOP_FILE" /dev/zero || fail "zero_buffers wrote something else than zeros"

write_with pattern "rw: randwrite, bs: 4k, buffer_pattern: 0xdeadbeef"
expect_eq "words of the pattern" "$(basenc --base16 -w 8 "$LOOP_FILE" | sort -u -S 64M)" DEADBEEF
write_with text "rw: write, bs: 64k, buffer_pattern: salvo---"
expect_eq "lines of the text" "$(fold -w 8 "$LOOP_FILE" | sort -u -S 64M)" salvo---

# Compressors see what is given away, and the little that they cannot find: at most 4 % more.
for percent in 25 50 75; do
	left=$((100 - percent))
	for kind in "4k 512" "64k 4k"; do
		read -r bs chunk <<<"$kind"
		write_with "compress$percent$bs" "rw: randwrite, bs: $bs, buffer_compress_percentage: $percent,
			buffer_compress_chunk: $chunk"
		for program in "gzip -6" "zstd -q -3 --long=27 -c"; do
			# shellcheck disable=SC2086 # a program and its options
			share=$(compressed $program)
			echo "$percent % of $bs in chunks of $chunk: $program leaves $share %"
			expect "$program on $percent % of $bs" "$share > $left - 0.5 && $share < $left + 4"
		done
		expect_eq "different blocks of $percent %" "$(different 4096)" $((SIZE / 4096))
	done
done

# Equal parts a buffer apart compress when the window is long: only new bytes for every write do not.
write_with stamped "rw: write, bs: 64k"
expect "stamped buffers, over and over" "$(compressed zstd -q -3 --long=27 -c) < 20"
write_with refilled "rw: write, bs: 64k, refill_buffers: true"
expect "new bytes for every write, under zstd" "$(compressed zstd -q -3 --long=27 -c) > 99"
expect "new bytes for every write, under gzip" "$(compressed gzip -1) > 99"

write_with alike "rw: write, bs: 4k, scramble_buffers: false"
expect_eq "different blocks without stamps" "$(different 4096)" 8
