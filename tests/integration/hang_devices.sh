#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Four devices on two hosts stop answering in mid-run, read and written, with io_uring and with psync: the run ends at
# its time plus grace, names each with host, device, offset and age, and keeps what was measured. The workers answer,
# do other work meanwhile, are killed and started again on the same port, and refuse what hangs until it has come back.
. "$(dirname "$0")/lib.sh"
need_nbd
need_netns
need_tools jq
test_begin

RUNTIME=2 GRACE=2 LEASE=3
for name in a b c d good; do
	nbd_loop $name memory 16M
done
netns_make 2
declare -A HOST_OF=([a]=${HOST_IP[1]} [b]=${HOST_IP[1]} [c]=${HOST_IP[2]} [d]=${HOST_IP[2]})
for i in 1 2; do
	keys_make "${HOST_IP[i]}"
	worker_config "${HOST_IP[i]}" "tcp://${HOST_IP[i]}:$PORT" "${NBD_LOOP[@]}"
	worker_start "${HOST_IP[i]}" "${HOST_NS[i]}"
done
wait_listening "${HOST_IP[@]}"

job() {
	echo "  - {name: $1, hosts: \"${HOST_OF[$1]:-${HOST_IP[1]}}\", target: $1, engine: $2, rw: $3, iodepth: 4}"
}

# scenario FILE JOB ENGINE RW [JOB ENGINE RW]...
scenario() {
	local file=$1 name
	shift
	{
		echo "name: hang"
		echo "hosts: \"10.98.0.[1-2]\""
		echo "interval: 200ms"
		echo "fleet: {grace: ${GRACE}s, lease: ${LEASE}s}"
		echo "targets:"
		for name in "${!NBD_LOOP[@]}"; do
			echo "  $name: {device: ${NBD_LOOP[$name]}, destroy: true, share: shared}"
		done
		echo "defaults: {bs: 4k, time_based: true, runtime: ${RUNTIME}s}"
		echo "jobs:"
		while [ $# -gt 0 ]; do
			job "$1" "$2" "$3"
			shift 3
		done
	} >"$file"
}

run() {
	salvo_run 60 run "$T/$1.yaml" --keys "$T/keys" --output "$T/$1" --quiet
}

# Starts the scenario and hangs the devices when there are samples of it; sets PID and BEGUN.
run_and_hang() {
	local name=$1
	shift
	BEGUN=$(now_ms)
	nsenter --net="/run/netns/$COORD_NS" "$SALVO" run "$T/$name.yaml" --keys "$T/keys" --output "$T/$name" --quiet \
		>"$T/out" 2>"$T/err" </dev/null &
	PID=$!
	note pid "$PID" "$("$LIB_DIR/undo.sh" --born "$PID")"
	wait_for 20 samples_kept "$T/$name" 6 || fail "no sample arrives"
	nbd_hang "$@"
}

# refused NAME: a run on the target alone.
tries=0
refused() {
	scenario "$T/refused$((++tries)).yaml" "$1" psync randread
	run refused$tries
	expect_rc 3 "a run on target $1, which hangs"
	expect_text "$T/err" "host '${HOST_OF[$1]}': target '$1': ${NBD_LOOP[$1]}: is stuck since" "the refusal"
	[ ! -s "$T/out" ] || fail "a refused run reports something"
}

# A short run; the others take RUNTIME.
usable() {
	scenario "$T/usable$((++tries)).yaml" "$1" io_uring "${2:-randread}"
	salvo_run 60 run "$T/usable$tries.yaml" --keys "$T/keys" --output "$T/usable$tries" --quiet \
		--set jobs[0].runtime=200ms
	[ "$RC" -eq 0 ]
}

answers() {
	salvo_run 20 hosts --hosts "10.98.0.[1-2]" --keys "$T/keys"
	expect_rc 0 "salvo hosts while devices hang"
}

named_in_result() {
	jq -e --arg host "${HOST_OF[$1]}" --arg target "$1" --arg path "${NBD_LOOP[$1]}" --arg direction "$2" --argjson age $((GRACE * 1000000000)) \
		'.results[0].stuck | map(select(.host == $host and .target == $target and .direction == $direction and .path == $path and
		.offset % 4096 == 0 and .offset < 16777216 and .bytes == 4096 and .age_ns >= $age)) | length > 0' \
		"$T/$3/result.json" >/dev/null || fail "result.json does not name target $1: $(jq -c '.results[0].stuck' "$T/$3/result.json")"
}

