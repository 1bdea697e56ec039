#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One coordinator at a time owns a worker: a second one is refused with the owner's name, exit 3, and the first
# does not notice. `salvo hosts` may look meanwhile.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

PORT=$((20000 + $$ % 20000))
address=127.0.0.1:$PORT
keys_make 127.0.0.1
mv "$T/127.0.0.1" "$T/w"
worker_config w "tcp://$address"
worker_start w
wait_listening w

scenario() {
	cat <<-YAML
		name: busy
		hosts: ["$address"]
		interval: 200ms
		targets: {sim: {simulated: {size: 1M, latency: 100us}}}
		jobs: [{name: r, target: sim, rw: randread, bs: 4k, iodepth: 8, numjobs: 2, time_based: true, runtime: $1}]
	YAML
}

scenario 8s >"$T/long.yaml"
scenario 100ms >"$T/short.yaml"
"$SALVO" run "$T/long.yaml" --keys "$T/keys" --output "$T/first" --quiet >"$T/first.out" 2>&1 </dev/null &
pid=$!
note pid "$pid" "$("$LIB_DIR/undo.sh" --born "$pid")"
wait_for 20 samples_kept "$T/first" 1 || fail "the first run does not begin"

salvo_run 15 run "$T/short.yaml" --keys "$T/keys" --output "$T/second" --quiet
expect_rc 3 "the second coordinator"
expect_text "$T/err" "error: .*127\.0\.0\.1.*pid $pid" "the refusal"
salvo_run 15 hosts --hosts "$address" --keys "$T/keys"
expect_rc 0 "salvo hosts"
expect_text "$T/out" "127\.0\.0\.1.*pid $pid" "salvo hosts"

wait "$pid"
expect_eq "exit status of the first" $? 0
expect_eq "status of the first" "$(json "$T/first/result.json" .run.status)" complete
for try in 1 2 3; do
	littles_law "$T/first/result.json" 8 && break
	[ "$try" -lt 3 ] || fail "Little's law does not hold"
	rm -r "$T/first"
	salvo_run 30 run "$T/long.yaml" --keys "$T/keys" --output "$T/first" --quiet
	expect_rc 0 "the first coordinator, again"
done

salvo_run 15 hosts --hosts "$address" --keys "$T/keys"
expect_rc 0 "salvo hosts"
expect_text "$T/out" "free" "salvo hosts"
salvo_run 15 run "$T/short.yaml" --keys "$T/keys" --output "$T/third" --quiet
expect_rc 0 "the next coordinator"
