#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A device that hangs (its file lies on a file system that is frozen in mid-run), once with io_uring and once with a
# thread that the kernel cannot let go: the run ends after its time plus grace, says which device and since when,
# keeps what was measured; the other target and the next runs go on, the stuck one is refused, by any of its names and
# after a restart of the worker too, until its I/O has come back.
. "$(dirname "$0")/lib.sh"
need_loop
need_tools jq mkfs.ext4 fsfreeze
test_begin

RUNTIME=2 GRACE=2

# A loop device over a file in a file system of its own, which can be frozen.
loop_make 100M
mkfs.ext4 -q -F "$LOOP" || skip "no ext4 here"
mkdir "$T/fs"
mount "$LOOP" "$T/fs" || skip "cannot mount ext4"
note mount "$T/fs"
dd if=/dev/zero of="$T/fs/disk" bs=1M count=32 status=none
BAD=$(losetup -f --show --direct-io=on "$T/fs/disk") || skip "losetup gives no loop device"
note loop "$BAD" "$T/fs/disk"
ln -s "$BAD" "$T/alias"
dd if=/dev/urandom of="$T/good" bs=1M count=4 status=none

keys_make 127.0.0.1
PORT=$((20000 + $$ % 10000))
worker_config 127.0.0.1 "tcp://127.0.0.1:$PORT" "$BAD" "$T/*"
worker_start 127.0.0.1
wait_listening 127.0.0.1

# scenario ENGINE DEVICE: $T/both.yaml on both targets, $T/good.yaml and $T/bad.yaml on one.
scenario() {
	local which
	for which in both good bad; do
		{
			echo "name: hang"
			echo "hosts: \"127.0.0.1:$PORT\""
			echo "interval: 200ms"
			echo "fleet: {grace: ${GRACE}s}"
			echo "targets:"
			[ $which = good ] || echo "  bad: {device: $2, destroy: true, share: shared}"
			[ $which = bad ] || echo "  good: {file: $T/good, size: 4M, share: shared}"
			echo "defaults: {bs: 4k, time_based: true, runtime: ${RUNTIME}s}"
			echo "jobs:"
			[ $which = good ] || echo "  - {name: w, target: bad, rw: randwrite, iodepth: 4, engine: $1}"
			[ $which = bad ] || echo "  - {name: r, target: good, rw: randread, direct: false}"
		} >"$T/$which.yaml"
	done
}

run() {
	salvo_run 60 run "$T/$1.yaml" --keys "$T/keys" --output "$T/$2" --quiet
}

thaw() {
	fsfreeze -u "$T/fs" || fail "cannot thaw"
}

come_back() {
	run bad "back$((++tries))"
	[ "$RC" -eq 0 ]
}

tries=0
for engine in io_uring psync; do
	scenario $engine "$BAD"
	begun=$(now_ms)
	in_ns '' timeout 60 "$SALVO" run "$T/both.yaml" --keys "$T/keys" --output "$T/$engine" --quiet \
		>"$T/out" 2>"$T/err" </dev/null &
	pid=$!
	note pid "$pid" "$("$LIB_DIR/undo.sh" --born "$pid")"
	wait_for 20 samples_kept "$T/$engine" 3 || fail "no sample arrives"
	note frozen "$T/fs"
	fsfreeze -f "$T/fs" || skip "cannot freeze ext4"
	wait "$pid"
	RC=$?
	took=$(($(now_ms) - begun))
	echo "$engine: the run on a hung device ended after $took ms"
	expect_rc 3 "the run on a device that hangs ($engine)"
	expect "it ends at its time plus grace" "$took < (1 + $RUNTIME + $GRACE + 4) * 1000"
	expect_text "$T/err" "target 'bad' .$BAD. hangs" "the message"
	R=$T/$engine/result.json
	expect_eq "state of the host" "$(json "$R" '.hosts[0].state')" hung
	expect "I/Os that never came back" "$(json "$R" '.results[0].groups[0].write.unfinished.ios') > 0"
	expect "their age" "$(json "$R" '.results[0].groups[0].write.unfinished.age_ns') > $GRACE * 1e9"
	expect "I/Os on the other target" "$(json "$R" '.results[0].groups[0].read.ios') > 1000"
	expect_near "run time of the reads in s" "$(json "$R" '.results[0].groups[0].read.runtime_ns') / 1e9" $RUNTIME 2

	run bad "refused-$engine"
	expect_rc 3 "a stuck target"
	expect_text "$T/err" "is stuck since" "the refusal"
	scenario $engine "$T/alias"
	run bad "alias-$engine"
	expect_rc 3 "a stuck target by another name"
	expect_text "$T/err" "is stuck since" "the refusal"
	scenario $engine "$BAD"
	run good "good-$engine"
	expect_rc 0 "the other target"

	if [ $engine = io_uring ]; then # once is enough
		kill -KILL "${WORKER_PID[127.0.0.1]}"
		wait_for 5 gone "${WORKER_PID[127.0.0.1]}" || fail "the worker does not die"
		worker_start 127.0.0.1
		wait_listening 127.0.0.1
		run bad "restarted"
		expect_rc 3 "a stuck target after a restart"
		expect_text "$T/err" "is stuck since" "the refusal"
	fi
	thaw
	wait_for 10 come_back || fail "the target is refused for ever after its I/O came back"
done
[ ! -e "$T/127.0.0.1/state/stuck.d" ] || fail "records of stuck targets are left:" "$T"/127.0.0.1/state/stuck.d/*
