#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Three hosts in network namespaces, CURVE on, a block device each: random reads, then random writes, both with a
# ramp. The group is the sum of its hosts, and ramp + window + drain is what the devices themselves counted.
. "$(dirname "$0")/lib.sh"
need_loop
need_netns
need_tools jq
test_begin

HOSTS=3

# One `salvo run` over DEVICES[1..3].
scenario() {
	local i
	echo "name: fleet"
	echo "hosts: \"10.98.0.[1-$HOSTS]\""
	echo "interval: 500ms"
	echo "targets:"
	echo "  disk:"
	echo "    device: ${DEVICES[1]}"
	echo "    destroy: true"
	echo "    share: partition"
	echo "    per_host:"
	for ((i = 2; i <= HOSTS; i++)); do
		echo "      ${HOST_IP[i]}: {device: ${DEVICES[i]}}"
	done
	cat <<-YAML
		defaults: {target: disk, bs: 4k, iodepth: 16, numjobs: 2, time_based: true, runtime: 2s, ramp_time: 1s}
		phases:
		  - name: read
		    jobs: [{name: read, rw: randread}]
		  - name: write
		    jobs: [{name: write, rw: randwrite}]
	YAML
}

# The group's counters are the sums of its hosts', field by field.
check_sums() {
	local step dir field got want
	for step in 0 1; do
		dir=$([ $step = 0 ] && echo read || echo write)
		for field in .ios .bytes .errors .lat_ns.n .ramp.ios .ramp.bytes .drain.ios .drain.bytes; do
			got=$(json "$RESULT" ".results[$step].groups[0].$dir$field")
			want=$(json "$RESULT" "[.results[$step].groups[0].hosts[].$dir$field] | add")
			expect_eq "$dir$field of the group" "$got" "$want"
		done
		expect_eq "hosts in the group" "$(json "$RESULT" ".results[$step].groups[0].hosts | length")" $HOSTS
		expect_eq "threads" "$(json "$RESULT" ".results[$step].groups[0].threads")" $((2 * HOSTS))
		expect "$dir I/Os" "$(json "$RESULT" ".results[$step].groups[0].$dir.ios") > 100"
		expect_eq "errors" "$(json "$RESULT" ".results[$step].groups[0].$dir.errors")" 0
		got=$(json "$RESULT" "[.results[$step].groups[0].$dir.lat_ns.histogram[][2]] | add")
		want=$(json "$RESULT" ".results[$step].groups[0].$dir | .ios + .drain.ios")
		expect_eq "$dir latencies in the histogram" "$got" "$want"
		expect_near "$dir IOPS against the sum of the hosts'" \
			"$(json "$RESULT" ".results[$step].groups[0].$dir.iops")" \
			"$(json "$RESULT" "[.results[$step].groups[0].hosts[].$dir.iops] | add")" 1
	done
}

# What the run says it did against the device's own counters: in the run (devices[]) and from outside.
check_devices() {
	local i step dir ios bytes r rm rb w wm wb before after
	for ((i = 1; i <= HOSTS; i++)); do
		for step in 0 1; do
			dir=$([ $step = 0 ] && echo read || echo write)
			bytes=$(json "$RESULT" ".results[$step].groups[0].hosts[] | select(.name == \"${HOST_IP[i]}\") |
				.$dir | .ramp.bytes + .bytes + .drain.bytes")
			expect_eq "$dir bytes of ${HOST_IP[i]} in devices[]" "$bytes" \
				"$(json "$RESULT" ".results[$step].devices[] | select(.host == \"${HOST_IP[i]}\") | .${dir}_bytes")"
		done
		read -ra before <<<"${BEFORE[i]}"
		read -ra after <<<"$(stat_of "${DEVICES[i]}")"
		r=$((after[0] - before[0])) rm=$((after[1] - before[1])) rb=$((after[2] - before[2]))
		w=$((after[3] - before[3])) wm=$((after[4] - before[4])) wb=$((after[5] - before[5]))
		expect_eq "bytes written to ${DEVICES[i]} in all" "$wb" "$bytes"
		ios=$(json "$RESULT" ".results[1].groups[0].hosts[] | select(.name == \"${HOST_IP[i]}\") |
			.write | .ramp.ios + .ios + .drain.ios")
		expect_eq "writes to ${DEVICES[i]}, merged ones ($wm) included" "$((w + wm))" "$ios"
		# Looking at the device before the run reads a little of it as well.
		bytes=$(json "$RESULT" ".results[0].groups[0].hosts[] | select(.name == \"${HOST_IP[i]}\") |
			.read | .ramp.bytes + .bytes + .drain.bytes")
		expect "bytes read from ${DEVICES[i]}: $rb in all, $bytes by the job ($r reads, $rm merged)" \
			"$rb >= $bytes && $rb - $bytes <= 16 * 1048576"
	done
}

run_on() {
	local kind=$1 i
	BEFORE=()
	scenario >"$T/$kind.yaml"
	for ((i = 1; i <= HOSTS; i++)); do
		BEFORE[i]=$(stat_of "${DEVICES[i]}")
	done
	salvo_run 60 run "$T/$kind.yaml" --keys "$T/keys" --output "$T/$kind" --quiet
	expect_rc 0 "salvo run on $kind"
	RESULT=$T/$kind/result.json
	expect_eq "status" "$(json "$RESULT" .run.status)" complete
	check_sums
	check_devices
	littles_law "$RESULT" 16
	expect_text "$T/out" "IOPS" "the report"
	for ((i = 1; i <= HOSTS; i++)); do
		expect_text "$T/out" "${HOST_IP[i]}" "the table of hosts"
	done
	expect "start skew" "$(json "$RESULT" ".results[0].start.spread_ns") < 1e9"
	echo "$kind: read $(json "$RESULT" .results[0].groups[0].read.iops) IOPS," \
		"write $(json "$RESULT" .results[1].groups[0].write.iops) IOPS," \
		"start spread $(json "$RESULT" .results[0].start.spread_ns) ns"
}

DEVICES=()
for ((i = 1; i <= HOSTS; i++)); do
	loop_make 256M
	DEVICES[i]=$LOOP
	FLEET_DEVICES[i]="/dev/*"
done
fleet_make $HOSTS
run_on loop

if [ -e /sys/class/zram-control/hot_add ]; then
	for ((i = 1; i <= HOSTS; i++)); do
		zram_make 128M
		DEVICES[i]=$ZRAM
	done
	run_on zram
else
	echo "no zram here: the second run is left out"
fi
