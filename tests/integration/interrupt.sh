#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ctrl-C once: all is stopped, drained and reported as partial, exit 130. Twice: the program leaves at once.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

cat >"$T/s.yaml" <<YAML
name: interrupt
interval: 200ms
targets: {sim: {simulated: {size: 1M, latency: 100us}}}
jobs: [{name: r, target: sim, rw: randread, bs: 4k, time_based: true, runtime: 60s}]
YAML

# A background job of a script ignores SIGINT unless it is put right.
start() {
	env --default-signal=INT "$SALVO" run "$T/s.yaml" --output "$1" >"$T/out" 2>"$T/err" </dev/null &
	PID=$!
	note pid "$PID" "$("$LIB_DIR/undo.sh" --born "$PID")"
	wait_for 20 samples_kept "$1" 2 || fail "no sample arrives"
}

start "$T/one"
kill -INT "$PID"
wait_for 10 gone "$PID" || fail "SIGINT does not end the run"
wait "$PID"
RC=$?
expect_rc 130 "salvo after SIGINT"
R=$T/one/result.json
expect_eq "status" "$(json "$R" .run.status)" partial
expect_eq "exit status in the result" "$(json "$R" .run.exit_status)" 130
expect "I/Os kept" "$(json "$R" '.results[0].groups[0].read.ios') > 0"
expect_text "$T/out" "[Pp]artial|PARTIAL" "the report"
[ -s "$T/one/report.txt" ] || fail "no report.txt"

start "$T/two"
kill -INT "$PID"
kill -INT "$PID"
wait_for 5 gone "$PID" || fail "a second SIGINT does not end it"
wait "$PID"
RC=$?
expect_rc 130 "salvo after two SIGINTs"
