#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lib.sh - what the integration tests share. A test sources it, says what it needs, calls test_begin, and then
# uses the helpers; whatever they make is noted in $T/undo and taken back by undo.sh when the test ends, however
# it ends. Exit status 77 is a skip, with `skip: REASON` on stdout.
#
# Variables: T the test's folder · SALVO, WORKER the programs · RC, $T/out, $T/err of the last `salvo_run` ·
# HOST_NS[i], HOST_IP[i] of netns_make · WORKER_PID[NAME].
set -uo pipefail

LIB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$LIB_DIR/../.." && pwd)
SALVO=${SALVO_BIN:-$ROOT/build/release/coordinator/salvo}
WORKER=${SALVO_WORKER_BIN:-$ROOT/build/release/worker/salvo-worker}
TRACING=/sys/kernel/tracing
PORT=7600
export LC_ALL=C NO_COLOR=1

declare -A WORKER_PID=()
declare -a HOST_NS=() HOST_IP=()
COORD_NS='' # namespace the coordinator runs in; empty: this one
T='' RC=0

# --- outcome ---------------------------------------------------------------------------------------

skip() {
	echo "skip: $*"
	exit 77
}

# Ends the test from a subshell, too: $(json ...) may call it.
fail() {
	{
		echo "FAIL: $*"
		local f
		for f in "$T/err" "$T/out" "$T"/*/worker.log; do
			[ -s "$f" ] || continue
			echo "--- ${f#"$T"/}"
			tail -c 3000 "$f"
		done
	} >&2
	[ "$BASHPID" = $$ ] || kill -TERM $$
	exit 1
}

note() {
	printf '%s\n' "$*" >>"$T/undo"
}

test_begin() {
	[ -x "$SALVO" ] || skip "$SALVO is not built"
	[ -x "$WORKER" ] || skip "$WORKER is not built"
	T=$(mktemp -d "${TMPDIR:-/tmp}/salvo-test.XXXXXX") || exit 1
	echo "$$ $("$LIB_DIR/undo.sh" --born $$)" >"$T/owner"
	: >"$T/undo"
	trap 'exit 1' INT TERM HUP
	trap '"$LIB_DIR/undo.sh" "$T"' EXIT
	mkdir "$T/cwd"
	cd "$T/cwd" || exit 1
}

# --- what a test needs -----------------------------------------------------------------------------

need_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

need_tools() {
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null || skip "needs the program $tool"
	done
}

need_loop() {
	need_root
	need_tools losetup truncate
	losetup -f >/dev/null 2>&1 || skip "no loop devices here"
}

need_zram() {
	need_root
	[ -e /sys/class/zram-control/hot_add ] || skip "no zram here"
}

need_netns() {
	need_root
	need_tools ip nsenter
	local probe=salvo-probe-$$
	ip netns add "$probe" 2>/dev/null || skip "no network namespaces here"
	ip netns del "$probe"
}

need_timens() {
	need_root
	unshare --time --monotonic 5 --fork true 2>/dev/null || skip "no time namespaces here"
}

# After test_begin: mounts tracefs when it is not there, for this test only.
need_tracing() {
	need_root
	if [ ! -e $TRACING/trace ]; then
		mount -t tracefs nodev $TRACING 2>/dev/null || skip "no tracefs here"
		note mount $TRACING
	fi
	[ -e $TRACING/events/block/block_bio_queue ] || skip "no block tracepoints here"
}

# After test_begin: several workers on few processors get equal shares. With autogroups, Linux 6.18 starves all sessions
# but one for seconds when I/O threads and their io-wq workers (zram) take turns. To be called before each run that
# matters: another test that ends may put it back meanwhile.
fair_scheduling() {
	local setting=/proc/sys/kernel/sched_autogroup_enabled
	[ -w $setting ] && [ "$(cat $setting)" = 1 ] || return 0
	grep -q "^setting $setting" "$T/undo" || note setting $setting 1
	echo 0 >$setting
}

# --- waiting ---------------------------------------------------------------------------------------

# wait_for SECONDS COMMAND...: until the command succeeds; its output does not matter.
wait_for() {
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

now_ms() {
	local up
	read -r up _ </proc/uptime
	echo "${up/./}0"
}

gone() {
	local state
	state=$(sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -c1)
	[ -z "$state" ] || [ "$state" = Z ]
}

# --- hosts: a bridge and N namespaces --------------------------------------------------------------

netns_make() {
	local n=$1 i ns bridge=salvo$$-b
	COORD_NS=$bridge
	note netns "$bridge"
	ip netns add "$bridge" || skip "cannot make a network namespace"
	ip -n "$bridge" link add br0 type bridge || skip "no bridge devices here"
	ip -n "$bridge" addr add 10.98.0.254/24 dev br0
	ip -n "$bridge" link set br0 up
	ip -n "$bridge" link set lo up
	for ((i = 1; i <= n; i++)); do
		ns=salvo$$-$i
		note netns "$ns"
		ip netns add "$ns" || fail "cannot make namespace $ns"
		ip link add v$i netns "$bridge" type veth peer name eth0 netns "$ns" || skip "no veth here"
		ip -n "$bridge" link set v$i master br0 up
		ip -n "$ns" addr add 10.98.0.$i/24 dev eth0
		ip -n "$ns" link set eth0 up
		ip -n "$ns" link set lo up
		HOST_NS[i]=$ns
		HOST_IP[i]=10.98.0.$i
	done
}

# in_ns NS COMMAND...: not `ip netns exec`, which hides tracefs, cgroups and later mounts.
in_ns() {
	local ns=$1
	shift
	if [ -n "$ns" ]; then
		nsenter --net="/run/netns/$ns" "$@"
	else
		"$@"
	fi
}

# --- devices ---------------------------------------------------------------------------------------

# loop_make SIZE [LOSETUP-OPTIONS]: sets LOOP and LOOP_FILE; a sparse file, in memory where there is some: the stalls
# of writeback to a busy disk are longer than these tests.
loop_make() {
	local size=$1 dir=$T
	shift
	[ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -gt 2000000 ] 2>/dev/null && dir=/dev/shm
	LOOP_FILE=$(mktemp "$dir/salvo-test-disk.XXXXXX")
	note unlink "$LOOP_FILE"
	truncate -s "$size" "$LOOP_FILE"
	LOOP=$(losetup -f --show "$@" "$LOOP_FILE" 2>/dev/null) || skip "losetup gives no loop device"
	note loop "$LOOP" "$LOOP_FILE"
}

# zram_make SIZE: sets ZRAM; full of random bytes, for what is not written is answered without memory.
zram_make() {
	local nr
	nr=$(cat /sys/class/zram-control/hot_add) || skip "zram gives no device"
	note zram "$nr"
	ZRAM=/dev/zram$nr
	echo "$1" >"/sys/block/zram$nr/disksize" || skip "zram gives no memory"
	wait_for 5 test -b "$ZRAM" || skip "$ZRAM does not appear"
	dd if=/dev/urandom of="$ZRAM" bs=1M oflag=direct status=none 2>/dev/null
}

need_nbd() {
	need_loop
	need_tools nbdkit nbdfuse
	[ -c /dev/fuse ] || skip "no FUSE here"
}

# nbd_loop NAME NBDKIT-ARGS...: a loop device whose I/O nbdkit answers, by way of nbdfuse: one that a test can make
# slow, failing or deaf. Sets NBD_LOOP[NAME], NBD_PID[NAME] (of nbdkit), NBD_FUSE_PID[NAME]; what nbdkit says is in $T/nbd-NAME/log. I/O of
# the loop device is direct and in parallel: each I/O of at most one page is one request.
declare -A NBD_LOOP=() NBD_PID=() NBD_FUSE_PID=()
nbd_loop() {
	local name=$1 dir=$T/nbd-$1 pid queue
	shift
	mkdir -p "$dir/mnt"
	setsid nbdkit -f -U "$dir/sock" "$@" >"$dir/log" 2>&1 </dev/null &
	pid=$!
	note pid "$pid" "$("$LIB_DIR/undo.sh" --born "$pid")"
	NBD_PID[$name]=$pid
	disown "$pid"
	wait_for 10 test -S "$dir/sock" || fail "nbdkit does not start: $(tail -n 3 "$dir/log")"
	setsid nbdfuse -C 8 "$dir/mnt/disk" --unix "$dir/sock" >"$dir/fuse.log" 2>&1 </dev/null &
	pid=$!
	note pid "$pid" "$("$LIB_DIR/undo.sh" --born "$pid")"
	NBD_FUSE_PID[$name]=$pid
	disown "$pid"
	note mount "$dir/mnt"
	wait_for 10 test -s "$dir/mnt/disk" || skip "nbdfuse cannot mount: $(tail -n 3 "$dir/fuse.log")"
	NBD_LOOP[$name]=$(losetup -f --show --direct-io=on "$dir/mnt/disk" 2>/dev/null) ||
		skip "losetup takes no file of nbdfuse"
	note loop "${NBD_LOOP[$name]}" "$dir/mnt/disk"
	queue=/sys/block/${NBD_LOOP[$name]#/dev/}/queue/nomerges
	note setting "$queue" "$(cat "$queue")" # it would outlive the loop device
	echo 2 >"$queue"
}

# pause_process PID: until the test's end, or continue_process. Noted now, so that it goes on before all else is taken back.
pause_process() {
	note stopped "$1" "$("$LIB_DIR/undo.sh" --born "$1")"
	kill -STOP "$1" || fail "process $1 cannot be stopped"
}

continue_process() {
	kill -CONT "$1" || fail "process $1 cannot be continued"
}

# The device hangs, and so does whoever asks about the file behind it.
nbd_hang() {
	local name
	for name in "$@"; do
		pause_process "${NBD_PID[$name]}"
		pause_process "${NBD_FUSE_PID[$name]}"
	done
}

nbd_go_on() {
	local name
	for name in "$@"; do
		continue_process "${NBD_FUSE_PID[$name]}"
		continue_process "${NBD_PID[$name]}"
	done
}

# stat_of DEV: reads, merged, bytes, writes, merged, bytes since the device was made.
stat_of() {
	awk '{ printf "%d %d %.0f %d %d %.0f\n", $1, $2, $3 * 512, $5, $6, $7 * 512 }' "/sys/block/${1#/dev/}/stat"
}

# dev_t of the kernel's tracepoints.
trace_dev() {
	local major minor
	IFS=: read -r major minor <"/sys/block/${1#/dev/}/dev"
	echo $(((major << 20) | minor))
}

# --- keys, workers ---------------------------------------------------------------------------------

# keys_make NAME...: the coordinator's folder $T/keys and a folder $T/NAME/keys for each worker; NAME is the
# host's name in the scenario.
keys_make() {
	local name
	if [ ! -d "$T/keys" ]; then
		"$SALVO" keygen coordinator "$T/keys" >/dev/null || fail "keygen coordinator"
		mkdir -p "$T/keys/workers"
	fi
	for name in "$@"; do
		mkdir -p "$T/$name"
		"$SALVO" keygen worker "$T/$name/keys" >/dev/null || fail "keygen worker"
		mkdir -p "$T/$name/keys/coordinators"
		cp "$T/$name/keys/worker.key" "$T/keys/workers/$name.key"
		cp "$T/keys/coordinator.key" "$T/$name/keys/coordinators/test.key"
	done
}

# worker_config NAME LISTEN [GLOB...]: $T/NAME/worker.yaml; the globs may be read and written.
worker_config() {
	local name=$1 listen=$2 glob
	shift 2
	mkdir -p "$T/$name"
	{
		echo "listen: $listen"
		echo "state: $T/$name/state"
		if [ -d "$T/$name/keys" ]; then
			echo "keys: $T/$name/keys"
		fi
		if [ $# -gt 0 ]; then
			echo "allow:"
			echo "  read:"
			for glob in "$@"; do echo "    - \"$glob\""; done
			echo "  write:"
			for glob in "$@"; do echo "    - \"$glob\""; done
		fi
	} >"$T/$name/worker.yaml"
}

# worker_start NAME [NS] [SECONDS]: starts a worker with $T/NAME/worker.yaml, in a network namespace and, with
# SECONDS, in a time namespace whose monotonic clock is so far ahead. Does not wait.
worker_start() {
	local name=$1 ns=${2:-} ahead=${3:-} cmd=() pid
	[ -n "$ns" ] && cmd=(nsenter --net="/run/netns/$ns")
	cmd+=(setsid) # a process group of its own, so that what it starts can be ended with it
	[ -n "$ahead" ] && cmd+=(unshare --time --monotonic "$ahead" --fork --kill-child)
	"${cmd[@]}" "$WORKER" --config "$T/$name/worker.yaml" \
		>>"$T/$name/worker.log" 2>&1 </dev/null &
	pid=$!
	# nsenter, setsid and the worker follow one another in one process: the pid stays.
	note pid "$pid" "$("$LIB_DIR/undo.sh" --born "$pid")"
	WORKER_PID[$name]=$pid
	disown "$pid"
	if [ -n "$ahead" ]; then
		wait_for 10 grep -q . "/proc/$pid/task/$pid/children" || fail "worker $name does not start"
		read -r "WORKER_PID[$name]" _ <"/proc/$pid/task/$pid/children"
	fi
}

# Does the process's network namespace have a listener on the port?
listening() {
	awk -v port="$(printf ':%04X' "$2")" '$4 == "0A" && index($2, port) { found = 1 } END { exit !found }' \
		"/proc/$1/net/tcp" "/proc/$1/net/tcp6" 2>/dev/null
}

wait_listening() {
	local name
	for name in "$@"; do
		wait_for 10 listening "${WORKER_PID[$name]}" $PORT || fail "worker $name does not listen"
	done
}

# fleet_make N [AHEAD]: N namespaces with a worker each, CURVE on, named by address; worker i may use what
# FLEET_DEVICES[i] says (a glob). With AHEAD each has a clock of its own, AHEAD * i seconds ahead.
fleet_make() {
	local n=$1 ahead=${2:-0} i
	netns_make "$n"
	for ((i = 1; i <= n; i++)); do
		keys_make "${HOST_IP[i]}"
		worker_config "${HOST_IP[i]}" "tcp://${HOST_IP[i]}:$PORT" ${FLEET_DEVICES[i]:+"${FLEET_DEVICES[i]}"}
		if [ "$ahead" -gt 0 ]; then
			worker_start "${HOST_IP[i]}" "${HOST_NS[i]}" $((ahead * i))
		else
			worker_start "${HOST_IP[i]}" "${HOST_NS[i]}"
		fi
	done
	for ((i = 1; i <= n; i++)); do
		wait_listening "${HOST_IP[i]}"
	done
}

# local_workers N [GLOB...]: N workers on the loopback, without keys, that may read and write the globs. Sets
# LOCAL[1..N], their addresses, and LOCAL_HOSTS, a list of them for a scenario; runs need --insecure.
declare -a LOCAL=()
local_workers() {
	local n=$1 i port
	shift
	LOCAL_HOSTS=''
	for ((i = 1; i <= n; i++)); do
		port=$((20000 + ($$ * 8 + i) % 12000)) # below those that the kernel gives away
		LOCAL[i]=127.0.0.1:$port
		LOCAL_HOSTS+="${LOCAL_HOSTS:+, }\"${LOCAL[i]}\""
		worker_config "local$i" "tcp://${LOCAL[i]}" "$@"
		echo "insecure: true" >>"$T/local$i/worker.yaml"
		worker_start "local$i"
	done
	for ((i = 1; i <= n; i++)); do
		wait_for 10 listening "${WORKER_PID[local$i]}" "${LOCAL[i]#*:}" || fail "worker $i does not listen"
	done
}

# --- runs ------------------------------------------------------------------------------------------

# salvo_run SECONDS ARGS...: `salvo ARGS` in the coordinator's namespace with a limit; sets RC.
salvo_run() {
	local limit=$1
	shift
	in_ns "$COORD_NS" timeout -k 5 "$limit" "$SALVO" "$@" >"$T/out" 2>"$T/err" </dev/null
	RC=$?
	case $RC in
	124 | 137) fail "salvo $1: not done after $limit s" ;;
	esac
}

# samples_kept DIR N: at least so many samples are in the result directory by now.
samples_kept() {
	[ "$(grep -ao oldest_ns "$1/samples.msgpack" 2>/dev/null | wc -l)" -ge "$2" ]
}

expect_rc() {
	[ "$RC" -eq "$1" ] || fail "${2:-salvo} ended with $RC, not $1"
}

# expect_text FILE PATTERN [WHAT]
expect_text() {
	grep -qE -- "$2" "$1" || fail "${3:-output} says nothing like '$2' in ${1#"$T"/}"
}

refuse_text() {
	! grep -qE -- "$2" "$1" || fail "${3:-output} must not say '$2' in ${1#"$T"/}: $(grep -E -- "$2" "$1" | head -3)"
}

# json FILE FILTER: one value; a missing one is a failure.
json() {
	local value
	value=$(jq -er "$2" "$1")
	case $value in
	'' | null) fail "no $2 in ${1#"$T"/}" ;;
	esac
	printf '%s\n' "$value"
}

# --- comparing -------------------------------------------------------------------------------------

calc() {
	awk "BEGIN { print ($1) }"
}

holds() {
	awk "BEGIN { exit !($1) }"
}

expect_eq() {
	[ "$2" = "$3" ] || fail "$1: got $2, not $3"
}

# expect NAME EXPRESSION: awk arithmetic.
expect() {
	holds "$2" || fail "$1: not true: $2"
}

# expect_near NAME GOT WANT PERCENT
expect_near() {
	holds "($2) >= ($3) * (1 - $4 / 100) && ($2) <= ($3) * (1 + $4 / 100)" ||
		fail "$1: $2 is not within $4 % of $3"
}

# littles_law FILE DEPTH [WINDOW_NS]: is IOPS x mean latency = depth x threads within 2 % in the group of every
# step? An I/O that the window's edge cuts counts with all of its latency, so a stall of the machine just there breaks
# it in a short run: tests run again before they call it a failure. A sanitizer makes the generator too slow for it.
# WINDOW_NS: the time in which I/O was submitted, where the run time holds an end_fsync besides.
littles_law() {
	local name iops mean threads in_flight rc=0 per=.total.runtime_ns
	[ -z "${3:-}" ] || per=$3
	[ -z "${SALVO_SANITIZED:-}" ] || return 0
	while read -r name iops mean threads; do
		in_flight=$(calc "$iops * $mean / 1e9")
		holds "$in_flight >= $threads * $2 * 0.98 && $in_flight <= $threads * $2 * 1.02" && continue
		echo "Little's law, $name: $in_flight in flight, not $((threads * $2))"
		rc=1
	done < <(jq -er '.results[] | .groups[0] |
		"\(.name) \(.total.ios / ('"$per"') * 1e9) \(.total.lat_ns.mean) \(.threads)"' "$1" || echo "none 0 0 1")
	return $rc
}

# --- witness: what the kernel saw ------------------------------------------------------------------

# witness_start NAME KEEP DEV...: records block_bio_queue of the devices on the monotonic clock; KEEP is first
# (the buffer's beginning is kept when it is full) or last. Only I/O threads and io-wq count, not probing.
witness_start() {
	local name=salvo-$$-$1 keep=$2 dir filter=''
	dir=$TRACING/instances/$name
	shift 2
	mkdir "$dir" || skip "no trace instances here"
	note tracing "$name"
	for dev in "$@"; do
		filter+="${filter:+ || }dev == $(trace_dev "$dev")"
	done
	echo mono >"$dir/trace_clock"
	echo 8192 >"$dir/buffer_size_kb"
	if [ "$keep" = first ]; then
		echo 0 >"$dir/options/overwrite"
	fi
	echo "($filter) && (comm ~ \"io/*\" || comm ~ \"iou-wrk*\")" >"$dir/events/block/block_bio_queue/filter" ||
		fail "the trace filter is not accepted"
	echo 1 >"$dir/events/block/block_bio_queue/enable"
	echo 1 >"$dir/tracing_on"
}

# witness_stop NAME: `DEV FIRST_US LAST_US COUNT` of each device, microseconds of the host's monotonic clock.
witness_stop() {
	local dir=$TRACING/instances/salvo-$$-$1
	echo 0 >"$dir/tracing_on"
	awk '/block_bio_queue:/ {
		for (i = 1; i <= NF; i++)
			if ($i == "block_bio_queue:") {
				split($(i - 1), t, /[.:]/)
				us = t[1] * 1000000 + t[2]
				dev = $(i + 1)
			}
		if (!(dev in first) || us < first[dev])
			first[dev] = us
		if (us > last[dev])
			last[dev] = us
		count[dev]++
	}
	END { for (dev in first) printf "%s %.0f %.0f %d\n", dev, first[dev], last[dev], count[dev] }' "$dir/trace"
	rmdir "$dir"
}
