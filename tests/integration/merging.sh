#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From many threads, jobs and hosts to one total: what adds up, what is the longest, and whose line is whose. Simulated
# targets take exactly as long as they say, so totals and times are known beforehand; on real devices the kernel counts.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

local_workers 8 "$T/*" /dev/loop*
ALL=".results[0].groups[0]"

# run NAME [ARGS...]: $T/NAME.yaml; R is its result.
run() {
	R=$T/result-$1/result.json
	rm -rf "$T/result-$1"
	fair_scheduling
	salvo_run 60 run "$T/$1.yaml" --insecure --output "$T/result-$1" --quiet "${@:2}"
	expect_rc 0 "$1"
}

# hosts FROM TO: a list for a scenario.
hosts() {
	local i list=''
	for ((i = $1; i <= $2; i++)); do list+="${list:+, }\"${LOCAL[i]}\""; done
	echo "[$list]"
}

# --- two hosts that write 100 MiB each: bytes, I/Os, and rates over the longest run time
cat >"$T/two.yaml" <<YAML
name: two
hosts: $(hosts 1 2)
targets:
  file: {file: $T/a.dat, size: 100MiB, share: shared, per_host: {"${LOCAL[2]}": {file: $T/b.dat}}}
jobs: [{name: w, target: file, rw: write, bs: 128k}]
YAML
run two
w=$ALL.write
expect_eq "I/Os of two hosts" "$(json "$R" "$w.ios")" 1600
expect_eq "bytes of two hosts" "$(json "$R" "$w.bytes")" 209715200
expect_eq "I/Os of each host" "$(json "$R" "[$ALL.hosts[].write.ios] | join(\" \")")" "800 800"
expect_near "IOPS against I/Os / run time" "$(json "$R" "$w.iops")" "$(json "$R" "$w.ios / ($w.runtime_ns / 1e9)")" 0.001
expect_near "bandwidth against bytes / run time" \
	"$(json "$R" "$w.bw_bytes")" "$(json "$R" "$w.bytes / ($w.runtime_ns / 1e9)")" 0.001
expect "the run time is the longest, not the sum" \
	"$(json "$R" "$w.runtime_ns") >= $(json "$R" "[$ALL.hosts[].write.runtime_ns] | max") &&
	 $(json "$R" "$w.runtime_ns") < $(json "$R" "[$ALL.hosts[].write.runtime_ns] | add")"
expect_text "$T/out" "write: IOPS=[0-9.]+, BW=[0-9.]+ [KMG]iB/s \([0-9.]+ [kMG]B/s\)" "the total with its units"

# --- two hosts with two jobs of 1000 I/Os: one total, a line for each host, each name once
cat >"$T/sections.yaml" <<YAML
name: sections
hosts: $(hosts 1 2)
targets: {s: {simulated: {size: 4000k, latency: 100us}}}
defaults: {target: s, rw: randread}
jobs: [{name: t1}, {name: t2}]
YAML
run sections
expect_eq "I/Os of both hosts and jobs" "$(json "$R" "$ALL.read.ios")" 4000
expect_eq "the total's name" "$(json "$R" "$ALL.name")" all
expect_eq "hosts" "$(json "$R" "[$ALL.hosts[] | \"\(.name)=\(.read.ios)\"] | join(\" \")")" \
	"${LOCAL[1]}=2000 ${LOCAL[2]}=2000"
expect_eq "jobs" "$(json "$R" "[$ALL.jobs[] | \"\(.name)=\(.read.ios)\"] | join(\" \")")" "t1=2000 t2=2000"
expect_eq "percentiles of the total" "$(json "$R" "$ALL.read.lat_ns.percentiles[\"99\"]")" 100000
expect_eq "lines of hosts in the report" "$(grep -cE "^ +127\.0\.0\.1:[0-9]+ +2 +[0-9]" "$T/out")" 2
expect_text "$T/out" "total=15\.6 MiB, ios=4000" "the total in the report"

