#!/bin/bash
# Runs a command with its output in a file, and says every half minute how far it is: progress.sh NAME LOG COMMAND...
#
# What is said is the log's last line. When the command fails, the end of the log is shown, and its exit code returned.
set -u
name=$1 log=$2
shift 2

# It waits by reading from a pipe that nobody writes to: a sleep would be a process of its own, and outlive it.
tell() {
  local start=$SECONDS silence
  exec {silence}<> <(:)
  until read -r -t "${PROGRESS_SECONDS:-30}" -u "$silence"; do
    printf '%s: %d s: %s\n' "$name" $((SECONDS - start)) "$(tail -c 400 "$log" | grep . | tail -n 1 | cut -c 1-100)"
  done
}

tell &
teller=$!
"$@" >>"$log" 2>&1
code=$?
kill $teller 2>/dev/null
wait $teller 2>/dev/null
if [ $code != 0 ]; then
  echo "$name: failed; the last lines of $log:" >&2
  tail -n "${PROGRESS_LINES:-30}" "$log" >&2
fi
exit $code
