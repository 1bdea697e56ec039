#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The disk of / is never written to, not even with `destroy: force`: the worker runs in a mount namespace of its own
# in which / lies on a loop device, so that nothing is lost should it not refuse.
. "$(dirname "$0")/lib.sh"
need_loop
need_tools mkfs.ext4 chroot unshare
unshare --mount true 2>/dev/null || skip "no mount namespaces here"
test_begin

loop_make 64M
mkfs.ext4 -q -L salvo-root "$LOOP"
mkdir "$T/root" "$T/w"
worker_config w "ipc://$T/w/worker.sock" "/dev/loop*"

cat >"$T/enter" <<'SCRIPT'
#!/usr/bin/env bash
set -e
root=$1 device=$2
shift 2
mount "$device" "$root"
for top in /*; do
	if [ -L "$top" ]; then
		cp -P "$top" "$root$top"
	elif [ -d "$top" ] && [ "$top" != /lost+found ]; then
		mkdir -p "$root$top"
		mount --rbind "$top" "$root$top"
	fi
done
mount -o remount,ro "$root"
exec chroot "$root" "$@"
SCRIPT
setsid unshare --mount bash "$T/enter" "$T/root" "$LOOP" "$WORKER" --config "$T/w/worker.yaml" \
	>"$T/w/worker.log" 2>&1 </dev/null &
pid=$!
note pid "$pid" "$("$LIB_DIR/undo.sh" --born "$pid")"
disown "$pid"
wait_for 10 test -S "$T/w/worker.sock" || fail "the worker does not start"

cat >"$T/s.yaml" <<YAML
name: rootdisk
hosts: ["ipc://$T/w/worker.sock"]
targets: {t: {device: $LOOP, destroy: force}}
jobs: [{name: w, target: t, rw: randwrite, bs: 4k, time_based: true, runtime: 200ms}]
YAML
before=$(sha256sum <"$LOOP_FILE")
salvo_run 20 run "$T/s.yaml" --output "$T/result" --quiet
expect_rc 3 "writing to the disk of /"
expect_text "$T/err" "error: .*${LOOP}.*(/|root)" "the refusal"
expect_text "$T/err" "runs from it|mounted" "the refusal"
expect_eq "bytes of the disk of /" "$(sha256sum <"$LOOP_FILE")" "$before"