# --- jobs that end one after the other: all bytes over the longest time, not the sum of rates
cat >"$T/ends.yaml" <<YAML
name: ends
hosts: $(hosts 1 1)
interval: 100ms
targets:
  a: {simulated: {size: 400k, latency: 11775200ns}}
  b: {simulated: {size: 400k, latency: 7510700ns}}
  c: {simulated: {size: 400k, latency: 7515000ns}}
  d: {simulated: {size: 400k, latency: 7739700ns}}
jobs:
  - {name: a, target: a, rw: write}
  - {name: b, target: b, rw: write}
  - {name: c, target: c, rw: write}
  - {name: d, target: d, rw: write}
YAML
run ends
expect_near "run time of the slowest in ms" "$(json "$R" "$w.runtime_ns / 1e6")" 1177.52 0.5
expect_near "IOPS over the longest run time" "$(json "$R" "$w.iops")" "$(calc 400/1.17752)" 0.5
expect_near "IOPS of each job, added up" \
	"$(json "$R" "[$ALL.jobs[].write.iops] | add")" "$(calc '100/1.17752 + 100/0.75107 + 100/0.7515 + 100/0.77397')" 0.5
expect_near "IOPS while all ran" "$(json "$R" "$w.common.iops")" "$(calc '1/0.0117752 + 1/0.0075107 + 1/0.007515 + 1/0.0077397')" 3
expect_text "$T/out" "^ *common" "the window in which all ran, beside the whole"

cat >"$T/longer.yaml" <<YAML
name: longer
hosts: $(hosts 1 1)
targets: {a: {simulated: {size: 2000k, latency: 1ms}}, b: {simulated: {size: 6000k, latency: 1ms}}}
defaults: {rw: write}
jobs: [{name: a, target: a}, {name: b, target: b}]
YAML
run longer
expect_near "KiB/s of 2000 I/Os in 1.5 s" "$(json "$R" "$w.bw_bytes / 1024")" "$(calc '2000 * 4 / 1.5')" 0.5
expect_near "KiB/s of the first job" "$(json "$R" "$ALL.jobs[0].write.bw_bytes / 1024")" 4000 0.5
expect_near "KiB/s of the second job" "$(json "$R" "$ALL.jobs[1].write.bw_bytes / 1024")" 4000 0.5

# --- what runs side by side adds up: 700 IOPS and 300 IOPS on two hosts
cat >"$T/adds.yaml" <<YAML
name: adds
hosts: $(hosts 1 2)
interval: 100ms
targets: {a: {simulated: {size: 1GiB, latency: 1428571ns}}, b: {simulated: {size: 1GiB, latency: 3333333ns}}}
defaults: {rw: randread, time_based: true, runtime: 1s}
jobs: [{name: a, target: a, hosts: ["${LOCAL[1]}"]}, {name: b, target: b, hosts: ["${LOCAL[2]}"]}]
YAML
run adds
expect_near "IOPS of both" "$(json "$R" "$ALL.read.iops")" 1000 0.5
expect_near "IOPS of both by interval" "$(json "$R" "$ALL.read.iops_samples.mean")" 1000 3

# --- four hosts with four threads of 100 IOPS each are 1600 IOPS
cat >"$T/four.yaml" <<YAML
name: four
hosts: $(hosts 1 4)
interval: 100ms
targets: {s: {simulated: {size: 1GiB, latency: 10ms}}}
jobs: [{name: r, target: s, rw: randread, numjobs: 4, time_based: true, ramp_time: 100ms, runtime: 1s}]
YAML
run four
expect_eq "I/Os of four hosts" "$(json "$R" "$ALL.read | \"\(.ios) \(.iops) \(.bw_bytes)\"")" "1600 1600 6553600"
expect_eq "I/Os of each host" "$(json "$R" "[$ALL.hosts[].read.ios | tostring] | join(\" \")")" "400 400 400 400"
expect_eq "intervals" "$(json "$R" "$ALL.read.iops_samples.n")" 10
expect_near "IOPS by interval" "$(json "$R" "$ALL.read.iops_samples.mean")" 1600 3