# --- all four at once
scenario "$T/all.yaml" a io_uring randread b psync randwrite c io_uring randwrite d psync randread
run_and_hang all a b c d
answers
wait "$PID"
RC=$?
took=$(($(now_ms) - BEGUN))
echo "the run on hung devices ended after $took ms"
expect_rc 3 "the run on devices that hang"
expect "milliseconds until it ended" "$took >= ($RUNTIME + $GRACE) * 1000 && $took < ($RUNTIME + $GRACE + 8) * 1000"
for name in a b c d; do
	direction=$(sed -n "s/.*name: $name,.*rw: rand\([a-z]*\),.*/\1/p" "$T/all.yaml")
	number='[0-9]+(\.[0-9]+)?'
	expect_text "$T/err" "host '${HOST_OF[$name]}': target '$name'.*${NBD_LOOP[$name]}.*$direction.*offset [0-9]+.* $number s" \
		"the message about $name"
	expect_text "$T/out" "${HOST_OF[$name]} +$name +${NBD_LOOP[$name]} +$direction +[0-9]+ B +4096 B +$number s" \
		"the report about $name"
	named_in_result $name "$direction" all
done
expect_eq "states of the hosts" "$(json "$T/all/result.json" '[.hosts[].state] | join(" ")')" "hung hung"
expect_eq "exit status in the result" "$(json "$T/all/result.json" .run.exit_status)" 3
expect "I/Os before the hang" "$(json "$T/all/result.json" '.results[0].groups[0].total.ios') > 10"

answers
expect_eq "free workers" "$(grep -c free "$T/out")" 2
for name in a b c d; do refused $name; done
usable good || fail "another target cannot be used meanwhile"

# --- killed and started again, after the end of the run
kill -KILL "${WORKER_PID[${HOST_IP[1]}]}"
wait_for 5 gone "${WORKER_PID[${HOST_IP[1]}]}" || fail "the worker does not die"
worker_start "${HOST_IP[1]}" "${HOST_NS[1]}"
wait_listening "${HOST_IP[1]}"
refused a
refused b
usable good || fail "another target cannot be used after a restart"

# --- one after the other comes back
nbd_go_on a
wait_for 10 usable a || fail "the target that was read is refused for ever"
refused b
nbd_go_on b c d
for name in b c d; do
	wait_for 10 usable $name randwrite || fail "target $name is refused for ever"
done
for i in 1 2; do
	[ ! -e "$T/${HOST_IP[i]}/state/stuck.d" ] || fail "records of stuck targets are left"
done

# --- the other way round, and the worker is killed while the run still hangs
scenario "$T/killed.yaml" a psync randread b io_uring randwrite
run_and_hang killed a b
kill -KILL "${WORKER_PID[${HOST_IP[1]}]}"
wait_for 5 gone "${WORKER_PID[${HOST_IP[1]}]}" || fail "the worker does not die"
worker_start "${HOST_IP[1]}" "${HOST_NS[1]}"
wait_listening "${HOST_IP[1]}"
wait_for $((LEASE + 10)) gone "$PID" || fail "the coordinator waits for a worker that was killed"
wait "$PID"
RC=$?
expect_rc 3 "the run whose worker was killed while it hung"
refused a
refused b
usable good || fail "another target cannot be used after a restart"
nbd_go_on a b
wait_for 10 usable a || fail "the target that was read is refused for ever"
wait_for 10 usable b randwrite || fail "the target that was written is refused for ever"
