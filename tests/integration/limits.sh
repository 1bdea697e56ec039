#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# limits.sh - a limit of the system that is too low for a step: refused before anything is made or started, with the
# host, the limit, its value and how to raise it; or gone on without, with a warning that says the same.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_root
need_tools jq prlimit setpriv ps
test_begin

cat >s.yaml <<EOF
name: limits
targets: {f: {file: scratch, size: 8MiB, share: shared}}
jobs: [{name: r, target: f, rw: randread, bs: 4k, numjobs: 40, iodepth: 4, time_based: true, runtime: 300ms}]
EOF
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all)
chmod 0755 "$T"
chmod 0777 "$T/cwd"

# run_under NAME COMMAND...: `salvo run` behind a command that lowers a limit.
run_under() {
	local name=$1
	shift
	timeout -k 5 60 "$@" "$SALVO" run s.yaml --output "$name" >"$T/out" 2>"$T/err" </dev/null
	RC=$?
}

# refused NAME TEXT: exit status 3, the text behind the host's name, and nothing was made or started.
refused() {
	expect_rc 3 "$1"
	expect_text "$T/err" "host 'local': .*$2" "$1"
	[ ! -e scratch ] || fail "$1: the file was made although the step was refused"
	! grep -aq oldest_ns "$1/samples.msgpack" 2>/dev/null || fail "$1: something was started"
}

run_under files prlimit --nofile=40
refused files 'needs 48 file descriptors, and of RLIMIT_NOFILE, 40, only [0-9]+ are left; raise it \(LimitNOFILE=, ulimit -n\)'

# The sanitizers' own memory is far more than such limits.
if [ -z "${SALVO_SANITIZED:-}" ]; then
	run_under space prlimit --as=300000000
	refused space 'MiB of memory, and of RLIMIT_AS, 286 MiB, only .* is left; raise it \(LimitAS=, ulimit -v\)'
	run_under data prlimit --data=100000000
	refused data 'MiB of memory, and of RLIMIT_DATA, 95.4 MiB, only .* is left; raise it \(LimitDATA=, ulimit -d\)'
fi

# --- control groups ------------------------------------------------------------------------------------

# group_make CONTROLLER: sets GROUP to a new group below this one's root, of version 2 or 1.
group_make() {
	local base=/sys/fs/cgroup
	[ -e $base/cgroup.controllers ] || base+=/$1
	GROUP=$base/salvo-test-$$
	mkdir "$GROUP" 2>/dev/null || return 1
	note cgroup "$GROUP"
}

# shellcheck disable=SC2016 # for the inner shell
in_group=(bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"')

if group_make pids && echo 30 2>/dev/null >"$GROUP/pids.max"; then
	run_under tasks "${in_group[@]}" "$GROUP"
	refused tasks "needs 40 threads, and of pids.max of $GROUP, 30, only [0-9]+ are left; raise it \(TasksMax=\)"
fi

# The same of processor time is no refusal: the run is slower, and says why.
if group_make cpu && { echo "20000 100000" >"$GROUP/cpu.max" || echo 20000 >"$GROUP/cpu.cfs_quota_us"; } 2>/dev/null; then
	run_under quota "${in_group[@]}" "$GROUP"
	expect_rc 0 quota
	jq -r '.warnings[].text' quota/result.json >"$T/warnings"
	expect_text "$T/warnings" "control group used up its share of the processors [0-9]+ times .*\(CPUQuota=\)"
	rm scratch
fi

# --- limits from which root is exempt --------------------------------------------------------------------

"${nobody[@]}" test -x "$SALVO" -a -x "$WORKER" || {
	echo "limits.sh: other users cannot run $SALVO: the rest is left out"
	exit 0
}
others=$(ps -o nlwp= -u 65534 2>/dev/null | awk '{ n += $1 } END { print n + 0 }')
# Room for the processes of the run, and not for 40 threads more.
run_under threads prlimit --nproc=$((others + 25)) "${nobody[@]}"
refused threads 'needs 40 threads, and of RLIMIT_NPROC of user 65534, [0-9]+, only [0-9]+ are left; raise it \(LimitNPROC=, ulimit -u\)'

# 40 rings and 640 KiB of buffers: without registered buffers it goes on, and says so.
run_under buffers prlimit --memlock=600000 "${nobody[@]}"
expect_rc 0 buffers
jq -r '.warnings[] | .host + ": " + .text' buffers/result.json >"$T/warnings"
expect_text "$T/warnings" 'local: buffers of 640 KiB are not registered .* RLIMIT_MEMLOCK, 586 KiB, .*\(LimitMEMLOCK=, ulimit -l\)'
rm scratch

# Some kernels count the rings as well, and then there is no way on.
run_under rings prlimit --memlock=65536 "${nobody[@]}"
if [ "$RC" -ne 0 ]; then
	expect_rc 3 rings
	expect_text "$T/err" "host 'local': .*locks do not fit into RLIMIT_MEMLOCK, 64.0 KiB .*raise it \(LimitMEMLOCK=, ulimit -l\)"
	! grep -aq oldest_ns rings/samples.msgpack 2>/dev/null || fail "rings: something was started"
fi
