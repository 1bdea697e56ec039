#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A worker killed in the run: the coordinator ends within the lease and 5 s, keeps what there is and says who was
# lost and when. A coordinator killed in the run: no I/O after the lease, and the workers take the next run.
. "$(dirname "$0")/lib.sh"
need_loop
need_netns
need_tools jq
test_begin
need_tracing

LEASE=3
devices=()
for i in 1 2; do
	loop_make 64M
	devices[i]=$LOOP
	FLEET_DEVICES[i]="$LOOP"
done
fleet_make 2

scenario() {
	cat <<-YAML
		name: faults
		hosts: "10.98.0.[1-2]"
		interval: 500ms
		targets:
		  disk: {device: ${devices[1]}, per_host: {10.98.0.2: {device: ${devices[2]}}}}
		fleet: {lease: ${LEASE}s, grace: 5s}
		jobs: [{name: r, target: disk, rw: randread, bs: 4k, iodepth: 4, time_based: true, runtime: $1}]
	YAML
}

# The I/O of the job has begun on both devices.
running() {
	local i now
	for i in 1 2; do
		read -ra now <<<"$(stat_of "${devices[i]}")"
		[ "${now[0]}" -gt $((START[i] + 1000)) ] || return 1
	done
}

run_in_background() {
	local i now
	START=()
	for i in 1 2; do
		read -ra now <<<"$(stat_of "${devices[i]}")"
		START[i]=${now[0]}
	done
	nsenter --net="/run/netns/$COORD_NS" "$SALVO" run "$T/s.yaml" --keys "$T/keys" --output "$1" "${@:2}" \
		>"$T/out" 2>"$T/err" </dev/null &
	RUN_PID=$!
	note pid "$RUN_PID" "$("$LIB_DIR/undo.sh" --born "$RUN_PID")"
	wait_for 20 running || fail "the run does not begin"
}

# --- a worker is killed
scenario 60s >"$T/s.yaml"
run_in_background "$T/lost"
sleep 1.5 # so that there are samples to keep
killed=$(now_ms)
kill -KILL "${WORKER_PID[10.98.0.2]}"
wait_for $((LEASE + 10)) gone "$RUN_PID" || fail "the coordinator goes on without its worker"
took=$(($(now_ms) - killed))
wait "$RUN_PID"
RC=$?
expect_rc 3 "the run that lost a worker"
expect "milliseconds until the coordinator ended" "$took <= ($LEASE + 5) * 1000"
expect_text "$T/err" "10\.98\.0\.2.*lost|lost.*10\.98\.0\.2" "stderr"
expect_text "$T/out" "10\.98\.0\.2" "the partial report"
expect_text "$T/out" "[Pp]artial|PARTIAL" "the partial report"
R=$T/lost/result.json
expect_text "$R" '"status": *"(partial|aborted)"' "result.json"
expect_eq "exit status in the result" "$(json "$R" .run.exit_status)" 3
expect_eq "state of the lost host" "$(json "$R" '.hosts[] | select(.name == "10.98.0.2") | .state')" lost
expect_eq "state of the other" "$(json "$R" '.hosts[] | select(.name == "10.98.0.1") | .state')" complete
expect "when it was lost" "$(json "$R" '.hosts[] | select(.name == "10.98.0.2") | .lost_at_ns') > 1e9"
expect "I/Os kept" "$(json "$R" '.results[0].groups[0].read.ios') > 100"
expect "I/Os of the lost host that are kept" \
	"$(json "$R" '.results[0].groups[0].hosts[] | select(.name == "10.98.0.2") | .read.ios') > 10"
echo "a killed worker: the coordinator ended after $took ms"

# Its I/O process ends with it, and a new worker takes the host's place.
idle() {
	read -ra before <<<"$(stat_of "$1")"
	sleep 0.3
	read -ra after <<<"$(stat_of "$1")"
	[ "${before[0]}" = "${after[0]}" ]
}
wait_for $((LEASE + 2)) idle "${devices[2]}" || fail "I/O of a killed worker goes on"
worker_start 10.98.0.2 "${HOST_NS[2]}"
wait_listening 10.98.0.2

# --- a worker is restarted: its successor answers, but knows nothing of the run
run_in_background "$T/restarted" --quiet
kill -KILL "${WORKER_PID[10.98.0.2]}"
wait_for 5 gone "${WORKER_PID[10.98.0.2]}"
worker_start 10.98.0.2 "${HOST_NS[2]}"
wait_for $((LEASE + 5)) gone "$RUN_PID" || fail "the coordinator takes the successor for its worker"
wait "$RUN_PID"
RC=$?
expect_rc 3 "the run whose worker was restarted"
expect_text "$T/err" "10\.98\.0\.2.*no session" "stderr"
wait_for $((LEASE + 2)) idle "${devices[2]}" || fail "I/O of a killed worker goes on"

# --- the coordinator is killed
run_in_background "$T/orphan" --quiet
witness_start orphan last "${devices[@]}"
sleep 0.5
kill -KILL "$RUN_PID"
killed=$(now_ms)
wait "$RUN_PID" 2>/dev/null
wait_for $((LEASE + 5)) idle "${devices[1]}" || fail "I/O goes on without a coordinator"
wait_for $((LEASE + 5)) idle "${devices[2]}" || fail "I/O goes on without a coordinator"
sleep 1 # nothing may follow
witness_stop orphan >"$T/seen"
expect_eq "devices that the kernel saw I/O on" "$(wc -l <"$T/seen")" 2
while read -r dev _ last _; do
	late=$((last / 1000 - killed))
	echo "a killed coordinator: the last I/O on $dev $late ms later"
	# The clock of now_ms counts hundredths of a second.
	expect "milliseconds from the kill to the last I/O on $dev" "$late <= $LEASE * 1000 + 20"
	expect "milliseconds from the kill to the last I/O on $dev" "$late > -20"
done <"$T/seen"
expect "intervals kept by the killed coordinator" "$(stat -c %s "$T/orphan/samples.msgpack") > 0"

# Both are free again.
scenario 300ms >"$T/s.yaml"
salvo_run 30 run "$T/s.yaml" --keys "$T/keys" --output "$T/next" --quiet
expect_rc 0 "the run after"
