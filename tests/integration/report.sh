#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `salvo report` prints what the run printed, byte for byte; and of a run whose coordinator was killed, what it left.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

cat >"$T/s.yaml" <<YAML
name: report
interval: 100ms
targets:
  one: {file: one.dat, size: 1M, share: shared}
  two: {file: two.dat, size: 1M, share: shared}
jobs:
  - {name: r, target: [one, two], rw: randread, bs: 4k, engine: psync, time_based: true, runtime: 500ms}
  - {name: w, target: one, group: writers, rw: randrw, bs: 8k, iodepth: 4, fsync: 64, time_based: true, runtime: 500ms}
repeat: 2
fleet: {min_overlap: 0}
YAML

# --- a run that ended --------------------------------------------------------------------------------------
salvo_run 30 run "$T/s.yaml" --output "$T/run" --set targets.one.allow_overlap=true
expect_rc 0 "the run"
cp "$T/out" "$T/printed"
salvo_run 10 report "$T/run"
expect_rc 0 "the report of a folder"
cmp "$T/out" "$T/printed" || fail "the report differs from what the run printed"
cmp "$T/out" "$T/run/report.txt" || fail "the report differs from report.txt"
salvo_run 10 report "$T/run/result.json"
cmp "$T/out" "$T/printed" || fail "the report of result.json differs"
salvo_run 10 report "$T/run" --format json
cmp "$T/out" "$T/run/result.json" || fail "result.json differs when it is printed again"
mv "$T/run" "$T/elsewhere"
salvo_run 10 report "$T/elsewhere"
cmp "$T/out" "$T/printed" || fail "a folder that was moved tells something else"

# What others laid out differently is the same result.
mkdir "$T/jq"
jq . "$T/elsewhere/result.json" >"$T/jq/result.json"
salvo_run 10 report "$T/jq"
cmp "$T/out" "$T/printed" || fail "a file with other blanks tells something else"

# --- the same run from its samples ---------------------------------------------------------------------------
mkdir "$T/samples"
cp "$T/elsewhere/scenario.yaml" "$T/elsewhere/samples.msgpack" "$T/samples"
salvo_run 10 report "$T/samples" --format json
expect_rc 0 "the report of samples"
# READY, which names the devices, is not in the samples; the labels of jobs and hosts are.
RESULTS='[.results[] | del(.devices[] | .path, .identity, .transport)]'
expect_eq "results from the samples" "$(jq -S "$RESULTS" "$T/out" | md5sum)" \
	"$(jq -S "$RESULTS" "$T/elsewhere/result.json" | md5sum)"
expect_eq "facts of the host" "$(jq -S '.hosts[].environment' "$T/out" | md5sum)" \
	"$(jq -S '.hosts[].environment' "$T/elsewhere/result.json" | md5sum)"
expect_eq "its status" "$(json "$T/out" '.run.status')" partial
expect_eq "its exit status" "$(json "$T/out" '.run | has("exit_status")')" false

# --- a run that is killed --------------------------------------------------------------------------------------
"$SALVO" run "$T/s.yaml" --output "$T/killed" --set targets.one.allow_overlap=true --set jobs[0].runtime=20s \
	--set jobs[1].runtime=20s >"$T/out" 2>"$T/err" </dev/null &
PID=$!
note pid "$PID" "$("$LIB_DIR/undo.sh" --born "$PID")"
wait_for 20 samples_kept "$T/killed" 12 || fail "no sample arrives"
salvo_run 10 report "$T/killed"
expect_rc 0 "the report of a run that goes on"
expect_text "$T/out" "still going on" "its report"
kill -KILL "$PID"
wait_for 10 gone "$PID" || fail "the coordinator lives"
wait "$PID" 2>/dev/null
[ ! -e "$T/killed/result.json" ] || fail "a killed run has a result.json"
salvo_run 10 report "$T/killed"
expect_rc 0 "the report of a killed run"
expect_text "$T/out" "^report: partial, no exit status" "its first line"
expect_text "$T/out" "the run was not brought to its end" "its warning"
salvo_run 10 report "$T/killed" --format json
expect_rc 0 "its numbers"
ALL='.results[0].groups[0]'
expect_eq "partial" "$(json "$T/out" '.results[0].partial')" true
expect_eq "whole intervals at least" "$(json "$T/out" "$ALL.total.iops_samples.n >= 10")" true
for part in hosts targets jobs; do
	expect_eq "$part against the whole" "$(json "$T/out" "[${ALL}.${part}[].total.ios] | add")" \
		"$(json "$T/out" "$ALL.total.ios")"
done
expect_eq "parts" "$(json "$T/out" "[$ALL.hosts, $ALL.targets, $ALL.jobs | length]|@csv")" 1,2,2
expect_eq "the named group is its job" "$(json "$T/out" '.results[0].groups[1].total.ios')" \
	"$(json "$T/out" "$ALL.jobs[1].total.ios")"
# A reading is taken while threads count: latencies and I/Os may be one batch of each thread apart.
DEPTHS=64
expect_eq "latencies of all I/Os" \
	"$(json "$T/out" "$ALL.read | (.lat_ns.n - .ios) as \$d | \$d >= -$DEPTHS and \$d <= $DEPTHS")" true
expect_eq "no CPU time, which is not 0" "$(json "$T/out" "$ALL | has(\"cpu\")")" false
FULL=$(json "$T/out" "$ALL.total.ios")

# A record that is cut in the middle is the last interval lost, and no more.
truncate -s -7 "$T/killed/samples.msgpack"
salvo_run 10 report "$T/killed" --format json
expect_rc 0 "a file that ends in a record"
[ "$(json "$T/out" "$ALL.total.ios")" -lt "$FULL" ] || fail "the record that was cut is counted"
[ "$(json "$T/out" "$ALL.total.ios")" -gt $((FULL / 2)) ] || fail "more than a record is missing"

# --- what is no result -----------------------------------------------------------------------------------------
# refused PATH PATTERN: exit 2, nothing on stdout, and the reason.
refused() {
	salvo_run 10 report "$1"
	expect_rc 2 "report $1"
	expect_text "$T/err" "$2" "the message for $1"
	[ ! -s "$T/out" ] || fail "report $1: something on stdout"
}
refused "$T/no/such" "No such file"
refused "$T/cwd" "is no result: it holds neither result.json nor samples.msgpack"
refused "$T/s.yaml" "s.yaml: line 1: no '{'"
head -c 5000 "$T/elsewhere/result.json" >"$T/jq/result.json"
refused "$T/jq" "result.json: .*the file ends in the middle"
sed 's/"format":1/"format":99/' "$T/elsewhere/result.json" >"$T/jq/result.json"
refused "$T/jq" "has format 99"
sed '0,/"threads":/s//"threads":-/' "$T/elsewhere/result.json" >"$T/jq/result.json"
refused "$T/jq" "results\[0\].groups\[0\].threads: "
"$SALVO" report "$T/elsewhere" >/dev/full 2>"$T/err"
expect_eq "status with a full disk behind stdout" $? 1
