#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What cannot be kept: the disk of the results is full, a file cannot be written, stdout is full or nobody reads it. It
# is said, the run goes on to its end, the rest is kept or printed, exit 1. And two runs into one folder at once.
. "$(dirname "$0")/lib.sh"
need_root
need_tools jq
test_begin

cat >"$T/s.yaml" <<YAML
name: lost
interval: 100ms
targets: {sim: {simulated: {size: 1M, latency: 100us}}}
jobs: [{name: r, target: sim, rw: randread, bs: 4k, time_based: true, runtime: 1500ms}]
YAML

# run_and NAME DIR COMMAND...: the command is executed when there are samples in the folder.
run_and() {
	local name=$1 dir=$2 pid
	shift 2
	"$SALVO" run "$T/s.yaml" --output "$dir" >"$T/out" 2>"$T/err" </dev/null &
	pid=$!
	note pid "$pid" "$("$LIB_DIR/undo.sh" --born "$pid")"
	wait_for 20 samples_kept "$dir" 2 || fail "$name: no sample arrives"
	"$@"
	wait_for 20 gone "$pid" || fail "$name: the run does not end"
	wait "$pid"
	RC=$?
	expect_rc 1 "$name"
	expect_text "$T/out" "^ *read .*|read: IOPS=" "$name: the report on stdout"
	expect_text "$T/out" "run=1\.5" "$name: the whole run time in the report"
}

# --- a disk that fills up in mid-run
mkdir "$T/small"
mount -t tmpfs -o size=256k tmpfs "$T/small" || skip "no tmpfs here"
note mount "$T/small"
fill() {
	dd if=/dev/zero of="$T/small/fill" bs=4k status=none 2>/dev/null
	return 0
}
run_and "a full disk" "$T/small/full" fill
expect_text "$T/err" "error: .*$T/small/full.*No space left on device" "the message"
expect_eq "errors that are said twice" "$(grep '^error: ' "$T/err" | sort | uniq -d)" ""
expect "errors of a full disk" "$(grep -c '^error: ' "$T/err") <= 3" # one for each file
expect_text "$T/out" "exit status 1" "the report"
expect_eq "files that are there in part only" "$(find "$T/small/full" -name '.*' -type f)" ""
[ -s "$T/small/full/samples.msgpack" ] || fail "the samples until then are gone"

# --- one that is full before: nothing begins
rm -r "$T/small/full"
salvo_run 20 run "$T/s.yaml" --output "$T/small/new"
[ "$RC" -eq 1 ] || [ "$RC" -eq 2 ] || fail "a full disk before the run: $RC"
expect_text "$T/err" "$T/small/new.*No space left" "the message"
umount "$T/small"

# --- a file that cannot be written
run_and "report.txt in the way" "$T/file" mkdir -p "$T/file/report.txt/x"
expect_text "$T/err" "error: .*$T/file/report\.txt.*cannot be written" "the message"
expect_eq "status" "$(json "$T/file/result.json" .run.status)" complete
expect_eq "exit status in the result" "$(json "$T/file/result.json" .run.exit_status)" 1

# --- stdout
"$SALVO" run "$T/s.yaml" --output "$T/dev-full" --quiet >/dev/full 2>"$T/err" </dev/null
RC=$?
expect_rc 1 "a full stdout"
expect_eq "errors about a full stdout" "$(grep -c '^error: ' "$T/err")" 1
expect_text "$T/err" "^error: stdout: .*No space left on device" "a full stdout"
"$SALVO" run "$T/s.yaml" --output "$T/pipe" --quiet 2>"$T/err" </dev/null | true
RC=${PIPESTATUS[0]}
expect_rc 1 "a stdout that nobody reads"
expect_eq "errors about a closed pipe" "$(grep -c '^error: ' "$T/err")" 1
expect_text "$T/err" "^error: stdout: .*Broken pipe" "a stdout that nobody reads"
"$SALVO" run "$T/s.yaml" --output "$T/head" --quiet 2>"$T/err" </dev/null | head -n 1 >"$T/out"
expect_text "$T/out" "lost" "the first line"
for dir in dev-full pipe head; do
	expect_eq "status in $dir" "$(json "$T/$dir/result.json" .run.status)" complete
	[ $dir = head ] || expect_eq "exit status in $dir" "$(json "$T/$dir/result.json" .run.exit_status)" 1
	[ -s "$T/$dir/report.txt" ] || fail "no report.txt in $dir"
done

# --- two runs into one folder at once: one of them runs, and its files are there
for try in 1 2 3 4 5; do
	pids=()
	for i in 1 2; do
		"$SALVO" run "$T/s.yaml" --set jobs[0].runtime=200ms --output "$T/same$try" --quiet >/dev/null 2>"$T/err$i" \
			</dev/null &
		pids[i]=$!
		note pid "${pids[i]}" "$("$LIB_DIR/undo.sh" --born "${pids[i]}")"
	done
	statuses=''
	for i in 1 2; do
		wait "${pids[i]}"
		statuses+=$?
	done
	[[ $statuses = 02 || $statuses = 20 ]] || fail "two runs into one folder ended with ${statuses:0:1} and ${statuses:1}"
	expect_text "$T/err$((statuses == 02 ? 2 : 1))" "another run is using it|is not empty" "the refusal"
	expect_eq "status of the other" "$(json "$T/same$try/result.json" .run.status)" complete
	[ -s "$T/same$try/samples.msgpack" ] || fail "the samples are gone"
done
