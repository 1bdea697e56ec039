#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a scenario says around its jobs: interleaved repeats with rests, checks that decide between exit 0 and 1,
# Ctrl-C in a rest, hosts from an inventory, and an observer that is lost while the run goes on.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

# --- order, pause, checks
cat >"$T/order.yaml" <<YAML
name: order
interval: 200ms
targets: {sim: {simulated: {size: 1M, latency: 1ms}}}
jobs: [{name: r, target: sim, rw: randread, time_based: true, runtime: 400ms, group: oltp}]
sweep: {bs: [4k, 8k]}
repeat: 2
order: interleaved
pause: 1s
checks: ["lat.p99 < 1s", "oltp:read.iops > 100", "errors == 0", "overlap >= 0"]
YAML
begun=$(now_ms)
salvo_run 60 run "$T/order.yaml" --output "$T/order"
expect_rc 0 "a run whose checks pass"
expect "three rests" "$(now_ms) - $begun >= 3000 + 4 * 400"
R=$T/order/result.json
expect_eq "order of the runs" "$(jq -c '[.results[] | "\(.point.bs) \(.repeat)"]' "$R")" \
	'["4k 1","8k 1","4k 2","8k 2"]'
expect_eq "checks passed" "$(jq '[.checks[] | select(.state == "passed")] | length' "$R")" 16

salvo_run 60 run "$T/order.yaml" --output "$T/failed" --set pause=0 --set 'checks=[lat.p50 < 1us, write.iops > 1]'
expect_rc 1 "a run of which a check fails"
expect_text "$T/err" "check 'lat\.p50 < 1us' failed at 4 of 4 steps, first at bs=4k, repeat 1: lat\.p50 is" "the message"
R=$T/failed/result.json
expect_eq "status" "$(json "$R" .run.status)" complete
expect_eq "exit status in the result" "$(json "$R" .run.exit_status)" 1
expect_eq "checks failed" "$(jq '[.checks[] | select(.state == "failed")] | length' "$R")" 4
expect_eq "checks skipped" "$(jq '[.checks[] | select(.state == "skipped")] | length' "$R")" 4

# --- Ctrl-C in a rest: it does not last to its end, and what was measured before is whole
env --default-signal=INT "$SALVO" run "$T/order.yaml" --output "$T/rest" --set pause=50s >"$T/out" 2>"$T/err" </dev/null &
pid=$!
note pid "$pid" "$("$LIB_DIR/undo.sh" --born "$pid")"
wait_for 20 samples_kept "$T/rest" 2 || fail "no sample arrives"
sleep 1.5 # the run of 400 ms is over by then, the rest is not
kill -INT "$pid"
wait_for 10 gone "$pid" || fail "SIGINT does not end a rest"
wait "$pid"
RC=$?
expect_rc 130 "salvo after SIGINT in a rest"
R=$T/rest/result.json
expect_eq "steps kept" "$(jq '.results | length' "$R")" 1
expect_eq "partial steps" "$(jq '[.results[] | select(.partial == true)] | length' "$R")" 0

# --- an inventory: two initiators and an observer
local_workers 3 "$T/*"
cat >"$T/lab.yaml" <<YAML
hosts:
  alpha: {address: "${LOCAL[1]}", labels: {rack: a}}
  beta: "${LOCAL[2]}"
  watcher: {address: "${LOCAL[3]}", role: observer}
groups: {pair: "alpha,beta"}
YAML
cat >"$T/fleet.yaml" <<YAML
name: fleet
interval: 200ms
targets:
  file:
    file: $T/shared.dat
    size: 1MiB
    per_host: {beta: {file: $T/other.dat}}
jobs:
  - {name: both, target: file, rw: randread, time_based: true, runtime: 1s, hosts: pair}
  - {name: one, target: file, rw: randread, time_based: true, runtime: 1s, hosts: alpha}
fleet: {lease: 2s}
YAML
salvo_run 20 hosts --inventory "$T/lab.yaml" --insecure
expect_rc 0 "salvo hosts"
expect_text "$T/out" "^watcher +observer .*free" "salvo hosts"
salvo_run 30 run "$T/fleet.yaml" --inventory "$T/lab.yaml" --insecure --output "$T/fleet"
expect_rc 0 "a run with an inventory"
R=$T/fleet/result.json
expect_eq "hosts" "$(jq -c '[.hosts[] | "\(.name) \(.role) \(.labels.rack)"]' "$R")" \
	'["alpha null a","beta null null","watcher observer null"]'
expect "clock of the observer" "$(json "$R" '.hosts[2].clock.error_ns') > 0"
expect "facts of the observer" "$(json "$R" '.hosts[2].environment | length') > 0"
expect_eq "threads" "$(json "$R" '.results[0].groups[0].threads')" 3
expect_eq "hosts that worked" "$(jq -c '[.results[0].groups[0].hosts[].name]' "$R")" '["alpha","beta"]'

salvo_run 20 run "$T/fleet.yaml" --inventory "$T/lab.yaml" --insecure --hosts alpha,bteta --output "$T/none"
expect_rc 2 "a misspelt host"
expect_text "$T/err" "did you mean 'beta'" "the message"

"$SALVO" run "$T/fleet.yaml" --inventory "$T/lab.yaml" --insecure --output "$T/lost" --set jobs[0].runtime=5s \
	>"$T/out" 2>"$T/err" </dev/null &
pid=$!
note pid "$pid" "$("$LIB_DIR/undo.sh" --born "$pid")"
wait_for 20 samples_kept "$T/lost" 2 || fail "no sample arrives"
kill -KILL "${WORKER_PID[local3]}"
wait_for 30 gone "$pid" || fail "the run does not end"
wait "$pid"
RC=$?
expect_rc 3 "a run that lost its observer"
expect_text "$T/err" "watcher.*lost" "the message"
R=$T/lost/result.json
expect_eq "status" "$(json "$R" .run.status)" complete
expect_eq "state of the observer" "$(json "$R" '.hosts[2].state')" lost
expect "nothing is missing" "$(json "$R" '.results[0].groups[0].runtime_ns') >= 5e9"
