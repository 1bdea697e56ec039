#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All processors busy, with others' work and with far more threads than there are processors: the lease is kept on both
# sides for several times its length, and the run completes.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin
fair_scheduling

LEASE=2
PORT=$((20000 + $$ % 20000))
keys_make 127.0.0.1
worker_config 127.0.0.1 "tcp://127.0.0.1:$PORT" "$T/*"
worker_start 127.0.0.1
wait_listening 127.0.0.1
dd if=/dev/zero of="$T/file" bs=1M count=16 status=none

cat >"$T/s.yaml" <<YAML
name: busy
hosts: ["127.0.0.1:$PORT"]
interval: 500ms
fleet: {lease: ${LEASE}s}
targets: {file: {file: $T/file, size: 16M}}
jobs: [{name: r, target: file, rw: randread, bs: 4k, direct: false, engine: psync, numjobs: $(($(nproc) * 16)),
        time_based: true, runtime: $((3 * LEASE))s}]
YAML

for ((i = 0; i < $(nproc); i++)); do
	(while :; do :; done) &
	note pid $! "$("$LIB_DIR/undo.sh" --born $!)"
	disown $!
done
for try in 1 2 3; do
	salvo_run 60 run "$T/s.yaml" --keys "$T/keys" --output "$T/run$try" --quiet
	# Whoever starts nothing because it would start too late has not lost anybody.
	grep -q "did not confirm the start in time" "$T/err" || break
done
expect_rc 0 "a run on busy processors"
R=$T/run$try/result.json
expect_eq "status" "$(json "$R" .run.status)" complete
expect_eq "state of the host" "$(json "$R" '.hosts[0].state')" complete
expect_eq "threads" "$(json "$R" '.results[0].groups[0].threads')" $(($(nproc) * 16))
expect_near "run time" "$(json "$R" '.results[0].groups[0].read.runtime_ns')" "3 * $LEASE * 1e9" 1
