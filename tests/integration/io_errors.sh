#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# I/O errors of a device are counted exactly as the device's own log says, by errno and direction, with the offset of
# the first; what follows is what on_error says; a device on which everything fails keeps no processor busy; exit 1.
. "$(dirname "$0")/lib.sh"
need_nbd
need_tools jq
test_begin

nbd_loop bad --filter=log --filter=error memory 16M logfile="$T/requests" \
	error-pread=EIO error-pread-rate=10% error-pread-file="$T/some-reads" \
	error-pwrite=ENOSPC error-pwrite-rate=20% error-pwrite-file="$T/some-writes"
nbd_loop dead --filter=error memory 16M error=EIO error-rate=100% error-file="$T/all"
nbd_loop good memory 16M

# scenario ON_ERROR JOBS
scenario() {
	cat >"$T/s.yaml" <<-YAML
		name: io-errors
		interval: 200ms
		targets:
		  bad: {device: ${NBD_LOOP[bad]}, destroy: true, share: shared}
		  dead: {device: ${NBD_LOOP[dead]}, destroy: true, share: shared}
		  good: {device: ${NBD_LOOP[good]}, share: shared}
		defaults: {bs: 4k, time_based: true, runtime: 2s, on_error: $1}
		jobs: [$2]
	YAML
}

# run NAME SECONDS: with the triggers that `triggers` names, from the first sample of the run on.
run() {
	local pid
	"$SALVO" run "$T/s.yaml" --output "$T/$1" >"$T/out" 2>"$T/err" </dev/null &
	pid=$!
	note pid "$pid" "$("$LIB_DIR/undo.sh" --born "$pid")"
	wait_for 20 samples_kept "$T/$1" 1 || fail "$1: no sample arrives"
	touch "${triggers[@]}"
	wait_for 20 gone "$pid" || fail "$1: the run does not end"
	wait "$pid"
	RC=$?
	rm -f "${triggers[@]}"
	R=$T/$1/result.json
	expect_rc 1 "$1"
	expect_eq "$1: exit status in the result" "$(json "$R" .run.exit_status)" 1
	expect_text "$T/err" "I/O error" "$1: the message"
	expect_text "$T/out" "[Ee]rror" "$1: the report"
}

# logged KIND ERRNO: failed requests in nbdkit's log since the last call.
logged() {
	grep -c "\.\.\.$1 .*error=$2" "$T/requests"
}

# failed_offsets KIND: the decimal offset of each failed request.
failed_offsets() {
	local hex
	awk -v kind="$1" '{ split($5, id, "=") }
		$4 == kind { split($6, offset, "="); at[$3 id[2]] = offset[2] }
		$4 == "..." kind && / error=/ { print at[$3 id[2]] }' "$T/requests" |
		while read -r hex; do echo $((hex)); done
}

counted() {
	json "$R" ".results[0].groups[0].errors_by | map(select(.direction == \"$1\" and .name == \"$2\") | .count) | add // 0"
}

# --- counted, by errno, while the rest goes on
triggers=("$T/some-reads" "$T/some-writes")
for engine in io_uring psync; do
	: >"$T/requests"
	scenario continue "{name: mixed, target: bad, rw: randrw, engine: $engine, iodepth: 8, numjobs: 2}"
	run "counted-$engine"
	reads=$(logged Read EIO)
	writes=$(logged Write ENOSPC)
	echo "$engine: $reads reads and $writes writes failed by the device's log"
	expect "errors to count" "$reads > 10 && $writes > 10"
	expect_eq "$engine: reads that failed with EIO" "$(counted read EIO)" "$reads"
	expect_eq "$engine: writes that failed with ENOSPC" "$(counted write ENOSPC)" "$writes"
	expect_eq "$engine: kinds of errors" "$(json "$R" '.results[0].groups[0].errors_by | length')" 2
	expect_eq "$engine: read.errors" "$(json "$R" .results[0].groups[0].read.errors)" "$reads"
	expect_eq "$engine: write.errors" "$(json "$R" .results[0].groups[0].write.errors)" "$writes"
	expect "$engine: it went on" "$(json "$R" .results[0].groups[0].total.runtime_ns) > 1.9e9"
	expect_eq "$engine: status" "$(json "$R" .run.status)" complete
	expect_text "$T/out" "EIO" "the report"
	expect_text "$T/out" "ENOSPC" "the report"
	first=$(json "$R" '.results[0].groups[0].errors_by | map(select(.direction == "read"))[0].first.offset')
	failed_offsets Read >"$T/offsets"
	grep -qx "$first" "$T/offsets" || fail "$engine: no read at $first has failed"
done

# --- stop: the thread ends, the others do not
triggers=("$T/some-reads" "$T/some-writes")
: >"$T/requests"
scenario stop "{name: one, target: bad, rw: randread, engine: psync}, {name: other, target: good, rw: randread}"
run stop
expect_eq "errors of a thread that stops" "$(json "$R" '.results[0].groups[0].read.errors')" 1
expect_eq "failed requests" "$(logged Read EIO)" 1
expect_eq "offset of the first" "$(json "$R" '.results[0].groups[0].errors_by[0].first.offset')" "$(failed_offsets Read)"
expect "run time of the other" "$(json "$R" '.results[0].groups[0].jobs[] | select(.name == "other") | .read.runtime_ns') > 1.9e9"
expect "run time of the one" "$(json "$R" '.results[0].groups[0].jobs[] | select(.name == "one") | .read.runtime_ns') < 1.9e9"

# --- stop_all: everything ends
scenario stop_all "{name: one, target: bad, rw: randwrite}, {name: other, target: good, rw: randread, runtime: 60s}"
run stop_all
expect "run time of the other" "$(json "$R" '.results[0].groups[0].jobs[] | select(.name == "other") | .read.runtime_ns') < 30e9"
expect_text "$T/err" "stop_all" "the message"

# --- everything fails: nothing spins
triggers=("$T/all")
for engine in io_uring psync; do
	scenario continue "{name: all, target: dead, rw: randwrite, engine: $engine, iodepth: 8, numjobs: 2}"
	run "dead-$engine"
	expect "$engine: errors" "$(json "$R" '.results[0].groups[0].write.errors') > 10"
	cpu=$(json "$R" '.results[0].groups[0].cpu | .usr + .sys')
	echo "$engine: $(json "$R" .results[0].groups[0].write.errors) errors, $cpu % of a processor"
	expect "$engine: processor time while everything fails" "$cpu < 50"
done
