#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The coordinator of an embedded worker is killed: the worker stops its I/O in order, ends, and leaves nothing behind.
. "$(dirname "$0")/lib.sh"
need_loop
test_begin
loop_make 64M
export TMPDIR=$T/tmp
mkdir "$TMPDIR"

cat >"$T/s.yaml" <<YAML
name: killed
interval: 100ms
targets: {disk: {device: $LOOP, destroy: true}}
jobs: [{name: w, target: disk, rw: randwrite, bs: 4k, iodepth: 8, time_based: true, runtime: 60s}]
YAML

for i in 1 2 3; do # whether the worker hears of it once or several times is chance
	"$SALVO" run "$T/s.yaml" --output "$T/run$i" >"$T/out" 2>"$T/err" </dev/null &
	PID=$!
	note pid "$PID" "$("$LIB_DIR/undo.sh" --born "$PID")"
	wait_for 20 samples_kept "$T/run$i" 2 || fail "no sample arrives"
	read -r WORKER_OF_RUN _ <"/proc/$PID/task/$PID/children"
	note pid "$WORKER_OF_RUN" "$("$LIB_DIR/undo.sh" --born "$WORKER_OF_RUN")"
	kill -KILL "$PID"
	wait_for 10 gone "$WORKER_OF_RUN" || fail "the worker outlives its coordinator"
	refuse_text "$T/err" stuck "the worker's log"
	expect_eq "files left behind" "$(ls -A "$TMPDIR")" ""
	[ -s "$T/run$i/samples.msgpack" ] || fail "what was measured is gone"
done

# An I/O process that hangs does not keep the run's stdout and stderr open: what reads them from a pipe comes to its end.
sed -i 's/runtime: 60s/runtime: 1s/; $a fleet: {lease: 10s, grace: 1s}' "$T/s.yaml"
mkfifo "$T/pipe"
cat "$T/pipe" >"$T/piped" &
READER=$!
note pid "$READER" "$("$LIB_DIR/undo.sh" --born "$READER")"
"$SALVO" run "$T/s.yaml" --output "$T/hung" >"$T/pipe" 2>&1 </dev/null &
PID=$!
note pid "$PID" "$("$LIB_DIR/undo.sh" --born "$PID")"
wait_for 20 samples_kept "$T/hung" 1 || fail "no sample arrives"
read -r WORKER_OF_RUN _ <"/proc/$PID/task/$PID/children"
read -r IO_OF_RUN _ <"/proc/$WORKER_OF_RUN/task/$WORKER_OF_RUN/children"
note pid "$IO_OF_RUN" "$("$LIB_DIR/undo.sh" --born "$IO_OF_RUN")"
kill -STOP "$IO_OF_RUN"
wait_for 20 gone "$PID" || fail "the run does not end"
wait_for 2 gone "$READER" || fail "the pipe stays open"
kill -CONT "$IO_OF_RUN" || fail "the I/O process was not there any more"
wait "$PID"
RC=$?
expect_rc 3 "a run whose I/O process hangs"
expect_text "$T/piped" "hangs|grace" "the output"
wait_for 10 gone "$IO_OF_RUN" || fail "the I/O process stays"
