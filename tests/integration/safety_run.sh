#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What must never be written to is refused through the whole way, from `salvo run` to the worker and back: each
# with its own message, exit 3 (a target without `destroy`: 2), and not one byte changed. All hosts are asked before any
# host writes.
. "$(dirname "$0")/lib.sh"
need_loop
need_netns
need_tools jq mkfs.ext4 mkswap sfdisk partx perl mount swapon setsid
test_begin

mkdir "$T/files"
for i in 1 2; do
	FLEET_DEVICES[i]="/dev/loop*"
done
fleet_make 2
for i in 1 2; do # files may be used as well; files of this test only
	kill "${WORKER_PID[${HOST_IP[i]}]}"
	wait_for 10 gone "${WORKER_PID[${HOST_IP[i]}]}" || fail "a worker does not end on SIGTERM"
	worker_config "${HOST_IP[i]}" "tcp://${HOST_IP[i]}:$PORT" "/dev/loop*" "$T/files/*"
	worker_start "${HOST_IP[i]}" "${HOST_NS[i]}"
done
wait_listening "${HOST_IP[1]}" "${HOST_IP[2]}"

scenario() {
	cat <<-YAML
		name: safety
		hosts: ["${3:-10.98.0.1}"]
		targets: {t: {$1}}
		jobs: [{name: w, target: t, rw: ${2:-randwrite}, bs: 4k, iodepth: 4, time_based: true, runtime: 200ms}]
	YAML
}

# refused WHAT TARGET PATTERN FILE [RC]: the bytes of FILE stay as they are.
refused() {
	local what=$1 target=$2 pattern=$3 file=$4 rc=${5:-3} before
	nr=$((${nr:-0} + 1))
	scenario "$target" >"$T/s.yaml"
	before=$(sha256sum <"$file")
	salvo_run 30 run "$T/s.yaml" --keys "$T/keys" --output "$T/r$nr" --quiet
	expect_rc "$rc" "writing to $what"
	expect_text "$T/err" "error: .*($pattern)" "the refusal of $what"
	expect_eq "bytes of $what" "$(sha256sum <"$file")" "$before"
	grep -m1 'error:' "$T/err" | sed 's/loop[0-9]*/loopN/g; s/salvo-test\.[A-Za-z0-9]*//g' >>"$T/messages"
}

# on_hold COMMAND...: a process in the background that ends with the test.
on_hold() {
	setsid "$@" >/dev/null 2>&1 </dev/null &
	HOLDER=$!
	note pid "$HOLDER" "$("$LIB_DIR/undo.sh" --born "$HOLDER")"
	disown "$HOLDER"
}

opened() {
	find "/proc/$1/fd" -lname "$2" | grep -q .
}

let_go() {
	kill -KILL "$HOLDER"
	wait_for 5 gone "$HOLDER"
}

# --- plain
loop_make 64M
clean=$LOOP clean_file=$LOOP_FILE
refused "a target without destroy" "device: $clean" "destroy" "$clean_file" 2

# --- mounted: the device, through a link, its parent
loop_make 64M
mkfs.ext4 -q "$LOOP"
mkdir "$T/mnt"
mount -o ro "$LOOP" "$T/mnt"
note mount "$T/mnt"
refused "a mounted device" "device: $LOOP, destroy: force" "mounted" "$LOOP_FILE"
ln -s "$LOOP" /dev/loop-salvo-test-$$
note unlink /dev/loop-salvo-test-$$
refused "a mounted device through a link" "device: /dev/loop-salvo-test-$$, destroy: force" "mounted" "$LOOP_FILE"
umount "$T/mnt"

loop_make 64M
printf 'label: gpt\nstart=2048, size=60000\n' | sfdisk -q "$LOOP_FILE" >/dev/null 2>&1
if partx -a "$LOOP" 2>/dev/null && wait_for 5 test -b "${LOOP}p1"; then
	mkfs.ext4 -q "${LOOP}p1"
	mount -o ro "${LOOP}p1" "$T/mnt"
	refused "the parent of a mounted partition" "device: $LOOP, destroy: force" "mounted|${LOOP}p1" "$LOOP_FILE"
	umount "$T/mnt"
	partx -d "$LOOP"
else
	echo "no partitions on loop devices here: that case is left out"
fi

