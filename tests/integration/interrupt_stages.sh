#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ctrl-C once and twice in every stage of a run over a worker: connecting, laying files out, armed, running, draining a
# device that hangs, reporting. Exit 130; what was measured is a readable partial result; the worker is free at once.
. "$(dirname "$0")/lib.sh"
need_nbd
need_tools jq mkfs.ext4
test_begin

PORT=$((20000 + $$ % 10000))
nbd_loop disk memory 32M
nbd_loop slow --filter=rate memory 192M rate-file="$T/rate"
mkfs.ext4 -q -F "${NBD_LOOP[slow]}" || skip "no ext4 here"
mkdir "$T/fs"
mount "${NBD_LOOP[slow]}" "$T/fs" || skip "cannot mount ext4"
note mount "$T/fs"
keys_make 127.0.0.1
worker_config 127.0.0.1 "tcp://127.0.0.1:$PORT" "${NBD_LOOP[disk]}" "$T/fs/*"
worker_start 127.0.0.1
wait_listening 127.0.0.1

# scenario FILE TARGET JOB
scenario() {
	cat >"$T/$1.yaml" <<-YAML
		name: stages
		hosts: "127.0.0.1:$PORT"
		interval: 100ms
		fleet: {lease: 3s, grace: 2s}
		targets: {t: {$2}}
		jobs: [{name: j, target: t, rw: randwrite, bs: 4k, $3}]
	YAML
}
DISK="device: ${NBD_LOOP[disk]}, destroy: true, share: shared"
scenario long "$DISK" "time_based: true, runtime: 60s"
scenario short "$DISK" "time_based: true, runtime: 300ms"
scenario wait "$DISK" "time_based: true, runtime: 1s, iodepth: 4"
for i in 1 2; do
	scenario layout$i "file: $T/fs/file$i, size: 64M" "time_based: true, runtime: 60s"
	sed -i 's/randwrite/randread/' "$T/layout$i.yaml"
done

# start NAME SCENARIO: a background job of a script ignores SIGINT unless it is put right.
start() {
	NAME=$1
	env --default-signal=INT "$SALVO" run "$T/$2.yaml" --keys "$T/keys" --output "$T/$1" >"$T/out" 2>"$T/err" </dev/null &
	PID=$!
	note pid "$PID" "$("$LIB_DIR/undo.sh" --born "$PID")"
}

ended_or_measured() {
	gone "$PID" || samples_kept "$T/$NAME" "$1"
}

# measure NAME SCENARIO N: starts it and waits for N samples; on a busy machine a start may come too late.
measure() {
	for _ in 1 2 3; do
		rm -rf "${T:?}/$1"
		start "$1" "$2"
		wait_for 20 ended_or_measured "$3"
		gone "$PID" || return 0
	done
	fail "$1: no sample arrives"
}

# stop TIMES SECONDS: that many SIGINTs, the end within the time, with status 130.
stop() {
	local i
	for ((i = 0; i < $1; i++)); do
		kill -INT "$PID" 2>/dev/null || [ "$i" -gt 0 ] || fail "$NAME: it has ended by itself"
		sleep 0.1 # or two of them count as one
	done
	wait_for "$2" gone "$PID" || fail "$NAME: SIGINT x $1 does not end the run"
	wait "$PID"
	RC=$?
	expect_rc 130 "$NAME: SIGINT x $1"
}

partial() {
	expect_eq "$NAME: status" "$(json "$T/$NAME/result.json" .run.status)" partial
	expect_eq "$NAME: exit status in the result" "$(json "$T/$NAME/result.json" .run.exit_status)" 130
	[ -s "$T/$NAME/report.txt" ] || fail "$NAME: no report.txt"
}

nothing_left() {
	[ ! -e "$T/$NAME" ] || fail "$NAME: a folder is left of a run that never began"
}

is_free() {
	salvo_run 20 hosts --hosts "127.0.0.1:$PORT" --keys "$T/keys"
	[ "$RC" -eq 0 ] && grep -q free "$T/out"
}

next_run() {
	rm -rf "$T/next"
	salvo_run 20 run "$T/short.yaml" --keys "$T/keys" --output "$T/next" --quiet
	[ "$RC" -eq 0 ] || grep -q "did not confirm the start in time" "$T/err" # the machine is busy
}

# free SECONDS: and the next run works.
free() {
	wait_for "$1" is_free || fail "$NAME: the worker is not free"
	next_run || fail "$NAME: the next run ends with $RC"
}

for times in 1 2; do
	# --- connecting, to a worker that does not answer
	pause_process "${WORKER_PID[127.0.0.1]}"
	start connecting$times long
	sleep 0.5
	stop $times 5
	nothing_left
	continue_process "${WORKER_PID[127.0.0.1]}"
	free 5

	# --- laying out
	note unlink "$T/rate"
	echo 64M >"$T/rate"
	start layout$times layout$times
	wait_for 20 test -s "$T/fs/file$times" || fail "no layout begins"
	stop $times 6
	nothing_left
	rm "$T/rate"
	free 8

	# --- armed: START is out, its instant half a second away
	start armed$times long
	wait_for 20 test -s "$T/armed$times/samples.msgpack" || fail "no START"
	stop $times 5
	partial
	free 5

	# --- running
	measure running$times long 3
	stop $times 5
	partial
	expect "I/Os kept" "$(json "$T/running$times/result.json" '.results[0].groups[0].write.ios') > 0"
	free 5

	# --- draining, on a device that hangs
	measure draining$times wait 2
	nbd_hang disk
	sleep 1.2 # the window is over
	stop $times 8
	partial
	expect "I/Os kept" "$(json "$T/draining$times/result.json" '.results[0].groups[0].write.ios') > 0"
	if [ $times = 1 ]; then
		expect_text "$T/err" "target 't' .${NBD_LOOP[disk]}. hangs" "the message"
		expect_eq "state of the host" "$(json "$T/draining1/result.json" '.hosts[0].state')" hung
	fi
	wait_for 8 is_free || fail "draining: the worker is not free"
	nbd_go_on disk
	wait_for 8 next_run || fail "draining: the device is refused for ever"

	# --- reporting: the files are kept, and nobody takes the report off the full pipe
	mkfifo "$T/fifo$times"
	exec 8<>"$T/fifo$times"
	dd if=/dev/zero of="$T/fifo$times" bs=64k count=1 oflag=nonblock status=none
	NAME=reporting$times
	env --default-signal=INT "$SALVO" run "$T/short.yaml" --keys "$T/keys" --output "$T/$NAME" >"$T/fifo$times" \
		2>"$T/err" </dev/null &
	PID=$!
	note pid "$PID" "$("$LIB_DIR/undo.sh" --born "$PID")"
	wait_for 20 test -s "$T/$NAME/report.txt" || fail "no report.txt"
	sleep 0.3
	kill -INT "$PID" || fail "reporting: it does not wait for its reader"
	wait_for 5 gone "$PID" || fail "reporting: SIGINT does not end it"
	wait "$PID"
	RC=$?
	expect_rc 130 reporting
	expect_eq "reporting: status" "$(json "$T/$NAME/result.json" .run.status)" complete
	exec 8>&-
	free 5
done
