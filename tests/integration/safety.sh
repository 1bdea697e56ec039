#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every refusal that one host can decide, against real kernel objects: each with its own message and exit
# status, and with the bytes of the device unchanged. Only loop devices made here are ever offered for writing,
# except for the disk of /, which must be refused before anything opens it for writing.
set -u

probe=${TARGET_PROBE:?is set by CTest}
[ "$(id -u)" = 0 ] || { echo "skip: needs root"; exit 77; }
[ -e /dev/loop-control ] || { echo "skip: no loop devices"; exit 77; }
for tool in losetup mkfs.ext4 mkswap sfdisk partx sha256sum; do
	command -v "$tool" >/dev/null || { echo "skip: $tool is not installed"; exit 77; }
done

dir=$(mktemp -d)
links=/dev/salvo-test-$$
loops=() pids=() failures=0

clean_up() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
	wait 2>/dev/null
	umount "$dir"/mnt* 2>/dev/null
	rm -rf "$links"
	[ -n "${swap:-}" ] && swapoff "$swap" 2>/dev/null
	for ((i = ${#loops[@]} - 1; i >= 0; i--)); do
		partx -d "${loops[i]}" 2>/dev/null
		losetup -d "${loops[i]}" 2>/dev/null
	done
	rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# new_loop VARIABLE: a loop device of 16 MiB of its own
new_loop() {
	local image device
	image=$(mktemp "$dir/image.XXXXXX")
	truncate -s 16M "$image"
	device=$(losetup -f --show "$image") || { echo "skip: no loop device can be made"; exit 77; }
	loops+=("$device")
	printf -v "$1" %s "$device"
}

make_ext4() {
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$1"
}

sum_of() {
	sync
	sha256sum <"$1"
}

# refused NAME STATUS PATTERN DEVICE OPTIONS...: the probe refuses; the output matches; DEVICE is unchanged
refused() {
	local name=$1 status=$2 pattern=$3 device=$4 before out rc
	shift 4
	before=$(sum_of "$device")
	out=$("$probe" "$@" --scribble 2>&1)
	rc=$?
	[ $rc = "$status" ] || fail "$name: exit $rc instead of $status: $out"
	grep -Eq -- "$pattern" <<<"$out" || fail "$name: no '$pattern' in: $out"
	[ "$before" = "$(sum_of "$device")" ] || fail "$name: $device was changed"
	echo "ok: $name: $(head -n 1 <<<"$out")"
}

# allowed NAME PATTERN OPTIONS...
allowed() {
	local name=$1 pattern=$2 out rc
	shift 2
	out=$("$probe" "$@" 2>&1)
	rc=$?
	[ $rc = 0 ] || fail "$name: exit $rc: $out"
	grep -Eq -- "$pattern" <<<"$out" || fail "$name: no '$pattern' in: $out"
	echo "ok: $name"
}

any=(--write --destroy force --allow-write '/dev/loop*')

test_words() {
	local d uuid
	new_loop d
	refused "no destroy" 2 "CONFIG: $d: .*destroys what it holds; .*'destroy: true' in target" \
		"$d" --device "$d" --write --allow-write '/dev/loop*'
	refused "not listed" 3 "REFUSED: $d: not in this worker's allow.write" \
		"$d" --device "$d" --write --destroy force --allow-write "/dev/loop*/x" --allow-read "$d"
	refused "read not listed" 3 "REFUSED: $d: not in this worker's allow.read" \
		"$d" --device "$d" --read --allow-read '/dev/x*'
	mkdir -p "$links/by-id"
	ln -s "$d" "$links/by-id/x-1"
	allowed "listed by a link" "path: $d" --device "$d" --write --destroy true \
		--allow-write "$links/by-id/x-*"
	refused "listed by no link" 3 "REFUSED: $d: not in this worker's allow.write" \
		"$d" --device "$d" --write --destroy true --allow-write "$links/*"
	rm -r "$links"
	make_ext4 "$d"
	uuid=$(blkid -p -s UUID -o value "$d")
	refused "ext4" 3 "REFUSED: $d: holds ext4, UUID $uuid; .*'destroy: force' in target" \
		"$d" --device "$d" --write --destroy true --allow-write '/dev/loop*'
	refused "wrong uuid" 3 "REFUSED: $d: holds ext4, UUID $uuid, but .* names 'abc'" \
		"$d" --device "$d" --write --destroy abc --allow-write '/dev/loop*'
	allowed "look only" "signature: ext4, UUID $uuid" --device "$d" --probe "${any[@]}"
	allowed "embedded" "signature: ext4" --device "$d" --write --destroy force --below "$dir"
	allowed "force" "signature: ext4" --device "$d" "${any[@]}" --recheck --scribble
	head -c 7 "$d" | grep -q written || fail "force: nothing was written"
}

# The journal of a file system that is mounted while it is copied looks alive in the copy.
test_alive() {
	local d copy uuid
	new_loop d
	new_loop copy
	make_ext4 "$d"
	mkdir "$dir/mnt-alive"
	mount "$d" "$dir/mnt-alive"
	touch "$dir/mnt-alive/x"
	sync
	cat "$d" >"$copy"
	umount "$dir/mnt-alive"
	uuid=$(blkid -p -s UUID -o value "$copy")
	refused "journal" 3 "REFUSED: $copy: holds ext4.*journal needs recovery.*'destroy: \{uuid: $uuid\}'" \
		"$copy" --device "$copy" "${any[@]}"
	allowed "named by uuid" "signature: ext4" \
		--device "$copy" --write --destroy "$uuid" --allow-write '/dev/loop*'
}

test_mounted() {
	local d
	new_loop d
	make_ext4 "$d"
	mkdir "$dir/mnt"
	mount "$d" "$dir/mnt"
	refused "mounted" 3 "REFUSED: $d: mounted on $dir/mnt; unmount it" "$d" --device "$d" "${any[@]}"
	allowed "reading what is mounted" "warning: .*in use .*mounted on $dir/mnt" \
		--device "$d" --read --allow-read '/dev/*'
	umount "$dir/mnt"
	unshare -m sh -c "mount $d $dir/mnt && : >$dir/ready && exec sleep 60" &
	pids+=($!)
	for _ in $(seq 100); do [ -e "$dir/ready" ] && break; sleep 0.05; done
	[ -e "$dir/ready" ] || { echo "skip: mounted in another namespace: none can be made here"; return; }
	refused "mounted in another namespace" 3 \
		"REFUSED: $d: mounted on $dir/mnt.* in the mount namespace of process [0-9]+ \(sleep\)" \
		"$d" --device "$d" "${any[@]}"
	kill $! && wait $! 2>/dev/null
}

test_partitions() {
	local d
	new_loop d
	echo ',8M,L' | sfdisk -q --label gpt "$d" 2>/dev/null
	partx -a "$d" || { fail "partx"; return; }
	make_ext4 "${d}p1"
	mkdir "$dir/mnt-part"
	mount "${d}p1" "$dir/mnt-part"
	ln -s "$d" "$dir/link"
	refused "disk of a mounted partition" 3 \
		"REFUSED: $d: its partition ${d}p1 is mounted on $dir/mnt-part" "$d" --device "$d" "${any[@]}"
	refused "the same through a link" 3 \
		"REFUSED: $dir/link \($d\): its partition ${d}p1 is mounted on" "$d" --device "$dir/link" "${any[@]}"
	umount "$dir/mnt-part"
	refused "partition table" 3 "REFUSED: $d: holds a gpt partition table.* and ext4.* in partition 1" \
		"$d" --device "$d" --write --destroy true --allow-write '/dev/loop*'
	"$probe" --device "$d" "${any[@]}" --hold 30 >/dev/null &
	pids+=($!)
	sleep 0.5
	refused "partition of a disk in use" 3 "REFUSED: ${d}p1: its disk $d is opened by process" \
		"${d}p1" --device "${d}p1" "${any[@]}"
	kill $! && wait $! 2>/dev/null
	dd if=/dev/zero of="$d" bs=512 count=34 conv=notrunc,fsync status=none
	refused "backup table alone" 3 "REFUSED: $d: holds a gpt partition table" \
		"$d" --device "$d" --write --destroy true --allow-write '/dev/loop*'
	partx -d "$d"
	echo ',8M,U' | sfdisk -q --label gpt --wipe always "$d" 2>/dev/null
	refused "EFI system partition" 3 "REFUSED: $d: holds an EFI system partition in partition 1" \
		"$d" --device "$d" "${any[@]}"
}

test_used() {
	local d upper out rc
	new_loop d
	mkswap "$d" >/dev/null
	if swapon "$d" 2>/dev/null; then
		swap=$d
		refused "swap" 3 "REFUSED: $d: used as swap; swapoff" "$d" --device "$d" "${any[@]}"
		swapoff "$d"
		swap=
	else
		echo "skip: swap: swapon is not possible here"
	fi
	wipefs -qa "$d"
	sleep 60 3<"$d" &
	pids+=($!)
	refused "opened" 3 "REFUSED: $d: opened by process $! \(sleep\)" "$d" --device "$d" "${any[@]}"
	kill $! && wait $! 2>/dev/null
	"$probe" --device "$d" "${any[@]}" --hold 60 >/dev/null &
	pids+=($!)
	sleep 0.5
	refused "opened exclusively" 3 "REFUSED: $d: opened by process $! \(target_probe\)" \
		"$d" --device "$d" "${any[@]}"
	kill $! && wait $! 2>/dev/null
	upper=$(losetup -f --show "$d")
	loops+=("$upper")
	refused "backing of a loop device" 3 "REFUSED: $d: the backing of $upper" "$d" --device "$d" "${any[@]}"
	losetup -d "$upper"
	# What changes between the check and the first write is seen by the second look.
	(sleep 0.7; losetup -f --show "$d" >"$dir/late") &
	refused "recheck" 3 "REFUSED: $d: the backing of" "$d" --device "$d" "${any[@]}" --hold 2 --recheck
	wait $!
	losetup -d "$(cat "$dir/late")"
	truncate -s 16M "$dir/ext4"
	make_ext4 "$dir/ext4"
	(sleep 0.7; cat "$dir/ext4" >"$d") &
	out=$("$probe" --device "$d" --write --destroy true --allow-write '/dev/loop*' --hold 2 --recheck)
	rc=$?
	wait $!
	if [ $rc != 3 ] || ! grep -q "REFUSED: $d: holds ext4" <<<"$out"; then
		fail "recheck of the content: exit $rc: $out"
	fi
	echo "ok: recheck of the content"
	wipefs -qa "$d"
	allowed "nobody uses it" "in use: -" --device "$d" "${any[@]}" --recheck
}

test_files() {
	local f=$dir/foreign d
	head -c 1M /dev/urandom >"$f"
	refused "foreign file" 3 "REFUSED: $f: exists and was not made by Salvo; .*'destroy: true'" \
		"$f" --file "$f" --size 1048576 --write --allow-write "$dir/*"
	refused "file elsewhere" 3 "REFUSED: $f: not below the current folder" \
		"$f" --file "$f" --size 1048576 --write --destroy true --below /usr
	refused "reading does not grow a file" 3 "REFUSED: $f: was not made by Salvo and has only 1048576 of" \
		"$f" --file "$f" --size 2097152 --read --allow-read "$dir/*" --allow-write "$dir/*"
	d=$(losetup -f --show "$f")
	loops+=("$d")
	refused "file under a loop device" 3 "REFUSED: $f: the backing of $d" \
		"$f" --file "$f" --size 1048576 --write --destroy true --allow-write "$dir/*"
	losetup -d "$d"
	allowed "own file" "laid out: 1048576" --file "$dir/own" --size 1048576 --read --layout 1048576 \
		--allow-read "$dir/*" --allow-write "$dir/*"
	allowed "own file again" "laid out: 0" --file "$dir/own" --size 1048576 --read --write \
		--layout 1048576 --allow-read "$dir/*" --allow-write "$dir/*" --recheck
	ln "$dir/own" "$dir/second"
	refused "file with two names" 3 "REFUSED: $dir/own: exists and was not made by Salvo" \
		"$dir/own" --file "$dir/own" --size 1048576 --write --allow-write "$dir/*"
	refused "device as a file" 3 "is a character device, not a regular file" \
		"$f" --file /dev/null --size 1 --write --destroy true --below /
	refused "typing error below /dev" 3 "no place for a file" \
		"$f" --file /dev/no-such-disk --size 1 --write --destroy true --below /
	[ ! -e /dev/no-such-disk ] || fail "a file was made below /dev"
}

# No checksum of the whole disk here: what is shown is that nothing opens anything for writing.
test_system_disk() {
	local disk out rc
	disk=$(findmnt -no SOURCE /)
	[ -b "$disk" ] || { echo "skip: disk of /: '$disk' is no block device"; return; }
	command -v strace >/dev/null || { echo "skip: disk of /: strace is not installed"; return; }
	# the leak checker of a sanitizer build cannot run under strace
	out=$(ASAN_OPTIONS=detect_leaks=0 strace -f -o "$dir/trace" -e trace=open,openat,openat2 \
		"$probe" --device "$disk" --probe --write --destroy force --allow-write '/dev/*' 2>&1)
	rc=$?
	[ $rc = 3 ] || fail "disk of /: exit $rc: $out"
	grep -q "REFUSED: $disk: this host runs from it" <<<"$out" || fail "disk of /: $out"
	[ -s "$dir/trace" ] || fail "disk of /: no trace"
	! grep -E 'O_(RDWR|WRONLY)' "$dir/trace" || fail "disk of /: something was opened for writing"
	! grep -F "\"$disk\"" "$dir/trace" | grep -v O_PATH || fail "disk of /: it was opened"
	echo "ok: disk of /: $(head -n 1 <<<"$out")"
}

test_words
test_alive
test_mounted
test_partitions
test_used
test_files
test_system_disk
[ $failures = 0 ] || { echo "$failures failures"; exit 1; }
