#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A worker that is told to end in mid-run hands in its totals first; a coordinator that is stopped past its lease loses
# its worker, which is free for the next; a worker that cannot have its state folder or socket says so.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

PORT=$((20000 + $$ % 20000))
LEASE=2
keys_make 127.0.0.1
worker_config 127.0.0.1 "tcp://127.0.0.1:$PORT"
worker_start 127.0.0.1
wait_listening 127.0.0.1
W=${WORKER_PID[127.0.0.1]}

scenario() {
	cat >"$T/s.yaml" <<-YAML
		name: ends
		hosts: ["127.0.0.1:$PORT"]
		interval: 100ms
		fleet: {lease: ${LEASE}s, grace: 2s}
		targets: {sim: {simulated: {size: 1M, latency: 100us}}}
		jobs: [{name: r, target: sim, rw: randread, bs: 4k, iodepth: 4, time_based: true, runtime: $1}]
	YAML
}

start() {
	"$SALVO" run "$T/s.yaml" --keys "$T/keys" --output "$T/$1" >"$T/out" 2>"$T/err" </dev/null &
	PID=$!
	note pid "$PID" "$("$LIB_DIR/undo.sh" --born "$PID")"
	wait_for 20 samples_kept "$T/$1" 3 || fail "$1: no sample arrives"
}

# --- the coordinator is stopped for longer than the lease
scenario 60s
start stopped
pause_process "$PID"
is_free() {
	salvo_run 20 hosts --hosts "127.0.0.1:$PORT" --keys "$T/keys"
	[ "$RC" -eq 0 ] && grep -q free "$T/out"
}
wait_for $((LEASE + 8)) is_free || fail "the worker waits for a coordinator that is stopped"
scenario 200ms
salvo_run 20 run "$T/s.yaml" --keys "$T/keys" --output "$T/other" --quiet
expect_rc 0 "another coordinator meanwhile"
continue_process "$PID"
wait_for $((LEASE + 8)) gone "$PID" || fail "the coordinator goes on without its worker"
wait "$PID"
RC=$?
expect_rc 3 "a coordinator that was stopped"
expect_eq "status" "$(json "$T/stopped/result.json" .run.status)" partial

# --- the worker is told to end
scenario 60s
start told
kill -TERM "$W"
wait_for 10 gone "$PID" || fail "the coordinator goes on without its worker"
wait "$PID"
RC=$?
expect_rc 3 "the run whose worker was told to end"
expect_text "$T/err" "host '127\.0\.0\.1': the worker was told to end" "the message"
R=$T/told/result.json
expect_eq "status" "$(json "$R" .run.status)" partial
expect "I/Os kept" "$(json "$R" '.results[0].groups[0].read.ios') > 100"
# Totals of its own, not what could be read out of the memory of a process that was lost: its CPU time is known.
expect "CPU time of the part" "$(json "$R" '.results[0].groups[0].cpu.usr') >= 0"
expect_eq "unfinished I/Os" "$(json "$R" '.results[0].groups[0].read.unfinished.ios')" 0
wait_for 5 gone "$W" || fail "the worker does not end"
expect_text "$T/127.0.0.1/worker.log" "told to end by signal 15" "the log"

# --- no state folder, a full one, and a socket's path that is too long
refused() {
	timeout 10 "$WORKER" --config "$T/$1/worker.yaml" >"$T/out" 2>"$T/err" </dev/null
	RC=$?
	expect_rc 2 "a worker with $1"
	expect_text "$T/err" "^salvo-worker: error: .*$2" "a worker with $1"
	expect_eq "lines about $1" "$(wc -l <"$T/err")" 1
}
worker_config folder "ipc://$T/folder/socket"
touch "$T/folder/file"
sed -i "s|^state: .*|state: $T/folder/file/state|" "$T/folder/worker.yaml"
refused folder "$T/folder/file/state.*Not a directory"
long=$T/$(printf 'x%.0s' {1..120})
worker_config long "ipc://$long"
refused long "$long.*too long"
if [ "$(id -u)" -eq 0 ]; then
	worker_config full "ipc://$T/full/socket"
	mkdir -p "$T/full/state"
	mount -t tmpfs -o size=4k,nr_inodes=2 tmpfs "$T/full/state" || skip "no tmpfs here"
	note mount "$T/full/state"
	dd if=/dev/zero of="$T/full/state/fill" bs=4k status=none 2>/dev/null
	refused full "$T/full/state.*No space left on device"
fi
