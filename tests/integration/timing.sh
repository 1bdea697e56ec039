#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ramps, windows, intervals and drains, on simulated targets that take exactly as long as they say: what is counted
# when, on which time base, and that nothing drifts. Then a device whose I/Os are slow, with the kernel as witness of
# when the last one was issued.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

# --- fifty threads on 200 intervals; meanwhile the rest
cat >"$T/many.yaml" <<YAML
name: many
interval: 100ms
targets: {s: {simulated: {size: 1GiB, latency: 10ms}}}
jobs: [{name: j, target: s, rw: randread, numjobs: 50, time_based: true, ramp_time: 1s, runtime: 20s}]
YAML
timeout -k 5 60 "$SALVO" run "$T/many.yaml" --output "$T/many" --quiet >"$T/many.out" 2>&1 </dev/null &
MANY=$!
note pid $MANY "$("$LIB_DIR/undo.sh" --born $MANY)"

# phase NAME LATENCY-OF-TARGET JOB-KEYS
phase() {
	echo "  - {name: $1, jobs: [{name: j, target: takes-$2, rw: randread, time_based: true, $3}]}"
}

{
	echo "name: timing"
	echo "interval: 100ms"
	echo "targets:"
	for latency in 10ms 500ms 700ms; do
		echo "  takes-$latency: {simulated: {size: 1GiB, latency: $latency}}"
	done
	echo "phases:"
	phase long-ramp 10ms "ramp_time: 2s, runtime: 1s"
	phase ramp 10ms "ramp_time: 1s, runtime: 2s"
	phase half 10ms "runtime: 500ms"
	phase slow 700ms "runtime: 2s, iodepth: 2"
	phase drain 500ms "runtime: 2200ms, iodepth: 32"
} >"$T/timing.yaml"
begun=$(now_ms)
fair_scheduling
salvo_run 60 run "$T/timing.yaml" --output "$T/timing" --quiet
took=$(($(now_ms) - begun))
expect_rc 0 "the phases"
R=$T/timing/result.json

# of PHASE FILTER: of the phase's reads.
of() {
	json "$R" ".results[] | select(.phase == \"$1\") | .groups[0].read | $2"
}

# A ramp that is longer than the run time: the ramp, then the whole run time. All phases with a ramp did start.
expect_eq "I/Os after a long ramp" "$(of long-ramp .ios)" 100
expect_eq "run time in ns" "$(of long-ramp .runtime_ns)" 1000000000
expect_near "I/Os in the ramp" "$(of long-ramp .ramp.ios)" 200 1
expect_eq "I/Os of 2 s" "$(of ramp .ios)" 200
expect_eq "run time of 2 s in ns" "$(of ramp .runtime_ns)" 2000000000
expect "milliseconds of all phases" "$took >= 3000 + 3000 + 500 + 2100 + 2500"

# Intervals are counted from the end of the ramp, and none is of the ramp.
expect_eq "begin and end of the intervals" "$(of long-ramp '.common | "\(.start_ns) \(.end_ns)"')" "2000000000 3000000000"
expect_eq "intervals after a long ramp" "$(of long-ramp .iops_samples.n)" 10
expect_eq "intervals of 2 s" "$(of ramp .iops_samples.n)" 20
expect_eq "median after a ramp" "$(of long-ramp '.lat_ns.percentiles["50"]')" 10000000

# Of 50 I/Os of 10 ms in 500 ms the last may end just in time or just not, as the first was submitted.
expect_eq "I/Os submitted in half a second" "$(of half .lat_ns.n)" 50
expect "I/Os completed in half a second" "$(of half .ios) >= 49"

# Intervals in which no I/O ends are not latencies of 0.
expect_eq "I/Os of 700 ms" "$(of slow .ios)" 4
expect_eq "latencies of 700 ms" "$(of slow '.lat_ns | "\(.n) \(.min) \(.mean) \(.max)"')" "6 700000000 700000000 700000000"
expect_eq "fewest IOPS of an interval" "$(of slow .iops_samples.min)" 0

# The run time ends the issue of I/O; what is in flight then is drained and listed.
expect_eq "I/Os in time" "$(of drain .ios)" 128
expect_eq "I/Os after it" "$(of drain .drain.ios)" 32
expect_eq "the longest of these in ns" "$(of drain .drain.lat_max_ns)" 500000000
expect_eq "latencies" "$(of drain .lat_ns.n)" 160
expect_eq "run time with a drain in ns" "$(of drain .runtime_ns)" 2200000000

# --- fifty threads are all there from the first interval on, and 200 intervals later nothing has drifted
wait $MANY
RC=$?
expect_rc 0 "the run of 50 threads"
R=$T/many/result.json
expect_eq "I/Os of 50 threads" "$(of main .ios)" $((50 * 2000))
# An interval is in only when every thread ran throughout it.
expect_eq "intervals with all threads" "$(of main .iops_samples.n)" 200
expect_eq "their length in ns" "$(of main .iops_samples.interval_ns)" 100000000
expect_eq "begin and end of the intervals" "$(of main '.common | "\(.start_ns) \(.end_ns)"')" "1000000000 21000000000"
expect_near "IOPS by interval" "$(of main .iops_samples.mean)" 5000 1

# --- slow I/Os on a device: 500 ms each, eight in flight, a run time of 2 s
need_nbd
need_tracing
nbd_loop slow memory 64M --filter=delay rdelay=500ms
cat >"$T/device.yaml" <<YAML
name: device
interval: 100ms
targets: {slow: {device: ${NBD_LOOP[slow]}}}
jobs: [{name: j, target: slow, rw: randread, iodepth: 8, time_based: true, runtime: 2s}]
YAML
fair_scheduling
witness_start slow last "${NBD_LOOP[slow]}"
salvo_run 60 run "$T/device.yaml" --output "$T/device" --quiet
witness_stop slow >"$T/seen"
expect_rc 0 "the run on a slow device"
R=$T/device/result.json
read -r _ first last count <"$T/seen"
echo "a run time of 2 s: the last of $count I/Os was issued $(((last - first) / 1000)) ms after the first"
expect "microseconds from the first I/O issued to the last" "$last - $first <= 2000000"
expect_eq "I/Os that were drained" "$(of main .drain.ios)" 8
expect "the longest of these in ns" "$(of main .drain.lat_max_ns) >= 500000000"
expect_eq "I/Os in time and drained, by the kernel" "$(of main '.ios + .drain.ios')" "$count"
expect_eq "run time on a slow device in ns" "$(of main .runtime_ns)" 2000000000
