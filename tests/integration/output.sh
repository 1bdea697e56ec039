#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where results go: wrong folders are found before any I/O (exit 2), stdout carries what --format says and nothing
# else, stderr the talk, the folder all files.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

cat >"$T/s.yaml" <<YAML
name: output
interval: 100ms
targets: {scratch: {file: scratch.dat, size: 1M}}
jobs: [{name: r, target: scratch, rw: randread, bs: 4k, engine: psync, iodepth: 32, time_based: true, runtime: 500ms}]
YAML

# refused DIR PATTERN: exit 2, said why, and the job's file was not even made.
refused() {
	salvo_run 10 run "$T/s.yaml" --output "$1"
	expect_rc 2 "--output $1"
	expect_text "$T/err" "$2" "the message for --output $1"
	[ ! -e scratch.dat ] || fail "--output $1: the run began"
	[ ! -s "$T/out" ] || fail "--output $1: something on stdout"
}
refused "$T/no/such/x" "$T/no/such"
mkdir "$T/full"
echo mine >"$T/full/mine"
refused "$T/full" "$T/full"
refused "$T/full/mine" "$T/full/mine"
expect_eq "the file in the folder" "$(cat "$T/full/mine")" mine

# JSON from the first byte, warnings (psync has no depth) elsewhere.
mkdir "$T/empty"
salvo_run 20 run "$T/s.yaml" --output "$T/empty" --format json
expect_rc 0 "--format json"
expect_eq "the first byte" "$(head -c 1 "$T/out")" "{"
jq -e .format "$T/out" >/dev/null || fail "stdout is not JSON"
expect_eq "format" "$(json "$T/out" .format)" 1
expect_eq "stdout against the folder" "$(jq -S . "$T/out" | md5sum)" "$(jq -S . "$T/empty/result.json" | md5sum)"
# No key may be given twice: jq keeps the last one, so the counts of names differ then.
expect_eq "keys in the text" "$(jq -c --stream 'select(length == 2)' "$T/out" | wc -l)" \
	"$(jq . "$T/out" | jq -c --stream 'select(length == 2)' | wc -l)"
expect_eq "depth that psync had" "$(json "$T/out" '.warnings | map(select(.text | test("depth|iodepth"))) | length > 0')" true

# Text, and every file.
salvo_run 20 run "$T/s.yaml" --label purpose=test --repeat 2
expect_rc 0 "the default folder"
folder=$(echo salvo-results/output-*Z)
[[ $(basename "$folder") =~ ^output-[0-9]{8}T[0-9]{6}Z$ ]] || fail "the default folder is $folder"
for f in scenario.yaml result.json samples.msgpack report.txt; do
	[ -s "$folder/$f" ] || fail "no $f in $folder"
done
expect_eq "label" "$(json "$folder/result.json" .run.labels.purpose)" test
expect_eq "results" "$(json "$folder/result.json" '.results | length')" 2
expect_eq "values in the summary" "$(json "$folder/result.json" '.summary[0].metrics["read.iops"].values | length')" 2
expect_eq "the report on stdout and in the folder" "$(md5sum <"$T/out")" "$(md5sum <"$folder/report.txt")"
refuse_text "$T/out" $'\033' "the report"
refuse_text "$T/err" $'\033' "progress without a terminal"

# The scenario of the result can be run again.
salvo_run 20 run "$folder/scenario.yaml" --output "$T/again" --quiet
expect_rc 0 "the resolved scenario"
[ ! -s "$T/err" ] || expect_text "$T/err" "warning" "stderr with --quiet"

# A refused run leaves nothing, not even the folder of the default folders.
mkdir refused
cd refused || exit 1
salvo_run 20 run "$T/s.yaml" --set targets.scratch.file=../outside.dat
expect_rc 3 "a file outside of the current folder"
expect_eq "files after a refused run" "$(ls -A)" ""
cd ..

# Two runs of one name in the same second have a folder each.
for i in 1 2; do
	"$SALVO" run "$T/s.yaml" --set jobs[0].rw=read --set targets.scratch.file=pair$i.dat --set name=pair --quiet \
		>/dev/null 2>"$T/err" </dev/null &
	pids[i]=$!
	note pid "${pids[i]}" "$("$LIB_DIR/undo.sh" --born "${pids[i]}")"
done
for i in 1 2; do
	wait "${pids[i]}"
	RC=$?
	expect_rc 0 "run $i of two at once"
done
expect_eq "results of two runs at once" "$(find salvo-results -path '*/pair-*/result.json' | wc -l)" 2

# stdout, stderr or both closed: nothing else is taken for them, and a lost report is an error.
"$SALVO" run "$T/s.yaml" --output "$T/closed1" --quiet </dev/null >&- 2>"$T/err"
RC=$?
expect_rc 1 "without a stdout"
expect_text "$T/err" "report" "stderr without a stdout"
"$SALVO" run "$T/s.yaml" --output "$T/closed2" </dev/null >"$T/out" 2>&-
RC=$?
expect_rc 0 "without a stderr"
expect_eq "the report without a stderr" "$(md5sum <"$T/out")" "$(md5sum <"$T/closed2/report.txt")"
"$SALVO" run "$T/s.yaml" --output "$T/closed3" <&- >&- 2>&-
RC=$?
expect_rc 1 "without all three"
for i in 1 2 3; do
	expect_eq "status of run $i" "$(json "$T/closed$i/result.json" .run.status)" complete
done
