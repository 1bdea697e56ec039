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
		defaults: {target: disk, bs: 4k, iodepth: 16, numjobs: 2, time_based: true, runtime: 3s, ramp_time: 1s}
		phases:
		  - name: read
		    jobs: [{name: read, rw: randread}]
		  - name: write
		    jobs: [{name: write, rw: randwrite}]
	YAML
}

# The group's counters are the sums of its hosts', field by field; every latency is in the histogram.
check_sums() {
	local name got want
	while read -r name got want; do
		expect_eq "$name of the group" "$got" "$want"
	done < <(jq -r '.results | to_entries[] | (["read", "write"][.key]) as $dir | .value.groups[0] as $g |
		[$g.hosts[][$dir]] as $hosts | $g[$dir] as $d |
		([["ios"], ["bytes"], ["errors"], ["lat_ns", "n"], ["ramp", "ios"], ["ramp", "bytes"],
		  ["drain", "ios"], ["drain", "bytes"]][] as $field |
		 "\($dir).\($field | join(".")) \($d | getpath($field)) \([$hosts[] | getpath($field)] | add)"),
		"\($dir).histogram \([$d.lat_ns.histogram[][2]] | add) \($d.ios + $d.drain.ios)",
		"\($dir).errors \($d.errors) 0"' "$RESULT" || echo "json none some")
	while read -r name got want; do
		expect_near "$name against the sum of the hosts'" "$got" "$want" 1
	done < <(jq -r '.results | to_entries[] | (["read", "write"][.key]) as $dir | .value.groups[0] as $g |
		"\($dir).iops \($g[$dir].iops) \([$g.hosts[][$dir].iops] | add)"' "$RESULT" || echo "json 0 1")
	expect_eq "hosts and threads" "$(json "$RESULT" '[.results[].groups[0] | (.hosts | length), .threads] | join(" ")')" \
		"$HOSTS $((2 * HOSTS)) $HOSTS $((2 * HOSTS))"
}

# What the run says it did against the device's own counters: in the run (devices[]) and from outside.
check_devices() {
	local i host step dir ios bytes device before after
	local -A job_ios=() job_bytes=()
	while read -r step dir host ios bytes device; do
		expect_eq "$dir bytes of $host in devices[]" "$device" "$bytes"
		job_ios[$step.$host]=$ios
		job_bytes[$step.$host]=$bytes
	done < <(jq -r '.results | to_entries[] | .key as $step | (["read", "write"][$step]) as $dir | .value as $r |
		$r.groups[0].hosts[] | .name as $host | .[$dir] |
		"\($step) \($dir) \($host) \(.ramp.ios + .ios + .drain.ios) \(.ramp.bytes + .bytes + .drain.bytes) " +
		"\($r.devices[] | select(.host == $host) | .[$dir + "_bytes"])"' "$RESULT" || echo "0 json none 0 0 1")
	for ((i = 1; i <= HOSTS; i++)); do
		host=${HOST_IP[i]}
		read -ra before <<<"${BEFORE[i]}"
		read -ra after <<<"$(stat_of "${DEVICES[i]}")"
		expect_eq "bytes written to ${DEVICES[i]} in all" "$((after[5] - before[5]))" "${job_bytes[1.$host]}"
		expect_eq "writes to ${DEVICES[i]}, those that the kernel merged included" \
			"$((after[3] - before[3] + after[4] - before[4]))" "${job_ios[1.$host]}"
		# Looking at the device before the run reads a little of it as well.
		bytes=$((after[2] - before[2] - ${job_bytes[0.$host]}))
		expect "bytes read from ${DEVICES[i]} beside the job's" "$bytes >= 0 && $bytes <= 16 * 1048576"
	done
}

run_on() {
	local kind=$1 i
	BEFORE=()
	scenario >"$T/$kind.yaml"
	for ((i = 1; i <= HOSTS; i++)); do
		BEFORE[i]=$(stat_of "${DEVICES[i]}")
	done
	rm -rf "${T:?}/$kind"
	fair_scheduling
	salvo_run 60 run "$T/$kind.yaml" --keys "$T/keys" --output "$T/$kind" --quiet
	expect_rc 0 "salvo run on $kind"
	RESULT=$T/$kind/result.json
	expect_eq "status" "$(json "$RESULT" .run.status)" complete
	check_sums
	check_devices
	expect_text "$T/out" "IOPS" "the report"
	for ((i = 1; i <= HOSTS; i++)); do
		expect_text "$T/out" "${HOST_IP[i]}" "the table of hosts"
	done
	json "$RESULT" ".results[] | \"$kind \\(.phase): \\(.groups[0].total.iops | floor) IOPS,\" +
		\" first I/Os within \\(.start.spread_ns / 1000 | floor) us\""
}

run_until_calm() {
	local try
	for try in 1 2 3; do
		run_on "$1"
		littles_law "$RESULT" 16 && return
		echo "try $try of 3"
	done
	fail "Little's law does not hold on $1"
}

DEVICES=()
for ((i = 1; i <= HOSTS; i++)); do
	loop_make 256M
	DEVICES[i]=$LOOP
	FLEET_DEVICES[i]="/dev/*"
done
fleet_make $HOSTS
run_until_calm loop

if [ -e /sys/class/zram-control/hot_add ]; then
	for ((i = 1; i <= HOSTS; i++)); do
		zram_make 128M
		DEVICES[i]=$ZRAM
	done
	run_until_calm zram
else
	echo "no zram here: the second run is left out"
fi
