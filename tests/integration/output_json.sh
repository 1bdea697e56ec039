#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# result.json of a run with two hosts, two groups, buffered and synced writes, agrees with itself: no key twice, every
# histogram holds all of its latencies, percentiles lie between minimum and maximum, parts add up, nothing that was not
# measured is 0, and the figures of the text are the same. And runs in which nothing was measured do not end with 0.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

local_workers 2 "$T/*"
cat >"$T/s.yaml" <<YAML
name: output-json
hosts: [$LOCAL_HOSTS]
interval: 100ms
targets:
  f: {file: $T/1.dat, size: 8MiB, share: shared, per_host: {"${LOCAL[2]}": {file: $T/2.dat}}}
  s: {simulated: {size: 1GiB, latency: 1ms}}
defaults: {target: f, bs: 4k, direct: false}
phases:
  - name: deep
    jobs: [{name: deep, rw: randread, engine: psync, iodepth: 32}]
  - name: mix
    jobs:
      - {name: a, rw: randrw, iodepth: 4, group: g, time_based: true, ramp_time: 200ms, runtime: 500ms, fsync: 16}
      - {name: b, rw: write, engine: psync, numjobs: 2, time_based: true, ramp_time: 200ms, runtime: 500ms}
      - {name: c, target: s, rw: randread, iodepth: 8, group: g, time_based: true, ramp_time: 200ms, runtime: 500ms}
repeat: 2
YAML
fair_scheduling
salvo_run 60 run "$T/s.yaml" --insecure --output "$T/r" --format json
expect_rc 0 "the run"
R=$T/r/result.json
cmp -s "$T/out" "$R" || fail "stdout with --format json is not result.json"
expect_eq "results" "$(json "$R" '.results | length')" 4

# A parser that keeps all keys sees no path twice.
expect_eq "keys that are given twice" "$(jq -c --stream 'select(length == 2)[0]' "$R" | sort | uniq -d | wc -l)" 0

