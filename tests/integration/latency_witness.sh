#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The latencies of the report against those that the kernel's block tracepoints tell of the same I/Os, on a device
# that takes 10 ms and one that takes 2 ms for each: all I/Os are there, and mean, p50 and p99 are within 1 % + 20 us.
# io_uring with one and with eight I/Os in flight, psync with one and with eight threads, reads and writes mixed.
. "$(dirname "$0")/lib.sh"
need_nbd
need_tools jq chrt
test_begin
need_tracing
# It is about clocks, not about a processor that sleeps or does something else when the answer comes: salvo runs at
# real-time priority where that is allowed, and a loop that gives way to everybody keeps each processor awake.
if chrt -f 1 true 2>/dev/null; then
	printf '#!/bin/sh\nexec chrt -f 1 "%s" "$@"\n' "$SALVO" >"$T/salvo"
	chmod +x "$T/salvo"
	SALVO=$T/salvo
fi
for ((cpu = $(nproc); cpu > 0; cpu--)); do
	setsid chrt -i 0 sh -c 'while :; do :; done' &
	note pid $! "$("$LIB_DIR/undo.sh" --born $!)"
	disown $!
done

REGION=$((16 * 1048576)) # of the device, for each phase: so a trace tells the phases apart
PHASES=(uring-1 uring-8 psync-1 psync-8)

phase() {
	echo "  - {name: $1, jobs: [{name: $1, offset: $((REGION * $2)), size: $REGION, $3}]}"
}

# scenario DEVICE RUNTIME
scenario() {
	cat <<-YAML
		name: latency-witness
		interval: 500ms
		targets: {slow: {device: $1, destroy: true, share: partition}}
		defaults: {target: slow, rw: randrw, bs: 4k, time_based: true, runtime: $2}
		phases:
	YAML
	phase uring-1 0 "engine: io_uring, iodepth: 1"
	phase uring-8 1 "engine: io_uring, iodepth: 8"
	phase psync-1 2 "engine: psync"
	phase psync-8 3 "engine: psync, numjobs: 8"
}

# trace_start DEVICE: from the I/O threads' submission to the device's answer, by whatever thread that comes.
trace_start() {
	local name=salvo-$$-latency
	TRACE=$TRACING/instances/$name
	mkdir "$TRACE" || skip "no trace instances here"
	note tracing "$name"
	echo mono >"$TRACE/trace_clock"
	echo 8192 >"$TRACE/buffer_size_kb"
	echo "(dev == $(trace_dev "$1")) && (comm ~ \"io/*\" || comm ~ \"iou-wrk*\")" \
		>"$TRACE/events/block/block_bio_queue/filter" || fail "the trace filter is not accepted"
	echo "dev == $(trace_dev "$1")" >"$TRACE/events/block/block_rq_complete/filter" ||
		fail "the trace filter is not accepted"
	echo 1 >"$TRACE/events/block/block_bio_queue/enable"
	echo 1 >"$TRACE/events/block/block_rq_complete/enable"
	echo 1 >"$TRACE/tracing_on"
}

trace_stop() {
	echo 0 >"$TRACE/tracing_on"
	grep -q '^# entries-in-buffer/entries-written: \([0-9]*\)/\1 ' "$TRACE/trace" || fail "the trace lost events"
	awk -v region_sectors=$((REGION / 512)) -f "$LIB_DIR/latency_witness.awk" "$TRACE/trace"
	rmdir "$TRACE"
}

# compare RESULT SEEN: a line for each phase and kind; those that agree are added to the file agreed.
compare() {
	local region kind n mean p50 p99 pending of
	while read -r region kind n mean p50 p99 pending; do
		of=".results[$region].groups[0].$kind"
		expect_eq "$kind latencies of ${PHASES[region]}" "$(json "$1" "$of.lat_ns.n")" "$n"
		expect_eq "$kind I/Os of ${PHASES[region]} that the device never answered" "$pending" 0
		jq -r --arg name "$DELAY ${PHASES[region]} $kind" --argjson n "$n" --argjson mean "$mean" \
			--argjson p50 "$p50" --argjson p99 "$p99" "$of"'.lat_ns as $l |
			def pair(name; ours; theirs): {name: name, ours: ours, theirs: theirs,
				agree: ((ours - theirs | fabs) <= theirs * 0.01 + 20000)};
			[pair("mean"; $l.mean; $mean), pair("p50"; $l.percentiles["50"]; $p50),
			 pair("p99"; $l.percentiles["99"]; $p99)] as $pairs |
			(if all($pairs[]; .agree) then "agree" else "DIFFER" end) + " \($name): \($n) I/Os; " +
			([$pairs[] | "\(.name) \(.ours / 1000 | floor) us, by the kernel \(.theirs / 1000 | floor) us"] | join("; "))' \
			"$1"
	done <"$2" | tee "$T/compared"
	expect_eq "pairs of phase and kind" "$(wc -l <"$T/compared")" $((2 * ${#PHASES[@]}))
	sed -n 's/^agree \([^:]*\):.*/\1/p' "$T/compared" >>"$T/agreed"
}

: >"$T/agreed"
for DELAY in 10ms 2ms; do
	nbd_loop "$DELAY" memory 64M --filter=delay rdelay=$DELAY wdelay=$DELAY
	scenario "${NBD_LOOP[$DELAY]}" "$([ $DELAY = 10ms ] && echo 2s || echo 1s)" >"$T/$DELAY.yaml"
	# What else the machine does can keep a thread from its processor just then: each pair has three tries.
	for try in 1 2 3; do
		fair_scheduling
		trace_start "${NBD_LOOP[$DELAY]}"
		salvo_run 60 run "$T/$DELAY.yaml" --output "$T/$DELAY-$try" --quiet
		trace_stop >"$T/seen"
		expect_rc 0 "the run at $DELAY"
		echo "try $try"
		compare "$T/$DELAY-$try/result.json" "$T/seen"
		[ "$(grep "^$DELAY " "$T/agreed" | sort -u | wc -l)" -lt $((2 * ${#PHASES[@]})) ] || break
	done
done
expect_eq "pairs that agree" "$(sort -u "$T/agreed" | wc -l)" $((4 * ${#PHASES[@]}))
