#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# settle_hang.sh - between two repeats of a buffered write job the device stops answering, so that what was written
# cannot be written back: the user's Ctrl-C is heard all the same, and without it the run ends with the device's name
# after 30 seconds without progress.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_nbd
need_tools jq
test_begin

nbd_loop d memory 32M
cat >s.yaml <<EOF
name: settle
fleet: {grace: 2s}
targets: {d: {device: ${NBD_LOOP[d]}, destroy: true, share: partition}}
jobs: [{name: w, target: d, rw: write, bs: 64k, size: 8MiB, direct: false, engine: psync}]
repeat: 2
pause: 3s
EOF

# In the background, until the first repeat is done; sets PID.
start() {
	"$SALVO" run s.yaml --output "$1" >"$T/out" 2>"$T/err" </dev/null &
	PID=$!
	note pid "$PID" "$("$LIB_DIR/undo.sh" --born "$PID")"
	wait_for 20 samples_kept "$1" 1 || fail "the first repeat does not end"
	nbd_hang d
}

start interrupted
sleep 5 # the pause, and some of the wait
kill -INT "$PID"
before=$(now_ms)
wait "$PID"
RC=$?
expect_rc 130 "an interrupted wait"
expect "Ctrl-C was heard" "$(now_ms) - $before < 10000"
nbd_go_on d

# The I/O process of that run is still at the sync.
let_go() {
	! find /proc/[0-9]*/fd -lname "${NBD_LOOP[d]}" 2>/dev/null | grep -q .
}
wait_for 20 let_go || fail "the device is not let go"
start stalled
before=$(now_ms)
wait "$PID"
RC=$?
expect_rc 3 "a device that takes nothing"
expect "after the pause and the limit" "$(now_ms) - $before > 28000 && $(now_ms) - $before < 60000"
expect_text "$T/err" "host 'local': ${NBD_LOOP[d]}: waiting for it to be written back: no progress for 30 s"
expect_eq "the first repeat is kept" "$(jq '.results | length' stalled/result.json)" 1
nbd_go_on d