# wrong NAME FILTER: what the filter finds is a contradiction.
wrong() {
	local found
	found=$(jq -r "def groups: .results[] | \"\\(.phase)/\\(.repeat)\" as \$at | .groups[] |
			(., .hosts[]?, .targets[]?, .jobs[]?) | . + {at: \"\\(\$at) \\(.name)\"};
		def directions: groups | . as \$g | (\"read\", \"write\", \"sync\", \"total\") |
			select(\$g[.]) | \$g[.] + {at: \"\\(\$g.at) \\(.)\"};
		def latencies: directions | . as \$d | (\"lat_ns\", \"slat_ns\", \"clat_ns\") |
			select(\$d[.]) | \$d[.] + {at: \"\\(\$d.at) \\(.)\"};
		$2" "$R" 2>&1) || fail "$1: $found"
	[ -z "$found" ] || fail "$1: $(head -n 5 <<<"$found")"
}

expect "latencies that are looked at" "$(jq '[.. | objects | select(has("histogram"))] | length' "$R") > 50"
wrong "a histogram that does not hold all latencies" \
	'latencies | select(([.histogram[][2]] | add // 0) != .n) | .at'
wrong "latencies that are not the I/Os" \
	'directions | select(.lat_ns and .lat_ns.n != .ios + .drain.ios) | .at'
wrong "a percentile beyond minimum or maximum" \
	'latencies | select(.n > 0) | select(([.percentiles[]] | min) < .min or ([.percentiles[]] | max) > .max) | .at'
wrong "a mean beyond minimum or maximum" 'latencies | select(.n > 0 and (.mean < .min or .mean > .max)) | .at'
wrong "no latency, and yet one is named" 'latencies | select(.n == 0 and (has("min") or has("percentiles"))) | .at'
wrong "a rate that is not I/Os by time" \
	'directions | select(.runtime_ns > 0 and (.iops - .ios / .runtime_ns * 1e9 | fabs) > 0.01) | .at'
wrong "bytes that are not I/Os of 4 KiB" 'directions | select(.at | test("sync") | not) | select(.bytes != .ios * 4096) | .at'
for part in hosts targets jobs; do
	wrong "$part that do not add up" \
		".results[].groups[] | . as \$g | (\"read\", \"write\", \"sync\", \"total\") | . as \$d | select(\$g[\$d] and \$g.$part) |
		 (\"ios\", \"bytes\", \"errors\", \"short_ios\") | . as \$f |
		 select(([\$g.${part}[][\$d][\$f] // 0] | add) != \$g[\$d][\$f]) | \"\\(\$g.name) \\(\$d) \\(\$f)\""
	wrong "a name that stands twice in $part" ".results[].groups[] | select((.$part | map(.name) | unique | length) != (.$part | length)) | .name"
done
wrong "a device that stands twice" '.results[] | select((.devices | map(.host + " " + .target) | unique | length) != (.devices | length)) | .phase'

# Not measured is absent.
expect_eq "directions of a job that only reads" \
	"$(json "$R" '.results[0].groups[0] | [has("read", "write", "trim", "sync") | tostring] | join(" ")')" "true false false false"
expect_eq "slat of an engine that has none" "$(json "$R" '.results[0].groups[0].read | has("slat_ns") | tostring')" false

# psync has one I/O in flight, whatever iodepth says.
expect_eq "depths of psync" "$(json "$R" '.results[0].groups[0].depths | tostring')" '[[1,4096]]'
expect_eq "its effective depth" "$(json "$R" '.results[0].groups[0].effective_depth')" 1
expect_eq "a warning of it" "$(json "$R" '[.warnings[].text | select(test("iodepth.*32"))] | length > 0')" true

# The text says the same: bandwidths in both of their units, I/Os and errors.
expect_text "$T/r/report.txt" "IO depths: 1=100\.0%, 2=0\.0%" "the report"
check_text() {
	local iops bw unit bw2 unit2 ios want_iops want_bw want_ios at
	declare -A factor=([B]=1 [KiB]=1024 [MiB]=1048576 [GiB]=1073741824 [kB]=1e3 [MB]=1e6 [GB]=1e9)
	while read -r iops bw unit bw2 unit2 ios want_iops want_bw want_ios at; do
		expect_eq "I/Os of $at in the text" "$ios" "$want_ios"
		expect_near "IOPS of $at in the text" "$iops" "$want_iops" 0.2
		expect_near "bandwidth of $at in the text" "$(calc "$bw * ${factor[$unit]}")" "$want_bw" 0.2
		expect_near "bandwidth of $at in the text, in brackets" "$(calc "$bw2 * ${factor[$unit2]}")" "$want_bw" 0.2
	done < <(paste -d' ' "$T/text" "$T/want")
}
sed -nE 's|^  (read\|write): IOPS=([0-9.]+), BW=([0-9.]+) (.*)/s \(([0-9.]+) (.*)/s\), total=.*, ios=([0-9]+), .*|\2 \3 \4 \5 \6 \7|p' \
	"$T/r/report.txt" >"$T/text"
jq -r '.results[] | .phase as $p | .groups[] | .name as $g | ({read}, {write} | to_entries[] | select(.value)) |
	"\(.value.iops) \(.value.bw_bytes) \(.value.ios) \($p)/\($g)/\(.key)"' "$R" >"$T/want"
expect_eq "lines of reads and writes in the text" "$(wc -l <"$T/text")" "$(wc -l <"$T/want")"
expect "lines of reads and writes" "$(wc -l <"$T/want") >= 10"
check_text

# --- nothing to measure is no success
printf 'name: none\ntargets: {f: {file: none.dat}}\njobs: [{name: r, target: f}]\n' >"$T/none.yaml"
salvo_run 20 run "$T/none.yaml" --output "$T/none"
expect_rc 2 "a file that is not there, without a size"
expect_text "$T/err" "targets\.f: .*size" "the message"
printf 'name: none\ntargets: {d: {device: /dev/none}}\njobs: [{name: r, target: d}]\n' >"$T/none.yaml"
salvo_run 20 run "$T/none.yaml" --output "$T/none"
expect_rc 3 "a device that is not there"
expect_text "$T/err" "/dev/none" "the message"
