#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Jobs with a rate. It is kept, by the device's count. And when the device stops for a second, the report says what users
# would have waited: each I/O counts from the instant at which it was due, those that became due meanwhile as well.
. "$(dirname "$0")/lib.sh"
need_nbd
need_tools jq
test_begin
nbd_loop stalls memory 16M
loop_make 64M
DEV=$LOOP

# run_job NAME DEVICE KEYS
run_job() {
	cat >"$T/$1.yaml" <<-YAML
		name: rates
		targets: {t: {device: $2, destroy: true, share: shared}}
		jobs: [{name: j, target: t, time_based: true, $3}]
	YAML
	salvo_run 60 run "$T/$1.yaml" --output "$T/$1" --quiet
	expect_rc 0 "$1"
}

# result NAME FILTER
result() {
	json "$T/$1/result.json" ".results[0].groups[0].$2"
}

# due NAME DIRECTION: what was due in the window and came to be submitted in it, or not.
due() {
	jq ".results[0].groups[0].$2 | .ios + .drain.ios + (.unissued.ios // 0)" "$T/$1/result.json"
}

# near WHAT VALUE WANTED PERCENT
near() {
	awk -v got="$2" -v want="$3" -v percent="$4" \
		'BEGIN { d = got - want; exit (d < 0 ? -d : d) > want * percent / 100 }' ||
		fail "$1: $2 is not within $4 % of $3"
}

# --- rates are kept ---

before=$(stat_of "$DEV")
run_job threads "$DEV" "rw: randread, rate_iops: 100, numjobs: 4, iodepth: 4, runtime: 2s, invalidate: false"
after=$(stat_of "$DEV")
expect_eq "four threads of 100 per second in 2 s" "$(due threads read)" 800
# The safety checks read as well, a little.
reads=$((${after%% *} - ${before%% *}))
if [ "$reads" -lt 790 ] || [ "$reads" -gt 900 ]; then
	fail "the device counted $reads reads and not about 800"
fi

run_job mixed "$DEV" "rw: randrw, rate_iops: '70,30', iodepth: 8, runtime: 3s"
expect_eq "reads at 70 per second in 3 s" "$(due mixed read)" 210
expect_eq "writes at 30 per second in 3 s" "$(due mixed write)" 90

run_job bytes "$DEV" "rw: randread, rate: 400k, bs: 4k, iodepth: 4, runtime: 2s"
expect_eq "400 KiB per second of 4 KiB in 2 s" "$(due bytes read)" 200

run_job poisson "$DEV" "rw: randread, rate_iops: 2000, rate_process: poisson, iodepth: 16, runtime: 2s"
near "poisson at 2000 per second in 2 s" "$(due poisson read)" 4000 5 # three deviations

# A rate that no device keeps: what could not be submitted is counted.
run_job much "$DEV" "rw: randread, rate_iops: 10M, iodepth: 4, runtime: 1s"
near "all that was due at 10 million per second" "$(due much read)" 10000000 1
expect_text "$T/out" "unissued=[0-9]+: due, but not submitted"
expect_text "$T/out" "the target is slower than the rate"

# --- a device that stops ---

RATE=250 RUN_MS=6000
stall() {
	sleep 2
	local from=$EPOCHREALTIME
	nbd_hang stalls
	sleep 1
	nbd_go_on stalls
	awk -v from="$from" -v to="$EPOCHREALTIME" 'BEGIN { printf "%d\n", (to - from) * 1000 }' >"$T/stalled"
}
stall &
STALL=$!
run_job stall "${NBD_LOOP[stalls]}" "rw: randread, rate_iops: $RATE, iodepth: 32, runtime: ${RUN_MS}ms"
wait $STALL
stalled=$(cat "$T/stalled")
expect_eq "due in 6 s" "$(due stall read)" $((RATE * RUN_MS / 1000))
# Each that became due in the stall waited for the rest of it; a tenth of all, and a hundredth, waited longest.
near "p90 in a stall of $stalled ms" "$(result stall 'read.lat_ns.percentiles["90"]')" \
	$(((stalled - RUN_MS / 10) * 1000000)) 6
near "p99 in a stall of $stalled ms" "$(result stall 'read.lat_ns.percentiles["99"]')" \
	$(((stalled - RUN_MS / 100) * 1000000)) 5
# Of itself the device was as quick as ever, but for the 32 that it had.
service=$(result stall 'read.service_ns.percentiles["90"]')
[ "$service" -lt 200000000 ] || fail "p90 of service is $service ns"
echo "rates are kept, and a stall of $stalled ms is seen"
