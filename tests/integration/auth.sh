#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who may talk to whom: each way of having the wrong keys gets its own clear error and exit 3 within 10 s, a
# worker on TCP without keys does not start, and no secret is ever printed.
. "$(dirname "$0")/lib.sh"
need_tools jq
test_begin

PORT=$((20000 + $$ % 20000))
address=127.0.0.1:$PORT
keys_make 127.0.0.1
mv "$T/127.0.0.1" "$T/w"
worker_config w "tcp://$address"
worker_start w
wait_listening w

cat >"$T/s.yaml" <<YAML
name: auth
hosts: ["$address"]
targets: {sim: {simulated: {size: 40k, latency: 10us}}}
jobs: [{name: r, target: sim, rw: randread, bs: 4k}]
YAML

# attempt NAME KEYS-OPTION...: a run that must not take place; its errors go to $T/NAME.err.
attempt() {
	local name=$1 start rc=$2
	shift 2
	start=$(now_ms)
	salvo_run 15 run "$T/s.yaml" "$@" --output "$T/result-$name" --quiet
	cp "$T/err" "$T/$name.err"
	cat "$T/out" "$T/err" >>"$T/all"
	expect_rc "$rc" "a run with $name"
	expect "milliseconds for $name" "$(now_ms) - $start < 10000"
	expect_text "$T/err" "error: .*127.0.0.1" "the message for $name"
	# Nothing of the worker may be known: it never answered.
	salvo_run 15 hosts --hosts "$address" "$@"
	cat "$T/out" "$T/err" >>"$T/all"
	expect_rc "$rc" "salvo hosts with $name"
	refuse_text "$T/out" "$(uname -r)" "salvo hosts with $name"
}

# All is well.
salvo_run 20 run "$T/s.yaml" --keys "$T/keys" --output "$T/good" --quiet
expect_rc 0 "a run with the right keys"
cat "$T/out" "$T/err" >>"$T/all"

# The worker does not know this coordinator.
cp -r "$T/keys" "$T/stranger"
rm "$T/stranger"/coordinator.key*
"$SALVO" keygen coordinator "$T/fresh" >>"$T/all" 2>&1 || fail "keygen"
cp "$T/fresh"/coordinator.key* "$T/stranger/"
attempt unknown-key 3 --keys "$T/stranger"

# The coordinator believes the worker has another key.
cp -r "$T/keys" "$T/wrong"
"$SALVO" keygen worker "$T/other" >>"$T/all" 2>&1 || fail "keygen"
cp "$T/other/worker.key" "$T/wrong/workers/127.0.0.1.key"
attempt wrong-server-key 3 --keys "$T/wrong"

# No CURVE at all.
attempt no-curve 3 --insecure

# Nobody there.
sed "s/$address/127.0.0.1:1/" "$T/s.yaml" >"$T/nobody.yaml"
salvo_run 15 run "$T/nobody.yaml" --keys "$T/keys" --output "$T/result-nobody" --quiet
expect_rc 3 "a run with nobody there"
cp "$T/err" "$T/nobody.err"

# Each has words of its own.
for name in unknown-key wrong-server-key no-curve nobody; do
	grep -m1 'error:' "$T/$name.err" | sed 's/:[0-9]*\b//g; s/^[^e]*error/error/'
done >"$T/words"
expect_eq "different messages" "$(sort -u "$T/words" | wc -l)" 4
cat "$T/words"

# Without keys, and without saying --insecure: nothing is sent.
mkdir "$T/empty"
salvo_run 15 run "$T/s.yaml" --keys "$T/empty" --output "$T/result-empty" --quiet
expect_rc 2 "a run without keys"
expect_text "$T/err" "keygen coordinator" "the message"
rm "$T/wrong/workers/127.0.0.1.key"
salvo_run 15 run "$T/s.yaml" --keys "$T/wrong" --output "$T/result-nokey" --quiet
expect_rc 2 "a run without a key for the host"

# A key that is withdrawn is refused at the next HELLO; one that is added counts without a restart.
mv "$T/w/keys/coordinators/test.key" "$T/w/test.key"
attempt withdrawn-key 3 --keys "$T/keys"
mv "$T/w/test.key" "$T/w/keys/coordinators/test.key"
salvo_run 20 run "$T/s.yaml" --keys "$T/keys" --output "$T/again" --quiet
expect_rc 0 "a run after the key is back"

# A worker on TCP without keys refuses to start, loopback or not; `insecure: true` spelled out lets it.
for listen in "tcp://$address" tcp://0.0.0.0:$((PORT + 1)) "tcp://[::1]:$((PORT + 1))"; do
	mkdir -p "$T/bare"
	printf 'listen: %s\nstate: %s\n' "$listen" "$T/bare/state" >"$T/bare/worker.yaml"
	timeout 10 "$WORKER" --config "$T/bare/worker.yaml" >"$T/bare/worker.log" 2>&1 </dev/null
	expect_eq "exit status of a worker on $listen without keys" $? 2
	expect_text "$T/bare/worker.log" "insecure: true" "the worker"
done

# Secrets are in no output, log or result.
cat "$T"/*/worker.log "$T"/*.err >>"$T/all"
for secret in "$T"/*/coordinator.key_secret "$T"/*/*/*.key_secret "$T"/*/*.key_secret; do
	[ -f "$secret" ] || continue
	expect_eq "mode of ${secret#"$T"/}" "$(stat -c %a "$secret")" 600
	key=$(sed -n 's/^ *secret-key = "\(.*\)"$/\1/p' "$secret")
	[ ${#key} -eq 40 ] || fail "no secret key in ${secret#"$T"/}"
	! grep -qF -- "$key" "$T/all" || fail "a secret key was printed"
	! grep -rqF -- "$key" "$T/good" "$T/again" || fail "a secret key is in a result"
done