# --- eight hosts are eight lines and one total
cat >"$T/eight.yaml" <<YAML
name: eight
hosts: $(hosts 1 8)
targets: {s: {simulated: {size: 400k, latency: 1ms}}}
jobs: [{name: r, target: s, rw: randread}]
YAML
run eight
expect_eq "I/Os of eight hosts" "$(json "$R" "$ALL.read.ios")" 800
expect_eq "hosts in the result, each once" "$(json "$R" "[$ALL.hosts[].name] | unique | length")" 8
expect_eq "lines of hosts in the report" "$(grep -cE "^ +127\.0\.0\.1:[0-9]+ +1 +[0-9]" "$T/out")" 8

# --- what a worker counts arrives whole, from a process of this host and over the network
cat >"$T/fsync.yaml" <<YAML
name: fsync
targets: {file: {file: $T/fsync.dat, size: 1MiB, share: shared}}
phases:
  - {name: fsync, jobs: [{name: w, target: file, rw: write, bs: 4k, fsync: 32}]}
  - {name: fdatasync, jobs: [{name: w, target: file, rw: write, bs: 4k, size: 400k, fdatasync: 1, engine: psync}]}
YAML
for where in local remote; do
	rm -f "$T/fsync.dat"
	if [ $where = local ]; then
		sed "s|$T/||" "$T/fsync.yaml" >"$T/local.yaml" # below the current folder, as it must be
		run local
	else
		run fsync --hosts "${LOCAL[1]}"
	fi
	counted=$(json "$R" '[.results[].groups[0] | "\(.write.ios) writes \(.write.bytes) bytes \(.write.short_ios) short " +
		"\(.write.errors) errors \(.sync.ios) syncs \(.sync.lat_ns.n) latencies"] | join("; ")')
	expect_eq "counters, $where" "$counted" "256 writes 1048576 bytes 0 short 0 errors 8 syncs 8 latencies; \
100 writes 409600 bytes 0 short 0 errors 100 syncs 100 latencies"
done

# --- five hosts with ten threads each on a device of their own: the kernel's counters say the same
if [ "$(id -u)" -ne 0 ] || ! losetup -f >/dev/null 2>&1; then
	echo "no loop devices here: the kernel's counters are left out"
	exit 0
fi
for i in 1 2 3 4 5; do
	loop_make 32M
	DEVICES[i]=$LOOP
	BEFORE[i]=$(stat_of "$LOOP")
done
{
	echo "name: kernel"
	echo "hosts: $(hosts 1 5)"
	echo "targets: {disk: {device: ${DEVICES[1]}, destroy: true, share: partition, per_host: {"
	for i in 2 3 4 5; do echo "  \"${LOCAL[i]}\": {device: ${DEVICES[i]}},"; done
	echo "}}}"
	echo "jobs: [{name: m, target: disk, rw: randrw, bs: 4k, iodepth: 4, numjobs: 10}]"
} >"$T/kernel.yaml"
run kernel
expect_eq "threads" "$(json "$R" "$ALL.threads")" 50
expect_eq "I/Os in all" "$(json "$R" "$ALL.total.ios")" "$((5 * 32 * 256))"
for i in 1 2 3 4 5; do
	read -ra before <<<"${BEFORE[i]}"
	read -ra after <<<"$(stat_of "${DEVICES[i]}")"
	host="$ALL.hosts[$((i - 1))]"
	expect_eq "I/Os of host $i" "$(json "$R" "$host.total.ios")" $((32 * 256))
	expect_eq "writes to ${DEVICES[i]}, merged ones included, by the kernel" \
		"$((after[3] - before[3] + after[4] - before[4]))" "$(json "$R" "$host.write.ios")"
	expect_eq "bytes written to ${DEVICES[i]} by the kernel" \
		"$((after[5] - before[5]))" "$(json "$R" "$host.write.bytes")"
	# Looking at the device before the run reads a little of it as well.
	beside=$((after[2] - before[2] - $(json "$R" "$host.read.bytes")))
	expect "bytes read from ${DEVICES[i]} beside the job's" "$beside >= 0 && $beside <= 16 * 1048576"
done
expect_eq "devices, each once" "$(json "$R" '[.results[0].devices[] | .host + .target] | unique | length')" 5
expect_eq "devices" "$(json "$R" '.results[0].devices | length')" 5
