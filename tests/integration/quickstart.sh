#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The first thing that a new user does: configs/quickstart.yaml in an empty folder, and the same through
# tools/quickstart. No daemon, no keys, no root; a report at the end.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

check_report() {
	expect_text "$1" "read" "the report"
	expect_text "$1" "write" "the report"
	expect_text "$1" "IOPS" "the report"
	expect_text "$1" "99\.9" "the percentiles"
}

short=(--set jobs[0].runtime=500ms --set interval=100ms)
grep -q '^phases:' "$ROOT/configs/quickstart.yaml" &&
	short=(--set phases[0].jobs[0].runtime=500ms --set phases[1].jobs[0].runtime=500ms --set interval=100ms)

salvo_run 60 run "$ROOT/configs/quickstart.yaml" "${short[@]}"
expect_rc 0 "configs/quickstart.yaml"
check_report "$T/out"
R=$(echo salvo-results/*/result.json)
expect_eq "status" "$(json "$R" .run.status)" complete
expect_eq "host" "$(json "$R" '.hosts[0].name')" local
expect_eq "errors" "$(json "$R" '[.results[].groups[0].total.errors] | add')" 0
# The embedded worker is gone, and so is its socket.
wait_for 5 test -z "$(pgrep -P $$ -f salvo-worker)" || fail "the embedded worker stays"

# Not as root: what the user may not do is not needed.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	mkdir "$T/user"
	chmod 711 "$T"
	chown 65534:65534 "$T/user"
	nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
fi
if [ -n "${nobody:-}" ] && "${nobody[@]}" test -x "$SALVO"; then
	(cd "$T/user" && HOME=$T/user "${nobody[@]}" \
		timeout -k 5 60 "$SALVO" run "$ROOT/configs/quickstart.yaml" "${short[@]}" >"$T/out" 2>"$T/err" </dev/null)
	RC=$?
	expect_rc 0 "configs/quickstart.yaml without root"
	check_report "$T/out"
fi

# The script: only where it is this build that it would use.
if [ "$SALVO" = "$ROOT/build/release/coordinator/salvo" ]; then
	mkdir "$T/script"
	cd "$T/script" || exit 1
	timeout -k 5 300 "$ROOT/tools/quickstart" --no-install -- "${short[@]}" >"$T/out" 2>"$T/err" </dev/null
	RC=$?
	expect_rc 0 "tools/quickstart"
	check_report "$T/out"
	[ -s "$(echo "$T/script"/salvo-results/*/result.json)" ] || fail "tools/quickstart left no result in the current folder"
fi
