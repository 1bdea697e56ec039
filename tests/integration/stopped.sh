#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The control process of a worker, its I/O process, or both are stopped (SIGSTOP) for twice the lease and then go on:
# by the kernel's tracepoints no I/O is submitted after the lease's end, not even what a thread was just about to
# submit. The coordinator calls the host lost; the worker is free afterwards.
. "$(dirname "$0")/lib.sh"
need_loop
need_netns
need_tools jq
test_begin
need_tracing

LEASE=2
loop_make 64M
netns_make 1
keys_make 10.98.0.1
worker_config 10.98.0.1 "tcp://10.98.0.1:$PORT" "$LOOP"
worker_start 10.98.0.1 "${HOST_NS[1]}"
wait_listening 10.98.0.1

# Many threads for few processors: some of them are always between a reading of the clock and a submission.
cat >"$T/s.yaml" <<YAML
name: stopped
hosts: 10.98.0.1
interval: 200ms
fleet: {lease: ${LEASE}s, grace: 1s}
targets: {disk: {device: $LOOP, share: shared}}
defaults: {bs: 4k, rw: randread, time_based: true, runtime: \${RUNTIME}}
jobs:
  - {name: uring, target: disk, iodepth: 8, numjobs: 4}
  - {name: psync, target: disk, engine: psync, numjobs: 8}
YAML

read_children() {
	read -r IO_PID _ <"/proc/${WORKER_PID[10.98.0.1]}/task/${WORKER_PID[10.98.0.1]}/children"
}

free_again() {
	salvo_run 20 hosts --hosts 10.98.0.1 --keys "$T/keys"
	[ "$RC" -eq 0 ] && grep -q free "$T/out"
}

# stopped NAME RUNTIME: the processes that $stop names.
stopped() {
	local name=$1 begun last late
	sed "s/\${RUNTIME}/$2/" "$T/s.yaml" >"$T/$name.yaml"
	nsenter --net="/run/netns/$COORD_NS" "$SALVO" run "$T/$name.yaml" --keys "$T/keys" --output "$T/$name" --quiet \
		>"$T/out" 2>"$T/err" </dev/null &
	PID=$!
	note pid "$PID" "$("$LIB_DIR/undo.sh" --born "$PID")"
	wait_for 20 samples_kept "$T/$name" 3 || fail "no sample arrives"
	read_children
	note pid "$IO_PID" "$("$LIB_DIR/undo.sh" --born "$IO_PID")"
	witness_start "$name" last "$LOOP"
	wait_for 10 grep -qm 1 "block_bio_queue:" "$TRACING/instances/salvo-$$-$name/trace" || fail "$name: no I/O is seen"
	case $name in
	control) pause_process "${WORKER_PID[10.98.0.1]}" ;;
	io) pause_process "$IO_PID" ;;
	both)
		pause_process "$IO_PID"
		pause_process "${WORKER_PID[10.98.0.1]}"
		;;
	esac
	begun=$(now_ms)
	wait_for $((LEASE + 8)) gone "$PID" || fail "$name: the coordinator waits for a worker that is stopped"
	wait "$PID"
	RC=$?
	expect_rc 3 "$name: the run whose worker was stopped"
	expect_text "$T/err" "10\.98\.0\.1" "$name: the message"
	expect_eq "$name: state of the host" "$(json "$T/$name/result.json" '.hosts[0].state')" lost
	expect "$name: I/Os kept" "$(json "$T/$name/result.json" '.results[0].groups[0].read.ios') > 100"
	wait_for $((2 * LEASE + 1)) passed $((begun + 2 * LEASE * 1000))
	kill -CONT "${WORKER_PID[10.98.0.1]}" "$IO_PID" 2>/dev/null
	wait_for 15 free_again || fail "$name: the worker is not free again"
	witness_stop "$name" >"$T/seen"
	read -r _ _ last _ <"$T/seen" || fail "$name: the kernel saw no I/O"
	late=$((last / 1000 - begun))
	echo "$name: the last I/O came $late ms after the stop"
	expect "$name: milliseconds from the stop to the last I/O" "$late <= $LEASE * 1000"
}

passed() {
	[ "$(now_ms)" -ge "$1" ]
}

stopped control 60s
stopped io 60s
stopped both 60s
