#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# undo.sh takes back everything that was noted, also where a process had ended before its start time could be noted.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
test_begin

DIR=$(mktemp -d "${TMPDIR:-/tmp}/salvo-test.XXXXXX") || exit 1
cp "$T/owner" "$DIR/owner"
touch "$T/made"
sleep 0 &
wait $!
{
	echo "unlink $T/made"
	echo "pid $! "
	echo "stopped $! "
} >"$DIR/undo"
"$LIB_DIR/undo.sh" "$DIR" 2>"$T/err"
[ ! -e "$T/made" ] || fail "what was noted before a process without start time is not taken back"
[ ! -s "$T/err" ] || fail "undo.sh complains"
[ ! -e "$DIR" ] || fail "the folder is left"