# --- swap
loop_make 64M
mkswap "$LOOP" >/dev/null
if swapon "$LOOP" 2>/dev/null; then
	note swap "$LOOP"
	refused "swap" "device: $LOOP, destroy: force" "swap" "$LOOP_FILE"
	swapoff "$LOOP"
else
	echo "no swap here: that case is left out"
fi

# --- held open by another process
# shellcheck disable=SC2016 # the dollar is perl's
on_hold perl -e 'use Fcntl; sysopen(F, $ARGV[0], O_RDWR | O_EXCL) or die; sleep 60' "$clean"
wait_for 5 opened "$HOLDER" "$clean" || fail "perl does not open $clean"
refused "a device held open with O_EXCL" "device: $clean, destroy: force" "open|use" "$clean_file"
let_go
on_hold bash -c "exec 8<>'$clean'; exec sleep 60"
wait_for 5 opened "$HOLDER" "$clean" || fail "$clean is not open"
refused "a device held open without O_EXCL" "device: $clean, destroy: force" "open.*$HOLDER|$HOLDER.*open" "$clean_file"
let_go

# --- the backing of a loop device
loop_make 64M
backing=$LOOP backing_file=$LOOP_FILE
upper=$(losetup -f --show "$backing")
note loop "$upper" "$backing"
refused "the backing of a loop device" "device: $backing, destroy: force" "loop" "$backing_file"
losetup -d "$upper"

# --- a signature
loop_make 64M
mkfs.ext4 -q "$LOOP"
uuid=$(blkid -p -s UUID -o value "$LOOP")
refused "an ext4 file system with destroy: true" "device: $LOOP, destroy: true" "ext4" "$LOOP_FILE"
expect_text "$T/err" "$uuid" "the refusal"
expect_text "$T/err" "destroy: force" "the refusal"
scenario "device: $LOOP, destroy: force" >"$T/s.yaml"
salvo_run 30 run "$T/s.yaml" --keys "$T/keys" --output "$T/forced" --quiet
expect_rc 0 "destroy: force on an ext4 file system that nobody uses"

# --- not allowed
loop_make 64M
ln -s "$LOOP" "$T/outside"
worker_config 10.98.0.2 "tcp://10.98.0.2:$PORT" "$clean"
kill "${WORKER_PID[10.98.0.2]}"
wait_for 10 gone "${WORKER_PID[10.98.0.2]}" || fail "a worker does not end on SIGTERM"
worker_start 10.98.0.2 "${HOST_NS[2]}"
wait_listening 10.98.0.2
scenario "device: $LOOP, destroy: force" randwrite 10.98.0.2 >"$T/s.yaml"
before=$(sha256sum <"$LOOP_FILE")
salvo_run 30 run "$T/s.yaml" --keys "$T/keys" --output "$T/notallowed" --quiet
expect_rc 3 "writing to a device that is not in the allow-list"
expect_text "$T/err" "error: .*10\.98\.0\.2.*allow" "the refusal"
expect_eq "bytes of the device" "$(sha256sum <"$LOOP_FILE")" "$before"
grep -m1 'error:' "$T/err" >>"$T/messages"

# --- files
echo "somebody's thesis" >"$T/files/thesis"
refused "a file that salvo did not make" "file: $T/files/thesis, size: 1M" "destroy|not made" "$T/files/thesis"

# --- one host refuses: no host writes
loop_make 64M
mkfs.ext4 -q "$LOOP"
cat >"$T/s.yaml" <<YAML
name: safety
hosts: ["10.98.0.1", "10.98.0.2"]
targets: {t: {device: $LOOP, destroy: true, share: partition, per_host: {10.98.0.2: {device: $clean}}}}
jobs: [{name: w, target: t, rw: write, bs: 64k, size: 32M}]
YAML
before=$(sha256sum <"$clean_file")
salvo_run 30 run "$T/s.yaml" --keys "$T/keys" --output "$T/one" --quiet
expect_rc 3 "a fleet of which one host refuses"
expect_text "$T/err" "10\.98\.0\.1.*ext4" "the refusal"
expect_eq "bytes of the other host's device" "$(sha256sum <"$clean_file")" "$before"

# --- and what is allowed works
scenario "device: $clean, destroy: true" >"$T/s.yaml"
salvo_run 30 run "$T/s.yaml" --keys "$T/keys" --output "$T/allowed" --quiet
expect_rc 0 "an allowed write"
[ "$(sha256sum <"$clean_file")" != "$before" ] || fail "an allowed write changed nothing"

cat "$T/messages"
