#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Targets that break under a run or before it: a server that dies, a device that is detached, a file that is cut or
# deleted, file systems that are full or read-only, an I/O process that is killed. Each ends in time, with the status
# and the message that say what it was; nothing of it counts as success, and nothing is left behind.
. "$(dirname "$0")/lib.sh"
need_nbd
need_tools jq mkfs.ext4
test_begin

# scenario TARGET JOB
scenario() {
	cat >"$T/s.yaml" <<-YAML
		name: broken
		interval: 100ms
		fleet: {lease: 3s, grace: 2s}
		targets: {t: {$1}}
		jobs: [{name: j, target: t, bs: 4k, time_based: true, runtime: 2s, $2}]
	YAML
}

measured() {
	samples_kept "$1" 2
}

# The start is agreed, and half a second away.
armed() {
	[ -s "$1/samples.msgpack" ]
}

# run_and NAME STATUS COMMAND...: the command is executed when the run is $WHEN.
WHEN=measured
run_and() {
	NAME=$1
	local status=$2
	shift 2
	(cd "$WHERE" && exec "$SALVO" run "$T/s.yaml" --output "$T/$NAME") >"$T/out" 2>"$T/err" </dev/null &
	PID=$!
	note pid "$PID" "$("$LIB_DIR/undo.sh" --born "$PID")"
	wait_for 20 $WHEN "$T/$NAME" || fail "$NAME: the run does not begin"
	"$@"
	wait_for 20 gone "$PID" || fail "$NAME: the run does not end"
	wait "$PID"
	RC=$?
	R=$T/$NAME/result.json
	expect_rc "$status" "$NAME"
}
WHERE=$T/cwd

# names NAME ERRNO: the only errors of the run.
errors_are() {
	expect_eq "$NAME: errors" "$(json "$R" '[.results[0].groups[0].errors_by[].name] | unique | join(" ")')" "$1"
}

# --- the server of a device dies
nbd_loop dies memory 16M
scenario "device: ${NBD_LOOP[dies]}, destroy: true, share: shared" "rw: randwrite, iodepth: 4"
run_and server-dies 1 kill -KILL "${NBD_PID[dies]}"
expect "$NAME: I/Os before" "$(json "$R" '.results[0].groups[0].write.ios') > 0"
expect "$NAME: errors" "$(json "$R" '.results[0].groups[0].write.errors') > 0"

# --- a device is detached while it is in use: it goes when the run has let go of it
loop_make 16M
scenario "device: $LOOP, destroy: true, share: shared" "rw: randwrite, iodepth: 4"
run_and detached 0 losetup -d "$LOOP"
expect_near "$NAME: run time" "$(json "$R" '.results[0].groups[0].write.runtime_ns')" 2e9 1

# --- a file is cut, and one is deleted
scenario "file: cut.dat, size: 4M" "rw: randread, on_error: continue"
run_and cut 1 truncate -s 0 cut.dat
errors_are ENODATA
scenario "file: deleted.dat, size: 4M" "rw: randread"
run_and deleted 0 rm deleted.dat

# --- a full file system: before a file is laid out, and once it is
mkdir "$T/small"
mount -t tmpfs -o size=8M tmpfs "$T/small" || skip "no tmpfs here"
note mount "$T/small"
cd "$T/small" || exit 1
scenario "file: big.dat, size: 64M" "rw: randread, direct: false"
salvo_run 20 run "$T/s.yaml" --output "$T/layout-full"
expect_rc 3 "a layout on a full file system"
expect_text "$T/err" "target 't': .*big\.dat.*(its file system has only|No space left on device)" "the message"
[ ! -e "$T/layout-full" ] || fail "a folder is left of a run that never began"
expect_eq "what is left of the layout" "$(ls -A "$T/small")" ""
fill() {
	dd if=/dev/zero of="$T/small/fill" bs=1M status=none 2>/dev/null
}
scenario "file: held.dat, size: 6M" "rw: randwrite, direct: false"
WHERE=$T/small WHEN=armed
run_and filled-up 0 fill # the room for the file was taken before
expect "$NAME: I/Os" "$(json "$R" '.results[0].groups[0].write.ios') > 100"
rm -f "$T/small/held.dat" "$T/small/fill"

# --- a read-only one
mount -o remount,ro "$T/small" || fail "cannot remount"
scenario "file: new.dat, size: 1M" "rw: randwrite, direct: false"
salvo_run 20 run "$T/s.yaml" --output "$T/read-only"
expect_rc 3 "a read-only file system"
expect_text "$T/err" "target 't': .*new\.dat.*[Rr]ead-only file system" "the message"
cd "$T/cwd" || exit 1
WHERE=$T/cwd WHEN=measured

# --- the I/O process is killed
kill_io() {
	local worker io
	read -r worker _ <"/proc/$PID/task/$PID/children"
	read -r io _ <"/proc/$worker/task/$worker/children"
	kill -KILL "$io"
}
scenario "file: killed.dat, size: 4M" "rw: randread, iodepth: 4"
run_and killed 3 kill_io
expect_text "$T/err" "the I/O process was killed by signal 9" "the message"
expect_eq "$NAME: state of the host" "$(json "$R" '.hosts[0].state')" lost
expect "$NAME: I/Os before" "$(json "$R" '.results[0].groups[0].read.ios') > 0"
