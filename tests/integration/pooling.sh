#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A group's percentiles come from all its I/Os pooled, not from its hosts' percentiles: 90 I/Os of 100 us and 10
# of 10 ms on one host, 10000 of 100 us on another, on simulated targets.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

a=127.0.0.1:$((20000 + $$ % 20000))
b=127.0.0.1:$((40001 + $$ % 20000))
for name in a b; do
	worker_config $name "tcp://${!name}"
	echo "insecure: true" >>"$T/$name/worker.yaml"
	worker_start $name
done
wait_for 10 listening "${WORKER_PID[a]}" "${a#*:}" || fail "worker a does not listen"
wait_for 10 listening "${WORKER_PID[b]}" "${b#*:}" || fail "worker b does not listen"

cat >"$T/pooling.yaml" <<YAML
name: pooling
hosts: ["$a", "$b"]
targets:
  quick: {simulated: {size: 360k, latency: 100us}}
  slow: {simulated: {size: 40k, latency: 10ms}}
  many: {simulated: {size: 40000k, latency: 100us}}
defaults: {rw: randread, bs: 4k, iodepth: 1}
jobs:
  - {name: quick, target: quick, hosts: ["$a"]}
  - {name: slow, target: slow, hosts: ["$a"]}
  - {name: many, target: many, hosts: ["$b"]}
YAML
salvo_run 60 run "$T/pooling.yaml" --insecure --output "$T/result" --quiet
expect_rc 0 "salvo run"
R=$T/result/result.json
read_of=".results[0].groups[0].read"

expect_eq "I/Os" "$(json "$R" "$read_of.ios")" 10100
expect_eq "latencies" "$(json "$R" "$read_of.lat_ns.n")" 10100
expect_eq "I/Os of the host with few" "$(json "$R" ".results[0].groups[0].hosts[0].read.ios")" 100
expect_eq "I/Os of the host with many" "$(json "$R" ".results[0].groups[0].hosts[1].read.ios")" 10000
expect_near "p99" "$(json "$R" "$read_of.lat_ns.percentiles[\"99\"]")" 100000 0.4
expect_near "p99.95" "$(json "$R" "$read_of.lat_ns.percentiles[\"99.95\"]")" 10000000 0.4
# (10090 x 100 us + 10 x 10 ms) / 10100, and the deviation of that pool.
expect_near "mean" "$(json "$R" "$read_of.lat_ns.mean")" 109801.98 0.4
expect_near "stddev" "$(json "$R" "$read_of.lat_ns.stddev")" 311357.6 0.5
