#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An end_fsync that writes back for longer than grace is at work: it is awaited, its time is run time, and a warning says
# so. One that stops writing hangs, and is called so.
. "$(dirname "$0")/lib.sh"
need_nbd
need_tools jq
test_begin

GRACE=2
nbd_loop disk --filter=rate memory 64M rate-file="$T/rate"
cat >"$T/s.yaml" <<YAML
name: slow-fsync
interval: 200ms
fleet: {grace: ${GRACE}s}
targets: {disk: {device: ${NBD_LOOP[disk]}, destroy: true}}
jobs:
  - {name: w, target: disk, rw: write, bs: 64k, engine: psync, direct: false, time_based: true, runtime: 1s, size: 32M,
     end_fsync: true}
YAML

start() {
	"$SALVO" run "$T/s.yaml" --output "$T/$1" >"$T/out" 2>"$T/err" </dev/null &
	PID=$!
	note pid "$PID" "$("$LIB_DIR/undo.sh" --born "$PID")"
}

# 4 MB/s: 32 MiB take some 8 s, in requests of a third of a second at most.
echo 32M >"$T/rate"
note unlink "$T/rate"
start slow
wait_for 60 gone "$PID" || fail "the run does not end"
wait "$PID"
RC=$?
expect_rc 0 "a run whose end_fsync is slow"
R=$T/slow/result.json
runtime=$(json "$R" '.results[0].groups[0].write.runtime_ns')
echo "the end_fsync ended $(calc "$runtime / 1e9 - 1") s after the window"
expect "run time with the end_fsync" "$runtime > (1 + 2 * $GRACE) * 1e9"
expect_eq "syncs" "$(json "$R" '.results[0].groups[0].sync.ios')" 1
expect_text "$T/out" "end_fsync ended .* after the window" "the warning"
expect_eq "unfinished I/Os" "$(json "$R" '.results[0].groups[0].total.unfinished.ios')" 0

start hangs
wait_for 20 samples_kept "$T/hangs" 5 || fail "no sample arrives"
sleep 1
nbd_hang disk
wait_for 30 gone "$PID" || fail "the run does not end"
wait "$PID"
RC=$?
expect_rc 3 "a run whose end_fsync hangs"
expect_text "$T/err" "target 'disk' .* hangs: .* fsync" "the message"
