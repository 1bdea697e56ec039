#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# undo.sh DIR       takes back what the test with this folder made, then removes the folder
# undo.sh --dead    the same for the folders of tests that ended without doing it (killed, out of time)
#
# DIR/undo lists what was made, one thing a line: KIND VALUE [EVIDENCE]. Lines are taken back last first. The
# evidence makes sure that only things of the test are touched: a process by its start time, a loop device by its file.
set -uo pipefail

# The start time of a process in ticks: a number that comes again is another process.
born() {
	sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

kill_noted() {
	local pid=$1 start=$2
	[ -n "$start" ] || return 0 # it had ended when it was noted
	[ "$(born "$pid")" = "$start" ] || return 0
	kill -CONT -- "-$pid" "$pid" 2>/dev/null
	kill -KILL -- "-$pid" 2>/dev/null # what it started stays in its process group
	kill -KILL "$pid" 2>/dev/null
	for _ in {1..100}; do
		[ "$(born "$pid")" = "$start" ] || return 0
		[ "$(sed 's/^.*) //' "/proc/$pid/stat" 2>/dev/null | cut -c1)" = Z ] && return 0
		sleep 0.05
	done
	echo "undo: process $pid does not end" >&2
}

# Is the file, deleted or not, still behind the loop device?
is_behind() {
	local backing
	backing=$(cat "/sys/block/${2#/dev/}/loop/backing_file" 2>/dev/null)
	[ "${backing% (deleted)}" = "$1" ]
}

detach_loop() {
	local dev=$1 file=$2
	is_behind "$file" "$dev" || return 0
	partx -d "$dev" 2>/dev/null
	for _ in {1..100}; do
		losetup -d "$dev" 2>/dev/null
		is_behind "$file" "$dev" || return 0
		sleep 0.05
	done
	echo "undo: $dev stays attached to $file" >&2
}

remove_zram() {
	local nr=$1
	for _ in {1..100}; do
		[ -e "/sys/block/zram$nr" ] || return 0
		echo 1 >"/sys/block/zram$nr/reset" && echo "$nr" >/sys/class/zram-control/hot_remove && return 0
		sleep 0.05
	done 2>/dev/null
	echo "undo: zram$nr cannot be removed" >&2
}

remove_netns() {
	local pid
	for pid in $(ip netns pids "$1" 2>/dev/null); do
		kill -KILL "$pid" 2>/dev/null
	done
	ip netns del "$1" 2>/dev/null
}

# One that the test has stopped goes on: devices, file systems and other processes may wait for it.
continue_noted() {
	[ -n "$2" ] && [ "$(born "$1")" = "$2" ] && kill -CONT "$1"
}

undo_line() {
	set -- "$@" '' '' # a line may lack its evidence, and the others are undone all the same
	case "$1" in
	pid) kill_noted "$2" "$3" ;;
	stopped) continue_noted "$2" "$3" ;;
	loop) detach_loop "$2" "$3" ;;
	zram) remove_zram "$2" ;;
	netns) remove_netns "$2" ;;
	mount) umount "$2" 2>/dev/null || umount -l "$2" 2>/dev/null ;;
	swap) swapoff "$2" 2>/dev/null ;;
	cgroup) rmdir "$2" ;;
	frozen) fsfreeze -u "$2" 2>/dev/null ;;
	unlink) rm -f "$2" ;;
	setting) echo "$3" >"$2" ;;
	tracing)
		echo 0 >"/sys/kernel/tracing/instances/$2/tracing_on"
		rmdir "/sys/kernel/tracing/instances/$2"
		;;
	esac 2>/dev/null
	return 0
}

undo() {
	local dir=$1 line fields
	if [ -f "$dir/undo" ]; then
		tac "$dir/undo" | while read -r line; do
			read -ra fields <<<"$line"
			undo_line "${fields[@]}" </dev/null
		done
	fi
	rm -rf --one-file-system "$dir"
}

dead() {
	local dir pid start
	for dir in "${TMPDIR:-/tmp}"/salvo-test.*; do
		[ -f "$dir/owner" ] || continue
		read -r pid start <"$dir/owner"
		[ "$(born "$pid")" = "$start" ] && continue
		echo "undo: clearing up after a test that was killed: $dir" >&2
		undo "$dir"
	done
}

case "${1:-}" in
--dead) dead ;;
--born) born "$2" ;;
*/salvo-test.??????)
	# The owner's note makes sure that nothing else of such a name is removed.
	[ -f "$1/owner" ] && undo "$1"
	;;
*)
	echo "error: undo.sh: '${1:-}' is no folder of a test" >&2
	exit 2
	;;
esac
