#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A host that is not there: nothing begins on the others, and it is named. Hosts whose processors are all taken by their
# own I/O threads: they are slow, and not taken for lost.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

local_workers 2 "$T/*"
nobody=127.0.0.1:$((${LOCAL[2]#*:} + 1))

cat >"$T/missing.yaml" <<YAML
name: missing
hosts: [$LOCAL_HOSTS, "$nobody"]
targets: {f: {file: $T/made.dat, size: 1MiB}}
jobs: [{name: w, target: f, rw: write}]
YAML
salvo_run 30 run "$T/missing.yaml" --insecure --output "$T/missing"
expect_rc 3 "a run with a host that is not there"
expect_text "$T/err" "$nobody" "the message"
for i in 1 2; do
	refuse_text "$T/err" "${LOCAL[i]}: .*(nobody|reach|answer|refused)" "the message"
done
[ ! -e "$T/made.dat" ] || fail "the others began without it"
[ ! -s "$T/out" ] || fail "there is a report, of nothing"
salvo_run 30 hosts --hosts "${LOCAL[1]},$nobody" --insecure
expect_rc 3 "salvo hosts with a host that is not there"
expect_text "$T/out" "${LOCAL[1]}.*free" "the table"
expect_text "$T/out" "$nobody" "the table"

# 64 threads on each host that never wait, and a lease of 2 s.
cat >"$T/crowded.yaml" <<YAML
name: crowded
hosts: [$LOCAL_HOSTS]
interval: 200ms
fleet: {lease: 2s}
targets: {s: {simulated: {size: 1GiB}}}
jobs: [{name: r, target: s, rw: randread, numjobs: 64, iodepth: 4, time_based: true, runtime: 5s}]
YAML
fair_scheduling
salvo_run 60 run "$T/crowded.yaml" --insecure --output "$T/crowded" --quiet
expect_rc 0 "hosts with many more threads than processors"
R=$T/crowded/result.json
expect_eq "states of the hosts" "$(json "$R" '[.hosts[].state] | join(" ")')" "complete complete"
expect_eq "threads" "$(json "$R" '.results[0].groups[0].threads')" 128
expect_eq "hosts in the total" "$(json "$R" '[.results[0].groups[0].hosts[] | select(.read.ios > 0)] | length')" 2
