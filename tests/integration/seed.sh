#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The published loop of randread and randwrite, 1 and 8 jobs, five repeats, as one scenario: with short run times,
# all of its twenty results and their summaries.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

salvo_run 100 run "$ROOT/configs/seed-random-8-jobs.yaml" --set jobs[0].runtime=300ms --set interval=100ms \
	--output "$T/seed" --quiet
expect_rc 0 "configs/seed-random-8-jobs.yaml"
R=$T/seed/result.json
expect_eq "results" "$(json "$R" '.results | length')" 20
for rw in randread randwrite; do
	dir=${rw#rand}
	for jobs in 1 8; do
		at="select(.point.rw == \"$rw\" and .point.numjobs == \"$jobs\")"
		expect_eq "repeats of $rw, $jobs jobs" "$(json "$R" "[.results[] | $at | .repeat] | sort | unique | length")" 5
		expect_eq "threads of $rw, $jobs jobs" \
			"$(json "$R" "[.results[] | $at | .groups[0].threads] | unique | map(tostring) | join(\",\")")" "$jobs"
		expect_eq "summary of $rw, $jobs jobs" "$(json "$R" "[.summary[] | $at] | length")" 1
		expect_eq "values of $dir.iops" "$(json "$R" ".summary[] | $at | .metrics[\"$dir.iops\"].n")" 5
		mean=$(json "$R" "[.results[] | $at | .groups[0].$dir.iops] | add / 5")
		expect_near "mean of $dir.iops" "$(json "$R" ".summary[] | $at | .metrics[\"$dir.iops\"].mean")" "$mean" 0.01
		expect "$dir.iops, $jobs jobs" "$mean > 0"
	done
done
off=$(littles_law "$R" 1 300000000)
[ "$(grep -c . <<<"$off")" -le 4 ] || fail "Little's law does not hold: $off"
